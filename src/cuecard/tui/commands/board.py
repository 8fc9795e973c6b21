"""`cuecard board`: every task's state, whom it waits for, and agreement of reviewers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.i18n import _, ngettext, pgettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, prose, say, table

if TYPE_CHECKING:
    from cuecard.annotate.review.board import Board, BoardTask, Labels, PersonLoad
    from cuecard.annotate.review.figures import (
        FiguresReport,
        MeasureAgreement,
        ReviewFigures,
        Spread,
    )

Json = dict[str, Any]


def board(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.review.board import dimension_labels, load_board, seen_by
    from cuecard.annotate.review.figures import figures_of
    from cuecard.annotate.review.protocol import protocol_of

    ours = Context.of(context)
    protocol = protocol_of(ours.config())
    labels, reader, now = dimension_labels(protocol), ours.reader, datetime.now(UTC)
    with ours.workspace() as workspace:
        found = load_board(workspace, reader, protocol.coordinators, now)
        logs = seen_by(workspace, reader, protocol.coordinators)
    report = figures_of(logs, dimensions=tuple(labels))
    if json:
        as_json({**board_json(found), "figures": figures_json(report)})
        return
    if not found.tasks:
        note(_("No tasks yet; `cuecard import` brings some, and the app (`cuecard`) writes them."))
        return
    _print_board(found, now)
    _print_figures(report, labels)


def board_json(found: Board) -> Json:
    """The board as JSON. Names that the reader must not know are left out."""
    return {
        "reader": found.reader,
        "complete": found.complete,
        "counts": {state.value: count for state, count in found.counts().items()},
        "tasks": [_task_json(task) for task in found.tasks],
        "people": [_load_json(load) for load in found.people],
    }


def figures_json(report: FiguresReport) -> Json:
    """Statistics by name, each with value, n and interval; `value` is null where `reason` says why."""
    return {
        "overall": _figures_json(report.overall),
        "pairs": [_figures_json(pair) for pair in report.pairs],
        "people": [_figures_json(person) for person in report.people],
        "rounds_until_approval": {
            **_spread_json(report.approvals.rounds),
            "counts": {str(rounds): tasks for rounds, tasks in report.approvals.counts},
        },
    }


def _task_json(task: BoardTask) -> Json:
    return {
        "id": task.task.id,
        "title": task.task.title,
        "family": task.task.family,
        "language": task.task.language,
        "domain": task.task.domain,
        "revision": task.task.revision,
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


def _load_json(load: PersonLoad) -> Json:
    return {**load.model_dump(mode="json"), "open": load.open}


def _figures_json(figures: ReviewFigures) -> Json:
    return {
        "who": list(figures.who),
        "tasks": figures.tasks,
        "revisions": figures.revisions,
        "reviews": figures.reviews,
        "seconds": _spread_json(figures.seconds),
        "returned": figures.returned.model_dump(mode="json"),
        "reasons": [reason.model_dump(mode="json") for reason in figures.reasons],
        "agreement": [
            {
                "measure": found.measure,
                "unsure": found.unsure,
                **{s.name: s.model_dump(mode="json", exclude={"name"}) for s in found.statistics},
            }
            for found in figures.agreement
        ],
    }


def _spread_json(spread: Spread) -> Json:
    return spread.model_dump(mode="json")


def _print_board(found: Board, now: datetime) -> None:
    from cuecard.annotate.review.board import waiting
    from cuecard.annotate.sharing.merging import STATE
    from cuecard.core.i18n import age

    counts = [f"{_(STATE[state])} {count}" for state, count in found.counts().items()]
    table(
        " · ".join(counts),
        (_("state"), _("task"), pgettext("when a state began", "since"), _("waits for")),
        [
            (_(STATE[task.state]), task.task.id, age(task.since, now), waiting(task, found.reader))
            for task in found.tasks
        ],
        numbers=(2,),
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
    if not report.rounds:
        prose(_("No review is decided yet: figures come when all reviews of a revision are in."))
        return
    _print_agreement(report)
    _print_dimensions(report, labels)
    _print_work(report, labels)


def _print_agreement(report: FiguresReport) -> None:
    from cuecard.annotate.review.board import measure_label, who
    from cuecard.annotate.review.figures import ALL_DIMENSIONS, DECISION

    n = len(report.rounds)
    say(
        ngettext(
            "Agreement over {n} decided revision, with 95% intervals resampled by task",
            "Agreement over {n} decided revisions, with 95% intervals resampled by task",
            n,
        ).format(n=n)
    )
    say("")
    for measure in (DECISION, ALL_DIMENSIONS):
        lines = [(f, f.on(measure)) for f in (report.overall, *report.pairs)]
        shown = [(figures, found) for figures, found in lines if found is not None]
        table(
            measure_label(measure, {}),
            ("", "n", _("percent"), _("kappa"), "AC1"),
            [(who(figures), found.n, *_values(found)) for figures, found in shown],
            numbers=range(1, 5),
        )
        _print_remarks([found for _figures, found in shown])


def _print_dimensions(report: FiguresReport, labels: Labels) -> None:
    from cuecard.annotate.review.board import measure_label
    from cuecard.annotate.review.figures import ALL_DIMENSIONS, DECISION

    shown = [
        found
        for found in report.overall.agreement
        if found.measure not in (DECISION, ALL_DIMENSIONS)
    ]
    table(
        _("Agreement of all reviewers by dimension"),
        (_("dimension"), "n", _("percent"), _("Fleiss' kappa"), "AC1"),
        [(measure_label(found.measure, labels), found.n, *_values(found)) for found in shown],
        numbers=range(1, 5),
    )
    _print_remarks(shown)


def _values(found: MeasureAgreement) -> list[str]:
    from cuecard.annotate.review.board import figure

    return [figure(statistic, n=False) for statistic in found.statistics]


def _print_remarks(shown: Sequence[MeasureAgreement]) -> None:
    from cuecard.annotate.review.board import remark

    remarks = {remark(statistic): None for found in shown for statistic in found.statistics}
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
