"""What the offline agent has found by its searches, and the sentences that it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from cuecard.core.engine.events import Event, ToolAnswered
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.engine.step_context import StepContext
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import normalise, spans
from cuecard.core.worlds.statements import Form, ParsedStatement, read_entry

_MAX_NAME = 60
_MAX_QUERY = 600


class SearchResult(NamedTuple):
    """A statement that a search gave; `subject` is empty for one without an entity."""

    subject: str
    attribute: str
    value: str


class Notes:
    """Statements, headings, directories and topics, each once and in the order found.

    `facts`: statement -> the turn in which it was first found. `headings`: entity -> the headings on record about it.
    `directories`: columns -> names of rows. `asked`: normalised query -> what it gave.
    """

    def __init__(self, language: TaskLanguage) -> None:
        self.language: TaskLanguage = language
        self.facts: dict[SearchResult, int] = {}
        self.headings: dict[str, tuple[str, ...]] = {}
        self.directories: dict[str, dict[str, None]] = {}
        self.topics: dict[str, None] = {}
        self.asked: dict[str, tuple[ParsedStatement, ...]] = {}
        self._known: Counter[tuple[str, str]] = Counter()
        self._names: dict[str, str] = {}

    @classmethod
    def before(cls, events: Iterable[Event], turn: int, language: TaskLanguage) -> Notes:
        """The notes at the beginning of a turn. Searches of the turn itself are left out: when a trial is resumed the
        log already holds them, and they must be made again in the same order.
        """
        notes = cls(language)
        for event in events:
            body = event.body
            if isinstance(body, ToolAnswered) and body.part == "agent" and body.turn < turn:
                query = body.call.arguments.get("query")
                notes.take(query if isinstance(query, str) else "", body.answer, body.turn)
        return notes

    def take(self, query: str, answer: ToolAnswer, turn: int) -> tuple[ParsedStatement, ...]:
        """Note an answer; returns the statements and lists in its entries, without background."""
        read = (read_entry(self.language, e.title, e.content) for e in answer.entries)
        told = tuple(said for said in read if said is not None)
        self.asked[asked_as(query)] = told
        for said in told:
            match said.form:
                case Form.STATEMENT:
                    self._note(SearchResult(said.subject, said.attribute, said.value), turn)
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
        """Whether every statement under this heading of an entity is known already, perhaps from the other direction: a
        value's headings lead back to the entity that it belongs to.
        """
        base = _base_key(label)
        listed = sum(1 for other in self.headings.get(name, ()) if _base_key(other) == base)
        return self._known[base, _key(name)] >= max(listed, 1)

    def value(self, subject: str, attribute: str) -> str:
        """A value that was found, or an empty text."""
        return next(
            (f.value for f in self.facts if f.subject == subject and f.attribute == attribute), ""
        )

    def _note(self, found: SearchResult, turn: int) -> None:
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
    """The key of a query in `Notes.asked`; only the beginning of a long query is sent."""
    return normalise(query.strip()[:_MAX_QUERY])


@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    # Cached: called for every heading at every search, and headings can be as long as pages.
    return normalise(text)


@lru_cache(maxsize=4096)
def _base_key(label: str) -> str:
    return normalise(_base(label))


def _base(label: str) -> str:
    """A heading without the letter that distinguishes statements of the same attribute: `variant (b)`."""
    head, opened, letters = label.rpartition(" (")
    lettered = opened and letters.endswith(")") and letters[:-1].isalpha() and len(letters) <= 3
    return head if lettered else label


class Searcher:
    """Searches through the step context, at most `left` times, and never with the same query twice."""

    def __init__(self, context: StepContext, notes: Notes, turn: int, left: int) -> None:
        self.notes = notes
        self.left = left
        self._context = context
        self._turn = turn
        self._tool = next((tool.name for tool in context.tools if "search" in tool.name), "")

    async def search(self, query: str) -> tuple[ParsedStatement, ...]:
        query = query.strip()[:_MAX_QUERY]
        known = self.notes.asked.get(asked_as(query))
        if known is not None:
            return known
        if self.left <= 0 or not self._tool or not asked_as(query):
            return ()
        self.left -= 1
        call = ToolCall(name=self._tool, arguments={"query": query})
        return self.notes.take(query, await self._context.call_tool(call), self._turn)


Key = Literal[
    "found",
    "before",
    "nothing",
    "not_on",
    "next",
    "anything",
    "that_is_all",
    "cells",
    "more_cells",
    "column",
    "name_one",
    "meant",
    "answer",
    "evidence",
    "stuck",
]
_SPEECH: dict[TaskLanguage, dict[Key, str]] = {
    "en": {
        "found": "Here is what I found:",
        "before": "From what I found before:",
        "nothing": "I found nothing on record about that.",
        "not_on": "I found nothing on record about: {what}.",
        "next": "Shall I look into {options} next?",
        "anything": "Is there anything else you would like to know?",
        "that_is_all": "That is all I could find.",
        "cells": "I found {found} of {all} cells so far.",
        "more_cells": "Shall I go on with the rest?",
        "column": "Do you also need {column}? Shall I look it up next?",
        "name_one": "Could you name one of the entries that you mean?",
        "meant": "Did you mean {options}?",
        "answer": "I take it to be {value}.",
        "evidence": "On record: {topic}: {value}.",
        "stuck": "I searched for {what} but found no answer on record.",
    },
    "zh": {
        "found": "查到以下内容：",
        "before": "此前已查到：",
        "nothing": "关于这一点，没有查到任何记录。",
        "not_on": "没有查到相关记录：{what}。",
        "next": "接下来是否还需要查一查{options}？",
        "anything": "您还需要了解其他内容吗？",
        "that_is_all": "能查到的就是这些。",
        "cells": "目前查到 {found} 格，共 {all} 格。",
        "more_cells": "要不要接着查其余的？",
        "column": "是否还需要{column}？要不要接着查？",
        "name_one": "能否说出您要找的其中一项？",
        "meant": "您指的是{options}？",
        "answer": "我认为是{value}。",
        "evidence": "记录显示，{topic}：{value}。",
        "stuck": "我查了{what}，没有找到答案。",
    },
}
_OR: dict[TaskLanguage, tuple[str, str]] = {"en": (", ", " or "), "zh": ("、", "，还是")}


def say(language: TaskLanguage, key: Key, **parts: object) -> str:
    return _SPEECH[language][key].format(**parts)


def facts_as_lines(facts: Sequence[SearchResult]) -> str:
    """One statement a line: "Achille Gaggia — patented — lever machine"."""
    return "\n".join(" — ".join(part for part in found if part) for found in facts)


def did_you_mean(language: TaskLanguage, options: Sequence[str]) -> str:
    """A question that names all options: "Did you mean A, B or C?"."""
    return say(language, "meant", options=_listed(language, options))


def propose(language: TaskLanguage, headings: Sequence[tuple[str, str]]) -> str:
    """A question that offers entities with one of their headings each."""
    form = "{} ({})" if language == "en" else "{}（{}）"
    return say(language, "next", options=_listed(language, [form.format(*h) for h in headings]))


def _listed(language: TaskLanguage, options: Sequence[str]) -> str:
    comma, last = _OR[language]
    return last.join((*([comma.join(options[:-1])] if options[1:] else ()), options[-1]))


def answered_value(language: TaskLanguage, text: str) -> str:
    """The value in an answer that `say(..., "answer")` made; empty if there is none."""
    head, tail = _SPEECH[language]["answer"].split("{value}")
    found = re.match(re.escape(head) + "(.+)" + re.escape(tail) + r"(?:\n|$)", text)
    return found[1] if found else ""


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [_row(columns), _row(["---"] * len(columns)), *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
