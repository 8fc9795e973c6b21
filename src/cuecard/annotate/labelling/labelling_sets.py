"""Drawing a labelling set in the workspace: its population, the sample size for an interval, a preview, and saving it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.allocation import (
    Z95,
    LabelsNeeded,
    design_effect,
    intraclass_correlation,
    labels_needed,
)
from cuecard.annotate.families.registry import element_of
from cuecard.annotate.labelling.comparison_inputs import if_few
from cuecard.annotate.labelling.effect_rescoring import ItemId, SettledLabel, settled_labels
from cuecard.annotate.labelling.sampling import (
    FROM_LABELS,
    OWN_CHANCES,
    SamplingPlan,
    Stratum,
    Unit,
    draw,
    outcome_of,
    sizes_and_spreads,
    strata_of,
)
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import JUDGED, decisions_of
from cuecard.core.i18n import _
from cuecard.core.label_records import LabelSet
from cuecard.core.records import TrialRecord
from cuecard.core.system import uncollected
from cuecard.core.verdicts import Decision, Item

if TYPE_CHECKING:
    from cuecard.store.verdict_pages import Marks
    from cuecard.store.workspace import Workspace

_WORDS = {decision.value[0]: decision.value for decision in Decision}


def population_of(workspace: Workspace, plan: SamplingPlan) -> list[Unit]:
    """Every item of the plan's runs that machines decided on and the plan includes, each once. Unjudged trials have no
    items of judged kinds, trials under way none that the trial's user decided. Quality probes are left out unless the
    plan names their runs. What all judges and people decided is read where the plan goes by it. Raises `NotFound` for
    an unknown run.
    """
    with uncollected():
        return _population(workspace, plan)


def _population(workspace: Workspace, plan: SamplingPlan) -> list[Unit]:
    trials = [t for run in plan.runs for t in workspace.runs.trials(run)]
    kinds = plan.kinds or JUDGED
    others = set(kinds) - set(JUDGED)
    marks: dict[int, Marks] = {}
    if set(kinds) & set(JUDGED):
        marks = {one.trial_id: one for one in workspace.verdict_pages.marks(plan.runs, plan.judge)}
    votes = _votes(workspace, plan)
    people: dict[ItemId, SettledLabel] = {}
    if plan.allocation in FROM_LABELS:
        people = settled_labels(workspace, if_few({trial.id for trial in trials}))
    items: dict[str, Item | None] = {}
    found: list[tuple[TrialRecord, float | None, list[tuple[str, Item, str]]]] = []
    for trial in trials:
        mine: list[tuple[str, Item, str]] = []
        if (mark := marks.get(trial.id)) is not None:
            for name, letter in dict(zip(mark.keys, mark.decisions, strict=True)).items():
                if name not in items:
                    known = Item.of_key(name)
                    items[name] = known if known.kind in kinds else None
                if (item := items[name]) is not None:
                    mine.append((name, item, _WORDS[letter]))
        told = [v for _name, item, v in mine if item.kind in JUDGED and v != "unjudged"]
        if others and trial.termination is not None:
            decisions = decisions_of(workspace, trial.id, others, plan.judge)
            mine += [(d.item.key, d.item, d.value.value) for d in decisions]
        if mine:
            accepted = told.count("yes") / len(told) if told else None
            found.append((trial, accepted, mine))
    versions = dict.fromkeys((trial.task_id, trial.revision) for trial, _share, _mine in found)
    # Of a task, the relation of each item that was asked for: trials decide on the same ones.
    tasks = {
        (one.task_id, one.number): (one.task, dict[str, str]())
        for one in workspace.tasks.these(versions)
    }
    units: list[Unit] = []
    for trial, accepted, mine in found:
        task, relations = tasks[trial.task_id, trial.revision]
        trial_id, outcome = trial.id, outcome_of(accepted)
        family, language, agent, task_id = trial.family, task.language, trial.agent.name, task.id
        for name, item, value in mine:
            if (relation := relations.get(name)) is None:
                # A judgement from elsewhere may name a triple that this revision does not have.
                element = element_of(task, item)
                relation = relations[name] = element.relation if element else ""
            vote, said = (), ""
            if votes or people:
                key = trial_id, name
                vote = votes.get(key, ())
                label = people[key].value if key in people else None
                said = label.value if label else ""
            units.append(
                Unit(
                    trial_id, item, value, family, language, agent, relation, task_id, vote, said,
                    outcome,
                )
            )  # fmt: skip
    return units


def _votes(workspace: Workspace, plan: SamplingPlan) -> dict[ItemId, tuple[bool, ...]]:
    """Which judges say yes to an item, where the plan goes by that."""
    if plan.allocation not in OWN_CHANCES and "judges" not in plan.strata:
        return {}
    found: dict[ItemId, tuple[bool, ...]] = {}
    for trial_id, item, decision in workspace.verdict_pages.decided(plan.runs, every=True):
        if decision is not Decision.UNJUDGED:
            key = trial_id, item.key
            found[key] = (*found.get(key, ()), decision is Decision.YES)
    return found


def remark_on(units: Sequence[Unit], plan: SamplingPlan) -> str:
    """Why the plan's allocation has nothing to go by; "" if it has."""
    if not units:
        return ""
    by_votes = plan.allocation == "disagreement" or "judges" in plan.strata
    if by_votes and not any(unit.judges for unit in units):
        return _("No item has decisions of two judges: nothing tells where judges differ.")
    if plan.allocation in FROM_LABELS and not any(unit.people for unit in units):
        return _(
            "Nothing is labelled yet that would tell where labels pay: all strata count alike."
        )
    return ""


