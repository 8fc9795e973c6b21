"""Figures of a run's judged trials: kept ones where they still hold, the others counted from logs and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.core.errors import CuecardError
from cuecard.core.events import Event
from cuecard.core.i18n import current_language
from cuecard.core.scoring.trial_figures import SCHEME, TrialFigures, figures_of
from cuecard.core.tasks import Task
from cuecard.core.verdicts import Judgement
from cuecard.store.label_records import JudgementHead
from cuecard.store.records import TrialRecord
from cuecard.store.result_records import KeptFigures

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

OnCount = Callable[[int, int], None]
"""Told how many of how many trials have been counted."""
_BATCH = 16
_PATIENCE = 0.25
"""Seconds that a count waits for somebody who writes, to keep what it counted: whoever reads is not held up."""


@dataclass(frozen=True)
class Judged:
    """A trial as its newest judgement by one judge leaves it."""

    trial: TrialRecord
    head: JudgementHead
    figures: TrialFigures


def judged_trials(
    workspace: Workspace,
    run_id: int,
    judge: str | None = None,
    *,
    trials: Sequence[TrialRecord] | None = None,
    on_count: OnCount | None = None,
) -> list[Judged]:
    """Every ended trial of the run that `judge` (None: any) has judged, by trial and judge.

    `trials`: those of the run that are wanted, if they are at hand. Reads logs only of trials that were not
    counted before; call it off the screen's thread. Raises `NotFound`.
    """
    wanted = workspace.runs.trials(run_id) if trials is None else trials
    by_id = {trial.id: trial for trial in wanted if trial.termination is not None}
    heads = [
        head
        for head in workspace.verdicts.heads(run_id)
        if head.trial_id in by_id and judge in (None, head.judge.name)
    ]
    language = current_language()
    kept = workspace.figures.of_run(run_id, language)
    found: dict[int, TrialFigures] = {}
    missing: list[JudgementHead] = []
    for head in heads:
        known = kept.get(head.id)
        if known and known.stamp == stamp_of(by_id[head.trial_id].events):
            found[head.id] = TrialFigures.model_validate_json(known.body)
        else:
            missing.append(head)
    _count(workspace, by_id, missing, found, on_count)
    return [Judged(by_id[head.trial_id], head, found[head.id]) for head in heads]


def stamp_of(events: int) -> str:
    """What figures counted now, over a log of so many events, are stamped with."""
    return f"{__version__}/{SCHEME}/{events}"


def kept_figures(
    task: Task, events: Sequence[Event], judgement: Judgement, judgement_id: int, trial_id: int
) -> KeptFigures:
    """Figures to keep; `events` is the course of a trial that has ended."""
    figures = figures_of(task, events, judgement)
    return KeptFigures(
        judgement_id=judgement_id,
        trial_id=trial_id,
        stamp=stamp_of(events[-1].seq + 1 if events else 0),
        body=figures.model_dump_json(),
    )


def _count(
    workspace: Workspace,
    trials: dict[int, TrialRecord],
    missing: Sequence[JudgementHead],
    found: dict[int, TrialFigures],
    on_count: OnCount | None,
) -> None:
    tasks: dict[tuple[str, int], Task] = {}
    keeps = True
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        records = {r.id: r for r in workspace.verdicts.judgements([head.id for head in batch])}
        ready: list[KeptFigures] = []
        for head in batch:
            trial = trials[head.trial_id]
            version = (trial.task_id, trial.revision)
            if version not in tasks:
                tasks[version] = workspace.tasks.revision(*version).task
            events = workspace.runs.outline(trial.id).events
            judgement = records[head.id].judgement
            figures = figures_of(tasks[version], events, judgement)
            found[head.id] = figures
            ready.append(
                KeptFigures(
                    judgement_id=head.id,
                    trial_id=trial.id,
                    stamp=stamp_of(trial.events),
                    body=figures.model_dump_json(),
                )
            )
        # A full disk, a busy or a read-only workspace costs the next count, not this one's numbers.
        if keeps:
            try:
                workspace.figures.keep(ready, current_language(), patience=_PATIENCE)
            except CuecardError:
                keeps = False
        if on_count:
            on_count(start + len(batch), len(missing))
