"""Search engines: how each one's requests are built and its responses parsed. Nothing is sent here."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol
from urllib.parse import urlsplit

from pydantic import JsonValue

from cuecard.core.engine.messages import SearchEntry
from cuecard.core.text import for_display, is_cjk, one_line, storable
from cuecard.core.worlds.page_text import inline_text

Mode = Literal["web", "scholar"]

TITLE_CHARS = 300
CONTENT_CHARS = 4000
_DATE_CHARS = 60
_URL_CHARS = 2000


class Trouble(StrEnum):
    """Why an engine gave no results."""

    KEY = "key"
    QUOTA = "quota"
    BUSY = "busy"
    SERVER = "server"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"
    REFUSED = "refused"
    NO_JSON = "no_json"
    EMPTY_HANDED = "empty_handed"
    LONG = "long"


class EngineError(Exception):
    """An engine gave no results. `detail`: its message, shortened and without the key."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.detail = detail


@dataclass(frozen=True)
class Asking:
    """One HTTP request: a POST of `body` as JSON if there is one, else a GET."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, JsonValue] | None = None


class Engine(Protocol):
    """A search engine. `address`: its default base address; `modes`: the kinds of search it has; `most`: results that one
    request can give; `query_chars`: the longest query it accepts, in characters.
    """

    name: str
    address: str
    modes: tuple[Mode, ...]
    most: int
    query_chars: int

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking: ...

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        """The results in the engine's JSON. Raises `EngineError` if it is no response of this engine."""
        ...

    def trouble(self, status: int, said: str) -> Trouble | None:
        """What an HTTP status other than 200 with the message `said` means for this engine, if that is special."""
        ...


def entry(
    title: JsonValue, content: JsonValue, url: JsonValue, date: JsonValue = ""
) -> SearchEntry | None:
    """A search result with cleaned texts, whose id is derived from its address; None without a web address."""
    address = _text(url).strip()
    if len(address) > _URL_CHARS or not _is_web(address):
        return None
    return SearchEntry(
        id=hashlib.blake2b(address.encode(), digest_size=6).hexdigest(),
        title=one_line(_text(title), TITLE_CHARS) or one_line(address, TITLE_CHARS),
        content=for_display(_text(content)).strip()[:CONTENT_CHARS],
        date=one_line(_text(date), _DATE_CHARS),
        url=one_line(address),
    )


def results(answer: JsonValue, *path: str) -> Iterator[dict[str, JsonValue]]:
    """The objects of the list at `path` in a response; a missing list is empty. Raises `EngineError` if something else
    stands there.
    """
    found: JsonValue = answer
    for name in path:
        if not isinstance(found, dict):
            raise EngineError(Trouble.MALFORMED)
        found = found.get(name)
        if found is None:
            return
    if not isinstance(found, list):
        raise EngineError(Trouble.MALFORMED)
    yield from (item for item in found if isinstance(item, dict))


def kept(found: Iterator[SearchEntry | None]) -> list[SearchEntry]:
    """The entries without None, each address once."""
    entries = [entry for entry in found if entry is not None]
    return list({entry.url: entry for entry in reversed(entries)}.values())[::-1]


def _text(value: JsonValue) -> str:
    return storable(str(value)) if isinstance(value, str | int | float) else ""


