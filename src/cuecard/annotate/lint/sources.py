"""Sources: there, in number, and in form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit

from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table

LEAST_SHARE = 0.5

_CAUGHT = re.compile("[,;:'\"<>，。；：、！？.]$")
_CLOSING = {")": "(", "]": "[", "）": "（", "】": "【", "》": "《", "」": "「", "”": "“", "’": "‘"}
_TWICE = re.compile(r"^https?://https?[:/]", re.IGNORECASE)
_HOST = re.compile(r"[^\s/:@.]+(?:\.[^\s/:@.]+)+\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)


def lint_sources(case: Case) -> Iterator[Finding]:
    """L010, L037, L038 and L039."""
    yield from _missing(case)
    for place, url in _addresses(case):
        if url and not _well_formed(url):
            yield warning(
                "L038",
                place,
                _("“{url}” cannot be opened as it stands").format(url=url),
                _("Copy the address again from the browser."),
                url,
            )
    seen: dict[str, int] = {}
    for index, source in enumerate(case.task.sources):
        key = source.url.strip().rstrip("/")
        if key and seen.setdefault(key, index) != index:
            yield warning(
                "L039",
                f"sources[{index}].url",
                _("is the page of source {n} too").format(n=seen[key] + 1),
                _("Put what you noted into one entry."),
                source.url,
            )


def _missing(case: Case) -> Iterator[Finding]:
    cited = any(source.url for source in case.task.sources)
    match case.task.gold:
        case Graph(triples=items) | CheckpointChain(steps=items) | FactWorld(facts=items):
            with_sources = sum(any(item.sources) for item in items)
        case Table():
            with_sources = 0
    if not cited and not with_sources:
        yield warning(
            "L010",
            "sources",
            _("nothing says where the gold answer comes from"),
            _("Add at least one page by which a reviewer can check it."),
        )
    elif case.triples and with_sources < LEAST_SHARE * len(case.triples):
        yield warning(
            "L037",
            "gold.triples",
            _("{n} of {count} triples have a source").format(
                n=with_sources, count=len(case.triples)
            ),
            _("Add the pages on which you found the others, to half of them at least."),
        )


def _addresses(case: Case) -> Iterator[tuple[str, str]]:
    for index, source in enumerate(case.task.sources):
        yield f"sources[{index}].url", source.url
    match case.task.gold:
        case Graph(triples=items):
            field = "triples"
        case CheckpointChain(steps=items):
            field = "steps"
        case FactWorld(facts=items):
            field = "facts"
        case Table():
            return
    for index, item in enumerate(items):
        for at, url in enumerate(item.sources):
            yield f"gold.{field}[{index}].sources[{at}]", url


@lru_cache(maxsize=16384)
def _well_formed(url: str) -> bool:
    opening = _CLOSING.get(url[-1:])
    if _TWICE.match(url) or _CAUGHT.search(url) or (opening and opening not in url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None
