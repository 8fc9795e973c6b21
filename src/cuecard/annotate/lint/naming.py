"""Which of many names stand in a text, in one pass over it."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from cuecard.core.users.leaks import bare_number, counts, fold

Thing = TypeVar("Thing", bound=Hashable)

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+")

folded = lru_cache(maxsize=65536)(fold)
"""`fold`, remembered: the same names come back with every key that is pressed."""


@lru_cache(maxsize=65536)
def forms_of(name: str) -> tuple[str, ...]:
    """How a name is recognised in a folded text, as the simulators' check does it; nothing for names
    too short or common to mean anything.
    """
    if not counts(name):
        return ()
    whole = folded(name)
    number = bare_number(whole)
    return (whole, number) if number and number != whole else (whole,)


class NameFinder(Generic[Thing]):
    """Finds things by their names. A name inside a longer one that stands there is not found."""

    def __init__(self, things: Iterable[tuple[Thing, Iterable[str]]]) -> None:
        self._things: dict[str, dict[Thing, str]] = {}
        for thing, names in things:
            for name in names:
                for form in forms_of(name):
                    self._things.setdefault(form, {}).setdefault(thing, name)
        # Only runs of as many tokens as some name with this first token has are looked up.
        lengths: dict[str, set[int]] = {}
        for form in self._things:
            tokens = _TOKEN.findall(form)
            lengths.setdefault(tokens[0], set()).add(len(tokens))
        self._lengths = {token: sorted(found, reverse=True) for token, found in lengths.items()}

    def find(self, text: str) -> list[tuple[str, Collection[Thing]]]:
        """Each name that stands in `text`, as it is written in the task, with the things of that
        name; in the order of the text, each name once.
        """
        said = fold(text)
        spans = [match.span() for match in _TOKEN.finditer(said)]
        found: dict[str, tuple[str, Collection[Thing]]] = {}
        at = 0
        while at < len(spans):
            start, end = spans[at]
            step = 1
            for length in self._lengths_at(said[start:end]):
                if at + length <= len(spans):
                    form = self._form(said[start : spans[at + length - 1][1]])
                    if form:
                        things = self._things[form]
                        found.setdefault(form, (next(iter(things.values())), things.keys()))
                        step = length
                        break
            at += step
        return list(found.values())

    def _lengths_at(self, token: str) -> Iterable[int]:
        own = self._lengths.get(token)
        # A plural or possessive s belongs to the name before it.
        if own is None and len(token) > 1 and token.endswith("s"):
            own = self._lengths.get(token[:-1])
        return own or ()

    def _form(self, said: str) -> str:
        if said in self._things:
            return said
        if said.endswith("s") and said[:-1] in self._things and said[-2].isalpha():
            return said[:-1]
        return ""
