"""`cuecard sample` and `cuecard labels`: draw what people label, and bring labels in and out as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, plural
from cuecard.core.text import one_line
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, say, table
from cuecard.tui.commands.verb import TABLES, Help, Page, Result, Reveal, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.files.exporting import LabelExport
    from cuecard.annotate.labelling.files.importing import LabelImport
    from cuecard.annotate.labelling.labelling_sets import Preview
    from cuecard.annotate.labelling.sampling import SamplingPlan
    from cuecard.core.label_records import LabelSet
    from cuecard.store.workspace import Workspace

Json = dict[str, Any]
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
    text = _("New labels: {new}, known: {known}; by {people}, on {trials}.")
    people = ", ".join(one_line(name) for name in report.people) or _("nobody")
    trials = plural("{n} trial", "{n} trials", len(report.trials))
    say(text.format(new=report.added, known=report.known, people=people, trials=trials))


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
        lambda: {**asdict(report), "files": files, "covered": sight.hidden, "seen": sight.told},
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


@verb("cuecard sample 3 --n 200 --stratify decision,family --overlap 0.2", "json")
def sample(
    ours: Context,
    runs: Annotated[
        Sequence[int], Help(N_("Numbers of runs (`cuecard runs`)"), metavar="RUN")
    ] = (),
    *,
    n: Annotated[int | None, Help(N_("How many to draw"), min=1)] = None,
    width: Annotated[
        float | None, N_("Instead of --n: the width of the 95% interval, such as 0.05")
    ] = None,
    share: Annotated[
        float, Help(N_("With --width: about what share will agree"), min=0, max=1)
    ] = 0.9,
    per_task: Annotated[
        float | None, Help(N_("With --width and no run: items of one task"), min=1)
    ] = None,
    correlation: Annotated[
        float, Help(N_("How much items of one task are alike"), min=0, max=1)
    ] = 0,
    population: Annotated[
        int | None, Help(N_("With --width and no run: items in all"), min=1)
    ] = None,
    by: Annotated[Literal["items", "trials"], N_("Draw items, or whole trials")] = "items",
    kinds: Annotated[str, N_("Kinds of items, comma-separated; none: what the judge decided")] = "",
    judge: Annotated[str, N_("Whose verdicts; none: each trial's first")] = "",
    stratify: Annotated[
        str,
        N_("Spread by these: decision, judges, outcome, family, language, agent, relation, task"),
    ] = "",
    allocation: Annotated[
        Literal["proportional", "equal", "variance", "disagreement", "active"],
        N_(
            "As many from each as it is large; equally many; more where earlier labels overturned more; or by chances of"
            " each item's own: where judges differ, or where such items were overturned"
        ),
    ] = "proportional",
    half_width: Annotated[
        float | None,
        N_("Labelling may stop once the interval reaches this far to each side, such as 0.05"),
    ] = None,
    order: Annotated[bool, N_("Labelling may stop once the order of agents is told")] = False,
    overlap: Annotated[float, Help(N_("The share that several people label"), min=0, max=1)] = 0,
    raters: Annotated[int, Help(N_("How many people that is"), min=2, max=20)] = 2,
    people: Annotated[str, N_("Who labels, comma-separated; none: anybody")] = "",
    seed: Annotated[int, N_("Another number draws another set")] = 0,
    name: Annotated[str, N_("What the set is called")] = "",
    dry_run: Annotated[bool, N_("Only show what would be drawn")] = False,
) -> Result:
    from cuecard.annotate.labelling.labelling_sets import (
        make_set,
        population_of,
        preview_of,
        remark_on,
    )
    from cuecard.annotate.labelling.sampling import plan_of

    if not runs:
        if width is None:
            raise typer.BadParameter(
                _("give the numbers of runs, or --width alone"), param_hint="RUN"
            )
        return _size(width, share, per_task or 1, correlation, population)
    if (n is None) == (width is None):
        raise typer.BadParameter(_("give either --n or --width"), param_hint="--n")
    if width is not None and by == "trials":
        raise typer.BadParameter(_("--width counts items, not trials"), param_hint="--width")
    if per_task is not None or population is not None:
        raise typer.BadParameter(
            _("with runs, tasks and items are counted"), param_hint="--per-task, --population"
        )
    fields: Json = {
        "runs": list(runs),
        "n": n or 1,
        "by": by,
        "kinds": _listed(kinds),
        "judge": judge,
        "strata": _listed(stratify),
        "allocation": allocation,
        "seed": seed,
        "overlap": overlap,
        "raters": raters,
        "people": _listed(people),
        "half_width": half_width,
        "order": order,
    }
    try:
        plan = plan_of(fields)
    except CuecardError as error:
        raise typer.BadParameter(error.message) from None
    units = population_of(ours.workspace, plan)
    if width is not None:
        plan = _wide_enough(plan, preview_of(units, plan), width, share, correlation)
    made = None
    if not dry_run:
        made = make_set(ours.workspace, plan, name=name, by=ours.person, units=units)
    unjudged = _without(ours.workspace, plan, {unit.trial_id for unit in units})
    preview = preview_of(units, plan)
    expected = preview.width(share, correlation)

    def show() -> None:
        _print_set(plan, preview, made, unjudged)
        if expected is not None:
            text = _("If {share:.0%} agree, the 95% interval is about {width:.3f} wide.")
            say(text.format(share=share, width=expected))

    def remarks() -> None:
        if said := remark_on(units, plan):
            note(said)

    return Result(show, lambda: _set_json(plan, preview, made, expected, unjudged), remarks=remarks)


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


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _wide_enough(
    plan: SamplingPlan, preview: Preview, width: float, share: float, correlation: float
) -> SamplingPlan:
    """The plan with as many items as an interval of this width takes."""
    try:
        n = preview.n_for(width, share, correlation)
    except ValueError:
        raise _wrong_width() from None
    if n is None:
        raise CuecardError(
            _("No number of these items gives an interval as narrow as that"),
            _("{n} items of {tasks} tasks").format(n=preview.population, tasks=preview.tasks),
            _("Ask for a wider one, or take more runs, of more tasks."),
        )
    return plan.model_copy(update={"n": n})


def _wrong_width() -> typer.BadParameter:
    return typer.BadParameter(_("a width lies between 0 and 1"), param_hint="--width")


def _without(workspace: Workspace, plan: SamplingPlan, drawn_from: set[int]) -> int:
    """How many trials of the runs have nothing to label."""
    trials = (trial for run in plan.runs for trial in workspace.runs.trials(run))
    return sum(trial.id not in drawn_from for trial in trials)


def _size(
    width: float, share: float, per_task: float, correlation: float, population: int | None
) -> Result:
    from cuecard.annotate.estimation.allocation import design_effect
    from cuecard.annotate.labelling.labelling_sets import n_for_width

    effect = design_effect(per_task, correlation)
    try:
        n = n_for_width(width, share, population=population, design_effect=effect)
    except ValueError:
        raise _wrong_width() from None
    told = plural(
        "{n} item, for a 95% interval {width:g} wide where about {share:.0%} agree.",
        "{n} items, for a 95% interval {width:g} wide where about {share:.0%} agree.",
        n,
        width=width,
        share=share,
    )
    if effect > 1:
        text = _("Items of one task are alike: {effect:.2f} of them say as much as one alone.")
        told = f"{told}\n{text.format(effect=effect)}"
    return Result(told, lambda: {"n": n, "width": width, "share": share, "design_effect": effect})


def _print_set(plan: SamplingPlan, preview: Preview, made: LabelSet | None, unjudged: int) -> None:
    sizes = _("trials") if plan.by == "trials" else _("items")
    table(
        "",
        (_("stratum"), sizes, _("drawn")),
        [(s.name or _("all"), f"{s.size:,}", f"{s.drawn:,}") for s in preview.strata],
        numbers=(1, 2),
    )
    if preview.left_out:
        text = _("n is less than there are strata: the set will not speak for {n} of them.")
        note(text.format(n=preview.left_out))
    if unjudged:
        note(
            plural(
                "{n} trial has nothing to label: it was not judged.",
                "{n} trials have nothing to label: they were not judged.",
                unjudged,
            )
        )
    if made is None:
        text = _("Nothing was drawn yet: about {items:,.0f} items, {labels:,.0f} labels.")
        say(text.format(items=preview.items, labels=preview.labels))
        return
    say(
        plural(
            "Set {id}, “{name}”: {n} item to label.",
            "Set {id}, “{name}”: {n} items to label.",
            made.items,
            id=made.id,
            name=made.name,
        )
    )
    say(_("Label them in the app (`cuecard`), under Verdicts."))


def _set_json(
    plan: SamplingPlan,
    preview: Preview,
    made: LabelSet | None,
    expected: float | None,
    unjudged: int,
) -> Json:
    return {
        "set": made.id if made else None,
        "name": made.name if made else None,
        "items": made.items if made else preview.items,
        "labels": preview.labels,
        "population": preview.population,
        "trials": preview.trials,
        "tasks": preview.tasks,
        "trials_without_items": unjudged,
        "effective_items": preview.effective,
        "expected_width": expected,
        "strata": [{"name": s.name, "size": s.size, "drawn": s.drawn} for s in preview.strata],
        "plan": plan.model_dump(mode="json"),
    }
