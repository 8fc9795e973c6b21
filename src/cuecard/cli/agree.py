"""`cuecard agree`: agreement of raters in a CSV, or of people and judge in the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, table
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.annotate.agreement.report import AgreementReport


def register(app: typer.Typer) -> None:
    app.command("agree", help=_("Agreement of raters: from a CSV file, or on a run's verdicts."))(
        agree
    )


def agree(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help=_("CSV with a line for each rating"))] = None,
    item: Annotated[str, typer.Option(help=_("Column of the item"))] = "item",
    rater: Annotated[str, typer.Option(help=_("Column of the rater"))] = "rater",
    label: Annotated[str, typer.Option(help=_("Column of the label"))] = "label",
    run: Annotated[int | None, typer.Option(help=_("A run of the workspace instead"))] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.agreement.report import report_of

    if file is not None:
        from cuecard.annotate.agreement.csv_io import read_ratings

        report = report_of(read_ratings(file, item=item, rater=rater, label=label))
    elif run is not None:
        from cuecard.annotate.labelling import ratings_of

        with Context.of(context).workspace() as workspace:
            report = report_of(ratings_of(workspace, run))
    else:
        raise CuecardError(_("Agreement of what?"), "", _("give a CSV file, or --run N"))
    if json:
        as_json(report_json(report))
        return
    _print(report)


def report_json(report: AgreementReport) -> dict[str, Any]:
    """Each statistic by its name (null where undefined), with n and reasons beside."""
    return {
        "items": report.items,
        "raters": list(report.raters),
        "ratings": report.ratings,
        **{s.name: s.value for s in report.statistics},
        "n": {s.name: s.n for s in report.statistics},
        "undefined": {s.name: s.reason for s in report.statistics if not s.defined},
        "prevalence": {p.label: p.share for p in report.prevalence},
        "confusion": report.confusion.model_dump(mode="json") if report.confusion else None,
    }


STATISTIC_NAMES = {
    "percent": "percent agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
}


def _print(report: AgreementReport) -> None:
    table(
        _("Agreement of {raters} on {n} items").format(
            raters=", ".join(report.raters), n=report.items
        ),
        (_("statistic"), _("value"), "n", _("remark")),
        [
            (
                STATISTIC_NAMES.get(s.name, s.name),
                "–" if s.value is None else f"{s.value:.3f}",
                s.n,
                s.reason,
            )
            for s in report.statistics
        ],
    )
    table(
        _("Prevalence"),
        (_("label"), "n", _("share")),
        [(p.label, p.count, f"{p.share:.3f}") for p in report.prevalence],
        right=1,
    )
    matrix = report.confusion
    if matrix:
        table(
            _("Confusion matrix: {rows} down, {columns} across").format(
                rows=matrix.rows, columns=matrix.columns
            ),
            ("", *matrix.labels),
            [(name, *row) for name, row in zip(matrix.labels, matrix.counts, strict=True)],
            right=1,
        )
