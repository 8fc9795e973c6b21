"""`cuecard review`: the review queue, and assigning reviewers for coordinators."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, say, table

if TYPE_CHECKING:
    from cuecard.annotate.review.assignment import QueueLine
    from cuecard.annotate.review.queue_rows import CoordinatorLine, QueueRow

Json = Annotated[bool, typer.Option("--json", help=_("Print JSON"))]
Task = Annotated[str, typer.Argument(help=_("Id of a task"))]


def verbs() -> typer.Typer:
    """The verbs below `review`."""
    verbs = typer.Typer(
        invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
    )
    verbs.callback(invoke_without_command=True)(review)
    verbs.command("take", help=_("Have a task to yourself to review, for some days."))(take)
    verbs.command("skip", help=_("Leave a task to others, with a reason."))(skip)
    verbs.command("assign", help=_("As a coordinator: give a task to a reviewer."))(assign)
    verbs.command("unassign", help=_("As a coordinator: take a task away from a reviewer."))(
        unassign
    )
    verbs.command("priority", help=_("As a coordinator: from -2 (later) to 2 (sooner)."))(priority)
    verbs.command("skills", help=_("Say what you review; nothing given means anything."))(skills)
    return verbs


def review(
    context: typer.Context,
    skipped: Annotated[bool, typer.Option("--skipped", help=_("With what you skipped"))] = False,
    json: Json = False,
) -> None:
    from cuecard.annotate.review.assignment import queue_for
    from cuecard.annotate.review.protocol import protocol_of
    from cuecard.annotate.review.queue_rows import coordinator_rows, lines_for, queue_rows

    if context.invoked_subcommand is not None:
        return
    ours = Context.of(context)
    protocol, person, now = protocol_of(ours.config()), ours.reader, datetime.now(UTC)
    with ours.workspace() as workspace:
        if person in protocol.coordinators:
            seen = lines_for(workspace, person, protocol, now)
            found, rows = [_coordinated(line) for line in seen], coordinator_rows(seen, now)
        else:
            lines = queue_for(workspace, person, protocol, now, with_skipped=skipped)
            begun = frozenset(workspace.review_forms.of(person))
            mine = workspace.reviews.skills().get(person)
            found, rows = [_queued(line) for line in lines], queue_rows(lines, begun, mine, now)
    if json:
        as_json(found)
        return
    _print(rows)


def take(context: typer.Context, task: Task) -> None:
    from cuecard.annotate.review.assignment import take as take_task
    from cuecard.annotate.review.protocol import protocol_of

    ours = Context.of(context)
    with ours.workspace() as workspace:
        until = take_task(workspace, task, ours.reader, protocol_of(ours.config()))
    text = _("{task} is yours to review until {time}.")
    say(text.format(task=task, time=until.astimezone().strftime("%Y-%m-%d %H:%M")))


def skip(
    context: typer.Context,
    task: Task,
    reason: Annotated[str, typer.Option("--reason", help=_("Why"))],
) -> None:
    from cuecard.annotate.review.assignment import skip as skip_task

    ours = Context.of(context)
    with ours.workspace() as workspace:
        skip_task(workspace, task, ours.reader, reason)
    say(_("{task} is left to others.").format(task=task))


def assign(
    context: typer.Context,
    task: Task,
    person: Annotated[str, typer.Argument(help=_("Name of a reviewer"))],
) -> None:
    from cuecard.annotate.review.assignment import assign as assign_task
    from cuecard.annotate.review.protocol import protocol_of

    ours = Context.of(context)
    with ours.workspace() as workspace:
        assign_task(workspace, task, person, ours.reader, protocol_of(ours.config()))
    say(_("{name} has {task} now.").format(name=person, task=task))


def unassign(
    context: typer.Context,
    task: Task,
    person: Annotated[str, typer.Argument(help=_("Name of a reviewer"))],
    reason: Annotated[str, typer.Option("--reason", help=_("Why"))],
) -> None:
    from cuecard.annotate.review.assignment import unassign as take_away
    from cuecard.annotate.review.protocol import protocol_of

    ours = Context.of(context)
    with ours.workspace() as workspace:
        take_away(workspace, task, person, ours.reader, reason, protocol_of(ours.config()))
    say(_("{name} does not have {task} any more.").format(name=person, task=task))


def priority(
    context: typer.Context,
    task: Task,
    value: Annotated[int, typer.Argument(min=-2, max=2, help=_("0 is usual"))],
) -> None:
    from cuecard.annotate.review.assignment import prioritise
    from cuecard.annotate.review.protocol import protocol_of

    ours = Context.of(context)
    with ours.workspace() as workspace:
        prioritise(workspace, task, ours.reader, value, protocol_of(ours.config()))
    say(_("{task} has priority {n}.").format(task=task, n=value))


def skills(
    context: typer.Context,
    language: Annotated[
        list[str] | None, typer.Option("--language", help=_("en or zh; may be repeated"))
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", help=_("A domain; may be repeated"))
    ] = None,
) -> None:
    from cuecard.annotate.review.reviewing import set_skills

    ours = Context.of(context)
    with ours.workspace() as workspace:
        kept = set_skills(workspace, ours.reader, language or (), domain or ())
    names = ", ".join((*kept.languages, *kept.domains))
    say(_("You review: {skills}.").format(skills=names or _("anything")))


def _print(rows: list[QueueRow]) -> None:
    if not rows:
        note(_("No task waits for your review."))
        return
    table(
        "",
        ("", _("Task"), _("Title"), _("In"), _("Waits"), ""),
        [
            (
                row.urgency,
                row.task.id,
                row.task.title,
                row.reviews,
                row.waits,
                row.note,
            )
            for row in rows
        ],
        numbers={1, 3, 4},  # an id that wraps cannot be copied
    )


def _queued(line: QueueLine) -> dict[str, Any]:
    return {
        **_task(line),
        "mine_until": line.mine.isoformat() if line.mine else None,
        "fits": line.fits,
        "turn": line.turn,
        "skipped": line.skipped,
        "reviewed_before": line.again,
        "third": line.third,
    }


def _coordinated(line: CoordinatorLine) -> dict[str, Any]:
    leases = [{"person": name, "until": until.isoformat()} for name, until in line.leases]
    return {
        **_task(line),
        "own": line.own,
        "at_work": line.held,
        "reviewers": list(line.reviewers),
        "leases": leases,
    }


def _task(line: QueueLine | CoordinatorLine) -> dict[str, Any]:
    return {
        "task": line.task.id,
        "title": line.task.title,
        "family": line.task.family,
        "language": line.task.language,
        "domain": line.task.domain,
        "revision": line.task.revision,
        "submitted_at": line.submitted_at.isoformat() if line.submitted_at else None,
        "priority": line.priority,
        "reviews": line.reviews,
        "needed": line.needed,
        "places": line.places,
    }
