"""`cuecard agree`: agreement of raters in a CSV file or meta-evaluation sheets, or of judges and people; and `workshop`:
versions of a judge on held-out labels, juries, drift, and examples for its prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.i18n import N_, _, headed, listed, ngettext, plural
from cuecard.tui.commands.context import Context, check_judges
from cuecard.tui.commands.output import note, say
from cuecard.tui.commands.verb import TABLES, Help, Page, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.comparison_inputs import Scope
    from cuecard.annotate.labelling.comparison_model import Comparison

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["linear", "quadratic"]
Kind = Literal["gold", "predicted", "row", "cue", "leak", "status"]


@verb("cuecard agree ratings.csv --label decision --group task", *TABLES)
def agree(
    ours: Context,
    files: Annotated[
        Sequence[Path],
        Help(
            N_(
                "CSV with a line for each rating, or a column for each rater; or meta-evaluation sheets"
            ),
            metavar="FILE",
        ),
    ] = (),
    *,
    item: Annotated[str, N_("Column of the item. Default: told from the file")] = "",
    raters: Annotated[
        str, N_("Columns of the raters, one each: ana,ben. Default: told from the file")
    ] = "",
    column: Annotated[
        Sequence[str], N_("One such column, for a name with a comma; may be repeated")
    ] = (),
    rater: Annotated[str, N_("Column of the rater, where each rating has a line")] = "",
    label: Annotated[str, N_("Column of the label, where each rating has a line")] = "",
    group: Annotated[str, N_("Column of what varies independently, such as the task")] = "",
    reference: Annotated[str, N_("Rater who is taken for right")] = "",
    labels: Annotated[str, N_("The labels that can be given, in order: no,partly,yes")] = "",
    missing: Annotated[
        str | None,
        N_("Words that are no label: NA,unsure. Blank never is one. Default: see docs/labels.md"),
    ] = None,
    level: Annotated[Level, N_("Scale of the labels")] = "nominal",
    weights: Annotated[Weights | None, N_("Weights of kappa, for labels on a scale")] = None,
    run: Annotated[Sequence[int], N_("A run of the workspace instead; may be repeated")] = (),
    set_id: Annotated[
        int | None, Help(N_("A labelling set of the workspace instead"), "--set")
    ] = None,
    kind: Annotated[Kind | None, N_("What the labels are about")] = None,
    everything: Annotated[
        bool,
        Help(N_("Of labels of the workspace: every figure, by label, group and judge"), "--all"),
    ] = False,
    effect: Annotated[
        bool, N_("With --run: what the labels change of the scores and of the order of agents")
    ] = False,
    judge: Annotated[str, N_("With --effect: whose scores; none means the run's first judge")] = "",
    calibrate_run: Annotated[
        Sequence[int],
        N_(
            "With --effect: correct the judge's shares by its errors on the labels of this other run"
        ),
    ] = (),
    calibrate_set: Annotated[
        int | None, N_("With --effect: the same by a labelling set of other runs")
    ] = None,
) -> Result:
    if effect:
        if not run or files:
            raise typer.BadParameter(_("--effect needs --run N"), param_hint="--effect")
        return _effect(ours, run, judge, set_id, calibrate_run, calibrate_set)
    for given, option in (
        (judge, "--judge"),
        (calibrate_run, "--calibrate-run"),
        (calibrate_set is not None, "--calibrate-set"),
    ):
        if given:
            raise typer.BadParameter(_("needs --effect"), param_hint=option)
    if sum((bool(files), bool(run), set_id is not None)) != 1:
        raise typer.BadParameter(
            _("give a CSV file, --run N or --set N for labels in the workspace"), param_hint="FILE"
        )
    if number := next((f.name for f in files if f.name.isdigit() and not f.exists()), ""):
        told = _("there is no file {number}; a run of the workspace is --run {number}")
        raise typer.BadParameter(told.format(number=number), param_hint="FILE")
    if not files:
        return _in_workspace(ours, run, set_id, kind, everything=everything)
    from cuecard.annotate.agreement.csv_columns import CsvColumns, UnclearColumns
    from cuecard.annotate.labelling.files.importing import is_sheet

    if any(map(is_sheet, files)):
        return _on_sheets(ours, files)
    if len(files) > 1:
        raise typer.BadParameter(
            _("give one CSV file of ratings; only meta-evaluation sheets come in pairs"),
            param_hint="FILE",
        )
    from cuecard.tui.commands.agree_output import CsvOptions, agreement_in

    named = tuple(dict.fromkeys((*_listed(raters), *column)))
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
    wishes = CsvOptions(level=level, weights=weights, reference=reference)
    try:
        return agreement_in(files[0], columns, wishes)
    except UnclearColumns as unclear:
        raise typer.BadParameter(str(unclear), param_hint="FILE") from None


def _listed(words: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in words.split(","))))


def _in_workspace(
    ours: Context,
    runs: Sequence[int],
    set_id: int | None,
    kind: Kind | None,
    *,
    everything: bool,
) -> Result:
    from cuecard.annotate.labelling.comparison import compare
    from cuecard.annotate.labelling.comparison_inputs import Scope, gather
    from cuecard.tui.commands.agree_output import comparison_json

    scope = Scope(runs=tuple(runs), set_id=set_id, subject=kind)
    found = compare(gather(ours.workspace, scope))
    hint = "" if found.people else _("Label verdicts in the app (`cuecard`), then look here again.")
    page = _page(found, _title(found, scope), everything=everything)
    page = replace(page, hint=hint or page.hint)
    return Result(page, lambda: comparison_json(found, scope))


def _page(found: Comparison, title: str, *, everything: bool) -> Page:
    from cuecard.annotate.labelling.comparison_model import circumstances
    from cuecard.annotate.labelling.comparison_tables import short_tables, tables_of

    if not found.people:
        return Page((), title)
    tables = tables_of(found) if everything else short_tables(found)
    hint = "" if everything else _("--all prints every figure, by label, group and judge.")
    return Page(tables, title, circumstances(found), hint=hint)


def _title(found: Comparison, scope: Scope) -> str:
    people = listed(found.people) or _("nobody")
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
        else plural("Run {runs}", "Runs {runs}", len(scope.runs), runs=listed(map(str, scope.runs)))
    )
    said = told.format(
        labelled=f"{found.labelled:,}", verdicts=f"{found.population or 0:,}", people=people
    )
    return headed(where, said)


_TITLES = {
    "gold": N_("Recall: is the gold triple covered?"),
    "predicted": N_("Precision: is the predicted triple right?"),
}


def _on_sheets(ours: Context, paths: Sequence[Path]) -> Result:
    """Agreement in recall sheets, then in precision sheets; as JSON by kind of sheet. Raises `FileProblems`."""
    from cuecard.annotate.labelling.comparison import compare
    from cuecard.annotate.labelling.comparison_inputs import Scope
    from cuecard.annotate.labelling.files.meta_evaluation import inputs_of_sheets
    from cuecard.tui.commands.agree_output import comparison_json

    found = [compare(inputs) for inputs in inputs_of_sheets(paths)]
    names = {"gold": "recall", "predicted": "precision"}

    def page(each: Comparison) -> Page:
        told = _("{labelled} of {n} lines labelled by {people}").format(
            labelled=f"{each.labelled:,}",
            n=f"{each.population or 0:,}",
            people=listed(each.people) or _("nobody"),
        )
        return _page(each, f"{_(_TITLES[each.subject])} {told}", everything=True)

    hint = "" if all(each.people for each in found) else _("The column human_label is blank.")
    return Result(
        Page([page(each) for each in found], hint=hint),
        lambda: {names[c.subject]: comparison_json(c, Scope(subject=c.subject)) for c in found},
    )


def _effect(
    ours: Context,
    runs: Sequence[int],
    judge: str,
    set_id: int | None,
    from_runs: Sequence[int],
    from_set: int | None,
) -> Result:
    """How labels change the results of these runs. `set_id`: the labelling set that estimates use; `from_runs`,
    `from_set`: labels from elsewhere that the judge's shares are corrected by.
    """
    from cuecard.annotate.labelling.calibrating import calibrate, calibration_table
    from cuecard.annotate.labelling.comparison import effect_of
    from cuecard.annotate.labelling.effect_tables import circumstances, effect_tables
    from cuecard.annotate.labelling.set_look_tables import circumstances as look_circumstances
    from cuecard.annotate.labelling.set_look_tables import look_tables
    from cuecard.annotate.labelling.set_looks import looks_before_the_end

    if from_runs and from_set is not None:
        raise typer.BadParameter(_("name runs or a set, not both"), param_hint="--calibrate-set")
    check_judges(ours.workspace, runs, (judge,) if judge else ())
    effect = effect_of(ours.workspace, runs, judge, set_id)
    told, tables = circumstances(effect), effect_tables(effect, introduced=True)
    unfinished = (one.id for one in effect.sets if one.settled < one.drawn)
    for look in looks_before_the_end(ours.workspace, unfinished):
        told += look_circumstances(look)
        tables = (*tables, *look_tables(look))
    found = None
    if from_runs or from_set is not None:
        if len(effect.judges) != 1:
            raise typer.BadParameter(_("name one judge of these runs"), param_hint="--judge")
        found = calibrate(
            ours.workspace, runs, effect.judges[0], from_runs=from_runs, from_set=from_set
        )
        tables = (*tables, calibration_table(found))
    hint = _("Label verdicts in the app (`cuecard`), then look here again.")
    page = Page(
        tables,
        _("What labels change of the scores"),
        told,
        hint="" if tables else hint,
    )
    calibrated = {"calibration": found.model_dump(mode="json")} if found else {}
    return Result(page, lambda: {**effect.model_dump(mode="json"), **calibrated})


@verb("cuecard workshop 4 --judge strict --examples prompts/", *TABLES)
def workshop(
    ours: Context,
    runs: Annotated[Sequence[int], Help(N_("Runs by number"), metavar="RUN")] = (),
    *,
    set_id: Annotated[int | None, Help(N_("A labelling set instead"), "--set")] = None,
    examples: Annotated[
        Path | None,
        N_(
            "Write new versions of the judge's prompts into this folder, with examples people decided"
        ),
    ] = None,
    judge: Annotated[str, N_("With --examples: whose prompts, a model judge of cuecard.yaml")] = "",
    most: Annotated[
        int, Help(N_("With --examples: at most so many in a prompt"), min=1, max=50)
    ] = 6,
) -> Result:
    from cuecard.annotate.labelling.comparison_inputs import Scope, gather
    from cuecard.annotate.labelling.judge_examples import write_examples
    from cuecard.annotate.labelling.workshop import tables_of_workshop
    from cuecard.annotate.results.judge_card import examined
    from cuecard.core.tables.texts import table_data

    if bool(runs) == (set_id is not None):
        raise typer.BadParameter(_("give runs, or one set with --set"), param_hint="RUN")
    if bool(judge) != (examples is not None):
        raise typer.BadParameter(_("--examples and --judge go together"), param_hint="--examples")
    inputs = gather(ours.workspace, Scope(runs=tuple(runs), set_id=set_id, subject="gold"))
    config = ours.config()
    if examples is None:
        tables = tables_of_workshop(ours.workspace, inputs, config, examined)
        hint = "" if tables else _("Nobody has labelled what these judges decided.")
        return Result(
            Page(tables, share=True, hint=hint),
            lambda: {"tables": [table_data(table) for table in tables]},
        )
    files, told = write_examples(ours.workspace, inputs, judge, config, examples, most=most)

    def show() -> None:
        for file in files:
            say(str(file))
        named = _named(files)
        note(_("A judge of cuecard.yaml uses them with prompts: {{{names}}}").format(names=named))

    return Result(
        show,
        lambda: {
            "files": [str(file) for file in files],
            "examples": [example.model_dump(mode="json") for example in told],
        },
    )


def _named(files: Sequence[Path]) -> str:
    """The files as a mapping in cuecard.yaml names them: by their folder, a name for both languages."""
    return ", ".join(dict.fromkeys(f"{file.name.split('.')[0]}: {file.parent}" for file in files))
