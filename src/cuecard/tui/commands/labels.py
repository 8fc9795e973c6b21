"""`cuecard labels`: bring labels in and out as files, and say how far a set is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.i18n import N_, _, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, say, table
from cuecard.tui.commands.verb import TABLES, Help, Page, Result, Reveal, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.files.exporting import LabelExport
    from cuecard.annotate.labelling.files.importing import LabelImport

LabelFormat = Literal["vibesearch", "csv", "jsonl", "labelstudio"]
_SHEETS = ("vibesearch", "labelstudio")
"""Forms to be filled in: they hold what waits for a label, and one person's labels."""


@verb("cuecard labels import recall.csv precision.csv --run 3 --person Ana", "json")
def import_(
    ours: Context,
    paths: Annotated[Sequence[Path], Help(N_("Files or folders"), metavar="FILE")],
    *,
    run: Annotated[int | None, N_("Only trials of this run are meant")] = None,
    trial: Annotated[str, N_("The trial that meta-evaluation sheets are of")] = "",
    person: Annotated[
        str,
        N_(
            "Whose labels these are, where a file does not say; for accounts of Label Studio 1=Ana,2=Ben"
        ),
    ] = "",
    revealed: Annotated[
        bool | None,
        Help(
            N_(
                "Whether they were given with the judge's decision in sight; by default whether it stands in the file"
            ),
            "--revealed/--blind",
        ),
    ] = None,
    dry_run: Annotated[bool, N_("Say what would happen; save nothing")] = False,
) -> Result:
    from cuecard.annotate.labelling.files.importing import import_labels

    report = import_labels(
        ours.workspace,
        list(paths),
        person=person or ours.reader,
        run_id=run,
        trial=trial,
        phase=None if revealed is None else "revealed" if revealed else "blind",
        dry=dry_run,
    )

    def remarks() -> None:
        if revealed is None and any(file.shows_judge for file in report.files):
            note(
                _(
                    "The judge's decision stands in the file beside the labels: they count as given with it in sight."
                    " If it was not, import with --blind."
                )
            )

    return Result(
        lambda: _print_import(report), lambda: {**asdict(report), "problems": []}, remarks=remarks
    )


def _print_import(report: LabelImport) -> None:
    table(
        _("What would be imported") if report.dry else _("What was imported"),
        (_("file"), _("format"), _("labelled"), _("blank")),
        [(Path(file.path).name, file.format, file.labels, file.blank) for file in report.files],
        numbers=(2, 3),
    )
    say(report.summary)


@verb("cuecard labels export --set 1 --format vibesearch -o sheets", "json")
def export(
    ours: Context,
    *,
    output: Annotated[Path, Help(N_("File; for vibesearch a folder"), "-o", "--output")],
    format: Annotated[LabelFormat, N_("Format")],
    run: Annotated[int | None, N_("Labels on this run; none means all")] = None,
    set_: Annotated[int | None, Help(N_("The items of this labelling set"), "--set")] = None,
    person: Annotated[
        str, N_("Only the labels of this person; in sheets and Label Studio yours by default")
    ] = "",
    unlabelled: Annotated[bool, N_("Also items that nobody has labelled")] = False,
    history: Annotated[bool, N_("Every label, not only the newest blind ones")] = False,
    with_verdicts: Annotated[
        bool, Help(N_("Show the judge's decisions; not to be labelled from"))
    ] = False,
    reveal: Reveal = False,
) -> Result:
    from cuecard.annotate.labelling.files.exporting import Scope, export_labels

    if run is not None and set_ is not None:
        raise typer.BadParameter(_("name a run or a set, not both"), param_hint="--set")
    sheets = format in _SHEETS
    scope = Scope(
        run_id=run,
        set_id=set_,
        unlabelled=unlabelled or sheets or set_ is not None,
        history=history and not sheets,
    )
    sight = ours.sight(reveal=reveal)
    report = export_labels(
        ours.workspace,
        output,
        scope,
        format=format,
        person=person or (ours.reader if sheets else ""),
        verdicts=with_verdicts,
        sight=sight,
    )
    files = [str(file) for file in report.files]
    return Result(
        lambda: _print_export(report, format),
        lambda: {**asdict(report), "files": files, "covered": sight.hidden, "seen": sight.shown},
    )


def _print_export(report: LabelExport, format: str) -> None:
    for file in report.files:
        say(str(file))
    say(
        plural(
            "{n} item, {labels} of them labelled.",
            "{n} items, {labels} of them labelled.",
            report.items,
            labels=report.labels,
        )
    )
    if report.left_out:
        note(
            plural(
                "{n} item is left out: {format} has no place for it.",
                "{n} items are left out: {format} has no place for them.",
                report.left_out,
                format=format,
            )
        )


@verb("cuecard labels status --set 1 --half-width 0.05", *TABLES)
def status(
    ours: Context,
    *,
    set_: Annotated[int, Help(N_("The labelling set"), "--set")],
    half_width: Annotated[
        float | None,
        Help(N_("Until the interval reaches this far to each side; default: as it was drawn")),
    ] = None,
    order: Annotated[
        bool, N_("Until the order of agents is told; default: as it was drawn")
    ] = False,
) -> Result:
    from cuecard.annotate.labelling.set_look_tables import circumstances, look_tables
    from cuecard.annotate.labelling.set_looks import SetWatch

    if half_width is not None and not 0 < half_width < 1:
        raise typer.BadParameter(_("a half-width lies between 0 and 1"), param_hint="--half-width")
    look = SetWatch(ours.workspace, set_, half_width=half_width, order=order).look()
    page = Page(look_tables(look), _("How far the set is"), circumstances(look))
    return Result(
        page,
        lambda: {
            **look.model_dump(mode="json"),
            "whole": look.whole,
            "reached": look.reached,
            "more": look.more,
        },
    )
