"""`cuecard board` and `cuecard review`: the state of every task, the review queue, and who reviews what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.i18n import N_, _, listed, pgettext, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, prose, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.review.assignment import QueueLine
    from cuecard.annotate.review.board import Board, BoardTask, Labels
    from cuecard.annotate.review.figures import FiguresReport, MeasureAgreement, ReviewFigures
    from cuecard.annotate.review.queue_rows import CoordinatorLine, QueueRow

Json = dict[str, Any]
_TOLD = ("title", "family", "language", "domain", "revision")
Task = Annotated[str, N_("Id of a task")]
Person = Annotated[str, N_("Name of a reviewer")]
Why = Annotated[str, N_("Why")]


@verb("cuecard review take espresso", "json")
def review(
    ours: Context,
    *,
    skipped: Annotated[bool, N_("With what you skipped")] = False,
    plain: Annotated[
        bool, N_("Review here, line by line, what --task names, or the next of the queue")
    ] = False,
    task: Annotated[str, N_("With --plain: id of a task")] = "",
) -> Result:
    if plain:
        from cuecard.tui.commands.plain import review_plain

        review_plain(ours, task)
        return Result("")
    if task:
        raise typer.BadParameter(_("only with --plain"), param_hint="--task")
    from cuecard.annotate.review.assignment import queue_for
    from cuecard.annotate.review.queue_rows import coordinator_rows, lines_for, queue_rows

    protocol, person, now = ours.protocol, ours.reader, datetime.now(UTC)
    workspace = ours.workspace
    if person in protocol.coordinators:
        seen = lines_for(workspace, person, protocol, now)
        rows = coordinator_rows(seen, now)
        return Result(lambda: _print_queue(rows), lambda: [_coordinated(line) for line in seen])
    lines = queue_for(workspace, person, protocol, now, with_skipped=skipped)
    begun = frozenset(workspace.review_forms.of(person))
    rows = queue_rows(lines, begun, workspace.reviews.skills().get(person), now)
    return Result(lambda: _print_queue(rows), lambda: [_queued(line) for line in lines])


def _print_queue(rows: list[QueueRow]) -> None:
    if not rows:
        note(_("No task waits for your review."))
        return
    table(
        "",
        ("", _("Title"), _("In"), _("Waits"), "", _("Task")),
        [(r.urgency, r.task.title, r.reviews, r.waits, r.note, r.task.id) for r in rows],
        numbers={2, 3, 5},  # an id that wraps cannot be copied
        cut=1,
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
        **{name: getattr(line.task, name) for name in _TOLD},
        "submitted_at": line.submitted_at.isoformat() if line.submitted_at else None,
        "priority": line.priority,
        "reviews": line.reviews,
        "needed": line.needed,
        "places": line.places,
    }


@verb("")
def take(ours: Context, task: Task) -> str:
    from cuecard.annotate.review.assignment import take

    until = take(ours.workspace, task, ours.reader, ours.protocol).astimezone()
    text = _("{task} is yours to review until {time}.")
    return text.format(task=task, time=until.strftime("%Y-%m-%d %H:%M"))


@verb("")
def skip(ours: Context, task: Task, *, reason: Why) -> str:
    from cuecard.annotate.review.assignment import skip

    skip(ours.workspace, task, ours.reader, reason)
    return _("{task} is left to others.").format(task=task)


@verb("")
def assign(ours: Context, task: Task, person: Person) -> str:
    from cuecard.annotate.review.assignment import assign

    assign(ours.workspace, task, person, ours.reader, ours.protocol)
    return _("{name} has {task} now.").format(name=person, task=task)


@verb("")
def unassign(ours: Context, task: Task, person: Person, *, reason: Why) -> str:
    from cuecard.annotate.review.assignment import unassign

    unassign(ours.workspace, task, person, ours.reader, reason, ours.protocol)
    return _("{name} does not have {task} any more.").format(name=person, task=task)


@verb("")
def priority(
    ours: Context, task: Task, value: Annotated[int, Help(N_("0 is usual"), min=-2, max=2)]
) -> str:
    from cuecard.annotate.review.assignment import prioritise

    prioritise(ours.workspace, task, ours.reader, value, ours.protocol)
    return _("{task} has priority {n}.").format(task=task, n=value)


@verb("")
def skills(
    ours: Context,
    *,
    language: Annotated[Sequence[str], N_("en or zh; may be repeated")] = (),
    domain: Annotated[Sequence[str], N_("A domain; may be repeated")] = (),
) -> str:
    from cuecard.annotate.review.reviewing import set_skills

    kept = set_skills(ours.workspace, ours.reader, language, domain)
    names = listed((*kept.languages, *kept.domains))
    return _("You review: {skills}.").format(skills=names or _("anything"))


@verb("cuecard board", "json")
def board(ours: Context) -> Result:
    from cuecard.annotate.review.board import dimension_labels, load_board, seen_by
    from cuecard.annotate.review.figures import figures_of

    protocol, reader, now = ours.protocol, ours.reader, datetime.now(UTC)
    found = load_board(ours.workspace, reader, protocol.coordinators, now)
    logs = seen_by(ours.workspace, reader, protocol.coordinators)
    report = figures_of(logs, dimensions=tuple(dimension_labels(protocol)))
    labels = dimension_labels(protocol, report.dimensions)
    if not found.tasks and not ours.json:
        note(_("No tasks yet; `cuecard import` brings some, and the app (`cuecard`) writes them."))
        return Result()

    def show() -> None:
        _print_board(found, now)
        _print_figures(report, labels)

    return Result(show, lambda: {**_board_json(found), "figures": _report_json(report)})


def _board_json(found: Board) -> Json:
    """The board as JSON. Names that the reader must not know are left out."""
    return {
        "reader": found.reader,
        "complete": found.complete,
        "counts": {state.value: count for state, count in found.counts().items()},
        "tasks": [_board_task(task) for task in found.tasks],
        "people": [{**load.model_dump(mode="json"), "open": load.open} for load in found.people],
    }


def _report_json(report: FiguresReport) -> Json:
    """Statistics by name, each with value, n and interval; `value` is null where `reason` says why."""
    return {
        "overall": _figures_json(report.overall),
        "pairs": [_figures_json(pair) for pair in report.pairs],
        "people": [_figures_json(person) for person in report.people],
        "rounds_until_approval": {
            **report.approvals.rounds.model_dump(mode="json"),
            "counts": {str(rounds): tasks for rounds, tasks in report.approvals.counts},
        },
    }


def _board_task(task: BoardTask) -> Json:
    return {
        "id": task.task.id,
        **{name: getattr(task.task, name) for name in _TOLD},
        "state": task.state.value,
        "since": task.since.isoformat(),
        "authors": list(task.authors),
        "reviews": task.reviews,
        "needed": task.needed,
        "claims": task.claims,
        "reviewed": list(task.reviewed),
        "reviewing": list(task.reviewing),
        "waits_for": list(task.waits_for),
        "forks": task.forks,
    }


def _figures_json(figures: ReviewFigures) -> Json:
    return {
        **figures.model_dump(mode="json"),
        "agreement": [
            {
                "measure": found.measure,
                "unsure": found.unsure,
                **{s.name: s.model_dump(mode="json", exclude={"name"}) for s in found.statistics},
            }
            for found in figures.agreement
        ],
    }


def _print_board(found: Board, now: datetime) -> None:
    from cuecard.annotate.review.board import waiting
    from cuecard.annotate.sharing.merging import STATE
    from cuecard.core.i18n import age

    counts = [f"{_(STATE[state])} {count}" for state, count in found.counts().items()]
    table(
        " · ".join(counts),
        (
            *(_("title"), _("state"), pgettext("when a state began", "since")),
            *(_("waits for"), _("task")),
        ),
        [
            (
                *(task.task.title, _(STATE[task.state]), age(task.since, now)),
                *(waiting(task, found.reader), task.task.id),
            )
            for task in found.tasks
        ],
        numbers=(2, 4),  # an id that wraps cannot be copied
        cut=0,
    )
    if found.people:
        table(
            _("Open with people")
            if found.complete
            else _("Open with people, as far as you may know"),
            ("", _("drafts"), _("returned"), _("to review"), _("with reviewers"), _("oldest")),
            [
                (
                    load.name,
                    load.drafts,
                    load.returned,
                    load.reviews,
                    load.with_reviewers,
                    age(load.oldest, now) if load.oldest else "",
                )
                for load in found.people
            ],
            numbers=range(1, 6),
        )


def _print_figures(report: FiguresReport, labels: Labels) -> None:
    from cuecard.annotate.review import board
    from cuecard.annotate.review.figures import ALL_DIMENSIONS, DECISION

    if not report.rounds:
        prose(_("No review is decided yet: figures come when all reviews of a revision are in."))
        return
    title = plural(
        "Agreement over {n} decided revision, with 95% intervals resampled by task",
        "Agreement over {n} decided revisions, with 95% intervals resampled by task",
        len(report.rounds),
    )
    say(f"{title}\n")
    for measure in (DECISION, ALL_DIMENSIONS):
        lines = [(f, f.on(measure)) for f in (report.overall, *report.pairs)]
        _print_agreement(
            board.measure_label(measure, {}),
            ("", "n", _("percent"), _("kappa"), "AC1"),
            [(board.who(figures), found) for figures, found in lines if found is not None],
        )
    shown = [
        found
        for found in report.overall.agreement
        if found.measure not in (DECISION, ALL_DIMENSIONS)
    ]
    _print_agreement(
        _("Agreement of all reviewers by dimension"),
        (_("dimension"), "n", _("percent"), _("Fleiss' kappa"), "AC1"),
        [(board.measure_label(found.measure, labels), found) for found in shown],
    )
    _print_work(report, labels)


def _print_agreement(
    title: str, headings: Sequence[str], shown: Sequence[tuple[str, MeasureAgreement]]
) -> None:
    from cuecard.annotate.review.board import figure, remark

    table(
        title,
        headings,
        [(name, f.n, *(figure(each, n=False) for each in f.statistics)) for name, f in shown],
        numbers=range(1, 5),
    )
    remarks = dict.fromkeys(remark(each) for _name, f in shown for each in f.statistics)
    for text in filter(None, remarks):
        say("  " + text)
    say("")


def _print_work(report: FiguresReport, labels: Labels) -> None:
    from cuecard.annotate.review.board import figure, minutes, reasons_text, who

    table(
        _("Reviews"),
        ("", _("reviews"), _("minutes: median (quartiles)"), _("returned"), _("most failed")),
        [
            (
                who(figures),
                figures.reviews,
                minutes(figures.seconds),
                figure(figures.returned),
                reasons_text(figures, labels),
            )
            for figures in (report.overall, *report.people)
        ],
        numbers=(1,),
    )
    spread = report.approvals.rounds
    if spread.median is not None:
        prose(
            _("Rounds until approval: median {median:g} ({lower:g}–{upper:g}), n={n}").format(
                median=spread.median, lower=spread.lower, upper=spread.upper, n=spread.n
            )
        )
