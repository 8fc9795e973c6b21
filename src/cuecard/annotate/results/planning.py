"""What a pilot, or a guess, says of a study to come: which difference of two agents it would see, what one more task, sample, user
or judge buys, and the cheapest design for a wanted difference.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from math import isfinite, sqrt
from statistics import fmean
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field

from cuecard.annotate.estimation.components import (
    Components,
    FacetComponents,
    components,
    facet_components,
)
from cuecard.annotate.estimation.power import (
    Design,
    Noise,
    Prices,
    cheapest,
    designs_for,
    floor_of,
    smallest_difference,
)
from cuecard.annotate.labelling.effect_figures import MAIN
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.comparison_tables import number
from cuecard.annotate.results.plots.model import Axis, Plot, Point, Series, bounds
from cuecard.annotate.results.pool import Pool, Row, spent_value
from cuecard.annotate.results.words import amount
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.records import UsageRecord
from cuecard.core.scoring.aggregate import COUNTS, measure_label
from cuecard.core.tables.table import Cell, Table
from cuecard.core.tables.table import Row as Line
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family

TASKS = (10, 20, 30, 50, 100, 200, 400)
SAMPLES = (1, 2, 3, 5, 10)
_T = TypeVar("_T")


class Asked(Frozen):
    """What a plan is asked for. Numbers of the design that are None are those of the pilot, else 30 tasks and 3 samples. Guesses
    (standard deviations, in the measure's unit) and prices take the place of what the pilot tells. `these_users`: the users are
    all that matter, and no sample of users; so that what agents differ by users is no noise.
    """

    tasks: Annotated[int | None, Field(ge=2, le=100_000)] = None
    samples: Annotated[int | None, Field(ge=1, le=1_000)] = None
    users: Annotated[int | None, Field(ge=1, le=1_000)] = None
    judges: Annotated[int | None, Field(ge=1, le=100)] = None
    agents: Annotated[int | None, Field(ge=2, le=1_000)] = None
    difference: Annotated[float, Field(gt=0)] = 0.05
    task_sd: Annotated[float | None, Field(ge=0)] = None
    sample_sd: Annotated[float | None, Field(ge=0)] = None
    user_sd: Annotated[float | None, Field(ge=0)] = None
    judge_sd: Annotated[float | None, Field(ge=0)] = None
    task_cost: Annotated[float, Field(ge=0)] = 0.0
    trial_cost: Annotated[float | None, Field(ge=0)] = None
    judgement_cost: Annotated[float | None, Field(ge=0)] = None
    these_users: bool = False


class Plan(Frozen):
    """`family` and what the pilot tells (`pilot`, by users, by judges) are None without one. `prices`: None where calls of the
    pilot had no price. `notes`: what the plan rests on.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    family: Family | None
    measure: str
    noise: Noise
    design: Design
    prices: Prices | None
    wanted: float
    pilot: Components | None = None
    by_users: FacetComponents | None = None
    by_judges: FacetComponents | None = None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return measure_label(self.measure) if self.measure else _("a share")

    @property
    def title(self) -> str:
        return _(FAMILY_WORDS[self.family]) if self.family else _("By guesses")

    def told(self, value: float | None) -> str:
        return "–" if value is None else number(self.measure, value)

    def seen(self, design: Design) -> float | None:
        return smallest_difference(self.noise, design)

    def cost(self, design: Design) -> float | None:
        return self.prices.cost(design) if self.prices else None


def guessed_plan(asked: Asked, measure: str = "") -> Plan:
    """A plan without a pilot. Raises `NotAllowed` without guesses of how tasks and samples vary."""
    if asked.task_sd is None or asked.sample_sd is None:
        raise NotAllowed(
            _("There is nothing to plan from"),
            _("It takes a pilot, or guesses of two standard deviations."),
            _("Give runs, or --task-sd and --sample-sd."),
        )
    noise = _guessed(Noise(0.0, 0.0), asked)
    agents = asked.agents or 2
    free = asked.trial_cost is None and asked.judgement_cost is None and not asked.task_cost
    prices = Prices(asked.task_cost, asked.trial_cost or 0, asked.judgement_cost or 0, agents)
    return Plan(
        family=None,
        measure=measure,
        noise=noise,
        design=_design(asked, Design(30, 3)),
        prices=None if free else prices,
        wanted=asked.difference,
        notes=(_("Components of variance are guesses."),),
    )


def pilot_plan(
    pool: Pool,
    family: Family,
    asked: Asked | None = None,
    *,
    measure: str | None = None,
    usage: Iterable[UsageRecord] = (),
) -> Plan:
    """A plan from judged trials of one family, by its main measure or `measure`. `usage`: what the trials' calls cost. Raises
    `NotAllowed` where neither pilot nor guesses tell how agents differ by tasks.
    """
    asked, name = asked or Asked(), measure or MAIN[family]
    rows = _newest([row for row in pool.of_family(family).rows if _value(row, name) is not None])
    if not rows:
        raise NotAllowed(_("No trial is judged"), hint=_("Judge the runs first (`cuecard judge`)."))
    users, judges = ({row.value(each) for row in rows} for each in ("user", "judge"))
    pilot = components(_nested(rows, name, lambda row: (row.value("agent"), row.trial.task_id)))
    by_users = by_judges = None
    notes: list[str] = []
    if len(users) > 1:
        by_users = facet_components(_crossed(rows, name, "user"))
        if by_users.reason:
            notes.append(_("Users are taken together: {reason}.").format(reason=by_users.reason))
    if len(judges) > 1:
        by_judges = facet_components(_crossed(rows, name, "judge"))
        if by_judges.reason:
            notes.append(_("Judges are taken together: {reason}.").format(reason=by_judges.reason))
    noise = _guessed(_measured(pilot, by_users, by_judges), asked)
    if pilot.left_out:
        told = ngettext(
            "{n} task that not all agents have is left out.",
            "{n} tasks that not all agents have are left out.",
            pilot.left_out,
        )
        notes.append(told.format(n=pilot.left_out))
    if by_users is not None and not by_users.reason:
        notes.append(
            _("The users are these and no others; what agents differ by users is no noise.")
            if asked.these_users
            else _("The users stand for users of their kind.")
        )
    samples = max(1, round(pilot.samples))
    crossed = by_users is not None and not by_users.reason
    if crossed and by_users is not None:
        samples = max(1, round(by_users.samples))
    start = Design(max(2, pilot.tasks), samples, len(users) if crossed else 1, max(1, len(judges)))
    prices, why = _prices(rows, usage, asked, max(2, pilot.agents))
    return Plan(
        family=family,
        measure=name,
        noise=noise,
        design=_design(asked, start),
        prices=prices,
        wanted=asked.difference,
        pilot=pilot,
        by_users=by_users,
        by_judges=by_judges,
        notes=(*notes, *why),
    )


def _value(row: Row, measure: str) -> float | None:
    if row.figures is None:
        return None
    return spent_value(row, measure) if measure in ("cost", "tokens") else row.measure(measure)


def _newest(rows: Sequence[Row]) -> list[Row]:
    """Of each task the trials on its newest revision."""
    last: dict[str, int] = {}
    for row in rows:
        last[row.trial.task_id] = max(row.trial.revision, last.get(row.trial.task_id, 0))
    return [row for row in rows if row.trial.revision == last[row.trial.task_id]]


def _nested(rows: Sequence[Row], measure: str, key: Any) -> dict[str, dict[str, list[float]]]:
    """Values by two keys: of each trial the mean over its judges."""
    trials: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        trials[row.trial.id].append(row)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for own in trials.values():
        first, second = key(own[0])
        found[first][second].append(fmean(_value(row, measure) or 0.0 for row in own))
    return found


def _crossed(
    rows: Sequence[Row], measure: str, facet: str
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Values by agent, task and user; by agent, task and judge the mean over samples of each."""
    found: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    if facet == "user":
        agents: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            agents[row.value("agent")].append(row)
        for agent, own in agents.items():
            by_task = _nested(own, measure, lambda row: (row.trial.task_id, row.value("user")))
            found[agent] = defaultdict(dict, {task: dict(each) for task, each in by_task.items()})
        return found
    cells: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        key = row.value("agent"), row.trial.task_id, row.value("judge")
        cells[key].append(_value(row, measure) or 0.0)
    for (agent, task, judge), values in cells.items():
        found[agent][task][judge] = [fmean(values)]
    return found


def _measured(
    pilot: Components, users: FacetComponents | None, judges: FacetComponents | None
) -> Noise:
    """What the pilot says of the noise of a comparison; -1 where it says nothing of tasks. Samples that are not told apart are
    None, and part of tasks.
    """
    user = user_task = judge = judge_task = 0.0
    task, sample = pilot.agent_task.value, pilot.sample.value
    if task is None and pilot.agents > 1 and pilot.rest.value is not None:
        task = pilot.rest.value
    if users is not None and not users.reason:
        task, user = users.agent_task.value, users.agent_level.value or 0.0
        # Where each cell has one sample, it cannot be told from the interaction, and stays there.
        user_task, sample = users.agent_task_level.value or 0.0, users.sample.value or 0.0
    if judges is not None and not judges.reason:
        judge, judge_task = judges.agent_level.value or 0.0, judges.agent_task_level.value or 0.0
        # The judges' mean stood for them: its share of their disagreement is not the tasks'.
        task = None if task is None else max(0.0, task - judge_task / judges.levels)
    return Noise(-1.0 if task is None else task, sample, user, user_task, judge, judge_task)


def _guessed(noise: Noise, asked: Asked) -> Noise:
    """With guesses in the place of what they are for. Raises `NotAllowed` where nothing is known of tasks."""

    def squared(sd: float | None, known: _T) -> _T | float:
        return known if sd is None else sd**2

    found = replace(
        noise,
        task=squared(asked.task_sd, noise.task),
        sample=squared(asked.sample_sd, noise.sample),
        user=0.0 if asked.these_users else squared(asked.user_sd, noise.user),
        judge=squared(asked.judge_sd, noise.judge),
    )
    if found.task < 0:
        raise NotAllowed(
            _("The pilot does not tell how agents differ by tasks"),
            _("It takes two agents on two tasks."),
            _("Give more runs, or a guess by --task-sd."),
        )
    return found


def _design(asked: Asked, start: Design) -> Design:
    return Design(
        asked.tasks or start.tasks,
        asked.samples or start.samples,
        asked.users or start.users,
        asked.judges or start.judges,
    )


def _prices(
    rows: Sequence[Row], usage: Iterable[UsageRecord], asked: Asked, agents: int
) -> tuple[Prices | None, tuple[str, ...]]:
    """Means of what trials and their judgements cost, over those of the pilot."""
    trials = {row.trial.id for row in rows}
    own = [used for used in usage if used.trial_id in trials]
    judged = len({(row.trial.id, row.judged_by) for row in rows})
    sums = {
        judge: sum(used.cost or 0.0 for used in own if (used.payer == "judge") is judge)
        for judge in (False, True)
    }
    given = asked.trial_cost is not None
    prices = Prices(
        asked.task_cost,
        sums[False] / len(trials) if asked.trial_cost is None else asked.trial_cost,
        sums[True] / judged if asked.judgement_cost is None else asked.judgement_cost,
        asked.agents or agents,
    )
    if not given and any(used.calls > used.priced for used in own):
        return None, (_("Calls of the pilot had no price, so that costs are not known."),)
    if prices.trial + prices.judgement + prices.task <= 0:
        return None, (_("The pilot cost nothing, so that costs are not known."),)
    told = _("A trial costs {trial}, a judgement {judgement}, a task {task}; {n} agents.").format(
        trial=amount("cost", prices.trial),
        judgement=amount("cost", prices.judgement),
        task=amount("cost", prices.task),
        n=prices.agents,
    )
    free = _(
        "Tasks cost nothing here, which favours many; --task-cost says what one costs to make."
    )
    return prices, (told,) if prices.task else (told, free)


def plan_json(plan: Plan) -> dict[str, Any]:
    """Components with their raw values, the noise by part, the design with what it sees, prices, and the wanted difference."""
    told = plan.model_dump(mode="json", include={"family", "measure", "wanted", "notes"})
    return {
        **told,
        "components": {
            name: None if found is None else found.model_dump(mode="json")
            for name, found in (
                ("pilot", plan.pilot),
                ("users", plan.by_users),
                ("judges", plan.by_judges),
            )
        },
        "noise": asdict(plan.noise),
        "design": {**asdict(plan.design), "sees": plan.seen(plan.design)},
        "prices": None if plan.prices is None else asdict(plan.prices),
        "cheapest": _cheapest_json(plan),
    }


def _cheapest_json(plan: Plan) -> dict[str, Any] | None:
    found = designs_for(plan.noise, plan.wanted, plan.design)
    best = cheapest(found, plan.prices) if plan.prices else None
    return None if best is None else {**asdict(best), "cost": plan.cost(best)}


