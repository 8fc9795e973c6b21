"""Asks a simulator's model for its turn: the transcript it reads, the shape of its answer, and what it is told when a
check refuses its words.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from cuecard.core.config import Prompt
from cuecard.core.engine.messages import Act, Dialogue, Flag, FlagKind, Message
from cuecard.core.engine.step_context import CallContext
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import one_line
from cuecard.core.users.responder import Move

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


Shape = TypeVar("Shape", bound=BaseModel)
_SHOWN, _MAX_SHOWN = 200, 20_000


class Examined(Protocol):
    """The result of checking a model's answer: `complaints` are sentences for the model, none if the answer passes."""

    @property
    def complaints(self) -> tuple[str, ...]: ...


Findings = TypeVar("Findings", bound=Examined)


@dataclass(frozen=True)
class Turn(Generic[Shape, Findings]):
    """The model's answer and the findings of the checks on it."""

    answer: Shape
    findings: Findings


@dataclass(frozen=True)
class Asker:
    """A simulator's model, which is asked for turns in the language of the task. Asking raises `ModelCallError` and `Halt`."""

    client: ChatClient
    language: TaskLanguage

    async def turn(
        self,
        text: str,
        shape: type[Shape],
        prompt: Prompt,
        context: CallContext,
        examine: Callable[[Shape], Findings],
    ) -> Turn[Shape, Findings] | Flag:
        """The model's answer to `text`. If `examine` finds fault with it, the model is asked once more; the second answer is
        returned whatever the checks say. A flag if the model gave no answer of that shape.
        """
        ask = partial(ask_structured, self.client, prompt=prompt, language=self.language)
        messages = [wire.user(text)]
        asked = await ask(messages, shape, context)
        if asked.value is None:
            return _unusable(asked.problem)
        findings = examine(asked.value)
        if not findings.complaints:
            return Turn(asked.value, findings)
        messages += [
            wire.assistant(asked.raw[:_MAX_SHOWN]),
            wire.user(once_more(self.language, findings.complaints)),
        ]
        again = await ask(messages, shape, context)
        if again.value is None:
            return _unusable(again.problem)
        return Turn(again.value, examine(again.value))

    async def once(
        self, text: str, shape: type[Shape], prompt: Prompt, context: CallContext
    ) -> Shape | Flag:
        """The model's answer to `text`, from a single call; a flag if it does not have that shape."""
        messages, language = [wire.user(text)], self.language
        asked = await ask_structured(
            self.client, messages, shape, context, prompt=prompt, language=language, attempts=1
        )
        return _unusable(asked.problem) if asked.value is None else asked.value


def _unusable(problem: str) -> Flag:
    return Flag(kind=FlagKind.UNUSABLE, found=one_line(problem, _SHOWN))


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
    """The dialogue as text, one paragraph per turn; turns that disclose a stage carry its number."""
    return "\n\n".join(f"[{_speaker(m, language)}]\n{m.text}" for m in dialogue.messages)


def listed(items: tuple[str, ...], language: TaskLanguage) -> str:
    """The items, one per line; the word for "none" if there are none."""
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


_YES_NO = {"是": True, "否": False, "": False}
MoveName = Literal["asks_rightly", "asks_otherwise", "right", "wrong", "nothing"]
MOVES: dict[MoveName, Move] = {
    "asks_rightly": Move.ASKS_RIGHTLY,
    "asks_otherwise": Move.ASKS_OTHERWISE,
    "right": Move.RIGHT,
    "wrong": Move.WRONG,
    "nothing": Move.NOTHING,
}


def _bool(value: object) -> object:
    if isinstance(value, str):
        return _YES_NO.get(value.strip(), value.strip())
    return False if value is None else value


def _number(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(value: object) -> object:
    return "_".join(value.lower().replace("-", " ").split()) if isinstance(value, str) else value


def _text(value: object) -> object:
    return "" if value is None else value


Bool = Annotated[bool, BeforeValidator(_bool)]
Utterance = Annotated[str, BeforeValidator(_text)]


def for_models(schema: dict[str, Any]) -> None:
    """Makes all fields required in the schema for the model, and leaves the class's docstring out of it."""
    schema["required"] = list(schema["properties"])
    schema.pop("description", None)


class _Answer(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", defer_build=True, json_schema_extra=for_models
    )


class PersonaAnswer(_Answer):
    """One turn of a persona. `stage` is asked for so that the model commits itself; the stage that counts follows from
    `cue_met`.
    """

    reason: Utterance = ""
    cue_met: Bool
    stage: Annotated[int | None, BeforeValidator(_number)] = None
    reply: Utterance
    done: Bool = False


class FarewellAnswer(_Answer):
    """One turn of a persona that has disclosed every stage."""

    reason: Utterance = ""
    reply: Utterance
    done: Bool


class ResponderAnswer(_Answer):
    """One turn of a responder: its classification of the agent's turn, and its reply."""

    reason: Utterance = ""
    move: Annotated[MoveName, BeforeValidator(_name)]
    reply: Utterance = ""
