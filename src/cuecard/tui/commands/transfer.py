"""`cuecard import` and `cuecard export`: tasks and runs as files in any format."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.formats.registry import EXPORTS, FORMATS
from cuecard.core.i18n import _, ngettext
from cuecard.core.system import replace_file
from cuecard.core.text import one_line
from cuecard.tui.commands.context import AUTO, Context, FamilyChoice
from cuecard.tui.commands.output import as_json, complain, console, note, say, tell_sight

if TYPE_CHECKING:
    from cuecard.annotate.task_files import ImportReport
    from cuecard.core.evaluation.run_exports import OnWritten, RunExport
    from cuecard.core.tasks.models import Family
    from cuecard.store.workspace import Workspace


if TYPE_CHECKING:
    InputFormat = ExportFormat = str
else:
    # What can be chosen depends on what other packages register.
    InputFormat = StrEnum("InputFormat", [(name, name) for name in (AUTO, *FORMATS)])
    ExportFormat = StrEnum(
        "ExportFormat", [(name, name) for name in dict.fromkeys([*FORMATS, *EXPORTS])]
    )

_STDIN = Path("-")
_FEW = 50


@contextmanager
def counting(path: Path) -> Generator[Callable[[int, int], bool] | None]:
    """A listener for the progress of an import; None where nobody watches."""
    if not console(stderr=True).is_terminal:
        yield None
        return
    from rich.text import Text

    with console(stderr=True).status(Text(one_line(str(path)))) as status:

        def progress(done: int, of: int) -> bool:
            if of > _FEW:
                text = _("{path}: {done} of {all} files")
                status.update(Text(one_line(text.format(path=path, done=done, all=of))))
            return True

        yield progress


@contextmanager
def standard_input(paths: Sequence[Path]) -> Generator[list[Path]]:
    """The same paths, with `-` as a file that holds what stands on standard input."""
    if _STDIN not in paths:
        yield list(paths)
        return
    data = sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory(prefix="cuecard-") as folder:
        file = Path(folder) / f"stdin{_suffix(data)}"
        replace_file(file, data)
        yield [file if path == _STDIN else path for path in paths]


def called(report: ImportReport, file: Path, path: Path) -> ImportReport:
    """The report with the name that the person gave."""
    if file == path:
        return report
    return report.model_copy(
        update={
            "tasks": tuple(one.model_copy(update={"file": str(path)}) for one in report.tasks),
            "problems": tuple(p.model_copy(update={"file": str(path)}) for p in report.problems),
        }
    )


def _suffix(data: bytes) -> str:
    """The suffix under which the formats look for such data."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"{": ".json", b"[": ".json", b"<": ".graphml"}.get(start, ".yaml")


def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(help=_("Task files or folders; - is standard input"))
    ],
    format: Annotated[InputFormat, typer.Option(help=_("Their format"))] = AUTO,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=_("Say what would happen; save nothing"))
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.task_files import import_path

    ours = Context.of(context)
    reports: list[tuple[Path, ImportReport]] = []
    refused: list[tuple[Path, CuecardError]] = []
    with ours.workspace() as workspace, standard_input(paths) as files:
        person = ours.person(workspace)
        for path, file in zip(paths, files, strict=True):
            try:
                with counting(path) as progress:
                    report = import_path(
                        workspace,
                        file,
                        format=format,
                        by=person,
                        dry=dry_run,
                        progress=progress,
                    )
            except CuecardError as error:
                refused.append((path, error))
            else:
                reports.append((path, called(report, file, path)))
    if json:
        as_json(
            {
                "dry_run": dry_run,
                "files": [
                    {"path": str(path), "format": r.format, "files": r.files, "bad": r.bad_files}
                    for path, r in reports
                ],
                "tasks": [task.model_dump(mode="json") for _path, r in reports for task in r.tasks],
                "problems": [
                    *(p.model_dump(mode="json") for _path, r in reports for p in r.problems),
                    *(
                        {"file": str(path), "place": "", "reason": str(error), "line": None}
                        for path, error in refused
                    ),
                ],
            }
        )
    else:
        for path, report in reports:
            _print(path, report)
        for _path, error in refused:
            complain(error)
    raise typer.Exit(1 if refused or any(report.problems for _path, report in reports) else 0)


