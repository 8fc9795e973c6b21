"""Gold that adjudication found wrong: who is told, and which runs stand on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.events import Event, UserSpoke, dialogue_of
from cuecard.core.i18n import _
from cuecard.core.review import Commented, Contribution, TaskLog
from cuecard.core.tasks import CheckpointChain, FactWorld, Table, Task
from cuecard.core.text import one_line
from cuecard.core.trial import prediction_of
from cuecard.core.users.stages import next_stage
from cuecard.core.validation import format_place
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.subjects import subject_of, until_decided

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

GOLD_WRONG = "gold_wrong"
_OF_GOLD = (ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ROW, ItemKind.ANSWER)
"""Kinds whose items are the same in every trial on a revision."""


def disputed_runs(workspace: Workspace) -> dict[int, int]:
    """The runs that are *gold disputed*, with the number of items of the gold that was found wrong: those
    with a trial on a revision on which an adjudication that counts has that cause. Runs on a later
    revision are not.
    """
    runs = workspace.adjudications.runs_on_disputed()
    if not runs:
        return {}
    wrong = {
        (found.task_id, found.revision, _gold_key(found.trial_id, found.item_key))
        for found in workspace.adjudications.gold_wrong()
    }
    counts = Counter(
        run_id
        for task_id, revision, _key in wrong
        for run_id in runs.get((task_id, revision), frozenset())
    )
    return dict(counts)


def place_in_task(task: Task, item: Item, events: Sequence[Event] = ()) -> str:
    """Where in the task an item stands, such as `gold.triples[17]`; "", the task as a whole, for what is
    not of the task (a predicted triple, a reply).
    """
    gold = task.gold
    match item.kind:
        case ItemKind.TRIPLE:
            return format_place(("gold", "triples", item.index))
        case ItemKind.CELL | ItemKind.ROW if isinstance(gold, Table):
            path = ("gold", "rows", item.index)
            if item.kind is ItemKind.CELL and item.column in gold.column_names:
                return format_place((*path, gold.column_names.index(item.column)))
            return format_place(path)
        case ItemKind.ANSWER if isinstance(gold, FactWorld):
            return "gold.answer"
        case ItemKind.ANSWER if isinstance(gold, CheckpointChain):
            return "gold.final_answer"
        case ItemKind.STATUS if isinstance(gold, CheckpointChain):
            step = _checkpoint(item, events)
            known = step is not None and step < len(gold.steps)
            return format_place(("gold", "steps", step)) if step is not None and known else ""
        case ItemKind.CUE if task.persona:
            number = next_stage(task.persona, dialogue_of(until_decided(item, events)))
            return format_place(("persona", "stages", number - 1)) if number else ""
        case _:
            return ""


def comment_on_gold(
    workspace: Workspace, trial_id: int, item: Item, by: str, comment: str
) -> Contribution | None:
    """Tell the task's authors, once for each place of a revision, by a comment there; None if they have
    been told. Raises `NotFound`.
    """
    trial = workspace.runs.trial(trial_id)
    run = workspace.runs.get(trial.run_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    events = workspace.runs.outline(trial_id).events
    try:
        text = one_line(subject_of(task, item, prediction_of(events), events).text, 200)
        place = place_in_task(task, item, events)
    except LookupError:  # A label of elsewhere may be about what this revision does not have.
        text, place = item.key, ""
    said = _(
        "Held for wrong when run {run} ({name}), trial {trial}, was adjudicated: {item}"
    ).format(run=run.id, name=run.name, trial=trial_id, item=text)
    body = Commented(
        place=place, text="\n".join(filter(None, (said, comment.strip()))), during="adjudication"
    )

    def once(log: TaskLog) -> None:
        if any(
            isinstance(entry.body, Commented)
            and entry.body.during == body.during
            and entry.revision == trial.revision
            and entry.body.place == place
            and (place or entry.body.text == body.text)
            for entry in log.contributions
        ):
            raise _Told

    try:
        return workspace.reviews.act(trial.task_id, by, body, revision=trial.revision, guard=once)
    except _Told:
        return None


class _Told(Exception):
    """There is such a comment already."""


def _checkpoint(item: Item, events: Sequence[Event]) -> int | None:
    for event in events:
        if isinstance(event.body, UserSpoke) and event.body.turn == item.index:
            return event.body.reply.checkpoint
    return None


def _gold_key(trial_id: int, item_key: str) -> str:
    of_gold = Item.of_key(item_key).kind in _OF_GOLD
    return item_key if of_gold else f"{trial_id}/{item_key}"
