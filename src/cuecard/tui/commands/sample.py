"""`cuecard sample`: draw what people label, or say how much an interval takes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, plural
from cuecard.tui.commands.context import Context, check_judges
from cuecard.tui.commands.output import note, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.labelling.labelling_sets import Preview
    from cuecard.annotate.labelling.sampling import SamplingPlan, Unit
    from cuecard.core.label_records import LabelSet

Json = dict[str, Any]


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
    check_judges(ours.workspace, runs, (judge,) if judge else ())
    units, assumed = population_of(ours.workspace, plan), ""
    if width is not None:
        plan, assumed = _wide_enough(plan, units, width, share, correlation)
    made = None
    if not dry_run:
        made = make_set(ours.workspace, plan, name=name, by=ours.person, units=units)
    preview = preview_of(units, plan)
    expected = preview.width(share, correlation)

    def show() -> None:
        _print_set(plan, preview, made, units.without)
        if expected is not None:
            text = _("If {share:.0%} agree, the 95% interval is about {width:.3f} wide.")
            say(text.format(share=share, width=expected))

    def remarks() -> None:
        for said in filter(None, (remark_on(units, plan), assumed)):
            note(said)

    return Result(
        show, lambda: _set_json(plan, preview, made, expected, units.without), remarks=remarks
    )


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _wide_enough(
    plan: SamplingPlan, units: Collection[Unit], width: float, share: float, correlation: float
) -> tuple[SamplingPlan, str]:
    """The plan with as many items as an interval of this width takes, and what was assumed for it."""
    from cuecard.annotate.labelling.labelling_sets import n_by_variance, preview_of

    preview, assumed = preview_of(units, plan), ""
    try:
        n = preview.n_for(width, share, correlation)
        if plan.allocation == "variance":
            needed = n_by_variance(units, plan, width, correlation)
            n = needed.n
            if not needed.known:
                text = _("How much items of a task are alike is not known: {icc:g} is assumed.")
                assumed = text.format(icc=needed.correlation)
    except ValueError:
        raise _wrong_width() from None
    if n is None:
        raise CuecardError(
            _("No number of these items gives an interval as narrow as that"),
            _("{items} of {tasks}").format(
                items=plural("{n} item", "{n} items", preview.population),
                tasks=plural("{n} task", "{n} tasks", preview.tasks),
            ),
            _("Ask for a wider one, or take more runs, of more tasks."),
        )
    return plan.model_copy(update={"n": n}), assumed


def _wrong_width() -> typer.BadParameter:
    return typer.BadParameter(_("a width lies between 0 and 1"), param_hint="--width")


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
    from cuecard.annotate.labelling.wording import stratum_words

    sizes = _("trials") if plan.by == "trials" else _("items")
    table(
        "",
        (_("stratum"), sizes, _("drawn")),
        [
            (stratum_words(s.name, plan.strata) or _("all"), f"{s.size:,}", f"{s.drawn:,}")
            for s in preview.strata
        ],
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
