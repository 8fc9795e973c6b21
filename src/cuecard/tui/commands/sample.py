"""`cuecard sample`: draw a labelling set from runs, or compute its size for a wanted interval."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, ngettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, say, table

if TYPE_CHECKING:
    from cuecard.annotate.labelling.labelling_sets import Preview
    from cuecard.annotate.labelling.sampling import SamplingPlan
    from cuecard.core.label_records import LabelSet
    from cuecard.store.workspace import Workspace

Json = dict[str, Any]


class ByChoice(StrEnum):
    ITEMS = "items"
    TRIALS = "trials"


class AllocationChoice(StrEnum):
    PROPORTIONAL = "proportional"
    EQUAL = "equal"


def sample(
    context: typer.Context,
    runs: Annotated[
        list[int] | None, typer.Argument(metavar="RUN", help=_("Numbers of runs (`cuecard runs`)"))
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help=_("How many to draw"))] = None,
    width: Annotated[
        float | None,
        typer.Option(help=_("Instead of --n: the width of the 95% interval, such as 0.05")),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0, max=1, help=_("With --width: about what share will agree"))
    ] = 0.9,
    per_task: Annotated[
        float | None,
        typer.Option(min=1, help=_("With --width and no run: items of one task")),
    ] = None,
    correlation: Annotated[
        float, typer.Option(min=0, max=1, help=_("How much items of one task are alike"))
    ] = 0,
    population: Annotated[
        int | None, typer.Option(min=1, help=_("With --width and no run: items in all"))
    ] = None,
    by: Annotated[ByChoice, typer.Option(help=_("Draw items, or whole trials"))] = ByChoice.ITEMS,
    kinds: Annotated[
        str, typer.Option(help=_("Kinds of items, comma-separated; none: what the judge decided"))
    ] = "",
    judge: Annotated[str, typer.Option(help=_("Whose verdicts; none: each trial's first"))] = "",
    stratify: Annotated[
        str,
        typer.Option(help=_("Spread by these: decision, family, language, agent, relation, task")),
    ] = "",
    allocation: Annotated[
        AllocationChoice, typer.Option(help=_("As many from each as it is large, or equally many"))
    ] = AllocationChoice.PROPORTIONAL,
    overlap: Annotated[
        float, typer.Option(min=0, max=1, help=_("The share that several people label"))
    ] = 0,
    raters: Annotated[int, typer.Option(min=2, max=20, help=_("How many people that is"))] = 2,
    people: Annotated[str, typer.Option(help=_("Who labels, comma-separated; none: anybody"))] = "",
    seed: Annotated[int, typer.Option(help=_("Another number draws another set"))] = 0,
    name: Annotated[str, typer.Option(help=_("What the set is called"))] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=_("Only show what would be drawn"))
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    if not runs:
        if width is None:
            raise typer.BadParameter(
                _("give the numbers of runs, or --width alone"), param_hint="RUN"
            )
        _tell_size(width, share, per_task or 1, correlation, population, json=json)
        return
    if (n is None) == (width is None):
        raise typer.BadParameter(_("give either --n or --width"), param_hint="--n")
    if width is not None and by is ByChoice.TRIALS:
        raise typer.BadParameter(_("--width counts items, not trials"), param_hint="--width")
    if per_task is not None or population is not None:
        raise typer.BadParameter(
            _("with runs, tasks and items are counted"), param_hint="--per-task, --population"
        )
    fields: Json = {
        "runs": runs,
        "n": n or 1,
        "by": by.value,
        "kinds": _listed(kinds),
        "judge": judge,
        "strata": _listed(stratify),
        "allocation": allocation.value,
        "seed": seed,
        "overlap": overlap,
        "raters": raters,
        "people": _listed(people),
    }
    from cuecard.annotate.labelling.labelling_sets import make_set, population_of, preview_of
    from cuecard.annotate.labelling.sampling import plan_of

    try:
        plan = plan_of(fields)
    except CuecardError as error:
        raise typer.BadParameter(error.message) from None
    ours = Context.of(context)
    with ours.workspace() as workspace:
        units = population_of(workspace, plan)
        if width is not None:
            plan = _wide_enough(plan, preview_of(units, plan), width, share, correlation)
        made = None
        if not dry_run:
            made = make_set(workspace, plan, name=name, by=ours.person(workspace), units=units)
        unjudged = _without(workspace, plan, {unit.trial_id for unit in units})
    preview = preview_of(units, plan)
    expected = preview.width(share, correlation)
    if json:
        as_json(_set_json(plan, preview, made, expected, unjudged))
    else:
        _print_set(plan, preview, made, unjudged)
        if expected is not None:
            say(
                _("If {share:.0%} agree, the 95% interval is about {width:.3f} wide.").format(
                    share=share, width=expected
                )
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


def _tell_size(
    width: float,
    share: float,
    per_task: float,
    correlation: float,
    population: int | None,
    *,
    json: bool,
) -> None:
    from cuecard.annotate.labelling.labelling_sets import design_effect, n_for_width

    effect = design_effect(per_task, correlation)
    try:
        n = n_for_width(width, share, population=population, design_effect=effect)
    except ValueError:
        raise _wrong_width() from None
    if json:
        as_json({"n": n, "width": width, "share": share, "design_effect": effect})
        return
    say(
        ngettext(
            "{n} item, for a 95% interval {width:g} wide where about {share:.0%} agree.",
            "{n} items, for a 95% interval {width:g} wide where about {share:.0%} agree.",
            n,
        ).format(n=n, width=width, share=share)
    )
    if effect > 1:
        say(
            _("Items of one task are alike: {effect:.2f} of them say as much as one alone.").format(
                effect=effect
            )
        )


def _print_set(plan: SamplingPlan, preview: Preview, made: LabelSet | None, unjudged: int) -> None:
    sizes = _("trials") if plan.by == "trials" else _("items")
    table(
        "",
        (_("stratum"), sizes, _("drawn")),
        [(s.name or _("all"), f"{s.size:,}", f"{s.drawn:,}") for s in preview.strata],
        numbers=(1, 2),
    )
    if preview.left_out:
        note(
            _("n is less than there are strata: the set will not speak for {n} of them.").format(
                n=preview.left_out
            )
        )
    if unjudged:
        note(
            ngettext(
                "{n} trial has nothing to label: it was not judged.",
                "{n} trials have nothing to label: they were not judged.",
                unjudged,
            ).format(n=unjudged)
        )
    if made is None:
        say(
            _("Nothing was drawn yet: about {items:,.0f} items, {labels:,.0f} labels.").format(
                items=preview.items, labels=preview.labels
            )
        )
        return
    say(
        ngettext(
            "Set {id}, “{name}”: {n} item to label.",
            "Set {id}, “{name}”: {n} items to label.",
            made.items,
        ).format(id=made.id, name=made.name, n=made.items)
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
