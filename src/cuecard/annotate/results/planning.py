"""What a pilot, or a guess, says of a study to come: the noise of a comparison of two agents, the design, and what it costs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Annotated

from pydantic import ConfigDict, Field

from cuecard.annotate.estimation.components import Components, components
from cuecard.annotate.estimation.power import Design, Noise, Prices, smallest_difference
from cuecard.annotate.labelling.effect_figures import MAIN
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results import Dimension
from cuecard.annotate.results.comparison_tables import number
from cuecard.annotate.results.pool import Pool, Row
from cuecard.annotate.results.row_samples import SPENT, spent_value
from cuecard.annotate.results.words import amount, in_sentence
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.records import UsageRecord
from cuecard.core.scoring.measures import COUNTS, measure_label
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family

_FEW = 10


class Asked(Frozen):
    """What a plan is asked for. Numbers of the design that are None are those of the pilot, else 30 tasks and 3 samples. Guesses
    (standard deviations, in the measure's unit) and prices take the place of what the pilot tells. `these_users`: the users are
    all that matter, and no sample of users; so that what agents differ by users is no noise.
    """

    tasks: Annotated[int | None, Field(title=N_("Tasks"), ge=2, le=100_000)] = None
    samples: Annotated[int | None, Field(title=N_("Samples"), ge=1, le=1_000)] = None
    users: Annotated[int | None, Field(title=N_("Users"), ge=1, le=1_000)] = None
    judges: Annotated[int | None, Field(title=N_("Judges"), ge=1, le=100)] = None
    agents: Annotated[int | None, Field(title=N_("Agents"), ge=2, le=1_000)] = None
    difference: Annotated[float, Field(title=N_("Difference wanted"), gt=0)] = 0.05
    task_cost: Annotated[float, Field(title=N_("Cost of a task"), ge=0)] = 0.0
    trial_cost: Annotated[float | None, Field(title=N_("Cost of a trial"), ge=0)] = None
    judgement_cost: Annotated[float | None, Field(ge=0)] = None
    task_sd: Annotated[float | None, Field(title=N_("Guess: agents by task, sd"), ge=0)] = None
    sample_sd: Annotated[float | None, Field(title=N_("Guess: samples, sd"), ge=0)] = None
    user_sd: Annotated[float | None, Field(title=N_("Guess: agents by user, sd"), ge=0)] = None
    judge_sd: Annotated[float | None, Field(title=N_("Guess: agents by judge, sd"), ge=0)] = None
    these_users: Annotated[bool, Field(title=N_("These users are all that matter"))] = False


class Plan(Frozen):
    """`family` and what the pilot tells are None without one: `pilot` by agent and task, `by_users` and `by_judges` where it has
    several. `prices`: None where they are not known. `notes`: what the plan rests on.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    family: Family | None
    measure: str
    noise: Noise
    design: Design
    prices: Prices | None
    wanted: float
    pilot: Components | None = None
    by_users: Components | None = None
    by_judges: Components | None = None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return measure_label(self.measure) if self.measure else _("a share")

    @property
    def title(self) -> str:
        return _(FAMILY_WORDS[self.family]) if self.family else _("By guesses")

    def difference_text(self, value: float | None) -> str:
        """A difference; of a share none is above 1."""
        if value is not None and value > 1 and self.measure not in COUNTS:
            return "> 1"
        return "–" if value is None else number(self.measure, value)

    def seen(self, design: Design) -> float | None:
        return smallest_difference(self.noise, design)

    def cost(self, design: Design) -> float | None:
        return self.prices.cost(design) if self.prices else None


def guessed_plan(asked: Asked) -> Plan:
    """A plan without a pilot. Raises `NotAllowed` without guesses of how tasks and samples vary."""
    if asked.task_sd is None or asked.sample_sd is None:
        raise NotAllowed(
            _("There is nothing to plan from"),
            _("It takes a pilot, or guesses of two standard deviations."),
            _("Give runs, or --task-sd and --sample-sd."),
        )
    agents = asked.agents or 2
    paid = (asked.task_cost, asked.trial_cost or 0.0, asked.judgement_cost or 0.0)
    return Plan(
        family=None,
        measure="",
        noise=_guessed(Noise(0.0, 0.0), asked),
        design=_design(asked, Design(30, 3)),
        prices=Prices(*paid, agents) if any(paid) else None,
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
    notes: list[str] = []

    def crossed(facet: Dimension) -> Components | None:
        """Components with this facet; None, and a note, where it cannot be told."""
        if len({row.value(facet) for row in rows}) < 2:
            return None
        found = components(_cells(rows, name, facet), ("agent", "task", facet))
        if found.reason:
            told = _("Values of {dimension} are taken together: {reason}.")
            notes.append(told.format(dimension=in_sentence(facet), reason=found.reason))
        return None if found.reason else found

    pilot, users, judges = components(_cells(rows, name)), crossed("user"), crossed("judge")
    if pilot.left_out:
        told = ngettext(
            "{n} task that not all agents have is left out.",
            "{n} tasks that not all agents have are left out.",
            pilot.left_out,
        )
        notes.append(told.format(n=pilot.left_out))
    if pilot.levels["task"] < _FEW:
        told = _("The pilot has {n} tasks only: its components may be far from the truth.")
        notes.append(told.format(n=pilot.levels["task"]))
    if users is not None:
        notes.append(
            _("The users are these and no others; what agents differ by users is no noise.")
            if asked.these_users
            else _("The users stand for users of their kind.")
        )
    start = Design(
        max(2, pilot.levels["task"]),
        max(1, round((users or pilot).samples)),
        users.levels["user"] if users else 1,
        len({row.judged_by for row in rows}),
    )
    prices, why = _prices(rows, usage, asked, max(2, pilot.levels["agent"]))
    return Plan(
        family=family,
        measure=name,
        noise=_guessed(_measured(pilot, users, judges), asked),
        design=_design(asked, start),
        prices=prices,
        wanted=asked.difference,
        pilot=pilot,
        by_users=users,
        by_judges=judges,
        notes=(*notes, *why),
    )


def plans_of(
    pool: Pool, asked: Asked, *, measure: str = "", usage: Iterable[UsageRecord] = ()
) -> tuple[Plan, ...]:
    """A plan for each family that has one, and has the measure. Raises as `pilot_plan` if none has."""
    found: list[Plan] = []
    refused: NotAllowed | None = None
    used = tuple(usage)
    for family in FAMILIES:
        mine = pool.of_family(family)
        if mine.rows and (not measure or measure in (*mine.measures, *SPENT)):
            try:
                found.append(pilot_plan(mine, family, asked, measure=measure or None, usage=used))
            except NotAllowed as error:
                refused = refused or error
    if not found:
        hint = _("`cuecard judge --run RUN` judges what is played.")
        raise refused or NotAllowed(_("No trial is judged"), hint=hint)
    return tuple(found)


def _value(row: Row, measure: str) -> float | None:
    if row.figures is None:
        return None
    return spent_value(row, measure) if measure in SPENT else row.measure(measure)


def _newest(rows: Sequence[Row]) -> list[Row]:
    """Of each task the trials on its newest revision."""
    last: dict[str, int] = {}
    for row in rows:
        last[row.trial.task_id] = max(row.trial.revision, last.get(row.trial.task_id, 0))
    return [row for row in rows if row.trial.revision == last[row.trial.task_id]]


def _cells(
    rows: Sequence[Row], measure: str, facet: Dimension | None = None
) -> dict[tuple[str, ...], list[float]]:
    """Values by agent, task and facet: of each trial the mean over its judges; of each judge the mean over samples."""
    trials: dict[tuple[str, ...], dict[object, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        key = (row.value("agent"), row.trial.task_id, *((row.value(facet),) if facet else ()))
        unit = None if facet == "judge" else row.trial.id
        trials[key][unit].append(_value(row, measure) or 0.0)
    return {key: [fmean(values) for values in own.values()] for key, own in trials.items()}


def _measured(pilot: Components, users: Components | None, judges: Components | None) -> Noise:
    """What the pilot says of the noise of a comparison; -1 where it says nothing of tasks. Samples that are not told apart from
    the highest interaction stay in it.
    """
    task, sample = pilot.value("agent_task"), pilot.value("sample")
    user = user_task = judge = judge_task = 0.0
    if task is None and pilot.levels["agent"] > 1:
        task = pilot.value("rest")
    if users is not None:
        task, user = users.value("agent_task"), users.value("agent_user") or 0.0
        user_task = users.value("agent_task_user") or users.value("rest") or 0.0
        sample = users.value("sample") or 0.0
    if judges is not None:
        judge, judge_task = judges.value("agent_judge") or 0.0, judges.value("rest") or 0.0
        # The judges' mean stood for them: its share of their disagreement is not the tasks'.
        task = None if task is None else max(0.0, task - judge_task / judges.levels["judge"])
    return Noise(-1.0 if task is None else task, sample, user, user_task, judge, judge_task)


def _guessed(noise: Noise, asked: Asked) -> Noise:
    """With guesses in the place of what they are for. Raises `NotAllowed` where nothing is known of tasks."""
    guesses = {
        "task": asked.task_sd,
        "sample": asked.sample_sd,
        "user": 0.0 if asked.these_users else asked.user_sd,
        "judge": asked.judge_sd,
    }
    found = replace(noise, **{name: sd**2 for name, sd in guesses.items() if sd is not None})
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
    prices = Prices(
        asked.task_cost,
        sums[False] / len(trials) if asked.trial_cost is None else asked.trial_cost,
        sums[True] / judged if asked.judgement_cost is None else asked.judgement_cost,
        asked.agents or agents,
    )
    if asked.trial_cost is None and any(used.calls > used.priced for used in own):
        return None, (_("Calls of the pilot had no price, so that costs are not known."),)
    if prices.trial + prices.judgement + prices.task <= 0:
        return None, (_("The pilot cost nothing, so that costs are not known."),)
    told = _("A trial costs {trial}, a judgement {judgement}, a task {task}; {n} agents.").format(
        trial=amount("cost", prices.trial),
        judgement=amount("cost", prices.judgement),
        task=amount("cost", prices.task),
        n=prices.agents,
    )
    free = _("Tasks cost nothing here, which favours many: give what it costs to make one.")
    return prices, (told,) if prices.task else (told, free)
