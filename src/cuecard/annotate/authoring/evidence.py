"""A task's source URLs: those on its list, and those that only its gold cites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cuecard.annotate.authoring.blank import blank_source
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import SOURCES
from cuecard.core.tasks.base import is_web_address

CitedBy = Literal["triples", "steps", "facts"]
_CITING: tuple[CitedBy, ...] = ("triples", "steps", "facts")


@dataclass(frozen=True)
class Evidence:
    """One address. `index`: its place on the task's list, None where only the gold cites it.
    `cited`: which items of the gold do, from 0, by what they are.
    """

    url: str
    note: str = ""
    index: int | None = None
    cited: Mapping[CitedBy, tuple[int, ...]] = field(default_factory=dict[CitedBy, tuple[int, ...]])

    @property
    def sound(self) -> bool:
        """Whether this is a web address at all."""
        return is_web_address(self.url)

    @property
    def count(self) -> int:
        """How many items of the gold cite it."""
        return sum(map(len, self.cited.values()))


def evidence_of(data: Mapping[str, Any]) -> list[Evidence]:
    """The list of sources in its order, then what is only cited, as it comes up in the gold."""
    cited: dict[str, dict[CitedBy, list[int]]] = {}
    for kind, number, url in _citations(data):
        numbers = cited.setdefault(url, {}).setdefault(kind, [])
        if not numbers or numbers[-1] != number:
            numbers.append(number)
    found: list[Evidence] = []
    listed: set[str] = set()
    for index, source in enumerate(_dicts(data.get("sources"))):
        url = str(source.get("url") or "").strip()
        listed.add(url)
        found.append(Evidence(url, str(source.get("note") or ""), index, _frozen(cited.get(url))))
    only = (url for url in cited if url not in listed)
    return [*found, *(Evidence(url, cited=_frozen(cited[url])) for url in only)]


def take_into_list(edit: TaskEdit, *urls: str) -> None:
    """Put addresses that are only cited on the list of sources, as one step for undo."""
    known = {str(source.get("url", "")).strip() for source in _dicts(edit.items(SOURCES))}
    new = [url for url in dict.fromkeys(urls) if url not in known]
    if new:
        with edit.together(SOURCES):
            more = [{**blank_source(), "url": url} for url in new]
            edit.set(SOURCES, [*edit.items(SOURCES), *more])


def _citations(data: Mapping[str, Any]) -> Iterator[tuple[CitedBy, int, str]]:
    gold = data.get("gold")
    if not isinstance(gold, dict):
        return
    for kind in _CITING:
        for number, item in enumerate(_dicts(cast(dict[str, Any], gold).get(kind))):
            urls = item.get("sources")
            for url in cast(list[Any], urls) if isinstance(urls, list) else []:
                if str(url).strip():
                    yield kind, number, str(url).strip()


def _frozen(cited: Mapping[CitedBy, list[int]] | None) -> dict[CitedBy, tuple[int, ...]]:
    return {kind: tuple(numbers) for kind, numbers in (cited or {}).items()}


def _dicts(value: Any) -> list[dict[str, Any]]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return [cast(dict[str, Any], item) if isinstance(item, dict) else {} for item in items]