def _print(path: Path, report: ImportReport) -> None:
    heading = (
        _("{path} ({format}), would be: {new} new, {revised} revised, {unchanged} unchanged")
        if report.dry
        else _("{path} ({format}): {new} new, {revised} revised, {unchanged} unchanged")
    )
    say(
        heading.format(
            path=path,
            format=report.format,
            new=report.count("new"),
            revised=report.count("revised"),
            unchanged=report.count("unchanged"),
        )
    )
    for problem in report.problems:
        note(str(problem))
    if report.bad_files:
        note(
            ngettext(
                "{n} file with problems: nothing of it was imported.",
                "{n} files with problems: nothing of them was imported.",
                report.bad_files,
            ).format(n=report.bad_files)
        )


def export(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help=_("Folder to write into, made if absent"))
    ],
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help=_("Task ids; none means all"))
    ] = None,
    format: Annotated[
        ExportFormat | None,
        typer.Option(
            help=_("Format. Default: cuecard for tasks, jsonl for runs"), show_default=False
        ),
    ] = None,
    family: Annotated[
        FamilyChoice | None, typer.Option(help=_("Only tasks of this family"))
    ] = None,
    runs: Annotated[
        list[int] | None,
        typer.Option("--run", help=_("Trials of this run instead of tasks; may be repeated")),
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option("--judge", help=_("Of runs: only this judge's judgements; may be repeated")),
    ] = None,
    content: Annotated[
        bool, typer.Option("--content", help=_("Of otel: also what was said, asked and found"))
    ] = False,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help=_("Also what I am still to label; labels that I give on it later are not blind"),
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:

    if runs:
        if tasks or family:
            what = _("runs are exported whole: name no tasks and no family with --run")
            raise typer.BadParameter(what, param_hint="--run")
        options = RunOptions(runs, format, judges or (), content=content, reveal=reveal, json=json)
        export_runs(Context.of(context), folder, options)
        return
    if judges or content or reveal:
        hint = "--judge / --content / --reveal"
        raise typer.BadParameter(_("only for runs: --run N"), param_hint=hint)
    _export_tasks(context, folder, tasks, _task_format(format), family, json=json)


def _task_format(format: str | None) -> str:
    """Raises `BadParameter` for a format of trials."""
    if format is not None and format not in FORMATS:
        what = _("{format} holds trials, not tasks; name a run with --run")
        raise typer.BadParameter(what.format(format=format), param_hint="--format")
    return format or "cuecard"


def _export_tasks(
    context: typer.Context,
    folder: Path,
    tasks: list[str] | None,
    format: str,
    family: FamilyChoice | None,
    *,
    json: bool,
) -> None:
    from cuecard.annotate.task_files import export_tasks

    if tasks and family:
        raise typer.BadParameter(_("name tasks or a family, not both"), param_hint="--family")
    with Context.of(context).workspace() as workspace:
        chosen = family.value if family else None
        if not tasks and chosen is None:
            chosen = _only_family(workspace, format)
        report = export_tasks(
            workspace, folder, format=format, task_ids=tasks or None, family=chosen
        )
    if json:
        as_json(
            {
                "format": format,
                "files": [str(file) for file in report.files],
                "left_out": report.left_out,
            }
        )
        return
    written = len(report.files)
    say(
        ngettext("{n} file written to {folder}.", "{n} files written to {folder}.", written).format(
            n=written, folder=folder
        )
    )
    if report.left_out:
        parts = ", ".join(f"{what} ({n})" for what, n in sorted(report.left_out.items()))
        note(
            _("{format} has no place for: {parts}. Cuecard's own format keeps them.").format(
                format=format, parts=parts
            )
        )


def _only_family(workspace: Workspace, format: str) -> Family | None:
    """The family of a format that holds just one; says how many tasks that leaves out."""
    families = FORMATS[format].families
    if len(families) != 1:
        return None
    family = families[0]
    left = sum(summary.family != family for summary in workspace.tasks.summaries())
    if left:
        note(
            ngettext(
                "{n} task of another family is left out; {format} holds {family} tasks.",
                "{n} tasks of other families are left out; {format} holds {family} tasks.",
                left,
            ).format(n=left, format=format, family=family)
        )
    return family


@dataclass(frozen=True)
class RunOptions:
    runs: Sequence[int]
    format: str | None
    judges: Sequence[str]
    content: bool
    reveal: bool
    json: bool


def export_runs(ours: Context, folder: Path, options: RunOptions) -> None:
    """Raises `BadParameter` for a format that holds no trials, and `CuecardError`."""
    from cuecard.core.evaluation import run_exports as exporting
    from cuecard.store.workspace import Sight

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


def _run_format(format: str | None) -> str:
    if format is not None and format not in EXPORTS:
        what = _("{format} holds tasks, not trials; for runs: {names}").format(
            format=format, names=", ".join(EXPORTS)
        )
        raise typer.BadParameter(what, param_hint="--format")
    return format or "jsonl"


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
