"""The tool `visit`: pages read with a goal in mind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field

from cuecard.core.errors import ModelCallError
from cuecard.core.parts import CallDesk, SearchEntry, ToolAnswer
from cuecard.core.prompts import Prompt
from cuecard.core.scrubbing import scrub
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import is_cjk, normalise, one_line, storable
from cuecard.core.worlds.fetching import FetchError, PageSource
from cuecard.core.worlds.page_text import PageText, read_page
from cuecard.core.worlds.passages import best_links, best_passages
from cuecard.core.worlds.web_words import WORDS, say_loss

if TYPE_CHECKING:
    from cuecard.core.llm.client import ChatClient

Result = TypeVar("Result")

MOST_PAGES = 10
# What is recorded of a page, and what a model may read of it.
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
class Visited:
    """A page that was read, or why it was not (`problem`)."""

    url: str
    page: PageText = field(default_factory=PageText)
    address: str = ""
    cut: bool = False
    problem: str = ""


class Summariser:
    """Has a model say what a page holds about a goal."""

    def __init__(self, client: ChatClient, prompt: Prompt, language: TaskLanguage) -> None:
        self._client = client
        self._prompt = prompt
        self._language: TaskLanguage = language

    async def summarise(self, page: PageText, goal: str, desk: CallDesk) -> PageSummary | None:
        """None where no answer of the model could be used. A page that proves too long for it is given
        again, in half. Quotations that do not stand in the page are left out.

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
                    desk.scope(f"try/{overflow}") if overflow else desk,
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
        """Characters of a page that fit into the model's context, carefully guessed."""
        tokens = self._client.config.context - _RESERVED_TOKENS
        tokens -= self._client.config.max_tokens or 0
        per_token = 1.0 if is_cjk(text[:2000]) else 2.5
        return max(1_000, min(PAGE_CHARS, int(tokens * per_token)))


class Visitor:
    """Reads several pages at the same time and answers in the order in which they were asked for."""

    def __init__(
        self, source: PageSource, language: TaskLanguage, summariser: Summariser | None = None
    ) -> None:
        self._source = source
        self._language: TaskLanguage = language
        self._summariser = summariser

    async def visit(self, urls: Sequence[str], goal: str, desk: CallDesk) -> ToolAnswer:
        """One answer about all pages; its entries hold their texts. Not `ok` where none was read.

        Raises `ModelCallError` and `Halt`.
        """
        found = await together(
            [self._one(url, goal, desk.scope(f"page/{n}")) for n, url in enumerate(urls)]
        )
        entries = tuple(_entry(visited) for visited, _said in found if not visited.problem)
        parts = (f"[{n}] {said}" for n, (_visited, said) in enumerate(found, 1))
        return ToolAnswer(text="\n\n".join(parts), entries=entries, ok=bool(entries))

    async def close(self) -> None:
        await self._source.close()

    async def _one(self, url: str, goal: str, desk: CallDesk) -> tuple[Visited, str]:
        words = WORDS[self._language]
        visited = await self._read(url)
        if visited.problem:
            reason = words["not_visited"].format(reason=visited.problem)
            return visited, f"{one_line(storable(url), 300)}\n{reason}"
        page = visited.page
        head = [page.title, visited.address] if page.title else [visited.address]
        if not page.text:
            return visited, "\n".join((*head, words["no_text"]))
        said = await self._about(page, goal, desk)
        if links := await asyncio.to_thread(best_links, page.links, goal):
            said += ["", words["links"], *(f"- {text}: {address}" for text, address in links)]
        if visited.cut or len(page.text) > PAGE_CHARS:
            said.append(words["cut"])
        return visited, "\n".join((*head, "", *said))

    async def _read(self, url: str) -> Visited:
        try:
            page = await self._source.fetch(url)
        except FetchError as error:
            return Visited(url, problem=say_loss(error, self._language))
        # A page that repeats a request goes to the model that sums it up as well.
        text = await asyncio.to_thread(read_page, scrub(page.source), page.format, page.address)
        return Visited(url, text, page.address, page.cut)

    async def _about(self, page: PageText, goal: str, desk: CallDesk) -> list[str]:
        words = WORDS[self._language]
        if self._summariser is not None:
            summary = await self._summariser.summarise(page, goal, desk)
            if summary is not None:
                return _said(summary, words)
        text = page.text[:PAGE_CHARS]
        passages = await asyncio.to_thread(best_passages, text, goal, PASSAGES_CHARS)
        return [words["passages"], passages]


async def together(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """All results in order; the first failure ends the rest and is raised as it is."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _entry(visited: Visited) -> SearchEntry:
    page = visited.page
    return SearchEntry(
        id=one_line(storable(visited.url), 2000),
        title=page.title,
        content=page.text[:PAGE_CHARS],
        url=one_line(storable(visited.address), 4000),
    )


def _checked(summary: PageSummary, text: str) -> PageSummary:
    """Only what stands in the page counts as a quotation."""
    known = normalise(text)
    quotes = (one_line(storable(quote), _QUOTE_CHARS) for quote in summary.evidence)
    # The ends of a long quotation may have been cut by `one_line`.
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
