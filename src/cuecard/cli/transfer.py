"""`cuecard import` and `cuecard export`: tasks in and out of the workspace, in any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.cli.choices import ExportChoice, FamilyChoice, FormatChoice, InputFormat
from cuecard.cli.context import Context
from cuecard.cli.output import as_json, complain, example, note, say
from cuecard.cli.reading import called, counting, standard_input
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.core.tasks import Family
    from cuecard.lab.importing import ImportReport
    from cuecard.store.workspace import Workspace


def register(app: typer.Typer) -> None:
    app.command(
        "import",
        help=_("Bring tasks from files into the workspace."),
        epilog=example("cuecard import tasks/ --format vibesearch"),
    )(import_)
    app.command(
        "export",
        help=_("Write tasks, or the trials of runs, into a folder."),
        epilog=example("cuecard export --run 2 --format inspect -o logs"),
    )(export)


def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(help=_("Task files or folders; - is standard input"))
    ],
    format: Annotated[InputFormat, typer.Option(help=_("Their format"))] = InputFormat.AUTO,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=_("Say what would happen; save nothing"))
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.lab.importing import import_path

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
                        format=format.value,
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
        ExportChoice | None,
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
    from cuecard.cli.export_runs import RunOptions, export_runs

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


def _task_format(format: ExportChoice | None) -> FormatChoice:
    """Raises `BadParameter` for a format of trials."""
    if format is None:
        return FormatChoice.CUECARD
    try:
        return FormatChoice(format.value)
    except ValueError:
        what = _("{format} holds trials, not tasks; name a run with --run")
        raise typer.BadParameter(what.format(format=format.value), param_hint="--format") from None


def _export_tasks(
    context: typer.Context,
    folder: Path,
    tasks: list[str] | None,
    format: FormatChoice,
    family: FamilyChoice | None,
    *,
    json: bool,
) -> None:
    from cuecard.lab.exporting import export_tasks

    if tasks and family:
        raise typer.BadParameter(_("name tasks or a family, not both"), param_hint="--family")
    with Context.of(context).workspace() as workspace:
        chosen = family.value if family else None
        if not tasks and chosen is None:
            chosen = _only_family(workspace, format)
        report = export_tasks(
            workspace, folder, format=format.value, task_ids=tasks or None, family=chosen
        )
    if json:
        as_json(
            {
                "format": format.value,
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
                format=format.value, parts=parts
            )
        )


def _only_family(workspace: Workspace, format: FormatChoice) -> Family | None:
    """The family of a format that holds just one; says how many tasks that leaves out."""
    from cuecard.core.formats.registry import FORMATS

    families = FORMATS[format.value].families
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
            ).format(n=left, format=format.value, family=family)
        )
    return family
