"""`cuecard import` and `cuecard export`: tasks and runs as files in any format."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.formats.base import EXPORTS, FORMATS
from cuecard.core.i18n import N_, _, beside, listed, plural
from cuecard.core.system import replace_file
from cuecard.tui.commands.context import Context, check_judges
from cuecard.tui.commands.output import live_progress, note, print_error, say
from cuecard.tui.commands.verb import DryRun, Help, Result, Reveal, verb

if TYPE_CHECKING:
    from cuecard.annotate.task_files import ImportReport
    from cuecard.core.evaluation.run_exports import RunExport
    from cuecard.core.tasks.models import Family
    from cuecard.store.workspace import Workspace


_FORMATS = "cuecard.core.formats.base:FORMATS"
_EXPORTS = "cuecard.core.formats.base:EXPORTS"
_STDIN = Path("-")
_FEW = 50


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


@verb("cuecard import tasks/ --format vibesearch", "json")
def import_(
    ours: Context,
    paths: Annotated[
        Sequence[Path], Help(N_("Task files or folders; - is standard input"), metavar="PATH")
    ],
    *,
    format: Annotated[str, Help(N_("Their format"), one_of=("auto", _FORMATS))] = "auto",
    dry_run: DryRun = False,
) -> Result:
    from cuecard.annotate.task_files import import_path

    reports: list[tuple[Path, ImportReport]] = []
    refused: list[tuple[Path, CuecardError]] = []
    workspace = ours.workspace
    with standard_input(paths) as files:
        person = ours.person
        for path, file in zip(paths, files, strict=True):
            try:
                with live_progress(str(path)) as status:
                    report = import_path(
                        workspace,
                        file,
                        format=format,
                        by=person,
                        dry=dry_run,
                        progress=_counted(path, status) if status else None,
                    )
            except CuecardError as error:
                refused.append((path, error))
            else:
                reports.append((path, called(report, file, path)))

    def show() -> None:
        for path, report in reports:
            _print(path, report)
        for _path, error in refused:
            print_error(error)

    return Result(
        show,
        lambda: {
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
        },
        code=1 if refused or any(report.problems for _path, report in reports) else 0,
    )


def _counted(path: Path, show: Callable[[str], None]) -> Callable[[int, int], bool]:
    def progress(done: int, of: int) -> bool:
        if of > _FEW:
            show(_("{path}: {done} of {all} files").format(path=path, done=done, all=of))
        return True

    return progress


def _print(path: Path, report: ImportReport) -> None:
    from cuecard.tui.present.files import others_of

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
    if others := others_of(report):
        note(others)
    if report.bad_files:
        note(
            plural(
                "{n} file with problems: nothing of it was imported.",
                "{n} files with problems: nothing of them was imported.",
                report.bad_files,
            )
        )


@verb("cuecard export --run 2 --format inspect -o logs", "json")
def export(
    ours: Context,
    tasks: Annotated[Sequence[str], Help(N_("Task ids; none means all"), metavar="TASK")] = (),
    *,
    folder: Annotated[Path, Help(N_("Folder to write into, made if absent"), "-o", "--output")],
    format: Annotated[
        str | None,
        Help(
            N_("Format. Default: cuecard for tasks, jsonl for runs"),
            one_of=(_FORMATS, _EXPORTS),
            show_default=False,
        ),
    ] = None,
    family: Annotated[
        str | None, Help(N_("Only tasks of this family"), one_of=("cuecard.core.tasks:SHIPPED",))
    ] = None,
    runs: Annotated[
        Sequence[int], Help(N_("Trials of this run instead of tasks; may be repeated"), "--run")
    ] = (),
    judges: Annotated[
        Sequence[str], Help(N_("Of runs: only this judge's judgements; may be repeated"), "--judge")
    ] = (),
    content: Annotated[bool, N_("Of otel: also what was said, asked and found")] = False,
    reveal: Reveal = False,
) -> Result:
    if runs:
        if tasks or family:
            what = _("runs are exported whole: name no tasks and no family with --run")
            raise typer.BadParameter(what, param_hint="--run")
        return _export_runs(
            ours, folder, runs, format or "jsonl", judges, content=content, reveal=reveal
        )
    if judges or content or reveal:
        hint = "--judge / --content / --reveal"
        raise typer.BadParameter(_("only for runs: --run N"), param_hint=hint)
    return _export_tasks(ours, folder, tasks, format or "cuecard", family)


def _export_tasks(
    ours: Context, folder: Path, tasks: Sequence[str], format: str, family: Family | None
) -> Result:
    from cuecard.annotate.task_files import export_tasks

    if format not in FORMATS:
        what = _("{format} holds trials, not tasks; name a run with --run")
        raise typer.BadParameter(what.format(format=format), param_hint="--format")
    if tasks and family:
        raise typer.BadParameter(_("name tasks or a family, not both"), param_hint="--family")
    if not tasks and family is None:
        family = _only_family(ours.workspace, format)
    report = export_tasks(
        ours.workspace,
        folder,
        format=format,
        task_ids=list(tasks) or None,
        family=family,
        canary=ours.config().contamination.canary,
    )

    def show() -> None:
        n = len(report.files)
        say(
            plural(
                "{n} file written to {folder}.", "{n} files written to {folder}.", n, folder=folder
            )
        )
        if report.left_out:
            parts = listed(beside(what, str(n)) for what, n in sorted(report.left_out.items()))
            text = _("{format} has no place for: {parts}. Cuecard's own format keeps them.")
            note(text.format(format=format, parts=parts))

    files = [str(file) for file in report.files]
    return Result(show, lambda: {"format": format, "files": files, "left_out": report.left_out})


def _only_family(workspace: Workspace, format: str) -> Family | None:
    """The family of a format that holds just one; says how many tasks that leaves out."""
    families = FORMATS[format].families
    if len(families) != 1:
        return None
    family = families[0]
    left = sum(summary.family != family for summary in workspace.tasks.summaries())
    if left:
        note(
            plural(
                "{n} task of another family is left out; {format} holds {family} tasks.",
                "{n} tasks of other families are left out; {format} holds {family} tasks.",
                left,
                format=format,
                family=family,
            )
        )
    return family


def _export_runs(
    ours: Context,
    folder: Path,
    runs: Sequence[int],
    format: str,
    judges: Sequence[str],
    *,
    content: bool,
    reveal: bool,
) -> Result:
    """Raises `BadParameter` for a format that holds no trials, and `CuecardError`."""
    from cuecard.core.evaluation.run_exports import Options, export_runs

    if format not in EXPORTS:
        what = _("{format} holds tasks, not trials; for runs: {names}")
        raise typer.BadParameter(
            what.format(format=format, names=listed(EXPORTS)), param_hint="--format"
        )
    if content and format != "otel":
        what = _("only for otel: the other formats always hold what was said")
        raise typer.BadParameter(what, param_hint="--content")
    check_judges(ours.workspace, runs, judges)
    with live_progress(_("Writing…")) as status:

        def written(done: int, of: int) -> None:
            if status:
                status(_("Writing: {done} of {all} trials").format(done=done, all=of))

        report = export_runs(
            ours.workspace,
            runs,
            folder,
            format,
            judges=judges,
            options=Options(content=content),
            on_written=written if status else None,
            sight=ours.sight(reveal=reveal),
        )
    return Result(
        lambda: _tell(report),
        lambda: {
            "format": report.format,
            "folder": str(report.folder),
            "trials": report.trials,
            "files": [str(file) for file in report.files],
            "left_out": report.left_out,
        },
    )


def _tell(report: RunExport) -> None:
    trials = plural("{n} trial", "{n} trials", report.trials)
    files = plural("{n} file", "{n} files", len(report.files))
    say(
        _("{trials} written to {folder} ({files}).").format(
            trials=trials, folder=report.folder, files=files
        )
    )
    for what, n in sorted(report.left_out.items()):
        note(_("Left out: {what} ({n}).").format(what=_(what), n=n))
    if report.format == "inspect":
        note(_("`inspect view --log-dir {folder}` shows them.").format(folder=report.folder))
