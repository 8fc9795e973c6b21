"""An entity of a closed world and the headings under which its statements are found."""

from __future__ import annotations

from dataclasses import dataclass, field

from cuecard.core.phrases import content_words, coverage, spans
from cuecard.core.text import normalise
from cuecard.core.worlds.finding import asks_for_several
from cuecard.core.worlds.statements import SUBJECT_JOIN, Statement

_ENOUGH = 0.6
# Stands for the attribute found while what is left is looked at: any word with content.
_MARK = "attribute"


@dataclass(frozen=True)
class Heading:
    """`label`: the attribute; from the second statement of the same attribute with a letter,
    `variant (b)`, because an answer holds one statement only.
    """

    label: str
    statement: Statement


@dataclass
class Subject:
    """An entity, or a row's key of several parts; `is_head` if statements are about it, not only
    values named like it.
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
    """`several`: the text asks for several attributes; `unclear`: several fit equally well."""

    heading: Heading | None = None
    several: bool = False
    unclear: bool = False


def choose_heading(subject: Subject, text: str) -> Choice:
    """The one heading of a subject that a normalised text, without the entity's name, asks for."""
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
    """How much of an attribute's words a query has; 0 if too little. Half is enough if the query
    says little else.
    """
    own = content_words(attribute)
    share = coverage(own, words)
    return share if share >= _ENOUGH or (share >= 0.5 and coverage(words, own) >= 0.5) else 0.0


def _named_exactly(subject: Subject, text: str) -> list[tuple[str, tuple[int, int]]]:
    """Attributes that stand in the text, the longest first; those of small words only if no other."""
    found: dict[str, tuple[int, int]] = {}
    for attribute, start, end in spans(text, sorted(subject.groups, key=len, reverse=True)):
        found.setdefault(attribute, (start, end))
    weighty = [item for item in found.items() if content_words(item[0])]
    return weighty or list(found.items())[:1]


def _numbered(text: str) -> tuple[str, int]:
    """A text without its closing letter, `variant (b)`, and which statement that letter means."""
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
    """1 as b, 25 as z, 26 as aa."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
