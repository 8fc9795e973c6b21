"""What rescoring moved, as data. Trials are named by task, agent and sample, runs by name and uid."""

from __future__ import annotations

from cuecard.annotate.agreement import Statistic
from cuecard.core.rescoring.items import Fate
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision


class GoldMoves(Frozen):
    """What became of a task's gold items between two revisions."""

    task_id: str
    old: int
    new: int
    counts: dict[Fate, int]


class LeftOut(Frozen):
    """A task that could not be judged on its new revision; `changed` in English."""

    task_id: str
    old: int
    new: int
    changed: tuple[str, ...]
    trials: int


class MeasureMove(Frozen):
    """A measure's mean over the same tasks before and after; `difference` is paired by task."""

    agent: str
    family: Family
    name: str
    taken: Taken
    samples: int
    old: Statistic
    new: Statistic
    difference: Statistic


class ItemMove(Frozen):
    """A gold item of one trial that is not what it was, or is decided otherwise. `asked`: the judge was asked about
    it. `was` and `now` are None where the revision has no such item.
    """

    task_id: str
    agent: str
    sample: int
    trial: int
    fate: Fate
    old_text: str
    new_text: str
    was: Decision | None
    now: Decision | None
    asked: bool
    rationale: str = ""


class JudgeMoves(Frozen):
    """Of one judge: items over all trials that kept their verdicts, were asked about, are gone, and are left
    unjudged; trials without a judgement. `calls` were made now, `calls_before` for the judgements that were there.
    """

    judge: str
    baseline: bool
    kept: int = 0
    asked: int = 0
    removed: int = 0
    unjudged: int = 0
    missing: int = 0
    calls: int = 0
    calls_before: int = 0
    measures: tuple[MeasureMove, ...] = ()
    items: tuple[ItemMove, ...] = ()

    @property
    def saved(self) -> int:
        return max(self.calls_before - self.calls, 0)


class RescoreReport(Frozen):
    """`new` and `new_uid` are "" for a rescoring that was only planned; then nothing has moved yet."""

    old: str
    old_uid: str
    new: str
    new_uid: str
    trials: int
    open: int
    gold: tuple[GoldMoves, ...]
    left: tuple[LeftOut, ...]
    judges: tuple[JudgeMoves, ...]
    closed_worlds: int = 0