def make_set(
    workspace: Workspace,
    plan: SamplingPlan,
    *,
    name: str,
    by: str,
    units: Sequence[Unit] | None = None,
) -> LabelSet:
    """Draw a labelling set and save it with its plan. `units`: the plan's population, if already known. Raises
    `CuecardError` if there is nothing to draw.
    """
    units = population_of(workspace, plan) if units is None else units
    items = draw(units, plan)
    if units and not items:
        raise CuecardError(
            _("Nothing was drawn"),
            _("each item has a chance of its own, and none came up"),
            _("Draw more, or with another seed."),
        )
    if not items:
        raise CuecardError(
            _("There is nothing to label"),
            _("no item of these runs has been decided on"),
            _("Judge the runs first: `cuecard judge`."),
        )
    return workspace.label_sets.create(
        name=name.strip() or _("Set of run {run}").format(run=plan.runs[0]),
        created_by=by,
        items=items,
        plan=plan.model_dump(mode="json"),
    )


def width_of(n: float, share: float) -> float:
    """The width of the 95% score interval (Wilson 1927) of a share seen on `n` independent items."""
    spread = Z95**2 / n
    return 2 * Z95 * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)


def n_for_width(
    width: float, share: float = 0.9, *, population: int | None = None, design_effect: float = 1
) -> int:
    """The smallest sample for a 95% interval at most `width` wide (0 to 1), if about a `share` of items agrees.
    `design_effect`: the factor by which dependence of items of one task increases the variance, 1 + (m - 1) rho for m
    items a task with intraclass correlation rho (Kish 1965). `population`: an upper bound, with the finite population
    correction.

    Raises `ValueError` for a width that is not between 0 and 1, a share outside [0, 1] or a design effect below 1.
    """
    if not 0 < width < 1:
        raise ValueError("a width must be between 0 and 1")
    if not 0 <= share <= 1:
        raise ValueError("a share must be between 0 and 1")
    if design_effect < 1:
        raise ValueError("a design effect is at least 1")
    low, high = 1, 2
    while width_of(high, share) > width:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        if width_of(middle, share) > width:
            low = middle + 1
        else:
            high = middle
    n = low * design_effect
    if population is not None:
        n = n / (1 + (n - 1) / population) if population else 0
        return min(ceil(n), population)
    return ceil(n)


