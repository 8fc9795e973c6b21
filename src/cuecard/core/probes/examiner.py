"""The examiner: a model that examines a task with its gold. Its questions, the shapes of its answers, and its agent.

The docstrings of the shapes are part of their JSON schema, which is sent to the model.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit

from cuecard.core.config import Prompt
from cuecard.core.engine.messages import AgentReply, Dialogue, PlayerRef
from cuecard.core.engine.step_context import CallContext, StepContext
from cuecard.core.families.checkpoints.gold import AmbiguityType, Checkpoint
from cuecard.core.families.facts.gold import FactKind
from cuecard.core.families.registry import chain_of, facts_of
from cuecard.core.i18n import N_
from cuecard.core.judges.model_asking import all_required, block
from cuecard.core.judges.similarity import best_similarity
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.predictions import AnswerPrediction, Prediction, UnusablePrediction
from cuecard.core.probes.results import (
    EXAMINER,
    ChainExamined,
    Examination,
    FactsAgainst,
    LawsExamined,
    NeedExamined,
    StageGuessed,
    StepExamined,
    ambiguous_steps,
    later_stages,
    read_examination,
    says_nothing,
    written,
)
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import storable

_YES = frozenset(("yes", "y", "true", "1", "是", "对"))
_NO = frozenset(("no", "n", "false", "0", "否", "不", "none", "null", ""))
_NOTHING = frozenset(("none", "no", "n/a", "no error", "nothing", "无", "没有", "没有错误", "空"))
_MOST = 50
_LONGEST = 2000


def _text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    text = storable(value).strip()[:_LONGEST]
    # Weak models return the placeholder as it was shown to them, or punctuation alone.
    return text if any(char.isalnum() for char in text) else ""


def _texts(value: object) -> object:
    if value is None or isinstance(value, str):
        value = [value or ""]
    if not isinstance(value, list):
        return value
    texts = (_text(item) for item in cast(list[object], value))
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text))[:_MOST]


def _numbers(value: object) -> object:
    if value is None:
        return []
    items = cast(list[object], value) if isinstance(value, list) else [value]
    numbers = (int(i) if isinstance(i, str) and i.strip().isdecimal() else i for i in items)
    right = (n for n in numbers if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return list(dict.fromkeys(right))[:_MOST]


def _number(value: object) -> object:
    return next(iter(cast(list[object], _numbers(value))), None)


def _yes(value: object) -> object:
    word = str(value).strip().casefold()
    return True if word in _YES else False if word in _NO else value


def _error(value: object) -> object:
    text = _text(value)
    nothing = isinstance(text, str) and text.casefold().rstrip(".。!！") in _NOTHING
    return "" if nothing or text is False else text


def _at_most(count: int) -> Any:
    """A field whose schema limits its items, so that a weak model's list comes to an end; not validated here."""
    return Field(json_schema_extra={"maxItems": count})


