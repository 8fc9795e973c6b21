"""Why decisions were wrong, counted over what was adjudicated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from cuecard.annotate.adjudication.deciding import CAUSES, JUDGE_CAUSES, Why
from cuecard.annotate.adjudication.disputes import UNDECIDED, Place, machine_sides
from cuecard.core.tasks.base import Frozen
from cuecard.store.label_records import Adjudication

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Counts = Mapping[Why, int]


class JudgeErrors(Frozen):
    """Of the `adjudicated` items that a judge decided, `wrong` were decided otherwise by the adjudicator:
    `causes` counts these.
    """

    judge: str
    adjudicated: int
    wrong: int
    causes: dict[Why, int]


class CauseReport(Frozen):
    """Adjudicated items by the cause that counts; "" is that nobody erred. Causes that did not occur are
    left out; all others come in the order of the taxonomy. `by_family` and `by_language` count each item
    once, under its task's.
    """

    adjudicated: int
    causes: dict[Why, int]
    judges: tuple[JudgeErrors, ...]
    by_family: dict[str, dict[Why, int]]
    by_language: dict[str, dict[Why, int]]

    @property
    def judge_errors(self) -> int:
        """Items on which the judge erred."""
        return sum(self.causes.get(cause, 0) for cause in JUDGE_CAUSES)


def causes_of(workspace: Workspace, run_ids: Collection[int] | None = None) -> CauseReport:
    """Causes of what was adjudicated in these runs, or in all. Raises `NotFound`."""
    trials: list[int] | None = None
    if run_ids is not None:
        trials = [t.id for run_id in run_ids for t in workspace.runs.trials(run_id)]
    decided = {
        (each.trial_id, each.item_key): each for each in workspace.adjudications.newest(trials)
    }
    if not decided:
        return CauseReport(adjudicated=0, causes={}, judges=(), by_family={}, by_language={})
    known = {id: workspace.runs.trial(id) for id in {each.trial_id for each in decided.values()}}
    languages = {s.id: s.language for s in workspace.tasks.summaries(include_retired=True)}
    families: dict[str, list[Why]] = {}
    tongues: dict[str, list[Why]] = {}
    for each in decided.values():
        trial = known[each.trial_id]
        families.setdefault(trial.family, []).append(each.cause)
        tongues.setdefault(languages.get(trial.task_id, ""), []).append(each.cause)
    return CauseReport(
        adjudicated=len(decided),
        causes=_counted(each.cause for each in decided.values()),
        judges=_by_judge(workspace, decided, run_ids),
        by_family={name: _counted(families[name]) for name in sorted(families)},
        by_language={name: _counted(tongues[name]) for name in sorted(tongues)},
    )


def _by_judge(
    workspace: Workspace, decided: Mapping[Place, Adjudication], run_ids: Collection[int] | None
) -> tuple[JudgeErrors, ...]:
    total: Counter[str] = Counter()
    wrong: dict[str, list[Why]] = {}
    for place, sides in machine_sides(workspace, decided.keys(), run_ids).items():
        said = decided[place].value.value
        for side in sides:
            if side.value in UNDECIDED or said in UNDECIDED:
                continue
            total[side.by.name] += 1
            if side.value != said:
                wrong.setdefault(side.by.name, []).append(decided[place].cause)
    return tuple(
        JudgeErrors(
            judge=judge,
            adjudicated=total[judge],
            wrong=len(wrong.get(judge, ())),
            causes=_counted(wrong.get(judge, ())),
        )
        for judge in sorted(total)
    )


def _counted(causes: Iterable[Why]) -> dict[Why, int]:
    counts = Counter(causes)
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}
