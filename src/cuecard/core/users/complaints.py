"""What a simulator's model is told when its words cannot stand, in the task's language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cuecard.core.tasks import TaskLanguage

Complaint = Literal[
    "leak", "ahead", "markdown", "structure", "empty", "long", "early_end", "next_question", "clue"
]
_COMPLAINTS: dict[TaskLanguage, dict[Complaint, str]] = {
    "en": {
        "leak": "Your reply names what nobody has said yet: {found}. You do not know it.",
        "ahead": "Your reply gives away what is not to be said yet ({found}).",
        "markdown": "Your reply is laid out like a document ({found}). Talk in plain sentences.",
        "structure": "Your reply asks for a form that you never ask for ({found}).",
        "empty": "Your reply is empty.",
        "long": "Your reply is far too long. Say a few sentences.",
        "early_end": "You say that you are done, but you still have things to raise.",
        "next_question": "Your reply says one of the questions that are still to come ({found}).",
        "clue": "Your reply hints at what the question means. Nobody has asked for that.",
    },
    "zh": {
        "leak": "你的话里出现了还没有人说过的内容：{found}。你并不知道这些。",
        "ahead": "你的话提前透露了还不该说的内容（{found}）。",
        "markdown": "你的话排成了文档的样子（{found}）。请用平常说话的句子。",
        "structure": "你的话要求了你从不要求的形式（{found}）。",
        "empty": "你的话是空的。",
        "long": "你的话太长了，说几句就好。",
        "early_end": "你说已经问完了，可是还有话没有说。",
        "next_question": "你的话说出了后面才会问到的问题（{found}）。",
        "clue": "你的话暗示了问题指的是什么，而对方并没有问。",
    },
}
_AGAIN: dict[TaskLanguage, str] = {
    "en": "{complaints} Answer again with the whole JSON object.",
    "zh": "{complaints}请重新给出完整的 JSON 对象。",
}


def complaint(language: TaskLanguage, name: Complaint, found: Iterable[str] = ()) -> str:
    mark = "、" if language == "zh" else ", "
    return _COMPLAINTS[language][name].format(found=mark.join(found))


def once_more(language: TaskLanguage, complaints: Iterable[str]) -> str:
    """The message that asks again."""
    blank = "" if language == "zh" else " "
    return _AGAIN[language].format(complaints=blank.join(complaints))
