"""The tool `visit`, which reads pages with a goal, and the messages of web tools that fail."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field

from cuecard.core.config import Prompt
from cuecard.core.engine.messages import SearchEntry, ToolAnswer
from cuecard.core.engine.step_context import CallContext
from cuecard.core.errors import ModelCallError
from cuecard.core.secrets import scrub
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import content_words, is_cjk, normalise, one_line, shared_words, storable
from cuecard.core.worlds.engines import EngineError, Trouble
from cuecard.core.worlds.fetching import FetchError, FetchFailure, Forbidden, PageSource
from cuecard.core.worlds.page_text import PageText, read_page

if TYPE_CHECKING:
    from cuecard.core.llm.client import ChatClient


_PASSAGE_CHARS = 800
_SHORT = 40
_MOST_LINKS = 8


def best_passages(text: str, goal: str, limit: int) -> str:
    """The passages of `text` that share most words with `goal`, in their order, at most `limit` characters in all; the
    beginning of the text if none shares any.
    """
    wanted = content_words(goal)
    passages = list(_passages(text))
    rated = [(len(shared_words(wanted, content_words(p))), n) for n, p in enumerate(passages)]
    best = sorted((item for item in rated if item[0]), key=lambda item: (-item[0], item[1]))
    chosen: list[int] = []
    used = 0
    for _score, number in best:
        if used + len(passages[number]) <= limit:
            chosen.append(number)
            used += len(passages[number]) + len("\n…\n")
    if not chosen:
        return text[:limit].rstrip()
    lines: list[str] = []
    for place, number in enumerate(sorted(chosen)):
        if place and number != sorted(chosen)[place - 1] + 1:
            lines.append("…")
        lines.append(passages[number])
    return "\n".join(lines)


def best_links(links: Iterable[tuple[str, str]], goal: str) -> tuple[tuple[str, str], ...]:
    """The links whose text shares most words with `goal`, at most eight."""
    wanted = content_words(goal)
    rated = [(len(shared_words(wanted, content_words(link[0]))), link) for link in links]
    best = sorted((item for item in rated if item[0]), key=lambda item: -item[0])
    return tuple((one_line(text, 120), address) for _score, (text, address) in best[:_MOST_LINKS])


def _passages(text: str) -> Iterator[str]:
    """The text in passages: lines, short ones (headings, labels) joined to the next, long ones split."""
    pending = ""
    for line in text.split("\n"):
        line = line.strip()
        if not line:
            continue
        pending = f"{pending}\n{line}" if pending else line
        if len(line) < _SHORT and len(pending) < _PASSAGE_CHARS:
            continue
        yield from _pieces(pending)
        pending = ""
    if pending:
        yield from _pieces(pending)


def _pieces(text: str) -> Iterator[str]:
    while len(text) > _PASSAGE_CHARS:
        window = text[:_PASSAGE_CHARS]
        end = max(window.rfind(mark) + len(mark) for mark in (". ", "。", "! ", "? ", "；", "\n"))
        end = end if end > _PASSAGE_CHARS // 3 else _PASSAGE_CHARS
        yield text[:end].strip()
        text = text[end:]
    if text.strip():
        yield text.strip()


_TROUBLES: dict[TaskLanguage, dict[Trouble, str]] = {
    "en": {
        Trouble.KEY: "The search engine does not accept the key of this installation.",
        Trouble.QUOTA: "The search engine's quota is used up.",
        Trouble.BUSY: "The search engine is busy; it refused several attempts.",
        Trouble.SERVER: "The search engine has failed several times.",
        Trouble.TIMEOUT: "The search engine did not answer within {detail} seconds.",
        Trouble.UNREACHABLE: "The search engine cannot be reached.",
        Trouble.MALFORMED: "The search engine's answer cannot be read.",
        Trouble.REFUSED: "The search engine refused this query.",
        Trouble.NO_JSON: "The search engine gives no JSON: its JSON format is switched off.",
        Trouble.EMPTY_HANDED: "None of the engines behind the search engine answered.",
        Trouble.LONG: "The query is too long. Give at most {detail} characters.",
    },
    "zh": {
        Trouble.KEY: "搜索引擎不接受本机配置的密钥。",
        Trouble.QUOTA: "搜索引擎的配额已用完。",
        Trouble.BUSY: "搜索引擎繁忙，多次尝试均被拒绝。",
        Trouble.SERVER: "搜索引擎多次出错。",
        Trouble.TIMEOUT: "搜索引擎在 {detail} 秒内没有应答。",
        Trouble.UNREACHABLE: "无法连接搜索引擎。",
        Trouble.MALFORMED: "搜索引擎的应答无法读取。",
        Trouble.REFUSED: "搜索引擎拒绝了这个查询。",
        Trouble.NO_JSON: "搜索引擎不提供 JSON：它的 JSON 格式没有启用。",
        Trouble.EMPTY_HANDED: "搜索引擎背后的各个引擎都没有应答。",
        Trouble.LONG: "查询太长，最多 {detail} 个字符。",
    },
}
_LOSSES: dict[TaskLanguage, dict[FetchFailure | Forbidden, str]] = {
    "en": {
        Forbidden.SCHEME: "Only addresses that start with http:// or https:// can be visited.",
        Forbidden.MALFORMED: "This is not a valid web address.",
        Forbidden.CREDENTIALS: "Addresses with a user name or password are not visited.",
        Forbidden.PRIVATE: "This address belongs to a private network and is not visited.",
        Forbidden.BLOCKED: "The page is not available.",
        FetchFailure.STATUS: "The server answered with status {detail}.",
        FetchFailure.REDIRECTS: "The server redirects more than {detail} times.",
        FetchFailure.TIMEOUT: "The page did not arrive within {detail} seconds.",
        FetchFailure.UNREACHABLE: "The server cannot be reached.",
        FetchFailure.CERTIFICATE: "The server's certificate is not valid.",
        FetchFailure.BROKEN: "The server's answer is broken.",
        FetchFailure.PDF: "This is a PDF file, which cannot be read here.",
        FetchFailure.BINARY: "This is no page of text ({detail}).",
    },
    "zh": {
        Forbidden.SCHEME: "只能访问以 http:// 或 https:// 开头的网址。",
        Forbidden.MALFORMED: "这不是有效的网址。",
        Forbidden.CREDENTIALS: "不访问带有用户名或密码的网址。",
        Forbidden.PRIVATE: "该网址属于内部网络，不予访问。",
        Forbidden.BLOCKED: "该网页无法访问。",
        FetchFailure.STATUS: "服务器返回状态码 {detail}。",
        FetchFailure.REDIRECTS: "服务器重定向超过 {detail} 次。",
        FetchFailure.TIMEOUT: "网页在 {detail} 秒内没有传完。",
        FetchFailure.UNREACHABLE: "无法连接服务器。",
        FetchFailure.CERTIFICATE: "服务器的证书无效。",
        FetchFailure.BROKEN: "服务器的应答已损坏。",
        FetchFailure.PDF: "这是 PDF 文件，此处无法读取。",
        FetchFailure.BINARY: "这不是文本网页（{detail}）。",
    },
}
WORDS: dict[TaskLanguage, dict[str, str]] = {
    "en": {
        "tool": "There is no tool named {name}. The tools are: {tools}.",
        "query": "The argument `query` is missing. It must be a text that is not empty.",
        "topn": "The argument `topn` must be a whole number from 1.",
        "urls": "The argument `urls` is missing. It must be a web address or a list of them.",
        "many": "The argument `urls` holds too many addresses. Give at most {most}.",
        "goal": "The argument `goal` must be a text.",
        "nothing": "Nothing was found for this query.",
        "not_visited": "Not read: {reason}",
        "summary": "Summary: {text}",
        "evidence": "Quotations:",
        "irrelevant": "The page says nothing about the goal.",
        "passages": "Passages:",
        "links": "Links that may help:",
        "no_text": "The page holds no text that can be read without running its scripts.",
        "cut": "(Only the first part of this page was read.)",
    },
    "zh": {
        "tool": "没有名为 {name} 的工具。可用的工具有：{tools}。",
        "query": "缺少参数 `query`，它必须是非空文本。",
        "topn": "参数 `topn` 必须是不小于 1 的整数。",
        "urls": "缺少参数 `urls`，它必须是一个网址或网址列表。",
        "many": "参数 `urls` 中的网址太多，最多 {most} 个。",
        "goal": "参数 `goal` 必须是文本。",
        "nothing": "这个查询没有找到任何结果。",
        "not_visited": "未能读取：{reason}",
        "summary": "摘要：{text}",
        "evidence": "原文摘录：",
        "irrelevant": "该网页没有与目标相关的内容。",
        "passages": "相关段落：",
        "links": "可能有用的链接：",
        "no_text": "该网页不运行脚本就没有可读的文字。",
        "cut": "（只读取了该网页的前一部分。）",
    },
}


def failure_text(error: EngineError, language: TaskLanguage) -> str:
    text = _TROUBLES[language][error.trouble].format(detail=error.detail)
    # An engine's message about the query may help the agent; one about keys does not.
    if error.trouble is Trouble.REFUSED and error.detail:
        return f"{text} ({error.detail})"
    return text


def cut_notice(error: FetchError, language: TaskLanguage) -> str:
    return _LOSSES[language][error.reason].format(detail=error.detail or "?")


Result = TypeVar("Result")

MOST_PAGES = 10
# Characters recorded of a page, and characters of passages that an agent is given.
PAGE_CHARS = 60_000
PASSAGES_CHARS = 6_000
_QUOTES = 12
_QUOTE_CHARS = 1_500
_SUMMARY_CHARS = 6_000
_RESERVED_TOKENS = 3_000
_OVERFLOWS = 3


class PageSummary(BaseModel):
    """What a model makes of a page."""

    evidence: list[str] = Field(default_factory=list[str])
    relevant: bool = True
    summary: str = ""


@dataclass(frozen=True)
class VisitResult:
    """A page that was read, or the reason (`problem`) why it could not be. `blocked`: the address that a block list
    holds, where that is the reason.
    """

    url: str
    page: PageText = field(default_factory=PageText)
    address: str = ""
    cut: bool = False
    problem: str = ""
    blocked: str = ""


class Summariser:
    """Has a model summarise what a page says about a goal."""

    def __init__(self, client: ChatClient, prompt: Prompt, language: TaskLanguage) -> None:
        self._client = client
        self._prompt = prompt
        self._language: TaskLanguage = language

    async def summarise(
        self, page: PageText, goal: str, context: CallContext
    ) -> PageSummary | None:
        """The summary; None if no reply of the model was usable. If the page is too long for the model, half of it is
        tried. Quotations that are not in the page are left out.

        Raises `ModelCallError` and `Halt`.
        """
        from cuecard.core.llm import wire
        from cuecard.core.llm.structured import ask_structured

        text = page.text[: self._budget(page.text)]
        for overflow in range(_OVERFLOWS + 1):
            asked = self._prompt.render(goal=goal, title=page.title, page=text)
            try:
                answer = await ask_structured(
                    self._client,
                    [wire.user(asked)],
                    PageSummary,
                    context.scope(f"try/{overflow}") if overflow else context,
                    prompt=self._prompt,
                    language=self._language,
                )
            except ModelCallError as error:
                if not error.context_overflow or overflow == _OVERFLOWS:
                    raise
                text = text[: len(text) // 2]
                continue
            return _checked(answer.value, text) if answer.value else None
        return None

    def _budget(self, text: str) -> int:
        """A cautious guess at how many characters of a page fit into the model's context."""
        tokens = self._client.config.context - _RESERVED_TOKENS
        tokens -= self._client.config.max_tokens or 0
        per_token = 1.0 if is_cjk(text[:2000]) else 2.5
        return max(1_000, min(PAGE_CHARS, int(tokens * per_token)))


