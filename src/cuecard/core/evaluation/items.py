"""Items of trials as text: the gold and the predicted side of a verdict, what a labelled item is about, one trial's view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from cuecard.core.engine.events import AgentSpoke, Event, UserSpoke, dialogue_of
from cuecard.core.engine.messages import Message, PlayerRef
from cuecard.core.engine.trial import prediction_of
from cuecard.core.families.checkpoints.gold import Checkpoint
from cuecard.core.families.registry import chain_of, family_of
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import _, listed
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.predictions import Prediction, TablePrediction, plain_column
from cuecard.core.records import RunRecord, TrialRecord
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.text import normalise
from cuecard.core.users.scripted import next_stage
from cuecard.core.verdicts import GoldItem, Item, ItemKind, Judgement, Measure, Verdict

if TYPE_CHECKING:
    from cuecard.core.archive import Archive


class PredictedItem(Frozen):
    """Triple or row `index` (from 0) of a prediction, or its answer, as text. `cell`: the one cell that a table verdict
    is about; "" where the predicted table has no such column.
    """

    index: int
    text: str
    cell: str = ""


def gold_item(task: Task, item: Item) -> GoldItem:
    """The text of a gold triple, cell, row or answer of this revision. Raises `IndexError` if it has no such item."""
    return family_of(task).item(task, task.gold, item)


def gold_items(task: Task) -> tuple[PredictedItem, ...]:
    """All items of the gold in order, as one line each; the index is gold's own."""
    return tuple(
        PredictedItem(index=index, text=text) for index, text in enumerate(task.gold.lines)
    )


def predicted_items(prediction: Prediction, column: str = "") -> tuple[PredictedItem, ...]:
    """The items of a prediction in their order; none for an unusable one. `column`: which cell of a row to give."""
    both = zip(prediction.lines, prediction.cells(column), strict=True)
    return tuple(
        PredictedItem(index=index, text=text, cell=cell) for index, (text, cell) in enumerate(both)
    )


def closest_items(
    task: Task, item: Item, prediction: Prediction, limit: int = 5
) -> tuple[PredictedItem, ...]:
    """The predicted items most similar to a gold item, best first; for a predicted triple, the gold triples.

    Similarity is lexical (token set and partial ratios of rapidfuzz over the names, or over a row's
    key) and does not depend on any judge's verdict.
    """
    from rapidfuzz import fuzz, process

    if item.kind is ItemKind.PREDICTED:
        candidates = gold_items(task)
    else:
        candidates = predicted_items(prediction, item.column)
    if item.kind is ItemKind.ANSWER:
        return candidates[:limit]
    if item.kind in (ItemKind.STATUS, ItemKind.CUE, ItemKind.LEAK):
        return ()
    if isinstance(task.gold, Table) and isinstance(prediction, TablePrediction):
        wanted = " | ".join(task.gold.key_of(task.gold.rows[item.index]))
        texts = _keys(task.gold, prediction)
    else:
        if item.kind is ItemKind.PREDICTED:
            wanted = predicted_items(prediction)[item.index].text
        else:
            wanted = gold_item(task, item).text
        texts = [candidate.text for candidate in candidates]
    best = process.extract(
        normalise(wanted), [normalise(text) for text in texts], scorer=fuzz.WRatio, limit=limit
    )
    return tuple(candidates[index] for _text, _score, index in best)


def _keys(table: Table, prediction: TablePrediction) -> list[str]:
    """Each predicted row's key cells; whole rows where the key columns are not all there."""
    names = [plain_column(name) for name in prediction.columns]
    keys = [plain_column(name) for name in table.unique_columns]
    at = [names.index(name) for name in keys if name in names]
    if len(at) < len(keys):
        at = list(range(len(names)))
    return [" | ".join(row[index] for index in at) for row in prediction.rows]


OF_TURN = (ItemKind.STATUS, ItemKind.CUE, ItemKind.LEAK)


class Utterance(Frozen):
    """One message of the dialogue; turns count from 0."""

    role: Literal["user", "agent"]
    turn: int
    text: str


def subject_of(task: Task, item: Item, prediction: Prediction, events: Sequence[Event]) -> GoldItem:
    """What a labelled item is about: the gold triple, cell, row or answer, the predicted triple, the checkpoint that an
    agent's turn is classified against, the cue, or the user's reply. Raises `IndexError` if there is none.
    """
    match item.kind:
        case ItemKind.PREDICTED:
            return GoldItem(item=item, text=predicted_items(prediction)[item.index].text)
        case ItemKind.STATUS:
            return _checkpoint(task, item, events)
        case ItemKind.CUE:
            return _cue(task, item, events)
        case ItemKind.LEAK:
            return _reply(task, item, events)
        case _:
            return gold_item(task, item)


