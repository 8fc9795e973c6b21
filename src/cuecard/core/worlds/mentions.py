"""Which entities of a closed world a query names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuecard.core.phrases import spans
from cuecard.core.text import normalise
from cuecard.core.worlds.headings import Subject


@dataclass(frozen=True)
class Mention:
    """A name at a place of the text; `parts`: which part of which subject it names."""

    start: int
    end: int
    parts: tuple[tuple[int, int], ...]


class Mentions:
    """Names and aliases of all subjects, longest first: `New York` is not also `York`."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._subjects = subjects
        names: dict[str, dict[tuple[int, int], None]] = {}
        for number, subject in enumerate(subjects):
            for position, part in enumerate(subject.parts):
                for name in part:
                    names.setdefault(normalise(name), {}).setdefault((number, position))
        attributes = {attribute for subject in subjects for attribute in subject.groups}
        # An attribute that holds a name (caffeine, café) is not a mention of that name.
        for attribute in attributes:
            names.setdefault(attribute, {})
        names.pop("", None)
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        self._parts = {name: tuple(names[name]) for name in longest_first}

    def scan(self, text: str) -> tuple[Mention, ...]:
        """The entities in a normalised text, in no particular order; no two overlap."""
        found = spans(text, self._parts)
        return tuple(
            Mention(start, end, self._parts[term])
            for term, start, end in found
            if self._parts[term]
        )

    def complete(self, mentions: Iterable[Mention]) -> tuple[tuple[Subject, ...], bool]:
        """The subjects all of whose parts are named, and whether they are one as far as a reader
        can tell: several entities that share the one name used count as one.

        Entities that statements are about go before those that only occur as values: a value
        beside an entity describes what is meant.
        """
        named = self._named(mentions)
        whole = [n for n, by in named.items() if len(by) == len(self._subjects[n].parts)]
        heads = [n for n in whole if self._subjects[n].is_head] or whole
        places = {tuple(sorted((p, *sorted(at)) for p, at in named[n].items())) for n in heads}
        return tuple(self._subjects[number] for number in heads), len(places) == 1

    def partly(self, mentions: Iterable[Mention]) -> tuple[Subject, ...]:
        """The subjects that fit all the parts that are named."""
        named = self._named(mentions)
        most = max((len(by) for by in named.values()), default=0)
        return tuple(self._subjects[number] for number, by in named.items() if len(by) == most)

    @staticmethod
    def _named(mentions: Iterable[Mention]) -> dict[int, dict[int, set[int]]]:
        named: dict[int, dict[int, set[int]]] = {}
        for mention in mentions:
            for number, position in mention.parts:
                named.setdefault(number, {}).setdefault(position, set()).add(mention.start)
        return named


def blanked(text: str, mentions: Iterable[Mention]) -> str:
    """The text without the names."""
    for mention in mentions:
        text = f"{text[: mention.start]}{' ' * (mention.end - mention.start)}{text[mention.end :]}"
    return text