def n_in_tasks(
    width: float, share: float, *, tasks: int, items: int, correlation: float = 0
) -> int | None:
    """As `n_for_width`, for a sample spread evenly over `tasks` with `items` in all; the more items of one task, the
    less each adds. None if even all of them are too few. With correlation 0 the finite population correction applies;
    otherwise tasks are a sample themselves, and no number of items is a census. Raises `ValueError` as `n_for_width`
    does, and for a correlation outside [0, 1].
    """
    wanted = n_for_width(width, share)
    if not 0 <= correlation <= 1:
        raise ValueError("a correlation must be between 0 and 1")
    if not tasks or not items:
        return None
    if not correlation:
        return n_for_width(width, share, population=items)
    # n / deff(n) = wanted, with deff(n) = 1 + (n / tasks - 1) rho.
    spare = 1 - wanted * correlation / tasks
    n = max(wanted, ceil(wanted * (1 - correlation) / spare)) if spare > 0 else items + 1
    return n if n <= items else None


def effective_size(strata: Iterable[tuple[float, float]]) -> float:
    """The effective sample size of strata given as (size, drawn): (sum w)² / sum w² of the weights (Kish 1965). Strata
    from which nothing is drawn are left out.
    """
    known = [(size, drawn) for size, drawn in strata if drawn]
    total = sum(size for size, _drawn in known)
    return total**2 / sum(size**2 / drawn for size, drawn in known) if known else 0.0


@dataclass(frozen=True)
class Preview:
    """What a plan would draw. `population`, `trials` and `tasks`: how many there are; `labels`: how many labels it
    takes, the expected number if trials are drawn.
    """

    strata: tuple[Stratum, ...]
    population: int
    trials: int
    tasks: int
    labels: float

    @property
    def items(self) -> float:
        """How many items are drawn; the expected number if trials are drawn."""
        return sum(stratum.items for stratum in self.strata)

    @property
    def effective(self) -> float:
        """The effective sample size, as far as weights go."""
        return effective_size((s.population, s.items) for s in self.strata)

    @property
    def left_out(self) -> int:
        """How many strata have nothing drawn, so that the set does not represent them."""
        return sum(not stratum.drawn for stratum in self.strata)

    def width(self, share: float, correlation: float = 0) -> float | None:
        """The expected width of the 95% interval if about `share` agree and items of one task are correlated; None if
        nothing is drawn.
        """
        if not self.effective:
            return None
        effect = design_effect(self.items / self.tasks, correlation)
        return width_of(self.effective / effect, share)

    def n_for(self, width: float, share: float, correlation: float = 0) -> int | None:
        """The sample size for such a width if all items had equal probability; None if there are too few. Raises
        `ValueError`.
        """
        return n_in_tasks(
            width, share, tasks=self.tasks, items=self.population, correlation=correlation
        )


def n_by_variance(
    units: Sequence[Unit], plan: SamplingPlan, width: float, correlation: float = 0
) -> LabelsNeeded:
    """How many items, drawn where earlier labels overturned more, make the 95% interval of the corrected share so wide.
    `correlation`: of corrections of a task's items; 0: as earlier labels tell. Raises `ValueError` for a width that is not
    above 0.
    """
    known = [(c, unit.task) for unit in units if (c := unit.correction) is not None]
    alike = correlation or intraclass_correlation([c for c, _t in known], [t for _c, t in known])
    tasks = len({unit.task for unit in units})
    return labels_needed(width / 2, sizes_and_spreads(units, plan), tasks=tasks, correlation=alike)


def preview_of(units: Sequence[Unit], plan: SamplingPlan) -> Preview:
    """What `plan` would draw from these units."""
    strata = strata_of(units, plan)
    items = sum(stratum.items for stratum in strata)
    return Preview(
        strata=strata,
        population=len(units),
        trials=len({unit.trial_id for unit in units}),
        tasks=len({unit.task for unit in units}),
        labels=items * (1 + plan.overlap * (plan.raters - 1)),
    )
