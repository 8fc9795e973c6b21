"""Comments for authors on what adjudication, trials and sessions found wrong, and runs based on wrong gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.families.registry import element_of
from cuecard.core.contributions import Commented, Contribution, TaskState
from cuecard.core.engine.events import Event, ToolAnswered, UserSpoke, dialogue_of
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.items import subject_of, until_decided
from cuecard.core.families.registry import chain_of, facts_of
from cuecard.core.i18n import _
from cuecard.core.records import TrialRecord
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.users.scripted import next_stage
from cuecard.core.validation import format_place
from cuecard.core.verdicts import Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


GOLD_WRONG = "gold_wrong"
_OF_GOLD = (ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ROW, ItemKind.ANSWER)
"""Kinds of items that belong to the gold, the same in every trial on a revision."""


def disputed_runs(workspace: Workspace) -> dict[int, int]:
    """Runs whose gold is disputed, with the number of gold items found wrong: those with a trial on a revision in which
    the newest adjudication of an item found the gold wrong. Runs on a later revision are not.
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
    """The place of an item in the task, such as `gold.triples[17]`; "" (the whole task) for what is not part of it (a
    predicted triple, a reply).
    """
    match item.kind:
        case ItemKind.STATUS:
            return place_at_play(task, step=_checkpoint(item, events))
        case ItemKind.CUE if task.persona:
            number = next_stage(task.persona, dialogue_of(until_decided(item, events)))
            return format_place(("persona", "stages", number - 1)) if number else ""
        case _:
            element = element_of(task, item)
            return format_place(element.path) if element else ""


