"""`cuecard labels`: import and export labels."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, example, note, say, table, tell_sight

if TYPE_CHECKING:
    from cuecard.annotate.labelling.files.importing import LabelImport


class LabelFormat(StrEnum):
    """The formats of `annotate.labelling.files`."""

    VIBESEARCH = "vibesearch"
    CSV = "csv"
    JSONL = "jsonl"
    LABELSTUDIO = "labelstudio"


_SHEETS = (LabelFormat.VIBESEARCH, LabelFormat.LABELSTUDIO)
"""Forms to be filled in: they hold what waits for a label, and one person's labels."""


def verbs() -> typer.Typer:
    """The verbs below `labels`."""
    verbs = typer.Typer(no_args_is_help=True)
    verbs.command(
        "import",
        help=_("Bring labels in: meta-evaluation sheets, CSV, JSON lines, Label Studio's JSON."),
        epilog=example("cuecard labels import recall.csv precision.csv --run 3 --person Ana"),
    )(import_)
    verbs.command(
        "export",
        help=_("Write labels, or a labelling set to be filled in, into files."),
        epilog=example("cuecard labels export --set 1 --format vibesearch -o sheets"),
    )(export)
    return verbs


def import_(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE", help=_("Files or folders"))],
    run: Annotated[int | None, typer.Option(help=_("Only trials of this run are meant"))] = None,
    trial: Annotated[
        str, typer.Option(help=_("The trial that meta-evaluation sheets are of"))
    ] = "",
    person: Annotated[
        str, typer.Option(help=_("Whose labels these are, where a file does not say"))
    ] = "",
    revealed: Annotated[
        bool | None,
        typer.Option(
            "--revealed/--blind",
            help=_(
                "Whether they were given with the judge's decision in sight; by default whether it stands in the file"
            ),
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=_("Say what would happen; save nothing"))
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.labelling.files.importing import import_labels

    ours = Context.of(context)
    with ours.workspace() as workspace:
        report = import_labels(
            workspace,
            paths,
            person=person or ours.reader,
            run_id=run,
            trial=trial,
            phase=None if revealed is None else "revealed" if revealed else "blind",
            dry=dry_run,
        )
    if json:
        as_json({**asdict(report), "problems": []})
    else:
        _print_import(report)
    if revealed is None and any(file.shows_judge for file in report.files):
        note(
            _(
                "The judge's decision stands in the file beside the labels: they count as given with it in sight."
                " If it was not, import with --blind."
            )
        )


def _print_import(report: LabelImport) -> None:
    table(
        _("What would be imported") if report.dry else _("What was imported"),
        (_("file"), _("format"), _("labelled"), _("blank")),
        [(Path(file.path).name, file.format, file.labels, file.blank) for file in report.files],
        numbers=(2, 3),
    )
    say(
        _("New labels: {new}, known: {known}; by {people}, on {trials}.").format(
            new=report.added,
            known=report.known,
            people=", ".join(one_line(name) for name in report.people) or _("nobody"),
            trials=ngettext("{n} trial", "{n} trials", len(report.trials)).format(
                n=len(report.trials)
            ),
        )
    )


def export(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("-o", "--output", help=_("File; for vibesearch a folder"))
    ],
    format: Annotated[LabelFormat, typer.Option(help=_("Format"))],
    run: Annotated[int | None, typer.Option(help=_("Labels on this run; none means all"))] = None,
    set_: Annotated[
        int | None, typer.Option("--set", help=_("The items of this labelling set"))
    ] = None,
    person: Annotated[
        str,
        typer.Option(
            help=_("Only the labels of this person; in sheets and Label Studio yours by default")
        ),
    ] = "",
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help=_("Also items that nobody has labelled"))
    ] = False,
    history: Annotated[
        bool,
        typer.Option("--history", help=_("Every label, not only the newest blind ones")),
    ] = False,
    verdicts: Annotated[
        bool,
        typer.Option(
            "--with-verdicts", help=_("Show the judge's decisions; not to be labelled from")
        ),
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
    from cuecard.annotate.labelling.files.exporting import Scope, export_labels
    from cuecard.store.workspace import Sight

    if run is not None and set_ is not None:
        raise typer.BadParameter(_("name a run or a set, not both"), param_hint="--set")
    ours = Context.of(context)
    sheets = format in _SHEETS
    scope = Scope(
        run_id=run,
        set_id=set_,
        unlabelled=unlabelled or sheets or set_ is not None,
        history=history and not sheets,
    )
    with ours.workspace() as workspace:
        sight = Sight(workspace, ours.reader, reveal=reveal)
        report = export_labels(
            workspace,
            output,
            scope,
            format=format.value,
            person=person or (ours.reader if sheets else ""),
            verdicts=verdicts,
            sight=sight,
        )
    tell_sight(sight)
    if json:
        files = [str(file) for file in report.files]
        as_json({**asdict(report), "files": files, "covered": sight.hidden, "seen": sight.told})
        return
    for file in report.files:
        say(str(file))
    say(
        ngettext(
            "{n} item, {labels} of them labelled.",
            "{n} items, {labels} of them labelled.",
            report.items,
        ).format(n=report.items, labels=report.labels)
    )
    if report.left_out:
        note(
            ngettext(
                "{n} item is left out: {format} has no place for it.",
                "{n} items are left out: {format} has no place for them.",
                report.left_out,
            ).format(n=report.left_out, format=format.value)
        )