class Visitor:
    """Reads several pages concurrently and answers in the order of the request."""

    def __init__(
        self, source: PageSource, language: TaskLanguage, summariser: Summariser | None = None
    ) -> None:
        self._source = source
        self._language: TaskLanguage = language
        self._summariser = summariser

    async def visit(self, urls: Sequence[str], goal: str, context: CallContext) -> ToolAnswer:
        """One answer about all pages, whose entries hold their texts; `ok` is false if no page could be read.

        Raises `ModelCallError` and `Halt`.
        """
        found = await together(
            [self._one(url, goal, context.scope(f"page/{n}")) for n, url in enumerate(urls)]
        )
        entries = tuple(_entry(visited) for visited, _said in found if not visited.problem)
        parts = (f"[{n}] {said}" for n, (_visited, said) in enumerate(found, 1))
        blocked = tuple(one_line(storable(v.blocked), 4000) for v, _said in found if v.blocked)
        text = "\n\n".join(parts)
        return ToolAnswer(text=text, entries=entries, ok=bool(entries), blocked=blocked)

    async def close(self) -> None:
        await self._source.close()

    async def _one(self, url: str, goal: str, context: CallContext) -> tuple[VisitResult, str]:
        words = WORDS[self._language]
        visited = await self._read(url)
        if visited.problem:
            reason = words["not_visited"].format(reason=visited.problem)
            return visited, f"{one_line(storable(url), 300)}\n{reason}"
        page = visited.page
        head = [page.title, visited.address] if page.title else [visited.address]
        if not page.text:
            return visited, "\n".join((*head, words["no_text"]))
        said = await self._about(page, goal, context)
        if links := await asyncio.to_thread(best_links, page.links, goal):
            said += ["", words["links"], *(f"- {text}: {address}" for text, address in links)]
        if visited.cut or len(page.text) > PAGE_CHARS:
            said.append(words["cut"])
        return visited, "\n".join((*head, "", *said))

    async def _read(self, url: str) -> VisitResult:
        try:
            page = await self._source.fetch(url)
        except FetchError as error:
            blocked = error.detail if error.reason is Forbidden.BLOCKED else ""
            return VisitResult(url, problem=cut_notice(error, self._language), blocked=blocked)
        # Scrubbed: a page may echo a secret of the request, and its text also goes to the summarising model.
        text = await asyncio.to_thread(read_page, scrub(page.source), page.format, page.address)
        return VisitResult(url, text, page.address, page.cut)

    async def _about(self, page: PageText, goal: str, context: CallContext) -> list[str]:
        words = WORDS[self._language]
        if self._summariser is not None:
            summary = await self._summariser.summarise(page, goal, context)
            if summary is not None:
                return _said(summary, words)
        text = page.text[:PAGE_CHARS]
        passages = await asyncio.to_thread(best_passages, text, goal, PASSAGES_CHARS)
        return [words["passages"], passages]


