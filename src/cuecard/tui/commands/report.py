"""`cuecard report`: write a report on runs as one file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import STDOUT, Context, check_place, write_result
from cuecard.tui.commands.output import console


class Format(StrEnum):
    HTML = "html"
    MD = "md"
    TEX = "tex"
    CSV = "csv"
    JSON = "json"


def report(
    context: typer.Context,
    runs: Annotated[list[int], typer.Argument(metavar="RUN...", help=_("Runs by number"))],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help=_("Write to this file; - is standard output")),
    ] = STDOUT,
    format: Annotated[
        Format | None, typer.Option(help=_("Default: by the file's suffix, else Markdown"))
    ] = None,
    title: Annotated[str, typer.Option(help=_("Default: the names of the runs"))] = "",
    judge: Annotated[
        str, typer.Option(help=_("Whose judgements; none means the first of the run's judges"))
    ] = "",
    no_plots: Annotated[bool, typer.Option("--no-plots", help=_("Without plots"))] = False,
) -> None:
    from cuecard.annotate.results.report.formats import format_of, written
    from cuecard.annotate.results.report.gathering import report_of

    to_file = output != STDOUT
    wanted = format.value if format else (format_of(output) if to_file else "md")
    if wanted is None:
        raise typer.BadParameter(
            _("the file's suffix names no format; give one with --format"), param_hint="--output"
        )
    if to_file:
        check_place(output)
    with (
        Context.of(context).workspace() as workspace,
        console(stderr=True).status("") as status,
    ):
        found = report_of(
            workspace,
            runs,
            title=title,
            judges=(judge,) if judge else (),
            plots=not no_plots,
            on_count=lambda done, of: status.update(
                _("Counting trials: {done} of {all}").format(done=f"{done:,}", all=f"{of:,}")
            ),
            doing=status.update,
        )
        status.update(_("Writing"))
        text = written(found, wanted)
    if not to_file:
        typer.echo(text, nl=False)
        return
    write_result(output, text)
