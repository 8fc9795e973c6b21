"""`cuecard export --run`: the trials of runs, for other programs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cuecard.cli.choices import ExportChoice
from cuecard.cli.context import Context
from cuecard.cli.output import as_json, console, note, say, tell_sight
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.lab.run_exports.exporting import OnWritten, RunExport, RunFormat


@dataclass(frozen=True)
class RunOptions:
    runs: Sequence[int]
    format: ExportChoice | None
    judges: Sequence[str]
    content: bool
    reveal: bool
    json: bool


def export_runs(ours: Context, folder: Path, options: RunOptions) -> None:
    """Raises `BadParameter` for a format that holds no trials, and `CuecardError`."""
    from cuecard.lab.run_exports import exporting
    from cuecard.store.sight import Sight

    format = _run_format(options.format)
    if options.content and format != "otel":
        what = _("only for otel: the other formats always hold what was said")
        raise typer.BadParameter(what, param_hint="--content")
    with ours.workspace() as workspace, _counting() as progress:
        sight = Sight(workspace, ours.reader, reveal=options.reveal)
        report = exporting.export_runs(
            workspace,
            options.runs,
            folder,
            format,
            judges=options.judges,
            options=exporting.Options(content=options.content),
            on_written=progress,
            sight=sight,
        )
    tell_sight(sight)
    if options.json:
        as_json(
            {
                "format": report.format,
                "folder": str(report.folder),
                "trials": report.trials,
                "files": [str(file) for file in report.files],
                "left_out": report.left_out,
            }
        )
        return
    _tell(report)


def _run_format(format: ExportChoice | None) -> RunFormat:
    match format:
        case None | ExportChoice.JSONL:
            return "jsonl"
        case ExportChoice.VIBESEARCH:
            return "vibesearch"
        case ExportChoice.WIDESEARCH:
            return "widesearch"
        case ExportChoice.INSPECT:
            return "inspect"
        case ExportChoice.OTEL:
            return "otel"
        case other:
            what = _("{format} holds tasks, not trials; for runs: {names}").format(
                format=other.value, names="vibesearch, widesearch, jsonl, inspect, otel"
            )
            raise typer.BadParameter(what, param_hint="--format")


def _tell(report: RunExport) -> None:
    trials = ngettext("{n} trial", "{n} trials", report.trials).format(n=report.trials)
    files = ngettext("{n} file", "{n} files", len(report.files)).format(n=len(report.files))
    say(
        _("{trials} written to {folder} ({files}).").format(
            trials=trials, folder=report.folder, files=files
        )
    )
    for what, n in sorted(report.left_out.items()):
        note(_("Left out: {what} ({n}).").format(what=_(what), n=n))
    if report.format == "inspect":
        note(_("`inspect view --log-dir {folder}` shows them.").format(folder=report.folder))


@contextmanager
def _counting() -> Generator[OnWritten | None]:
    """A listener for the progress; None where nobody watches."""
    if not console(stderr=True).is_terminal:
        yield None
        return
    from rich.text import Text

    with console(stderr=True).status(Text(_("Writing…"))) as status:

        def progress(done: int, of: int) -> None:
            line = _("Writing: {done} of {all} trials").format(done=done, all=of)
            status.update(Text(line))

        yield progress
