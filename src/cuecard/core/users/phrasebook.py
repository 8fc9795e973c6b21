"""What the scripted users say of their own, in the task's language.

This is dialogue, not interface: it follows the task, never the setting of whoever watches.
"""

from __future__ import annotations

from typing import Literal

from cuecard.core.tasks import TaskLanguage

Phrase = Literal[
    "push",
    "no_preference",
    "thanks",
    "go_on",
    "completed",
    "wrong",
    "nothing_yet",
    "no_wish",
    "give_up",
]
_PHRASES: dict[TaskLanguage, dict[Phrase, str]] = {
    "en": {
        "push": "That is not quite what I am after yet. Could you go on?",
        "no_preference": "I don't mind either way; please decide yourself.",
        "thanks": "Thank you, that is all I wanted to know.",
        "go_on": "That fits, go on.",
        "completed": "Yes, that is what I was looking for. Thank you!",
        "wrong": "That does not seem right to me. Please look again.",
        "nothing_yet": "I don't see an answer in that yet. Please go on.",
        "no_wish": "I have no special wish there; take it as it stands.",
        "give_up": "I don't think we are getting anywhere. Let us leave it there, thank you.",
    },
    "zh": {
        "push": "这还不是我想要的，请继续。",
        "no_preference": "这个我都可以，您来定吧。",
        "thanks": "谢谢，我想知道的就是这些。",
        "go_on": "对得上，请继续。",
        "completed": "对，我要找的就是这个。谢谢！",
        "wrong": "这个好像不对，请再查一查。",
        "nothing_yet": "我还没有看到答案，请继续。",
        "no_wish": "这一点我没有特别的要求，按字面理解就行。",
        "give_up": "看来查不出来了，就到这里吧，谢谢。",
    },
}
_PUSHES: dict[TaskLanguage, tuple[str, ...]] = {
    "en": (
        "Hm, that does not really help me yet. Could you look a little further?",
        "Could you be more specific about that?",
        "I think you have missed what I asked. Please take another look.",
        "Go on, I am not there yet.",
        "Is that all you can find? I had hoped for more.",
        "I see. And what else is there to say about it?",
    ),
    "zh": (
        "嗯，这对我帮助不大，能再查一查吗？",
        "能说得更具体一些吗？",
        "您好像没有回答我的问题，请再看一下。",
        "请接着说，我想知道的还没说到。",
        "只能查到这些吗？我还想了解得更多。",
        "明白了，那还有别的吗？",
    ),
}


def pushes(language: TaskLanguage) -> tuple[str, ...]:
    """Natural ways to have an agent go on that give nothing away, the scripted one first."""
    return (_PHRASES[language]["push"], *_PUSHES[language])


def phrase(language: TaskLanguage, name: Phrase) -> str:
    return _PHRASES[language][name]
