"""Marks a judge's verdicts on the inputs of an exam, target by target, and says what they move of the main measure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cuecard.core.exam.probes import ExamInput, Probe, Target
from cuecard.core.families.registry import family_of
from cuecard.core.scoring.trial_score import score_prediction
from cuecard.core.tasks.models import Family, TaskLanguage
from cuecard.core.verdicts import Decision, Decisions, ItemKind, Judgement, Verdict


@dataclass(frozen=True)
class Mark:
    """The decision on one target. `expected`: the right one, or that on the input it is held against."""

    target: Target
    decision: Decision
    expected: Decision

    @property
    def missed(self) -> bool:
        """A verdict that is open or unusable is a mistake too, where another was expected."""
        return self.decision is not self.expected

    @property
    def unusable(self) -> bool:
        return self.decision is Decision.UNJUDGED


@dataclass(frozen=True)
class Answered:
    """An input of a task's exam with what the judge said. `judgement`: None until it was asked; `before`: of the input that
    it is held against. `trial_id`: where it is recorded; 0 where it is not.
    """

    task_id: str
    language: TaskLanguage
    given: ExamInput
    judgement: Judgement | None
    base: ExamInput | None = None
    before: Judgement | None = None
    trial_id: int = 0

    @property
    def family(self) -> Family:
        return self.given.task.family

    @property
    def probe(self) -> Probe | None:
        return self.given.probe

    @property
    def open(self) -> bool:
        """Whether it waits for the judge, on itself or on what it is held against."""
        return self.judgement is None or (self.base is not None and self.before is None)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """One for each target; none while it is open, or for an input that only others are held against."""
        return () if self.open or self.probe is None else tuple(self._marks())

    def _marks(self) -> Iterator[Mark]:
        found = _decisions(self.judgement)
        earlier = _decisions(self.before)
        items = {target.at: target.item for target in self.base.targets} if self.base else {}
        for target in self.given.targets:
            decision = found.decision(target.item.kind, target.item.index, target.item.column)
            if self.base is None:
                expected = Decision.YES if target.right else Decision.NO
            else:
                item = items[target.at]
                expected = earlier.decision(item.kind, item.index, item.column)
            yield Mark(target, decision, expected)

    @cached_property
    def points(self) -> float | None:
        """How much the family's main measure of this input is higher by the verdicts on its targets than it were by the
        expected ones, in points of 100; None where it is undefined.
        """
        if self.judgement is None or not self.marks:
            return None
        judged = (mark for mark in self.marks if not mark.target.rule)
        missed = {mark.target.item.key: mark for mark in judged if mark.missed}
        if not missed:
            return 0.0
        expected = [self._corrected(v, missed) for v in self.judgement.verdicts]
        reference = self.judgement.model_copy(update={"verdicts": tuple(expected)})
        own, right = (self._main(judgement) for judgement in (self.judgement, reference))
        return None if own is None or right is None else 100 * (own - right)

    def _corrected(self, verdict: Verdict, missed: Mapping[str, Mark]) -> Verdict:
        mark = missed.get(verdict.item.key)
        if mark is None:
            return verdict
        supporting = verdict.supporting
        if verdict.item.kind is ItemKind.TRIPLE:
            lines = self.given.prediction.lines
            given = mark.target.given.split("; ") if mark.expected is Decision.YES else ()
            supporting = tuple(lines.index(line) for line in given if line in lines)
        return verdict.model_copy(update={"decision": mark.expected, "supporting": supporting})

    def _main(self, judgement: Judgement) -> float | None:
        task = self.given.task
        name = family_of(task).main
        measures = score_prediction(task, self.given.prediction, judgement)
        return next((measure.value for measure in measures if measure.name == name), None)


def answered(
    task_id: str,
    language: TaskLanguage,
    inputs: Iterable[ExamInput],
    judgements: Mapping[str, Judgement],
    trials: Mapping[str, int] | None = None,
) -> tuple[Answered, ...]:
    """The inputs of one task with the judgements, and the trials that hold them, by the input's key."""
    by_key = {given.key: given for given in inputs}
    return tuple(
        Answered(
            task_id,
            language,
            given,
            judgements.get(key),
            by_key.get(given.base) if given.base else None,
            judgements.get(given.base) if given.base else None,
            (trials or {}).get(key, 0),
        )
        for key, given in by_key.items()
    )


def _decisions(judgement: Judgement | None) -> Decisions:
    return Decisions.of(judgement.verdicts if judgement else ())
