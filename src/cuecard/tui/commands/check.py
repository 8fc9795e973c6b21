"""`cuecard check`: find problems in task files."""

from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.tui.commands.output import as_json, note, say


def check(
    paths: Annotated[list[Path], typer.Argument(help=_("Task files or folders"))],
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    strict: Annotated[bool, typer.Option("--strict", help=_("Count warnings as errors"))] = False,
    everything: Annotated[
        bool, typer.Option("--all", help=_("Show silenced findings too, with the reasons"))
    ] = False,
) -> None:
    from cuecard.annotate.check import check_paths
    from cuecard.annotate.lint.codes import Severity

    report = check_paths(paths)
    found = report.open if strict else report.errors
    empty = not report.tasks and not report.problems
    if json:
        as_json(
            {
                "tasks": report.tasks,
                "errors": len(report.errors),
                "warnings": len(report.warnings),
                "silenced": len(report.silenced),
                "problems": [problem.model_dump(mode="json") for problem in report.problems],
            }
        )
        raise typer.Exit(1 if found or empty else 0)
    for problem in report.problems if everything else report.open:
        kind = _("warning") if problem.severity is Severity.WARNING else _("error")
        after = f" — {problem.hint}" if problem.hint else ""
        if problem.silenced:
            kind, after = _("silenced"), f" — {problem.silenced}"
        say(f"{problem} [{kind} {problem.code}]{after}")
    silenced = len(report.silenced)
    note(
        ngettext("{n} task read", "{n} tasks read", report.tasks).format(n=report.tasks)
        + ", "
        + ngettext("{n} error", "{n} errors", len(report.errors)).format(n=len(report.errors))
        + ", "
        + ngettext("{n} warning", "{n} warnings", len(report.warnings)).format(
            n=len(report.warnings)
        )
        + (", " + _("{n} silenced").format(n=silenced) if silenced else "")
    )
    if empty:
        note(_("There are no task files (*.yaml) there."))
    raise typer.Exit(1 if found or empty else 0)
