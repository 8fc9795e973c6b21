"""Everything that a screen or a report shows of one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.events import Event, dialogue_of
from cuecard.core.parts import Message, PlayerRef
from cuecard.core.prediction import Prediction
from cuecard.core.scoring.measures import Measure
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Judgement, Verdict
from cuecard.lab.items import GoldItem, PredictedItem, gold_item, predicted_items
from cuecard.lab.scores import LEXICAL
from cuecard.store.records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class VerdictView(Frozen):
    """A verdict with both sides as text; `supporting` without indices that are out of range."""

    verdict: Verdict
    gold: GoldItem
    supporting: tuple[PredictedItem, ...]


class TrialView(Frozen):
    """`judge` is None, `verdicts` and `measures` are empty until the trial is judged. `judges`: all
    who have judged it. `events` are an outline: of those numbered in `left_out`, large texts are only
    the beginning; `Runs.whole` has them.
    """

    run: RunRecord
    trial: TrialRecord
    task: Task
    events: tuple[Event, ...]
    left_out: frozenset[int]
    messages: tuple[Message, ...]
    prediction: Prediction
    predicted: tuple[PredictedItem, ...]
    judge: PlayerRef | None
    judges: tuple[str, ...]
    verdicts: tuple[VerdictView, ...]
    measures: tuple[Measure, ...]


def trial_view(workspace: Workspace, trial_id: int, judge: str = LEXICAL) -> TrialView:
    """One trial with the newest judgement of `judge`. Raises `NotFound`."""
    trial = workspace.runs.trial(trial_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    outline = workspace.runs.outline(trial_id)
    events = outline.events
    prediction = prediction_of(events)
    records = workspace.verdicts.of_trial(trial_id)
    judgement = next((r.judgement for r in records if r.judgement.judge.name == judge), None)
    return TrialView(
        run=workspace.runs.get(trial.run_id),
        trial=trial,
        task=task,
        events=events,
        left_out=frozenset(outline.left_out),
        messages=dialogue_of(events).messages,
        prediction=prediction,
        predicted=predicted_items(prediction),
        judge=judgement.judge if judgement else None,
        judges=tuple(dict.fromkeys(record.judgement.judge.name for record in records)),
        verdicts=verdict_views(task, prediction, judgement) if judgement else (),
        measures=score_trial(task, events, judgement) if judgement else (),
    )


def verdict_views(
    task: Task, prediction: Prediction, judgement: Judgement
) -> tuple[VerdictView, ...]:
    """Every verdict with both sides as text."""
    views: list[VerdictView] = []
    by_column: dict[str, tuple[PredictedItem, ...]] = {}
    for verdict in judgement.verdicts:
        column = verdict.item.column
        if column not in by_column:
            by_column[column] = predicted_items(prediction, column)
        every = by_column[column]
        views.append(
            VerdictView(
                verdict=verdict,
                gold=gold_item(task, verdict.item),
                supporting=tuple(every[i] for i in verdict.supporting if 0 <= i < len(every)),
            )
        )
    return tuple(views)
