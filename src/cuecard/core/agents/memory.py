"""What a model agent remembers: notes within a task, and lessons from task to task."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tagged import split_thoughts
from cuecard.core.agents.turn import Answering, OwnTool, Place
from cuecard.core.parts import ToolAnswer, ToolCall, ToolSpec
from cuecard.core.tasks import TaskLanguage
from cuecard.core.text import one_line

MAX_LESSONS = 5
_MAX_LESSON = 400
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、．])\s*(.+)")

WRITE_NOTE = ToolSpec(
    name="write_note",
    description=(
        "Write down something that must not be forgotten: it stays in view when older parts of the"
        " conversation are cut. 记下不能忘记的内容；对话较早的部分被截去后，笔记仍然可见。"
    ),
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The note, in a few sentences."}},
        "required": ["text"],
    },
)
READ_NOTES = ToolSpec(
    name="read_notes",
    description="Read all notes that were written so far. 读取目前写下的全部笔记。",
    parameters={"type": "object", "properties": {}},
)


class NoteWriter:
    """The tool `write_note`. The notes are the thread's."""

    spec = WRITE_NOTE

    def __init__(self, language: TaskLanguage) -> None:
        self._language: TaskLanguage = language

    def begin(self, call: ToolCall, place: Place) -> Answering:
        given = call.arguments.get("text")
        text = given.strip() if isinstance(given, str) else ""
        if not text:
            missing = say(self._language, Note.MISSING, name="text")
            return _at_once(ToolAnswer(text=missing, ok=False))
        place.thread.notes.append(text)
        number = str(len(place.thread.notes))
        return _at_once(ToolAnswer(text=say(self._language, Note.NOTED, n=number)))


class NoteReader:
    """The tool `read_notes`."""

    spec = READ_NOTES

    def __init__(self, language: TaskLanguage) -> None:
        self._language: TaskLanguage = language

    def begin(self, call: ToolCall, place: Place) -> Answering:
        notes = "\n".join(f"{i}. {note}" for i, note in enumerate(place.thread.notes, 1))
        return _at_once(ToolAnswer(text=notes or say(self._language, Note.NONE)))


def note_tools(language: TaskLanguage) -> tuple[OwnTool, ...]:
    return NoteWriter(language), NoteReader(language)


def read_lessons(text: str) -> tuple[str, ...]:
    """The lessons in a model's reply: its list items, at most `MAX_LESSONS`."""
    _thoughts, said = split_thoughts(text)
    items = (_BULLET.fullmatch(line) for line in said.splitlines())
    lessons = [one_line(item[1], _MAX_LESSON) for item in items if item]
    return tuple(dict.fromkeys(lesson for lesson in lessons if lesson))[:MAX_LESSONS]


def listed(notes: Sequence[str]) -> str:
    return "\n".join(f"- {note}" for note in notes)


def _at_once(answer: ToolAnswer) -> Answering:
    async def perform() -> ToolAnswer:
        return answer

    return perform
