"""The questions that an examiner is asked, and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from cuecard.core.judges.material import block
from cuecard.core.judges.similarity import best_likeness
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.parts import CallDesk
from cuecard.core.probes.applying import ambiguous_steps, later_stages
from cuecard.core.probes.examinations import (
    ChainExamined,
    Examination,
    FactsAgainst,
    LawsExamined,
    NeedExamined,
    StageGuessed,
    StepExamined,
)
from cuecard.core.probes.shapes import (
    ExaminedLaws,
    KnownNeed,
    KnownStep,
    Matched,
    UnseenNeed,
    UnseenStep,
)
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import AmbiguityType, Checkpoint, FactKind, FactWorld, Task, TaskLanguage

Shape = TypeVar("Shape", bound=BaseModel)
_ATTEMPTS = 3
_MOST = 20
_NO_REASONS: dict[TaskLanguage, str] = {
    "en": "Each contradiction must name at least two facts by their numbers, each entry one short reason."
    " If nothing is wrong, leave both lists empty.",
    "zh": "每处矛盾至少要写出两个事实的编号，每一条都要有一句简短的理由。没有问题就把两个列表都留空。",
}


@dataclass(frozen=True)
class ExaminerPrompts:
    """`unseen` shows what a player would see, `known` the gold beside it. Of laws there is only `known`."""

    known: Prompt
    unseen: Prompt | None = None


class Examiner:
    """Asks one model about one task; every question has a desk of its own."""

    def __init__(self, client: ChatClient, task: Task, prompts: ExaminerPrompts) -> None:
        self._client = client
        self._task = task
        self._prompts = prompts

    async def examine(self, desk: CallDesk) -> Examination:
        """Raises `ModelCallError` and `Halt`."""
        if self._prompts.unseen is None:
            return await self._laws(desk)
        if self._task.family == "checkpoints":
            steps = [
                await self._step(number, step, desk.scope(f"step/{number}"), self._prompts.unseen)
                for number, step in ambiguous_steps(self._task)
            ]
            return ChainExamined(steps=tuple(steps))
        return await self._need(desk, self._prompts.unseen)

    async def _step(
        self, number: int, step: Checkpoint, desk: CallDesk, prompt: Prompt
    ) -> StepExamined:
        ambiguity = step.ambiguity
        assert ambiguity is not None
        asked: dict[str, object] = {"whole_question": self._task.opening, "step": step.question}
        unseen = await self._ask(UnseenStep, prompt, asked, desk.scope("unseen"))
        told = {
            **asked,
            "type": ambiguity.type.value,
            "why_ambiguous": ambiguity.logic,
            "candidates": _numbered(ambiguity.candidates),
            "meant": step.target,
            "readings": _numbered(unseen.readings if unseen else ()),
            "error": unseen.error if unseen else "",
        }
        known = await self._ask(KnownStep, self._prompts.known, told, desk.scope("known"))
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

    async def _need(self, desk: CallDesk, prompt: Prompt) -> NeedExamined:
        stages = later_stages(self._task)
        numbers = tuple(number for number, _stage in stages)
        asked: dict[str, object] = {"opening": self._task.opening}
        unseen = await self._ask(UnseenNeed, prompt, asked, desk.scope("unseen"))
        if unseen is None:
            return NeedExamined(stages=numbers)
        guesses = tuple(unseen.guesses)
        told = {
            **asked,
            "guesses": _numbered(guesses),
            "later_requests": [{"number": n, "text": stage.line} for n, stage in stages],
        }
        known = await self._ask(KnownNeed, self._prompts.known, told, desk.scope("known"))
        if known is None:
            return NeedExamined(stages=numbers, guesses=guesses)
        by = {
            f.request: guesses[f.guess - 1] for f in known.foreseen if 0 < f.guess <= len(guesses)
        }
        guessed = tuple(StageGuessed(stage=n, by=by[n]) for n in numbers if n in by)
        return NeedExamined(stages=numbers, guesses=guesses, guessed=guessed, reason=known.reason)

    async def _laws(self, desk: CallDesk) -> LawsExamined:
        world = self._task.gold
        assert isinstance(world, FactWorld)
        facts = [
            {
                "number": number,
                "kind": "rule" if fact.kind is FactKind.RULE else "fact",
                "key": fact.key,
                "value": " ".join(filter(None, (fact.value, fact.unit))),
            }
            for number, fact in enumerate(world.facts, 1)
        ]

        def complaint(answer: ExaminedLaws) -> str:
            charges = answer.contradictions or answer.implausible
            usable = _against(answer, len(facts)) or _doubts(answer, len(facts))
            return _NO_REASONS[self._task.language] if charges and not usable else ""

        material = {"question": self._task.query, "facts": facts}
        found = await self._ask(ExaminedLaws, self._prompts.known, material, desk, complaint)
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
        desk: CallDesk,
        check: Callable[[Shape], str] = lambda _answer: "",
    ) -> Shape | None:
        asked = await ask_structured(
            self._client,
            [wire.user(prompt.render(material=block(material)))],
            shape,
            desk,
            prompt=prompt,
            language=self._task.language,
            attempts=_ATTEMPTS,
            check=check,
        )
        return asked.value


def _against(found: ExaminedLaws, facts: int) -> tuple[FactsAgainst, ...]:
    """The contradictions that name facts of the world, at least two, and say why; each set once."""
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
    return tuple(FactsAgainst(facts=key, reason=usable[key]) for key in sorted(usable))[:_MOST]


def _numbered(texts: Sequence[str]) -> list[dict[str, object]]:
    return [{"number": number, "text": text} for number, text in enumerate(texts, 1)]


def _named(
    step: Checkpoint, readings: Sequence[str], matched: Sequence[Matched]
) -> tuple[str, ...]:
    """The candidates that are among the readings: by name (the target under all of its names), or in
    other words, where the examiner says which reading means which.
    """
    ambiguity = step.ambiguity
    assert ambiguity is not None
    meant = {m.candidate for m in matched if 0 < m.reading <= len(readings)}
    return tuple(
        candidate
        for number, candidate in enumerate(ambiguity.candidates, 1)
        if number in meant
        or any(best_likeness(_names_of(candidate, step), reading) for reading in readings)
    )


def _names_of(candidate: str, step: Checkpoint) -> tuple[str, ...]:
    return step.names if best_likeness(step.names, candidate) else (candidate,)
