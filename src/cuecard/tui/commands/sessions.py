"""`cuecard sessions`: list live sessions with their notes and forms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.core.system import write_text
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, say, table, tell_sight

if TYPE_CHECKING:
    from cuecard.annotate.sessions import SessionReport


def sessions(
    context: typer.Context,
    runs: Annotated[
        list[int] | None, typer.Argument(metavar="RUN", help=_("Run numbers; none means all"))
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help=_("Write a line for each session and form into this file")),
    ] = None,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help=_("Also what I am still to label; labels that I give on it later are not blind"),
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help=_("Print JSON, with every mark, note and answer"))
    ] = False,
) -> None:
    from cuecard.annotate.sessions import session_reports, sessions_csv
    from cuecard.store.workspace import Sight

    ours = Context.of(context)
    with ours.workspace() as workspace:
        # A table and CSV tell no decision.
        sight = Sight(workspace, ours.reader, reveal=reveal) if json else None
        reports = session_reports(workspace, runs or None, sight)
        if sight:
            sight.record()
            tell_sight(sight)
    if csv is not None:
        write_text(csv, sessions_csv(reports))
    if json:
        as_json({"sessions": [report.model_dump(mode="json") for report in reports]})
        return
    if csv is not None:
        written = ngettext(
            "{n} session written to {file}.", "{n} sessions written to {file}.", len(reports)
        )
        say(written.format(n=len(reports), file=csv))
        return
    if not reports:
        note(_("No sessions yet; in the app, p plays a task."))
        return
    _print(reports)


def _print(reports: list[SessionReport]) -> None:
    from cuecard.core.i18n import stopwatch
    from cuecard.tui.commands.score_output import baselines_line, termination_label

    table(
        "",
        (
            *(_("trial"), _("turns"), _("time"), _("notes"), _("satisfied")),
            *(_("task"), _("person"), _("agent"), _("outcome")),
        ),
        [
            (
                report.trial_id,
                report.turns,
                stopwatch(report.seconds),
                len(report.notes) or "",
                _satisfied(report),
                report.task_id,
                report.person,
                report.agent_person or report.agent.name,
                termination_label(report.termination),
            )
            for report in reports
        ],
        numbers=range(5),
    )
    if baselines := baselines_line((_("agent"), report.agent) for report in reports):
        note(baselines)


def _satisfied(report: SessionReport) -> str:
    """`6/7`; a dash where the person would rather not say."""
    for form in report.forms:
        for question in form.questions:
            if question.key == "satisfaction" and question.key in form.answers:
                return f"{form.answers[question.key]}/{question.highest}"
    return "–" if report.forms else ""
