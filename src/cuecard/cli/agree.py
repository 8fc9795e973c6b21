"""`cuecard agree`: agreement of raters in a CSV, or of people and judge in the workspace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, example, say, table
from cuecard.core.i18n import N_, _, ngettext

if TYPE_CHECKING:
    from cuecard.annotate.agreement import AgreementReport, ConfusionMatrix, Statistic
    from cuecard.annotate.labelling import LabelAgreement, PairAgreement

Json = dict[str, Any]

STATISTIC_NAMES = {
    "percent": N_("Percent agreement"),
    "cohen_kappa": N_("Cohen's kappa"),
    "fleiss_kappa": N_("Fleiss' kappa"),
}


def register(app: typer.Typer) -> None:
    app.command(
        "agree",
        help=_("Agreement of raters, or of people and judge on a run."),
        epilog=example("cuecard agree ratings.csv --label decision"),
    )(agree)


def agree(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help=_("CSV with a line for each rating"))] = None,
    item: Annotated[str, typer.Option(help=_("Column of the item"))] = "item",
    rater: Annotated[str, typer.Option(help=_("Column of the rater"))] = "rater",
    label: Annotated[str, typer.Option(help=_("Column of the label"))] = "label",
    run: Annotated[int | None, typer.Option(help=_("A run of the workspace instead"))] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    if (file is None) == (run is None):
        raise typer.BadParameter(
            _("give either a CSV file, or --run N for the labels on a run"), param_hint="FILE"
        )
    if run is not None:
        _agree_on_run(Context.of(context), run, json=json)
        return
    from cuecard.annotate.agreement import read_ratings, report_of

    assert file is not None
    report = report_of(read_ratings(file, item=item, rater=rater, label=label))
    if json:
        as_json(report_json(report))
    else:
        _print_report(report)


def _agree_on_run(ours: Context, run: int, *, json: bool) -> None:
    from cuecard.annotate.agreement import report_of
    from cuecard.annotate.labelling import agreement_of, ratings_of

    with ours.workspace() as workspace:
        workspace.runs.get(run)
        everybody = report_of(ratings_of(workspace, run))
        labels = agreement_of(workspace, run)
    if json:
        as_json({**report_json(everybody), **_labels_json(labels)})
        return
    say(
        _("Run {run}: {labelled} of {verdicts} verdicts labelled by {people}").format(
            run=run,
            labelled=labels.labelled,
            verdicts=labels.verdicts,
            people=", ".join(labels.people) or _("nobody"),
        )
    )
    if not labels.labelled:
        say(_("Label verdicts in the app (`cuecard`), then look here again."))
        return
    _print_pairs(labels)
    if len(labels.people) > 1:
        _print_statistics(_("All people together"), labels.humans.statistics)


def report_json(report: AgreementReport) -> Json:
    """Each statistic by its name (null where undefined), with n and reasons beside."""
    return {
        "items": report.items,
        "raters": list(report.raters),
        "ratings": report.ratings,
        **_statistics_json(report.statistics),
        "prevalence": {p.label: p.share for p in report.prevalence},
        "confusion": _matrix_json(report.confusion),
    }


def _statistics_json(statistics: Iterable[Statistic]) -> Json:
    found = list(statistics)
    return {
        **{s.name: s.value for s in found},
        "n": {s.name: s.n for s in found},
        "undefined": {s.name: s.reason for s in found if not s.defined},
    }


def _matrix_json(matrix: ConfusionMatrix | None) -> Json | None:
    return matrix.model_dump(mode="json") if matrix else None


def _labels_json(labels: LabelAgreement) -> Json:
    """`majority`, `judge_human` and `human_human` as lists of pairs; `humans` all people together."""
    return {
        "verdicts": labels.verdicts,
        "labelled": labels.labelled,
        "unsure": labels.unsure,
        "unjudged": labels.unjudged,
        "judges": list(labels.judges),
        "people": list(labels.people),
        "majority": [_pair_json(pair) for pair in labels.majority],
        "judge_human": [_pair_json(pair) for pair in labels.judge_human],
        "human_human": [_pair_json(pair) for pair in labels.human_human],
        "humans": report_json(labels.humans),
    }


def _pair_json(pair: PairAgreement) -> Json:
    return {
        "left": pair.left,
        "right": pair.right,
        "items": pair.n,
        **_statistics_json(pair.statistics),
        "confusion": _matrix_json(pair.confusion),
    }


def _print_report(report: AgreementReport) -> None:
    title = ngettext(
        "Agreement of {raters} on {n} item", "Agreement of {raters} on {n} items", report.items
    ).format(raters=", ".join(report.raters), n=report.items)
    _print_statistics(title, report.statistics)
    table(
        _("Prevalence"),
        (_("label"), "n", _("share")),
        [(p.label, p.count, f"{p.share:.3f}") for p in report.prevalence],
        numbers=(1, 2),
    )
    matrix = report.confusion
    if matrix:
        table(
            _("Confusion matrix: {rows} down, {columns} across").format(
                rows=matrix.rows, columns=matrix.columns
            ),
            ("", *matrix.labels),
            [(name, *row) for name, row in zip(matrix.labels, matrix.counts, strict=True)],
            numbers=range(1, len(matrix.labels) + 1),
        )


def _print_statistics(title: str, statistics: Iterable[Statistic]) -> None:
    rows = [
        (_(STATISTIC_NAMES.get(s.name, s.name)), _number(s.value), s.n, s.reason)
        for s in statistics
    ]
    remarks = any(row[-1] for row in rows)
    table(
        title,
        (_("statistic"), _("value"), "n", *([_("remark")] if remarks else ())),
        [row if remarks else row[:-1] for row in rows],
        numbers=(1, 2),
    )


def _print_pairs(labels: LabelAgreement) -> None:
    majority = labels.majority if len(labels.people) > 1 else ()
    judges = set(labels.judges)
    pairs = [
        *((_("judge {name}").format(name=p.left), _("most people"), p) for p in majority),
        *((_("judge {name}").format(name=p.left), p.right, p) for p in labels.judge_human),
        *((p.left, p.right, p) for p in labels.human_human),
    ]
    table(
        _("Judges and people") if judges else _("People"),
        ("", "", "n", _("Percent agreement"), _("Cohen's kappa")),
        [
            (
                left,
                right,
                pair.n,
                _number(pair.value("percent")),
                _number(pair.value("cohen_kappa")),
            )
            for left, right, pair in pairs
        ],
        numbers=(2, 3, 4),
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
