"""Which parts of a text have to do with a goal: by the words that they share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cuecard.core.phrases import content_words, shared_words
from cuecard.core.text import one_line

_PASSAGE_CHARS = 800
_SHORT = 40
_MOST_LINKS = 8


def best_passages(text: str, goal: str, limit: int) -> str:
    """The passages of `text` that share most words with `goal`, in their order, `limit` characters in
    all; the beginning of the text where none shares any.
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
    """Lines; short ones (headings, labels) together with the next, long ones in pieces."""
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
