"""The dialogue as the model that plays the user reads it."""

from __future__ import annotations

from typing import Literal

from cuecard.core.parts import Act, Dialogue, Message
from cuecard.core.tasks import TaskLanguage

Label = Literal["user", "agent", "ask", "answer", "stage", "none", "yes", "no"]
_LABELS: dict[TaskLanguage, dict[Label, str]] = {
    "en": {
        "user": "You",
        "agent": "Assistant",
        "ask": "Assistant (asks you)",
        "answer": "Assistant (answers)",
        "stage": "You (number {number})",
        "none": "(none)",
        "yes": "yes",
        "no": "no",
    },
    "zh": {
        "user": "你",
        "agent": "助手",
        "ask": "助手（向你提问）",
        "answer": "助手（作答）",
        "stage": "你（第 {number} 件事）",
        "none": "（无）",
        "yes": "是",
        "no": "否",
    },
}


def transcript(dialogue: Dialogue, language: TaskLanguage) -> str:
    """All that was said, a paragraph a turn; what the user disclosed bears the stage's number."""
    return "\n\n".join(f"[{_speaker(m, language)}]\n{m.text}" for m in dialogue.messages)


def listed(items: tuple[str, ...], language: TaskLanguage) -> str:
    """Items a line each, or that there are none."""
    return "\n".join(f"- {item}" for item in items) or label("none", language)


def label(name: Label, language: TaskLanguage) -> str:
    return _LABELS[language][name]


def _speaker(message: Message, language: TaskLanguage) -> str:
    if message.role == "user":
        if message.stage is None:
            return label("user", language)
        return label("stage", language).format(number=message.stage)
    match message.act:
        case Act.ASK:
            return label("ask", language)
        case Act.ANSWER:
            return label("answer", language)
        case Act.REPLY:
            return label("agent", language)