def comment_on_gold(
    workspace: Workspace, trial_id: int, item: Item, by: str, comment: str
) -> Contribution | None:
    """Tell the task's authors by a comment at the item's place, once for each place of a revision; None if they have
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
            raise _AlreadyThere

    try:
        return workspace.reviews.act(trial.task_id, by, body, revision=trial.revision, guard=once)
    except _AlreadyThere:
        return None


class _AlreadyThere(Exception):
    """There is such a comment already."""


def _checkpoint(item: Item, events: Sequence[Event]) -> int | None:
    for event in events:
        if isinstance(event.body, UserSpoke) and event.body.turn == item.index:
            return event.body.reply.checkpoint
    return None


def _gold_key(trial_id: int, item_key: str) -> str:
    of_gold = Item.of_key(item_key).kind in _OF_GOLD
    return item_key if of_gold else f"{trial_id}/{item_key}"


def place_at_play(task: Task, stage: int | None = None, step: int | None = None) -> str:
    """The place of a note in the task: `stage` counts from 1, `step` of a chain from 0; "" (the whole task) if neither
    is known.
    """
    if stage is not None and 1 <= stage <= len(task.stages):
        return format_place(("persona", "stages", stage - 1))
    chain = chain_of(task)
    if chain and step is not None and 0 <= step < len(chain.steps):
        return format_place(("gold", task.gold.field, step))
    return ""


def comment_to_authors(
    workspace: Workspace,
    trial_id: int,
    by: str,
    text: str,
    place: str = "",
    at: datetime | None = None,
) -> Contribution:
    """Open a comment on the revision that is played. Raises `NotFound`, and `NotAllowed` while the task is in review by
    others or is archived; the note then stays in the session only.
    """
    trial = workspace.runs.trial(trial_id)
    said = _("Noted at play, trial {trial}:").format(trial=trial_id) + f"\n{text.strip()}"
    body = Commented(place=place, text=said, during="play")
    return _comment(workspace, trial, by, body, _("The note is kept with the session."), at)


def _comment(
    workspace: Workspace,
    trial: TrialRecord,
    by: str,
    body: Commented,
    instead: str,
    at: datetime | None,
) -> Contribution:
    return workspace.reviews.act(
        trial.task_id,
        by,
        body,
        revision=trial.revision,
        guard=lambda log: check_may_comment(log, by, instead),
        at=at,
    )


def check_may_comment(log: TaskLog, by: str, instead: str) -> None:
    """Raises `NotAllowed` while the task is in review by others than its authors, or is archived. `instead`: what to
    do, or what happens to the words.
    """
    title = _("The task's authors cannot be told now")
    state = standing_of(log).state
    authors = {author for node in log.revisions for author in node.authors}
    if state is TaskState.IN_REVIEW and by not in authors:
        # Its reviewers judge without knowing what anybody else thinks of it.
        raise NotAllowed(title, _("The task is in review."), instead)
    if state is TaskState.RETIRED:
        raise NotAllowed(title, _("The task is archived."), instead)


def task_place(task: Task, place: str, events: Sequence[Event]) -> str:
    """The place in the task for a comment on this place of a trial (see `TrialNote`); "" (the whole task) if it is not
    about a part.
    """
    kind, _slash, rest = place.partition("/")
    if kind == "verdict":
        try:
            return place_in_task(task, Item.of_key(rest), events)
        except (ValueError, LookupError):
            return ""
    if not rest.isdigit():
        return ""
    number = int(rest)
    match kind:
        case "stage":
            return place_at_play(task, stage=number)
        case "step":
            return place_at_play(task, step=number)
        case "fact":
            return _fact(task, number)
        case "turn":
            spoken = (e for e in events if isinstance(e.body, UserSpoke) and e.body.turn == number)
            return next((_at_event(task, event) for event in spoken), "")
        case "event":
            return next((_at_event(task, e) for e in events if e.seq == number), "")
        case _:
            return ""


def comment_on_task(
    workspace: Workspace,
    trial_id: int,
    by: str,
    text: str,
    place: str = "",
    at: datetime | None = None,
) -> Contribution:
    """Open a comment, with where it was seen, on the revision that was played. Raises `NotFound`, and `NotAllowed`
    while the task is in review by others or is archived.
    """
    trial = workspace.runs.trial(trial_id)
    run = workspace.runs.get(trial.run_id)
    seen = _("Seen in trial {trial} of run {run} ({name}), agent {agent}:").format(
        trial=trial_id, run=run.id, name=run.name, agent=trial.agent.name
    )
    body = Commented(place=place, text=f"{seen}\n{text.strip()}")
    instead = _("Write a comment on the trial; it can be told them later.")
    return _comment(workspace, trial, by, body, instead, at)


def comment_on_suspect(
    workspace: Workspace, unit: tuple[str, int], place: str, by: str, text: str
) -> Contribution | None:
    """Open a comment on a revision (task, number) at an item whose gold is suspect; None if there is one there by `by` on this
    revision. Raises `NotFound`, and `NotAllowed` while the task is in review by others or is archived.
    """
    body = Commented(place=place, text=text.strip())
    instead = _("Wait until its review is over, or tell its reviewers yourself.")

    def once(log: TaskLog) -> None:
        check_may_comment(log, by, instead)
        if any(
            isinstance(entry.body, Commented)
            and (entry.by, entry.revision, entry.body.place) == (by, unit[1], place)
            for entry in log.contributions
        ):
            raise _AlreadyThere

    try:
        return workspace.reviews.act(unit[0], by, body, revision=unit[1], guard=once)
    except _AlreadyThere:
        return None


def _at_event(task: Task, event: Event) -> str:
    body = event.body
    if isinstance(body, UserSpoke):
        return place_at_play(task, stage=body.reply.stage, step=body.reply.checkpoint)
    if isinstance(body, ToolAnswered) and body.answer.hit:
        keys = [fact.key for fact in facts_of(task)]
        matched = (key for key in body.answer.hit.matched_fact_keys if key in keys)
        return next((_fact(task, keys.index(key)) for key in matched), "")
    return ""


def _fact(task: Task, index: int) -> str:
    known = index < len(facts_of(task))
    return format_place(("gold", task.gold.field, index)) if known else ""
