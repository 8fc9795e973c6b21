"""Whether a reply says what a line says, or gives it away before its turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cuecard.core.phrases import clauses, content_words, coverage, questions, sentences
from cuecard.core.text import is_cjk
from cuecard.core.users.leaks import Told, fold

_WHOLE, _EACH_REQUEST, _GIVEN_AWAY = 0.6, 0.6, 0.6
_FEW, _SHORT_LATIN, _SHORT_HAN = 3, 12, 6
_NUMBER = re.compile(r"\d+(?:[.:/,]\d+)*")
_QUOTED = re.compile('《([^》]+)》|“([^”]+)”|「([^」]+)」|"([^"]+)"')
_CAPITALISED = re.compile(r"(?<=[a-z0-9,;:)’'] )[\"“(]?([A-Z][\w-]+)")


_folded = lru_cache(maxsize=8192)(fold)


@lru_cache(maxsize=64)
def words_said(text: str) -> frozenset[str]:
    """The content words of a reply. Looked up for many lines at once, then never again: what a run
    says in all must not stay in a cache.
    """
    return frozenset(content_words.__wrapped__(text))


_reply_folded = lru_cache(maxsize=64)(fold)


def carries(text: str, line: str) -> bool:
    """Whether `text`, in whatever words, says what `line` says.

    It has the line's numbers, quotations and names, most of its content words, and most
    of those of each thing the line asks for. Strict by intent: the line can always be said itself.
    """
    folded = _reply_folded(text)
    if fold(line) in folded:
        return True
    said = words_said(text)
    if coverage(content_words(line), said) < _WHOLE:
        return False
    if not all(fold(fact) in folded for fact in _particulars(line)):
        return False
    return all(coverage(request, said) >= _EACH_REQUEST for request in _requests(line))


def _requests(line: str) -> Iterator[tuple[str, ...]]:
    """The content words of each thing that the line asks for; a lone 好 asks for nothing."""
    for question in questions(line):
        for clause in clauses(question):
            words = content_words(clause)
            if any(len(word) > 1 or word.isascii() for word in words):
                yield words


def _particulars(line: str) -> list[str]:
    quoted = (next(group for group in found if group) for found in _QUOTED.findall(line))
    names = (
        name for s in sentences(line) for name in _CAPITALISED.findall(s) if content_words(name)
    )
    return [fact for fact in (*_NUMBER.findall(line), *quoted, *names) if fold(fact)]


def gives_away(text: str, line: str, told: Told) -> bool:
    """Whether `text` says a line whose turn has not come: in the line's own words, or most of the
    content words that were new in it. What was told before gives nothing away.
    """
    folded, flat = _reply_folded(text), _folded(line)
    long_enough = len(flat) >= (_SHORT_HAN if is_cjk(flat) else _SHORT_LATIN)
    if long_enough and flat in folded and flat not in told.folded:
        return True
    words, said = content_words(line), words_said(text)
    if sum(word in said for word in words) < _FEW:
        return False
    new = [word for word in words if _folded(word) not in told.folded]
    return len(new) >= _FEW and sum(word in said for word in new) >= _GIVEN_AWAY * len(new)
