"""Drawing a labelling set in the workspace: its population, the sample size for an interval, a preview, and saving it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
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
    Population,
    SamplingPlan,
    Stratum,
    TrialUnits,
    Unit,
    accepted,
    alike,
    draw,
    outcome_of,
    sizes_and_spreads,
    strata_of,
)
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.decisions import JUDGED, decisions_of
from cuecard.core.evaluation.plans import no_exam
from cuecard.core.i18n import _, listed, ngettext, numbered
from cuecard.core.label_records import LabelSet
from cuecard.core.records import TrialRecord
from cuecard.core.system import uncollected
from cuecard.core.verdicts import Decision, Item

if TYPE_CHECKING:
    from cuecard.store.verdict_pages import Marks
    from cuecard.store.workspace import Workspace

_WORDS = {decision.value[0]: decision.value for decision in Decision}


def population_of(workspace: Workspace, plan: SamplingPlan) -> Population:
    """Every item of the plan's runs that machines decided on and the plan includes, each once. Unjudged trials have no
    items of judged kinds, trials under way none that the trial's user decided. Quality probes are left out unless the
    plan names their runs. What all judges and people decided, relations and languages are read where the plan goes by
    them. Raises `NotFound` for an unknown run.
    """
    with uncollected():
        return _population(workspace, plan)


def _population(workspace: Workspace, plan: SamplingPlan) -> Population:
    trials = [t for run in plan.runs for t in workspace.runs.trials(run)]
    kinds = set(plan.kinds or JUDGED)
    judged, others = kinds & set(JUDGED), kinds - set(JUDGED)
    marks: dict[int, Marks] = {}
    if judged:
        marks = {one.trial_id: one for one in workspace.verdict_pages.marks(plan.runs, plan.judge)}
    languages: dict[tuple[str, int], str] = {}
    if "language" in plan.strata:
        every = (workspace.runs.traits(run).items() for run in plan.runs)
        languages = {unit: known.language for traits in every for unit, known in traits}
    # Trials decide on the same items, nearly always; of one that is named twice the last decision counts.
    known: dict[tuple[str, ...], tuple[tuple[Item, ...], tuple[int, ...]]] = {}
    found: list[tuple[TrialRecord, TrialUnits]] = []
    for trial in trials:
        items: tuple[Item, ...] = ()
        said: list[str] = []
        if (mark := marks.get(trial.id)) is not None:
            if mark.keys not in known:
                places = {Item.of_key(key): at for at, key in enumerate(mark.keys)}
                mine = {item: at for item, at in places.items() if item.kind in judged}
                known[mark.keys] = tuple(mine), tuple(mine.values())
            items, places = known[mark.keys]
            said = [_WORDS[letter] for letter in mark.decisions]
            if len(said) > len(items):
                said = [said[at] for at in places]
        outcome = outcome_of(accepted(said))
        if others and trial.termination is not None:
            decisions = decisions_of(workspace, trial.id, others, plan.judge)
            items += tuple(one.item for one in decisions)
            said += [one.value.value for one in decisions]
        if items:
            shared = Unit(
                trial.id,
                items[0],
                family=trial.family,
                language=languages.get((trial.task_id, trial.revision), ""),
                agent=trial.agent.name,
                task=trial.task_id,
                outcome=outcome,
            )
            found.append((trial, TrialUnits(shared, items, said)))
    units = _by_item(workspace, plan, found)
    return Population(units, len(trials) - len(units))


def _by_item(
    workspace: Workspace, plan: SamplingPlan, found: Sequence[tuple[TrialRecord, TrialUnits]]
) -> list[TrialUnits]:
    """With what the plan goes by that differs from item to item."""
    votes = _votes(workspace, plan)
    people: dict[ItemId, SettledLabel] = {}
    if plan.allocation in FROM_LABELS:
        people = settled_labels(workspace, if_few({trial.id for trial, _units in found}))
    versions = {(t.task_id, t.revision) for t, _units in found if "relation" in plan.strata}
    tasks = {(one.task_id, one.number): one.task for one in workspace.tasks.these(versions)}
    if not (votes or people or tasks):
        return [units for _trial, units in found]
    relations: dict[tuple[str, int, str], str] = {}

    def known(trial: TrialRecord, item: Item) -> tuple[str, tuple[bool, ...], str]:
        key, place = (trial.id, item.key), (trial.task_id, trial.revision, item.key)
        if tasks and place not in relations:
            # A judgement from elsewhere may name a triple that this revision does not have.
            element = element_of(tasks[place[:2]], item)
            relations[place] = element.relation if element else ""
        label = people[key].value if key in people else None
        return relations.get(place, ""), votes.get(key, ()), label.value if label else ""

    return [
        replace(units, each=[known(trial, item) for item in units.items]) for trial, units in found
    ]


def _votes(workspace: Workspace, plan: SamplingPlan) -> dict[ItemId, tuple[bool, ...]]:
    """Which judges say yes to an item, where the plan goes by that."""
    if plan.allocation not in OWN_CHANCES and "judges" not in plan.strata:
        return {}
    found: dict[ItemId, tuple[bool, ...]] = {}
    for mark in workspace.verdict_pages.marks(plan.runs):
        for name, letter in zip(mark.keys, mark.decisions, strict=True):
            if _WORDS[letter] != "unjudged" and not mark.of_jury:
                key = mark.trial_id, name
                found[key] = (*found.get(key, ()), _WORDS[letter] == "yes")
    return found


def remark_on(units: Collection[Unit], plan: SamplingPlan) -> str:
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
    units: Collection[Unit] | None = None,
) -> LabelSet:
    """Draw a labelling set and save it with its plan. `units`: the plan's population, if already known. Raises
    `CuecardError` if there is nothing to draw.
    """
    for run in plan.runs:
        no_exam(workspace.runs.get(run))
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
    usual = ngettext("Set of run {runs}", "Set of runs {runs}", len(plan.runs)).format(
        runs=listed(map(str, plan.runs))
    )
    return workspace.label_sets.create(
        name=name.strip() or numbered(usual, (each.name for each in workspace.label_sets.all())),
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
    units: Collection[Unit], plan: SamplingPlan, width: float, correlation: float = 0
) -> LabelsNeeded:
    """How many items, drawn where earlier labels overturned more, make the 95% interval of the corrected share so wide.
    `correlation`: of corrections of a task's items; 0: as earlier labels tell. Raises `ValueError` for a width that is not
    above 0.
    """
    known = [(c, unit.task) for unit in units if (c := unit.correction) is not None]
    alike = correlation or intraclass_correlation([c for c, _t in known], [t for _c, t in known])
    tasks = len({unit.task for unit in units})
    return labels_needed(width / 2, sizes_and_spreads(units, plan), tasks=tasks, correlation=alike)


def preview_of(units: Collection[Unit], plan: SamplingPlan) -> Preview:
    """What `plan` would draw from these units."""
    strata = strata_of(units, plan)
    items = sum(stratum.items for stratum in strata)
    some = [unit for unit, _n in alike(units, ())]
    return Preview(
        strata=strata,
        population=len(units),
        trials=len({unit.trial_id for unit in some}),
        tasks=len({unit.task for unit in some}),
        labels=items * (1 + plan.overlap * (plan.raters - 1)),
    )
