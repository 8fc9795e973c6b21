"""Scores of runs corrected by people's labels, each with the labels that it rests on, and tables of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cuecard.annotate.estimation.corrected import corrected, why_no_estimate, within
from cuecard.annotate.estimation.joint import Joint, joint
from cuecard.annotate.estimation.units import Units
from cuecard.annotate.labelling.comparison_inputs import if_few
from cuecard.annotate.labelling.effect_rescoring import (
    ItemId,
    Rescored,
    SettledLabel,
    rescored,
    settled_labels,
)
from cuecard.annotate.labelling.labelled_units import CORRECTABLE, SHARES, Basis, Draw, key_of
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import Population, SamplingPlan
from cuecard.core.evaluation.scores import TrialScores
from cuecard.core.i18n import _, beside, headed, ngettext
from cuecard.core.label_records import LabelSet
from cuecard.core.scoring.aggregate import Key
from cuecard.core.scoring.measures import COUNTS
from cuecard.core.tables.table import Cell, Shown, Statistic, Table, View, figure, in_percent
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class LabelledSet(Frozen):
    """A labelling set, with how many of its items people decided."""

    id: int
    name: str
    drawn: int
    settled: int


class Correction(Frozen):
    """One figure three ways, see `Corrected`: by the `judge`, by `people` on labelled units alone, and `corrected`
    from both; `here`: with the interval for these trials only; `shift`: corrected minus judge. People decided
    `labelled` of `units` trials, items, or tasks with all their samples (`basis`), of the set `set_name` ("": all,
    without a set). `tuning`: the weight of the judge by stratum, 0 to 1.
    """

    judge: Statistic
    corrected: Statistic
    people: Statistic
    here: Statistic
    shift: Statistic
    basis: Basis
    labelled: int
    units: int
    labelled_tasks: int
    left_open: int
    tuning: dict[str, float]
    set_id: int | None
    set_name: str
    notes: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return self.labelled == self.units


class Corrections:
    """People's decisions on trials of some runs, and what they make of scores. `said`: by item; `found`: every
    labelled trial by the judge and by people; `draws`: where it can be estimated from, the newest set first. Falsy
    without labels.
    """

    def __init__(
        self,
        said: Mapping[ItemId, SettledLabel],
        found: Mapping[tuple[int, str], Rescored],
        draws: Sequence[Draw],
    ) -> None:
        self.said, self._rescored, self.draws = said, found, draws

    def __bool__(self) -> bool:
        return bool(self._rescored)

    def rescored(self, one: TrialScores) -> Rescored:
        """The trial by the judge and by people, who are of one mind where nobody labelled it."""
        known = self._rescored.get(key_of(one))
        return known or Rescored(one.trial, one.measures, one.measures)

    @property
    def sets(self) -> tuple[LabelledSet, ...]:
        """Those drawn from these runs that have labels, the newest first."""
        settled = {key for key, one in self.said.items() if one.value is not None}
        return tuple(
            LabelledSet(
                id=draw.set_id,
                name=draw.name,
                drawn=len(draw.chances),
                settled=len(settled & draw.chances.keys()),
            )
            for draw in self.draws
            if draw.set_id is not None
        )

    def figure(self, trials: Sequence[TrialScores], key: Key) -> Correction | None:
        """A figure of these trials, of one family and judge; None if labels cannot change it, or there are none on
        these.
        """
        found = self.units(trials, key)
        if found is None:
            return None
        units, basis, draw = found
        why = units if isinstance(units, str) else ""
        known = Units.of(()) if isinstance(units, str) else units
        told = corrected(known, key[0], share=key[0] in SHARES)
        three = {
            "corrected": within(told.estimate),
            "people": within(told.people),
            "here": within(told.here),
            "shift": told.shift,
        }
        if why:
            three = dict.fromkeys(three, Statistic(name=key[0], value=None, n=0, reason=why))
        elif self._stops_early(draw):
            looked = _("labelling may stop by what it shows: see `cuecard labels status`")
            bare = {"low": None, "high": None, "no_interval": looked}
            three = {name: one.model_copy(update=bare) for name, one in three.items()}
        return Correction.from_fields(
            told,
            judge=within(told.judge),
            **three,
            basis=basis,
            tuning={one.name: one.tuning for one in told.strata},
            set_id=draw.set_id,
            set_name=draw.name,
        )

    def _stops_early(self, draw: Draw) -> bool:
        """Whether the set is labelled until its figures tell enough, and not to its end: its intervals would be too
        narrow.
        """
        plan = draw.plan
        goal = plan is not None and (plan.half_width is not None or plan.order)
        return goal and any(key not in self.said for key in draw.chances)

    def joint(self, groups: Mapping[str, Sequence[TrialScores]], key: Key) -> Joint | str | None:
        """The corrected figures of several groups of trials (agents) on their common tasks, for differences and
        ranks, or why there are none; None if nobody labelled any of it.
        """
        sides: dict[str, Units] = {}
        for name, trials in groups.items():
            found = self.units(trials, key)
            if found is None:
                return None
            if isinstance(found[0], str):
                return headed(name, found[0])
            sides[name] = found[0]
        return joint(sides)

    def units(
        self, trials: Sequence[TrialScores], key: Key
    ) -> tuple[Units | str, Basis, Draw] | None:
        """What stands for these trials: from the newest set with labels that tell the figure, or else why none does."""
        judged = [one for one in trials if one.judge is not None]
        if not judged or key[0] not in CORRECTABLE[judged[0].trial.family] or key[0] in COUNTS:
            return None
        if not any(key_of(one) in self._rescored for one in judged):
            return None
        partly: tuple[Units | str, Basis, Draw] | None = None
        reason: tuple[Units | str, Basis, Draw] | None = None
        for draw in self.draws:
            found = draw.units(judged, key)
            if found is None:
                continue
            if isinstance(found[0], str) or not found[0].labelled.any():
                reason = reason or (*found, draw)
            elif why_no_estimate(found[0]):
                # An older set may tell it while this one is being labelled.
                partly = partly or (*found, draw)
            else:
                return *found, draw
        return partly or reason


def corrections_of(
    workspace: Workspace, trials: Sequence[TrialScores], set_id: int | None = None
) -> Corrections:
    """What people decided of these trials. `set_id`: estimate from this set only; None: from the newest that serves,
    and where all trials are labelled from these. Without labels one query is all that is read; else the logs of
    labelled trials are, so call it off the screen's thread. Raises `NotFound` for an unknown set.
    """
    runs = sorted({one.trial.run_id for one in trials})
    sets = () if set_id is None else (workspace.label_sets.get(set_id),)
    labelled = workspace.verdicts.labelled_trials(runs)
    mine = [one for one in trials if one.judge is not None and one.trial.id in labelled]
    said = settled_labels(workspace, if_few({one.trial.id for one in mine})) if mine else {}
    decided = {trial for trial, _key in said}
    mine = [one for one in mine if one.trial.id in decided]
    both = zip(mine, rescored(workspace, mine, said), strict=True)
    found = {key_of(one): twice for one, twice in both}
    languages: dict[tuple[str, int], str] = {}
    draws: list[Draw] = []
    for one in sets or (workspace.label_sets.all() if mine else ()):
        plan = plan_of_set(one)
        if plan is None or set(plan.runs).isdisjoint(runs):
            continue
        chances = workspace.label_sets.chances(one.id)
        if said.keys().isdisjoint(chances):
            continue
        if "language" in plan.strata and not languages:
            every = (workspace.runs.traits(run).items() for run in runs)
            languages = {unit: known.language for traits in every for unit, known in traits}
        population = partial(_population, workspace, plan)
        draws.append(Draw(one.id, one.name, plan, chances, population, found, languages))
    if set_id is None:
        draws.append(Draw(None, "", None, {}, lambda _judge: (), found, {}))
    return Corrections(said, found, draws)


def _population(workspace: Workspace, plan: SamplingPlan, judge: str) -> Population:
    return population_of(workspace, plan.model_copy(update={"judge": judge}))


def plan_of_set(label_set: LabelSet) -> SamplingPlan | None:
    """The plan of a set; None if it is unknown how the set was drawn, so that nothing can be estimated."""
    try:
        return SamplingPlan.model_validate(label_set.plan)
    except ValidationError:
        return None


def correction_table(
    title: str,
    lines: Sequence[tuple[Shown, Statistic, Correction]],
    *,
    percent: bool = False,
    view: View = "effect",
) -> Table:
    """Figures by the judge, corrected, and by people alone, with the labels that they rest on: the measure of each line,
    the judge's figure as it stands elsewhere, and its correction. Of those without, only the reasons stand below.
    """
    told = [line for line in lines if line[2].corrected.defined]
    without = Counter(one.corrected.reason for _name, _judge, one in lines)
    remarks = Counter(note for _name, _judge, one in told for note in one.notes)
    notes = [
        _("{sentence}.").format(
            sentence=beside(f"{note[:1].upper()}{note[1:]}", f"{n:,} / {len(told):,}")
        )
        for note, n in remarks.items()
    ]
    notes += [
        ngettext(
            "{n} figure is not corrected: {why}.", "{n} figures are not corrected: {why}.", n
        ).format(n=n, why=why)
        for why, n in without.items()
        if why
    ]
    return Table.of(
        title,
        (_("Measure"), _("judge"), _("corrected"), _("labels alone"), _("labelled")),
        [
            (
                name,
                _shown(judge, percent),
                _shown(one.corrected, percent),
                _shown(one.people, percent),
                Cell(basis_text(one), value=one.labelled),
            )
            for name, judge, one in told
        ],
        (
            _(
                "Corrected: the judge's score moved by what people changed in a random sample, never with a wider interval"
                " than people's labels alone; intervals are 95%, for tasks of this kind."
            ),
            *notes,
        ),
        view=view,
    )


def _shown(one: Statistic, percent: bool) -> Cell:
    return Cell(in_percent(one) if percent else figure(one), statistic=one)


def basis_text(one: Correction) -> str:
    """`12 of 60 trials`."""
    words = {
        "trials": ngettext("{n:,} of {all:,} trial", "{n:,} of {all:,} trials", one.units),
        "items": ngettext("{n:,} of {all:,} item", "{n:,} of {all:,} items", one.units),
        "tasks": ngettext("{n:,} of {all:,} task", "{n:,} of {all:,} tasks", one.units),
    }
    return words[one.basis].format(n=one.labelled, all=one.units)