def utterances_around(item: Item, events: Sequence[Event]) -> tuple[Utterance, ...]:
    """The messages that a labeller sees with an item of a turn. The user's reply to the turn is left out where it would
    show how the cue or checkpoint was decided.
    """
    if item.kind not in OF_TURN:
        return ()
    spoken = [
        Utterance(
            role="user" if isinstance(event.body, UserSpoke) else "agent",
            turn=event.body.turn,
            text=event.body.reply.text,
        )
        for event in until_decided(item, events)
        if isinstance(event.body, UserSpoke | AgentSpoke)
    ]
    return tuple(spoken[-2:-1] if item.kind is ItemKind.LEAK else spoken[-2:])


def until_decided(item: Item, events: Sequence[Event]) -> list[Event]:
    """The events up to the decision on an item of a turn, without those that show it; all events for other items."""
    if item.kind not in OF_TURN:
        return list(events)
    at = _position(item, events)
    return list(events[: at + 1] if item.kind is ItemKind.LEAK else events[:at])


def _position(item: Item, events: Sequence[Event]) -> int:
    for position, event in enumerate(events):
        if isinstance(event.body, UserSpoke) and event.body.turn == item.index:
            return position
    raise IndexError(item.key)


def _spoken(item: Item, events: Sequence[Event]) -> UserSpoke:
    body = events[_position(item, events)].body
    assert isinstance(body, UserSpoke)
    return body


def _checkpoint(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    number = _spoken(item, events).reply.checkpoint
    chain = chain_of(task)
    if chain is None or number is None or number >= len(chain.steps):
        return GoldItem(item=item, text=task.query)
    step = chain.steps[number]
    place = _("step {n} of {all}").format(n=number + 1, all=len(chain.steps))
    return GoldItem(
        item=item, text=step.question, context=(place, *_step_context(step)), sources=step.sources
    )


def _step_context(step: Checkpoint) -> list[str]:
    context = [_("target: {names}").format(names=" / ".join(step.names))]
    if step.ambiguity:
        names = listed(step.ambiguity.candidates)
        context.append(_("ambiguous: {why}").format(why=step.ambiguity.logic))
        context.append(_("candidates: {names}").format(names=names))
        context.append(_("clue: {clue}").format(clue=step.ambiguity.clue))
    else:
        context.append(_("not ambiguous"))
    return context


def _cue(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    before = dialogue_of(until_decided(item, events))
    number = next_stage(task.persona, before) if task.persona else None
    if number is None:
        return GoldItem(item=item, text=_("no stage was left"))
    stage = task.stages[number - 1]
    place = _("stage {n} of {all}").format(n=number, all=len(task.stages))
    line = _("line: {line}").format(line=stage.line)
    return GoldItem(item=item, text=stage.cue.text, context=(place, stage.title, line))


def _reply(task: Task, item: Item, events: Sequence[Event]) -> GoldItem:
    at = _position(item, events)
    before = dialogue_of(events[:at])
    number = next_stage(task.persona, before) if task.persona else None
    context: list[str] = []
    if number is not None:
        context.append(_("line that was next: {line}").format(line=task.stages[number - 1].line))
    if task.persona and number is not None:
        context += [
            _("line that was not due: {line}").format(line=s.line)
            for s in task.stages[number : number + 2]
        ]
    if chain := chain_of(task):
        context.append(_("final answer: {answer}").format(answer=chain.final_answer))
    return GoldItem(item=item, text=_spoken(item, events).reply.text, context=tuple(context))


class VerdictView(Frozen):
    """A verdict with the gold and the predicted side as text. `supporting`: without indices that are out of range."""

    verdict: Verdict
    gold: GoldItem
    supporting: tuple[PredictedItem, ...]


class TrialView(Frozen):
    """One trial as screens show it. Until it is judged, `judge` is None and `verdicts` and `measures` are empty.
    `judges`: all that have judged it. `events`: an outline; in events whose `seq` is in `left_out`, large texts are
    cut (`Runs.whole` gives them in full).
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


def trial_view(workspace: Archive, trial_id: int, judge: str = DEFAULT_JUDGE) -> TrialView:
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
    """Every verdict with its gold and predicted side as text."""
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
