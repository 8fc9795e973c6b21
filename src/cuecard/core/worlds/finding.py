"""Interprets queries to a closed world: which entities a query names, and which of their attributes it asks for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cuecard.core.i18n import N_
from cuecard.core.text import content_words, coverage, is_question, normalise, sentences, spans
from cuecard.core.worlds.statements import SUBJECT_JOIN, Form, Statement

# Reasons of the hit log: recorded as they stand here, translated where a screen shows them.
FOUND = N_("one entity and one attribute, on record")
SEVERAL_ENTITIES = N_("names several entities")
SEVERAL_ATTRIBUTES = N_("asks for several things at once")
NO_ENTITY = N_("names no entity on record")
NO_ATTRIBUTE = N_("names an entity but no attribute on record")
UNCLEAR_ATTRIBUTE = N_("fits several attributes on record equally well")
WITHHELD = N_("asks for what is never stated: the final answer")
NOT_ON_RECORD = N_("nothing on record fits")

MAX_WORDS = 14
_AND = re.compile(
    r"\b(?:and|or|as well as|plus|versus|vs|both)\b|[&;；、/]|以及|和|与|及|还有|或者|分别",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Lead:
    """A list that helps an agent to ask better: names and headings, never values."""

    form: Form
    name: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What a query finds: a `statement` for a hit, otherwise `leads` (none for a compound query). `reason`: for the hit
    log.
    """

    reason: str
    statement: Statement | None = None
    is_compound: bool = False
    leads: tuple[Lead, ...] = ()


class Index(Protocol):
    def find(self, query: str) -> Finding: ...

    def related(self, statement: Statement, leads: tuple[Lead, ...]) -> tuple[Lead, ...]:
        """The leads that are shown beside a statement that was found with `leads`."""
        ...


def compound(reason: str) -> Finding:
    return Finding(reason, is_compound=True)


def asks_for_several(text: str) -> bool:
    """Whether a query asks for several things: several parts with content words joined by "and" and the like, several
    questions, or more words than one question needs.
    """
    if len(parts_with_content(text)) > 1:
        return True
    if sum(1 for s in sentences(text) if is_question(s) and content_words(s)) > 1:
        return True
    latin = [word for word in content_words(text) if word.isascii()]
    return len(latin) > MAX_WORDS or len(content_words(text)) > 3 * MAX_WORDS


def parts_with_content(text: str) -> tuple[str, ...]:
    return tuple(part for part in _AND.split(text) if content_words(part))


_ENOUGH = 0.6
# Takes the place of the attribute that was found while the rest of the query is examined: any content word will do.
_MARK = "attribute"


@dataclass(frozen=True)
class Heading:
    """One statement under its attribute. `label`: the attribute; further statements with the same attribute get a letter
    (`variant (b)`), because an answer holds one statement only.
    """

    label: str
    statement: Statement


@dataclass
class Subject:
    """An entity (or the key of a table row, which may have several parts) with its headings. `is_head`: statements are
    about it; otherwise it only occurs as a value.
    """

    parts: tuple[tuple[str, ...], ...]
    headings: list[Heading] = field(default_factory=list)
    groups: dict[str, list[Heading]] = field(default_factory=dict)
    is_head: bool = False

    @property
    def title(self) -> str:
        return SUBJECT_JOIN.join(names[0] for names in self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        return self.parts[0] if len(self.parts) == 1 else (self.title,)

    def add(self, statement: Statement) -> None:
        group = self.groups.setdefault(normalise(statement.attribute), [])
        label = statement.attribute
        if group:
            label = f"{label} ({_letters(len(group))})"
        heading = Heading(label, statement)
        group.append(heading)
        self.headings.append(heading)


@dataclass(frozen=True)
class Choice:
    """The heading that a query asks for, or why there is none: it asks for `several`, or several fit equally well
    (`unclear`).
    """

    heading: Heading | None = None
    several: bool = False
    unclear: bool = False


def choose_heading(subject: Subject, text: str) -> Choice:
    """The heading of a subject that a query asks for. `text`: the normalised query without the entity's name."""
    text, number = _numbered(text)
    named = _named_exactly(subject, text)
    if len(named) > 1:
        return Choice(several=True)
    if named:
        attribute, (start, end) = named[0]
        rest = f"{text[:start]} {_MARK} {text[end:]}"
        if asks_for_several(rest):
            return Choice(several=True)
        return _numbered_heading(subject, attribute, number)
    words = content_words(text)
    scored = [(_fit(a, words), a) for a in subject.groups]
    best = max((score for score, _ in scored), default=0.0)
    near = [a for score, a in scored if score == best] if best else []
    if not near:
        return Choice()
    longest = max(len(content_words(a)) for a in near)
    near = [a for a in near if len(content_words(a)) == longest]
    if asks_for_several(text):
        return Choice(several=True)
    if len(near) > 1:
        apart = not set(content_words(near[0])) & set(content_words(near[1]))
        return Choice(several=apart and best == 1.0, unclear=True)
    return _numbered_heading(subject, near[0], number)


def _fit(attribute: str, words: tuple[str, ...]) -> float:
    """The share of an attribute's words that a query has; 0 if it is too small. Half is enough if the query has few
    other words.
    """
    own = content_words(attribute)
    share = coverage(own, words)
    return share if share >= _ENOUGH or (share >= 0.5 and coverage(words, own) >= 0.5) else 0.0


def _named_exactly(subject: Subject, text: str) -> list[tuple[str, tuple[int, int]]]:
    """The attributes named word for word in the text, with their places, the longest first; attributes of function
    words only if there are no others.
    """
    found: dict[str, tuple[int, int]] = {}
    for attribute, start, end in spans(text, sorted(subject.groups, key=len, reverse=True)):
        found.setdefault(attribute, (start, end))
    weighty = [item for item in found.items() if content_words(item[0])]
    return weighty or list(found.items())[:1]


def _numbered(text: str) -> tuple[str, int]:
    """A text without the letter at its end, and the number of the statement it means: `variant (b)` is number 1."""
    head, opened, letters = text.rstrip(") ").rpartition("(")
    if opened and letters.isascii() and letters.isalpha() and len(letters) <= 2:
        number = 0
        for letter in letters.lower():
            number = number * 26 + ord(letter) - ord("a") + 1
        return head.strip(), number - 1
    return text, 0


def _numbered_heading(subject: Subject, attribute: str, number: int) -> Choice:
    group = subject.groups[attribute]
    return Choice(group[number]) if number < len(group) else Choice(unclear=True)


def _letters(number: int) -> str:
    """The letter of statement `number` (from 0): 1 is b, 25 is z, 26 is aa."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


@dataclass(frozen=True)
class Mention:
    """A name found in a text; `parts`: which parts of which subjects it names, as pairs of indices."""

    start: int
    end: int
    parts: tuple[tuple[int, int], ...]


class Mentions:
    """Finds names and aliases of all subjects in texts, the longest first: `New York` is not also `York`."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._subjects = subjects
        names: dict[str, dict[tuple[int, int], None]] = {}
        for number, subject in enumerate(subjects):
            for position, part in enumerate(subject.parts):
                for name in part:
                    names.setdefault(normalise(name), {}).setdefault((number, position))
        attributes = {attribute for subject in subjects for attribute in subject.groups}
        # An attribute that contains a name (caffeine, café) does not mention the entity.
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
        """The subjects all of whose parts are named, and whether they are one to a reader: entities that share the name
        that was used count as one.

        If entities that statements are about are named, those that only occur as values are left out, since a value
        beside an entity only describes what is meant.
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