def _is_web(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False


class Brave:
    name = "brave"
    address = "https://api.search.brave.com/res/v1"
    modes: tuple[Mode, ...] = ("web",)
    most = 20
    query_chars = 400

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del mode
        params = {
            "q": query,
            "count": str(count),
            "text_decorations": "false",
            "result_filter": "web",
        }
        if is_cjk(query):
            params |= {"country": "CN", "search_lang": "zh-hans"}
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return Asking(f"{base}/web/search", params, headers)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        return kept(_entry(r) for r in results(answer, "web", "results"))

    def trouble(self, status: int, said: str) -> Trouble | None:
        # Messages about the rate mention the quota too; only the codes differ.
        if status == 422 and "SUBSCRIPTION_TOKEN" in said:
            return Trouble.KEY
        return Trouble.QUOTA if status == 429 and "QUOTA_LIMITED" in said else None


def _entry(result: dict[str, JsonValue]) -> SearchEntry | None:
    # Brave's texts are HTML even where decorations are turned off.
    pieces = [result.get("description"), *_list(result.get("extra_snippets"))]
    content = "\n".join(inline_text(piece) for piece in pieces if isinstance(piece, str))
    title = result.get("title")
    return entry(
        inline_text(title) if isinstance(title, str) else "",
        content,
        result.get("url"),
        result.get("page_age") or result.get("age"),
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


_CATEGORIES: dict[Mode, str] = {"web": "general", "scholar": "science"}


class SearXNG:
    """https://docs.searxng.org/dev/search_api.html; one page, of as many results as the engines give."""

    name = "searxng"
    address = ""
    modes: tuple[Mode, ...] = ("web", "scholar")
    most = 50
    query_chars = 2000

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del count
        params = {"q": query, "format": "json", "categories": _CATEGORIES[mode]}
        if is_cjk(query):
            params["language"] = "zh-CN"
        # SearXNG itself has no keys, but a proxy before it may want one.
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Asking(f"{base}/search", params, headers)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        found = kept(
            entry(r.get("title"), r.get("content"), r.get("url"), r.get("publishedDate"))
            for r in results(answer, "results")
        )
        # No results because its engines block this instance are not the same as "nothing was found".
        if not found and isinstance(answer, dict) and answer.get("unresponsive_engines"):
            raise EngineError(Trouble.EMPTY_HANDED)
        return found

    def trouble(self, status: int, said: str) -> Trouble | None:
        del said
        return Trouble.NO_JSON if status == 403 else None


_PATHS: dict[Mode, str] = {"web": "search", "scholar": "scholar"}


class Serper:
    name = "serper"
    address = "https://google.serper.dev"
    modes: tuple[Mode, ...] = ("web", "scholar")
    most = 50
    query_chars = 2000

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        chinese = is_cjk(query)
        body: dict[str, JsonValue] = {
            "q": query,
            "num": count,
            "gl": "cn" if chinese else "us",
            "hl": "zh-cn" if chinese else "en",
        }
        return Asking(f"{base}/{_PATHS[mode]}", headers={"X-API-KEY": key}, body=body)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        found = results(answer, "organic")
        if mode == "scholar":
            return kept(_paper(r) for r in found)
        return kept(
            entry(r.get("title"), r.get("snippet"), r.get("link"), r.get("date")) for r in found
        )

    def trouble(self, status: int, said: str) -> Trouble | None:
        return Trouble.QUOTA if status == 400 and "credit" in said.casefold() else None


def _paper(result: dict[str, JsonValue]) -> SearchEntry | None:
    parts = [_publication(result.get("publicationInfo")), result.get("snippet")]
    if isinstance(cited := result.get("citedBy"), int):
        parts.append(f"Cited by {cited}.")
    content = "\n".join(part for part in parts if isinstance(part, str) and part)
    link = result.get("link") or result.get("pdfUrl") or result.get("htmlUrl")
    return entry(result.get("title"), content, link, result.get("year"))


def _publication(value: JsonValue) -> JsonValue:
    """The publication's text, which older responses put into an object."""
    return value.get("summary") if isinstance(value, dict) else value


class Tavily:
    name = "tavily"
    address = "https://api.tavily.com"
    modes: tuple[Mode, ...] = ("web",)
    most = 20
    query_chars = 400

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking:
        del mode
        body: dict[str, JsonValue] = {
            "query": query,
            "max_results": count,
            "search_depth": "basic",
            "include_answer": False,
            "include_raw_content": False,
        }
        return Asking(f"{base}/search", headers={"Authorization": f"Bearer {key}"}, body=body)

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        del mode
        return kept(
            entry(r.get("title"), r.get("content"), r.get("url"), r.get("published_date"))
            for r in results(answer, "results")
        )

    def trouble(self, status: int, said: str) -> Trouble | None:
        del said
        return Trouble.QUOTA if status in (432, 433) else None


EngineName = Literal["searxng", "tavily", "serper", "brave"]

_ENGINES: dict[EngineName, type[Engine]] = {
    "searxng": SearXNG,
    "tavily": Tavily,
    "serper": Serper,
    "brave": Brave,
}


def engine_called(name: EngineName) -> Engine:
    return _ENGINES[name]()
