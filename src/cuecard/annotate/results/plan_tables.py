"""Tables and the plot of a plan: which difference a study would see, what one more of each buys, and the cheapest design."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import inf, isfinite, sqrt
from typing import Any

from cuecard.annotate.estimation.power import (
    Design,
    Noise,
    Prices,
    cheapest,
    designs_for,
    floor_of,
    power_of,
)
from cuecard.annotate.results.comparison_tables import number
from cuecard.annotate.results.planning import Plan
from cuecard.annotate.results.plots.model import Axis, Plot, Point, Series, bounds
from cuecard.annotate.results.words import amount
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.scoring.measures import COUNTS
from cuecard.core.tables.table import Cell, Table, percent
from cuecard.core.tables.table import Row as Line

TASKS = (10, 20, 30, 50, 100, 200, 400)
SAMPLES = (1, 2, 3, 5, 10)


def plan_tables(plan: Plan) -> tuple[Table, ...]:
    return (seen_table(plan), gains_table(plan), cheapest_table(plan), noise_table(plan))


def seen_table(plan: Plan) -> Table:
    """Tasks x samples: the smallest difference that is seen."""
    design = plan.design
    samples = sorted({*SAMPLES, design.samples}) if plan.noise.sample is not None else [1]
    lines: list[Line] = []
    for tasks in sorted({*TASKS, design.tasks}):
        found = [plan.seen(replace(design, tasks=tasks, samples=n)) for n in samples]
        lines.append((Cell(f"{tasks:,}"), *(Cell(plan.difference_text(v), value=v) for v in found)))
    return Table.of(
        _("{plan}: smallest difference in {measure} that is seen").format(
            plan=plan.title, measure=plan.label
        ),
        (
            _("Tasks"),
            *(ngettext("{n} sample", "{n} samples", n).format(n=n) for n in samples),
        ),
        lines,
        (
            _(
                "The true difference of two agents on the same tasks that four of five such studies would tell from zero"
                " (t test over tasks, 5%)."
            ),
            *_circumstances(plan),
        ),
    )


def gains_table(plan: Plan) -> Table:
    """What one more of each buys, beside the design as it is; of users and judges only where it is known what they vary."""
    now, noise = plan.design, plan.noise
    steps = [(_("as it is"), now), (_("one more task"), replace(now, tasks=now.tasks + 1))]
    if noise.sample is not None:
        steps.append((_("one more sample"), replace(now, samples=now.samples + 1)))
    if noise.user or noise.user_task:
        steps.append((_("one more user"), replace(now, users=now.users + 1)))
    if noise.judge or noise.judge_task:
        steps.append((_("one more judge"), replace(now, judges=now.judges + 1)))
    before, paid = plan.seen(now), plan.cost(now)
    lines: list[Line] = []
    for word, design in steps:
        seen, cost, first = plan.seen(design), plan.cost(design), design is now
        less = None if seen is None or before is None or first else before - seen
        line = [Cell(word), Cell(_of(design)), Cell(plan.difference_text(seen), value=seen)]
        line.append(Cell("" if first else _small(plan, less), value=less))
        variance = noise.variance(design)
        power = None if variance is None else power_of(plan.wanted, variance, design.tasks)
        line.append(Cell("–" if power is None else f"{100 * power:.0f}%", value=power))
        if cost is not None and paid is not None:
            more = None if first else cost - paid
            rate = less / more if less is not None and more else None
            line += [_paid(cost), Cell("") if more is None else _paid(more)]
            line.append(Cell("" if rate is None else f"{rate:.2g}", value=rate))
        lines.append(tuple(line))
    costs = (_("cost"), _("more by"), _("less per cost")) if paid is not None else ()
    power = _("Power: the share of studies that find a difference of {difference}.")
    notes = [
        _("Design: tasks × samples × users × judges."),
        power.format(difference=plan.difference_text(plan.wanted)),
    ]
    if len(steps) < 5:
        notes.append(_("What another user or judge buys takes a pilot with several, or a guess."))
    return Table.of(
        _("{plan}: what one more buys").format(plan=plan.title),
        (
            _("Change"),
            _("design"),
            _("sees"),
            _("less by"),
            _("power"),
            *costs,
        ),
        lines,
        (*notes, *_circumstances(plan)),
    )


def cheapest_table(plan: Plan) -> Table:
    """For each number of samples the fewest tasks that see the wanted difference, and which of these costs least."""
    designs = designs_for(plan.noise, plan.wanted, plan.design)
    best = cheapest(designs, plan.prices) if plan.prices else None
    shown = [each for each in designs if each.samples <= SAMPLES[-1] or each == best]
    notes = list(_circumstances(plan))
    if not designs:
        floor = floor_of(plan.noise, plan.design)
        told = plan.difference_text(floor) if isfinite(floor) else "–"
        notes.insert(
            0,
            _(
                "No number of tasks sees {wanted} with these users and judges: what they add alone hides differences below"
                " {floor}."
            ).format(wanted=plan.difference_text(plan.wanted), floor=told),
        )
    return Table.of(
        _("{plan}: designs that see a difference of {wanted}").format(
            plan=plan.title, wanted=plan.difference_text(plan.wanted)
        ),
        (_("Samples"), _("tasks"), _("trials of an agent"), *((_("cost"), "") if best else ())),
        [
            (
                Cell(f"{each.samples}"),
                Cell(f"{each.tasks:,}", value=each.tasks),
                Cell(f"{each.trials:,}", value=each.trials),
                *(
                    (_paid(plan.cost(each)), Cell(_("cheapest") if each == best else ""))
                    if best
                    else ()
                ),
            )
            for each in shown
        ],
        notes,
    )


NOISE: Mapping[str, str] = {
    "task": N_("agents by task"),
    "sample": N_("samples of a task"),
    "user": N_("agents by user"),
    "user_task": N_("agents by user and task"),
    "judge": N_("agents by judge"),
    "judge_task": N_("agents by judge and task"),
}
_LOWERED: Mapping[str, str] = {
    "task": N_("tasks"),
    "sample": N_("tasks, samples, users"),
    "user": N_("users"),
    "user_task": N_("tasks, users"),
    "judge": N_("judges"),
    "judge_task": N_("tasks, judges"),
}


def noise_table(plan: Plan) -> Table:
    """The components behind the noise, what each adds to it at the design, and what lowers it."""
    whole = plan.noise.variance(plan.design)
    lines: list[Line] = []
    none = Noise(0.0, 0.0)
    for name, word in NOISE.items():
        value: float | None = getattr(plan.noise, name)
        if value is None or (not value and name not in ("task", "sample")):
            continue
        part = replace(none, **{name: value}).variance(plan.design)
        share = part / whole if part is not None and whole else None
        lines.append(
            (
                Cell(_(word)),
                Cell(f"{value:.4g}", value=value),
                Cell(plan.difference_text(sqrt(value)), value=sqrt(value)),
                Cell("–" if share is None else f"{100 * share:.0f}%", value=share),
                Cell(_(_LOWERED[name])),
            )
        )
    notes: list[str] = []
    if plan.noise.sample is None:
        notes.append(
            _(
                "The pilot has one sample of each task, which cannot be told from how agents differ by tasks."
            )
        )
    if plan.pilot is not None:
        found = plan.pilot.dependability(plan.design.tasks, plan.design.samples)
        if found.value is not None:
            notes.append(
                _(
                    "Of what sets agents' means apart {share}% is the agents (dependability)."
                ).format(share=percent(found.value))
            )
        if (plan.pilot.part("agent_task").raw or 0) < 0:
            told = _("Estimated below zero, which chance does, and shown as 0: {name}.")
            notes.append(told.format(name=_(NOISE["task"])))
    return Table.of(
        _("{plan}: what hides a difference").format(plan=plan.title),
        (
            _("Component"),
            _("variance"),
            _("standard deviation"),
            _("share of the noise"),
            _("lowered by more"),
        ),
        lines,
        (*notes, *_circumstances(plan)),
    )


def plan_plot(plan: Plan) -> Plot:
    """The smallest difference seen against tasks, a series for each number of samples."""
    most = max(100, 2 * plan.design.tasks)
    places = sorted({*range(5, most + 1, max(1, most // 40)), plan.design.tasks})
    samples = sorted({1, 3, 10, plan.design.samples}) if plan.noise.sample is not None else [1]
    highest = inf if plan.measure in COUNTS else 1.0

    def points(n: int) -> Iterator[Point]:
        for tasks in places:
            seen = plan.seen(replace(plan.design, tasks=tasks, samples=n))
            if seen is not None and seen <= highest:
                yield Point(x=tasks, y=seen, n=tasks)

    series = tuple(
        Series(
            name=ngettext("{n} sample", "{n} samples", n).format(n=n),
            mark=mark,
            points=tuple(points(n)),
        )
        for mark, n in enumerate(samples)
    )
    low, high = bounds([point.y for one in series for point in one.points])
    return Plot(
        key=f"plan-{plan.family or 'guess'}",
        kind="lines",
        title=_("Smallest difference seen · {plan}").format(plan=plan.title),
        family=plan.family,
        x=Axis(label=_("Tasks"), low=0, high=places[-1], scale="count"),
        y=Axis(
            label=_("Difference in {measure}").format(measure=plan.label),
            low=low,
            high=high,
            scale="number",
        ),
        counted=_("tasks"),
        series=series,
        notes=tuple(_circumstances(plan)),
    )


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan with raw components, what its design `sees`, and the cheapest design for the wanted difference."""
    best = cheapest(designs_for(plan.noise, plan.wanted, plan.design), plan.prices or Prices())
    return {
        **plan.model_dump(mode="json"),
        "sees": plan.seen(plan.design),
        "cost": plan.cost(plan.design),
        "cheapest": asdict(best) if best and plan.prices else None,
    }


def _circumstances(plan: Plan) -> Sequence[str]:
    judges = plan.design.judges
    told = [
        ngettext("{n} user", "{n} users", plan.design.users).format(n=plan.design.users),
        ngettext("{n} judge", "{n} judges", judges).format(n=judges),
    ]
    return (_("With {what}.").format(what=_(", ").join(told)), *plan.notes)


def _of(design: Design) -> str:
    return f"{design.tasks:,} × {design.samples} × {design.users} × {design.judges}"


def _small(plan: Plan, value: float | None) -> str:
    """A difference of differences, which may be small."""
    if value is None:
        return "–"
    return number(plan.measure, value) if plan.measure in COUNTS else f"{value:.4f}"


def _paid(cost: float | None) -> Cell:
    return Cell("–" if cost is None else amount("cost", cost), value=cost)
