"""What the offline agent has learnt: read from the log, and added to while it searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from cuecard.core.events import Event, ToolAnswered
from cuecard.core.parts import Desk, ToolAnswer, ToolCall
from cuecard.core.phrases import spans
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import normalise
from cuecard.core.worlds.forms import Form, Said, read_entry

_MAX_NAME = 60
_MAX_QUERY = 600


class Found(NamedTuple):
    """A statement that a search gave; `subject` is empty for one without an entity."""

    subject: str
    attribute: str
    value: str


class Notes:
    """Statements, headings, directories and topics, each once and in the order found.

    `facts`: statement -> the turn in which it was first found. `headings`: entity -> what is on
    record about it. `directories`: columns -> names. `asked`: normalised query -> what it gave.
    """

    def __init__(self, language: TaskLanguage) -> None:
        self.language: TaskLanguage = language
        self.facts: dict[Found, int] = {}
        self.headings: dict[str, tuple[str, ...]] = {}
        self.directories: dict[str, dict[str, None]] = {}
        self.topics: dict[str, None] = {}
        self.asked: dict[str, tuple[Said, ...]] = {}
        self._known: Counter[tuple[str, str]] = Counter()
        self._names: dict[str, str] = {}

    @classmethod
    def before(cls, events: Iterable[Event], turn: int, language: TaskLanguage) -> Notes:
        """What was learnt before a turn. Searches of the turn itself are left out: on resuming,
        the log already holds them, and they must be made in the same order again.
        """
        notes = cls(language)
        for event in events:
            body = event.body
            if isinstance(body, ToolAnswered) and body.part == "agent" and body.turn < turn:
                query = body.call.arguments.get("query")
                notes.take(query if isinstance(query, str) else "", body.answer, body.turn)
        return notes

    def take(self, query: str, answer: ToolAnswer, turn: int) -> tuple[Said, ...]:
        """Note down an answer; gives what its entries say, noise left out."""
        read = (read_entry(self.language, e.title, e.content) for e in answer.entries)
        told = tuple(said for said in read if said is not None)
        self.asked[asked_as(query)] = told
        for said in told:
            match said.form:
                case Form.STATEMENT:
                    self._note(Found(said.subject, said.attribute, said.value), turn)
                case Form.HEADINGS:
                    self.headings[said.subject] = said.items
                    self._name(said.subject)
                case Form.DIRECTORY:
                    names = self.directories.setdefault(said.subject, {})
                    names.update(dict.fromkeys(said.items))
                case Form.TOPICS:
                    self.topics.update(dict.fromkeys(said.items))
                case Form.READINGS:
                    pass
        return told

    def names_in(self, text: str) -> tuple[str, ...]:
        """The entities known by name that a text names, in its order."""
        longest_first = sorted(self._names, key=lambda name: (-len(name), name))
        found = sorted(spans(normalise(text), longest_first), key=lambda item: item[1])
        return tuple(dict.fromkeys(self._names[name] for name, _, _ in found))

    def has_all(self, name: str, label: str) -> bool:
        """Whether every statement under this heading of an entity is known already, be it from the
        other side: the headings of a value lead back to what it is the value of.
        """
        base = _base_key(label)
        listed = sum(1 for other in self.headings.get(name, ()) if _base_key(other) == base)
        return self._known[base, _key(name)] >= max(listed, 1)

    def value(self, subject: str, attribute: str) -> str:
        """A value that was found, or an empty text."""
        return next(
            (f.value for f in self.facts if f.subject == subject and f.attribute == attribute), ""
        )

    def _note(self, found: Found, turn: int) -> None:
        if found in self.facts:
            return
        self.facts[found] = turn
        attribute = normalise(found.attribute)
        for name in {normalise(found.subject), normalise(found.value)}:
            self._known[attribute, name] += 1
        self._name(found.subject)
        self._name(found.value)

    def _name(self, name: str) -> None:
        if name and len(name) <= _MAX_NAME and not name.isdigit() and normalise(name):
            self._names.setdefault(normalise(name), name)


def asked_as(query: str) -> str:
    """Under what `Notes.asked` has a query, of which only the beginning is sent."""
    return normalise(query.strip()[:_MAX_QUERY])


@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    # Asked again for every heading at every search, and headings can be as long as pages.
    return normalise(text)


@lru_cache(maxsize=4096)
def _base_key(label: str) -> str:
    return normalise(_base(label))


def _base(label: str) -> str:
    """A heading without the letter that tells several statements of one attribute apart."""
    head, opened, letters = label.rpartition(" (")
    lettered = opened and letters.endswith(")") and letters[:-1].isalpha() and len(letters) <= 3
    return head if lettered else label


class Searcher:
    """Searches through the desk, at most `left` times, and never for the same thing twice."""

    def __init__(self, desk: Desk, notes: Notes, turn: int, left: int) -> None:
        self.notes = notes
        self.left = left
        self._desk = desk
        self._turn = turn
        self._tool = next((tool.name for tool in desk.tools if "search" in tool.name), "")

    async def search(self, query: str) -> tuple[Said, ...]:
        query = query.strip()[:_MAX_QUERY]
        known = self.notes.asked.get(asked_as(query))
        if known is not None:
            return known
        if self.left <= 0 or not self._tool or not asked_as(query):
            return ()
        self.left -= 1
        call = ToolCall(name=self._tool, arguments={"query": query})
        return self.notes.take(query, await self._desk.call_tool(call), self._turn)
