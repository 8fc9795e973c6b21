"""`cuecard agree`: agreement of raters in a CSV file or meta-evaluation sheets, or of judges and people."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, prose, say

if TYPE_CHECKING:
    from cuecard.annotate.labelling.comparison.inputs import Scope
    from cuecard.annotate.labelling.comparison.model import Comparison


class Level(StrEnum):
    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


class Weights(StrEnum):
    LINEAR = "linear"
    QUADRATIC = "quadratic"


class Kind(StrEnum):
    GOLD = "gold"
    PREDICTED = "predicted"
    ROW = "row"
    CUE = "cue"
    LEAK = "leak"
    STATUS = "status"


def agree(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help=_(
                "CSV with a line for each rating, or a column for each rater; or meta-evaluation sheets"
            ),
        ),
    ] = None,
    item: Annotated[
        str, typer.Option(help=_("Column of the item. Default: told from the file"))
    ] = "",
    raters: Annotated[
        str,
        typer.Option(
            help=_("Columns of the raters, one each: ana,ben. Default: told from the file")
        ),
    ] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(help=_("One such column, for a name with a comma; may be repeated")),
    ] = None,
    rater: Annotated[
        str, typer.Option(help=_("Column of the rater, where each rating has a line"))
    ] = "",
    label: Annotated[
        str, typer.Option(help=_("Column of the label, where each rating has a line"))
    ] = "",
    group: Annotated[
        str, typer.Option(help=_("Column of what varies independently, such as the task"))
    ] = "",
    reference: Annotated[str, typer.Option(help=_("Rater who is taken for right"))] = "",
    labels: Annotated[
        str, typer.Option(help=_("The labels that can be given, in order: no,partly,yes"))
    ] = "",
    missing: Annotated[
        str | None,
        typer.Option(
            help=_(
                "Words that are no label: NA,unsure. Blank never is one. Default: see docs/labels.md"
            )
        ),
    ] = None,
    level: Annotated[Level, typer.Option(help=_("Scale of the labels"))] = Level.NOMINAL,
    weights: Annotated[
        Weights | None, typer.Option(help=_("Weights of kappa, for labels on a scale"))
    ] = None,
    run: Annotated[
        list[int] | None, typer.Option(help=_("A run of the workspace instead; may be repeated"))
    ] = None,
    set_id: Annotated[
        int | None, typer.Option("--set", help=_("A labelling set of the workspace instead"))
    ] = None,
    kind: Annotated[Kind | None, typer.Option(help=_("What the labels are about"))] = None,
    effect: Annotated[
        bool,
        typer.Option(
            "--effect",
            help=_("With --run: what the labels change of the scores and of the order of agents"),
        ),
    ] = False,
    judge: Annotated[
        str, typer.Option(help=_("With --effect: whose scores; none means the run's first judge"))
    ] = "",
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
) -> None:
    if json and markdown:
        raise typer.BadParameter(_("--json or --markdown, not both"), param_hint="--markdown")
    if effect:
        if not run or files:
            raise typer.BadParameter(_("--effect needs --run N"), param_hint="--effect")
        ours = Context.of(context)
        show_effect(ours, run, judge=judge, set_id=set_id, json=json, markdown=markdown)
        return
    sources = sum((bool(files), bool(run), set_id is not None))
    if sources != 1:
        raise typer.BadParameter(
            _("give a CSV file, --run N or --set N for labels in the workspace"), param_hint="FILE"
        )
    if not files:
        from cuecard.annotate.labelling.comparison.inputs import Scope

        scope = Scope(
            runs=tuple(run or ()), set_id=set_id, subject=kind.value if kind is not None else None
        )
        _in_workspace(Context.of(context), scope, json=json, markdown=markdown)
        return
    from cuecard.annotate.agreement.csv_columns import CsvColumns, Unclear
    from cuecard.annotate.labelling.files.importing import is_sheet

    if any(map(is_sheet, files)):
        agree_on_sheets(files, json=json, markdown=markdown)
        return
    if len(files) > 1:
        raise typer.BadParameter(
            _("give one CSV file of ratings; only meta-evaluation sheets come in pairs"),
            param_hint="FILE",
        )
    from cuecard.tui.commands.agree_output import CsvWishes, agree_on_file

    named = tuple(dict.fromkeys((*_listed(raters), *(column or ()))))
    if named and (rater or label):
        raise typer.BadParameter(
            _(
                "--raters is for a column for each rater, --rater and --label for a line for each rating"
            ),
            param_hint="--raters",
        )
    if len(named) == 1:
        raise typer.BadParameter(_("name two raters at least"), param_hint="--raters")
    columns = CsvColumns(
        item=item,
        rater=rater,
        label=label,
        group=group,
        raters=named,
        domain=_listed(labels),
        missing=None if missing is None else _listed(missing),
    )
    wishes = CsvWishes(
        level=level.value, weights=weights.value if weights else None, reference=reference
    )
    try:
        agree_on_file(files[0], columns, wishes, json=json, markdown=markdown)
    except Unclear as unclear:
        raise typer.BadParameter(str(unclear), param_hint="FILE") from None


def _listed(words: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in words.split(","))))


def _in_workspace(ours: Context, scope: Scope, *, json: bool, markdown: bool) -> None:
    from cuecard.annotate.labelling.comparison.compare import compare
    from cuecard.annotate.labelling.comparison.inputs import gather
    from cuecard.annotate.labelling.comparison.tables import tables_of
    from cuecard.tui.commands.agree_output import comparison_json
    from cuecard.tui.commands.table_output import print_tables

    with ours.workspace() as workspace:
        inputs = gather(workspace, scope)
    found = compare(inputs)
    if json:
        as_json(comparison_json(found, scope))
        return
    say(("# " if markdown else "") + _title(found, scope))
    if not found.people:
        note(_("Label verdicts in the app (`cuecard`), then look here again."))
        return
    for line in _head(found):
        say(("- " if markdown else "") + line)
    say("")
    print_tables(tables_of(found), markdown=markdown)


def _title(found: Comparison, scope: Scope) -> str:
    people = ", ".join(found.people) or _("nobody")
    if found.population is None:
        told = ngettext(
            "{labelled} item labelled by {people}",
            "{labelled} items labelled by {people}",
            found.labelled,
        )
    else:
        told = _("{labelled} of {verdicts} verdicts labelled by {people}")
    where = (
        _("Set {n}").format(n=scope.set_id)
        if scope.set_id is not None
        else ngettext("Run {runs}", "Runs {runs}", len(scope.runs)).format(
            runs=", ".join(map(str, scope.runs))
        )
    )
    said = told.format(
        labelled=f"{found.labelled:,}", verdicts=f"{found.population or 0:,}", people=people
    )
    return f"{where}: {said}"


def _head(found: Comparison) -> list[str]:
    from cuecard.annotate.labelling.comparison.model import circumstances

    return circumstances(found)


_TITLES = {
    "gold": N_("Recall: is the gold triple covered?"),
    "predicted": N_("Precision: is the predicted triple right?"),
}


def agree_on_sheets(paths: Sequence[Path], *, json: bool, markdown: bool) -> None:
    """Agreement in recall sheets, then in precision sheets; as JSON by kind of sheet. Raises `FileProblems`."""
    from cuecard.annotate.labelling.comparison.compare import compare
    from cuecard.annotate.labelling.comparison.inputs import Scope
    from cuecard.annotate.labelling.comparison.model import circumstances
    from cuecard.annotate.labelling.comparison.tables import tables_of
    from cuecard.annotate.labelling.files.meta_evaluation import inputs_of_sheets
    from cuecard.tui.commands.agree_output import comparison_json
    from cuecard.tui.commands.table_output import print_tables

    found = [compare(inputs) for inputs in inputs_of_sheets(paths)]
    if json:
        names = {"gold": "recall", "predicted": "precision"}
        as_json({names[c.subject]: comparison_json(c, Scope(subject=c.subject)) for c in found})
        return
    for comparison in found:
        told = _("{labelled} of {n} lines labelled by {people}").format(
            labelled=f"{comparison.labelled:,}",
            n=f"{comparison.population or 0:,}",
            people=", ".join(comparison.people) or _("nobody"),
        )
        say(("# " if markdown else "") + f"{_(_TITLES[comparison.subject])} {told}")
        if not comparison.people:
            note(_("The column human_label is blank."))
            continue
        for line in circumstances(comparison):
            say(("- " if markdown else "") + line)
        say("")
        print_tables(tables_of(comparison), markdown=markdown)


def show_effect(
    ours: Context,
    runs: Sequence[int],
    *,
    judge: str = "",
    set_id: int | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Print how labels change the results of these runs. `set_id`: the labelling set that estimates use."""
    from cuecard.annotate.labelling.effect.assess import effect_of
    from cuecard.annotate.labelling.effect.tables import circumstances, effect_tables
    from cuecard.tui.commands.table_output import print_tables

    with ours.workspace() as workspace:
        effect = effect_of(workspace, runs, judge, set_id)
    if json:
        as_json(effect.model_dump(mode="json"))
        return
    title = _("What labels change of the scores")
    say(f"# {title}\n" if markdown else title)
    for line in circumstances(effect):
        if markdown:
            say(f"- {line}")
        else:
            prose(line)
    say("")
    print_tables(effect_tables(effect, introduced=True), markdown=markdown)
    if not effect.settled:
        note(_("Label verdicts in the app (`cuecard`), then look here again."))