Utterance = Annotated[str, BeforeValidator(_text)]
MaybeError = Annotated[str, BeforeValidator(_error)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Numbers = Annotated[list[int], BeforeValidator(_numbers)]
Number = Annotated[int, BeforeValidator(_number)]
Yes = Annotated[bool, BeforeValidator(_yes)]


class _Answer(BaseModel):
    model_config = ConfigDict(json_schema_extra=all_required)


class UnseenStep(_Answer):
    """Before anything is told: what the question could mean, and what in it is wrong ("" for nothing)."""

    readings: Annotated[Texts, _at_most(8)]
    error: MaybeError = ""


class Matched(_Answer):
    """A candidate, and the reading that means it, both by their numbers from 1."""

    candidate: Number
    reading: Number


class KnownStep(_Answer):
    """With the candidates known. `matched`, `error_found`: what of it was said before."""

    reason: Utterance = ""
    matched: Annotated[list[OnErrorOmit[Matched]], _at_most(8)] = []
    enumerable: Yes
    error_recognisable: Yes = False
    error_found: Yes = False


class UnseenNeed(_Answer):
    """Before anything is told: what the user will turn out to want."""

    guesses: Annotated[Texts, _at_most(12)]


class Foreseen(_Answer):
    """A later request, and the guess that holds it, both by their numbers from 1."""

    request: Number
    guess: Number


class KnownNeed(_Answer):
    """Which of the later requests were guessed, and by what."""

    reason: Utterance = ""
    foreseen: Annotated[list[OnErrorOmit[Foreseen]], _at_most(30)]


class Contradiction(_Answer):
    facts: Numbers
    reason: Utterance


class Doubt(_Answer):
    fact: Number
    reason: Utterance


class ExaminedLaws(_Answer):
    """What is wrong with a world: facts that cannot hold together, and facts that cannot be."""

    contradictions: Annotated[list[OnErrorOmit[Contradiction]], _at_most(10)]
    implausible: Annotated[list[OnErrorOmit[Doubt]], _at_most(10)]


Shape = TypeVar("Shape", bound=BaseModel)
_ATTEMPTS = 3
_ASKING_MOST = 20
_NO_REASONS: dict[TaskLanguage, str] = {
    "en": "Each contradiction must name at least two facts by their numbers, each entry one short reason."
    " If nothing is wrong, leave both lists empty.",
    "zh": "每处矛盾至少要写出两个事实的编号，每一条都要有一句简短的理由。没有问题就把两个列表都留空。",
}


@dataclass(frozen=True)
class ExaminerPrompts:
    """The prompts of an examination: `unseen` shows what a player would see, `known` the gold too. The probe `laws` has
    `known` only.
    """

    known: Prompt
    unseen: Prompt | None = None


class Examiner:
    """Asks one model about one task; every question has its own scope in the call context."""

    def __init__(self, client: ChatClient, task: Task, prompts: ExaminerPrompts) -> None:
        self._client = client
        self._task = task
        self._prompts = prompts

    async def examine(self, context: CallContext) -> Examination:
        """Raises `ModelCallError` and `Halt`."""
        if self._prompts.unseen is None:
            return await self._laws(context)
        if chain_of(self._task):
            steps = [
                await self._step(
                    number, step, context.scope(f"step/{number}"), self._prompts.unseen
                )
                for number, step in ambiguous_steps(self._task)
            ]
            return ChainExamined(steps=tuple(steps))
        return await self._need(context, self._prompts.unseen)

    async def _step(
        self, number: int, step: Checkpoint, context: CallContext, prompt: Prompt
    ) -> StepExamined:
        ambiguity = step.ambiguity
        assert ambiguity is not None
        asked: dict[str, object] = {"whole_question": self._task.opening, "step": step.question}
        unseen = await self._ask(UnseenStep, prompt, asked, context.scope("unseen"))
        told = {
            **asked,
            "type": ambiguity.type.value,
            "why_ambiguous": ambiguity.logic,
            "candidates": _numbered(ambiguity.candidates),
            "meant": step.target,
            "readings": _numbered(unseen.readings if unseen else ()),
            "error": unseen.error if unseen else "",
        }
        known = await self._ask(KnownStep, self._prompts.known, told, context.scope("known"))
        readings = tuple(unseen.readings) if unseen else None
        return StepExamined(
            step=number,
            factual=ambiguity.type is AmbiguityType.FACTUAL,
            candidates=ambiguity.candidates,
            readings=readings,
            named=_named(step, readings or (), known.matched if known else ()),
            error=unseen.error if unseen else "",
            enumerable=known.enumerable if known else None,
            error_recognisable=known.error_recognisable if known else None,
            error_found=known.error_found if known else None,
            reason=known.reason if known else "",
        )

    async def _need(self, context: CallContext, prompt: Prompt) -> NeedExamined:
        stages = later_stages(self._task)
        numbers = tuple(number for number, _stage in stages)
        asked: dict[str, object] = {"opening": self._task.opening}
        unseen = await self._ask(UnseenNeed, prompt, asked, context.scope("unseen"))
        if unseen is None:
            return NeedExamined(stages=numbers)
        guesses = tuple(unseen.guesses)
        told = {
            **asked,
            "guesses": _numbered(guesses),
            "later_requests": [{"number": n, "text": stage.line} for n, stage in stages],
        }
        known = await self._ask(KnownNeed, self._prompts.known, told, context.scope("known"))
        if known is None:
            return NeedExamined(stages=numbers, guesses=guesses)
        by = {
            f.request: guesses[f.guess - 1] for f in known.foreseen if 0 < f.guess <= len(guesses)
        }
        guessed = tuple(StageGuessed(stage=n, by=by[n]) for n in numbers if n in by)
        return NeedExamined(stages=numbers, guesses=guesses, guessed=guessed, reason=known.reason)

    async def _laws(self, context: CallContext) -> LawsExamined:
        facts = [
            {
                "number": number,
                "kind": "rule" if fact.kind is FactKind.RULE else "fact",
                "key": fact.key,
                "value": " ".join(filter(None, (fact.value, fact.unit))),
            }
            for number, fact in enumerate(facts_of(self._task), 1)
        ]

        def complaint(answer: ExaminedLaws) -> str:
            charges = answer.contradictions or answer.implausible
            usable = _against(answer, len(facts)) or _doubts(answer, len(facts))
            return _NO_REASONS[self._task.language] if charges and not usable else ""

        material = {"question": self._task.query, "facts": facts}
        found = await self._ask(ExaminedLaws, self._prompts.known, material, context, complaint)
        if found is None:
            return LawsExamined()
        return LawsExamined(
            contradictions=_against(found, len(facts)), implausible=_doubts(found, len(facts))
        )

    async def _ask(
        self,
        shape: type[Shape],
        prompt: Prompt,
        material: Mapping[str, object],
        context: CallContext,
        check: Callable[[Shape], str] = lambda _answer: "",
    ) -> Shape | None:
        asked = await ask_structured(
            self._client,
            [wire.user(prompt.render(material=block(material)))],
            shape,
            context,
            prompt=prompt,
            language=self._task.language,
            attempts=_ATTEMPTS,
            check=check,
        )
        return asked.value


def _against(found: ExaminedLaws, facts: int) -> tuple[FactsAgainst, ...]:
    """The contradictions that name at least two facts of the world and give a reason; each set of facts once."""
    usable = {
        tuple(sorted(charge.facts)): charge.reason
        for charge in reversed(found.contradictions)
        if len(charge.facts) > 1 and max(charge.facts) <= facts and charge.reason
    }
    return _charges(usable)


def _doubts(found: ExaminedLaws, facts: int) -> tuple[FactsAgainst, ...]:
    usable = {
        (doubt.fact,): doubt.reason
        for doubt in reversed(found.implausible)
        if 1 <= doubt.fact <= facts and doubt.reason
    }
    return _charges(usable)


def _charges(usable: Mapping[tuple[int, ...], str]) -> tuple[FactsAgainst, ...]:
    return tuple(FactsAgainst(facts=key, reason=usable[key]) for key in sorted(usable))[
        :_ASKING_MOST
    ]


def _numbered(texts: Sequence[str]) -> list[dict[str, object]]:
    return [{"number": number, "text": text} for number, text in enumerate(texts, 1)]


def _named(
    step: Checkpoint, readings: Sequence[str], matched: Sequence[Matched]
) -> tuple[str, ...]:
    """The candidates that are among the readings: by name (the target by any of its names), or in other words where the
    examiner says which reading means which candidate.
    """
    ambiguity = step.ambiguity
    assert ambiguity is not None
    meant = {m.candidate for m in matched if 0 < m.reading <= len(readings)}
    return tuple(
        candidate
        for number, candidate in enumerate(ambiguity.candidates, 1)
        if number in meant
        or any(best_similarity(_names_of(candidate, step), reading) for reading in readings)
    )


def _names_of(candidate: str, step: Checkpoint) -> tuple[str, ...]:
    return step.names if best_similarity(step.names, candidate) else (candidate,)


UNUSABLE = N_("the examiner gave no usable answer")


class ExaminerAgent:
    """The examiner as an agent, so that its calls are recorded in a trial: its one turn asks the model, and it hands in
    the examination as JSON. It is no attempt at the task, since it is shown the gold.
    """

    def __init__(self, name: str, client: ChatClient, task: Task, prompts: ExaminerPrompts) -> None:
        self._examiner = Examiner(client, task, prompts)
        hashes = [prompt.hash for prompt in (prompts.unseen, prompts.known) if prompt]
        self.ref = PlayerRef(
            name=name,
            kind=EXAMINER,
            model=client.config.model,
            version=hashlib.sha256(json.dumps(hashes).encode()).hexdigest()[:12],
        )

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        """Raises `ModelCallError` and `Halt`."""
        del dialogue
        return AgentReply(text=written(await self._examiner.examine(context)))

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        del context
        said = dialogue.last("agent")
        text = said.text if said else ""
        examination = read_examination(text)
        if examination is None or says_nothing(examination):
            return UnusablePrediction(reason=UNUSABLE, raw=text)
        return AnswerPrediction(answer=text)