async def together(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """All results in order. The first exception cancels the rest and is raised unchanged."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _entry(visited: VisitResult) -> SearchEntry:
    page = visited.page
    return SearchEntry(
        id=one_line(storable(visited.url), 2000),
        title=page.title,
        content=page.text[:PAGE_CHARS],
        url=one_line(storable(visited.address), 4000),
    )


def _checked(summary: PageSummary, text: str) -> PageSummary:
    """The summary without quotations that are not in the page."""
    known = normalise(text)
    quotes = (one_line(storable(quote), _QUOTE_CHARS) for quote in summary.evidence)
    # A long quotation may have been cut at its ends by `one_line`.
    kept = [q for q in quotes if q and normalise(q.removesuffix("…")) in known]
    return PageSummary(
        evidence=list(dict.fromkeys(kept))[:_QUOTES],
        relevant=summary.relevant,
        summary=one_line(storable(summary.summary), _SUMMARY_CHARS),
    )


def _said(summary: PageSummary, words: dict[str, str]) -> list[str]:
    said = [] if summary.relevant else [words["irrelevant"]]
    if summary.summary:
        said.append(words["summary"].format(text=summary.summary))
    if summary.evidence:
        said += [words["evidence"], *(f"- “{quote}”" for quote in summary.evidence)]
    return said or [words["irrelevant"]]
