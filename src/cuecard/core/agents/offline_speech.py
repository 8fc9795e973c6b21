"""How the offline agent talks: short, in the task's language, and nothing it has not found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from cuecard.core.agents.offline_notes import Found
from cuecard.core.tasks import TaskLanguage

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


def facts_as_lines(facts: Sequence[Found]) -> str:
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
