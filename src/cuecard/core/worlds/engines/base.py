"""What a search engine is: a description of requests and answers, without any connection."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, TypeGuard
from urllib.parse import urlsplit

from pydantic import JsonValue

from cuecard.core.parts import SearchEntry
from cuecard.core.text import for_display, one_line, storable

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
    """An engine gave no results. `detail`: what it said, shortened, never the key."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.detail = detail


@dataclass(frozen=True)
class Asking:
    """One request. `body`: JSON, posted where there is one."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, JsonValue] | None = None


class Engine(Protocol):
    """`most`: results that one request can give. `query_chars`: the longest query that it takes."""

    name: str
    address: str
    modes: tuple[Mode, ...]
    most: int
    query_chars: int

    def asking(self, base: str, key: str, query: str, count: int, mode: Mode) -> Asking: ...

    def entries(self, answer: JsonValue, mode: Mode) -> list[SearchEntry]:
        """The results of an answer. Raises `EngineError` where it is none."""
        ...

    def trouble(self, status: int, said: str) -> Trouble | None:
        """What a status other than 200 means for this engine in particular; None: what it always means."""
        ...


def entry(
    title: JsonValue, content: JsonValue, url: JsonValue, date: JsonValue = ""
) -> SearchEntry | None:
    """A result, cleaned; its id follows from its address. None without an address of the web."""
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
    """The objects of the list at `path`. A missing list is an empty one, anything else no answer of
    an engine: raises `EngineError`.
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
    """Entries without those that are none, each address once."""
    return list({e.url: e for e in reversed([*filter(_is_entry, found)])}.values())[::-1]


def _is_entry(item: SearchEntry | None) -> TypeGuard[SearchEntry]:
    return item is not None


def _text(value: JsonValue) -> str:
    return storable(str(value)) if isinstance(value, str | int | float) else ""


def _is_web(address: str) -> bool:
    try:
        return urlsplit(address).scheme in ("http", "https")
    except ValueError:
        return False
