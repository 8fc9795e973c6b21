"""Where a labelling set stands, told so that it holds however often one looks: shares by people with the interval of the
betting confidence sequence, the order of agents, and about how many labels are still to come. Sets that are not
labelled to their end are reported by these figures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.estimation.stopping import (
    LEVEL,
    CorrectedSequence,
    StratumBounds,
    decided,
    labels_to_go,
)
from cuecard.annotate.labelling.comparison_inputs import SUBJECTS, Subject, if_few, subject_of
from cuecard.annotate.labelling.corrections import plan_of_set
from cuecard.annotate.labelling.effect_rescoring import ItemId, settle
from cuecard.annotate.labelling.labelling_sets import population_of
from cuecard.annotate.labelling.sampling import (
    OF_ONE,
    OWN_CHANCES,
    SamplingPlan,
    Unit,
    accepted,
    stratum_of,
)
from cuecard.annotate.labelling.set_look_tables import OrderLook, SetLook, ShareLook
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.evaluation.decisions import JUDGED
from cuecard.core.i18n import _
from cuecard.core.label_records import SetItem
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.models import FAMILIES
from cuecard.core.verdicts import Decision

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class _PeopleDecision:
    """What people decided on an item: None where they cannot tell. `first`, `last`: when they said so."""

    value: Decision | CheckpointStatus | None
    first: datetime
    last: datetime


SequenceKey = tuple[str, str]
"""Family and agent; subject and "" for all of a subject."""


class SetWatch:
    """A set that is looked at again and again. Made once, it reads what the set was drawn from; `look` reads the labels and
    takes in what is new. Blocks on the database. `half_width`, `order`: as in the plan, which they go before.

    Units that were labelled before the set was drawn are known; the others that were drawn came in random order.
    Raises `NotFound` for an unknown set.
    """

    def __init__(
        self,
        workspace: Workspace,
        set_id: int,
        *,
        half_width: float | None = None,
        order: bool = False,
    ) -> None:
        self._workspace = workspace
        self._set = workspace.label_sets.get(set_id)
        self._items = workspace.label_sets.items(set_id)
        self._raters = {(item.trial_id, item.item.key): item.raters for item in self._items}
        self._trials = if_few({item.trial_id for item in self._items})
        self._members: dict[tuple[ItemId, Subject], Member] = {}
        self._fed: list[tuple[tuple[ItemId, Subject], float]] = []
        plan = plan_of_set(self._set)
        self._before = 0
        self._unit: Literal["items", "trials"] = plan.by if plan else "items"
        self.half_width = half_width or (plan.half_width if plan else None)
        self.order = order or bool(plan and plan.order)
        self.reason = self._begin(plan)

    def _begin(self, plan: SamplingPlan | None) -> str:
        """Reads what the set was drawn from; gives why nothing can be told."""
        if plan is None or not self._items:
            return _("it is not known how this set was drawn")
        if plan.allocation in OWN_CHANCES:
            return _(
                "each item was drawn with a chance of its own: label it to its end, and see `cuecard agree --effect`"
            )
        ids = {t.id for run in plan.runs for t in self._workspace.runs.trials(run)}
        self._trials = if_few(ids)
        said = self._read()
        before = {
            key
            for key, one in said.items()
            if key[0] in ids and one.value is not None and one.first < self._set.created_at
        }
        trials = {item.trial_id for item in self._items} | {trial for trial, _key in before}
        members, sizes = population_by_counts(self._workspace, plan, trials)
        if not members or not as_drawn(sizes, plan, self._items):
            return _("its runs hold other decisions than when it was drawn")
        groups: dict[SequenceKey, list[Member]] = defaultdict(list)
        first: Subject = next(s for s in SUBJECTS if any(m.subject == s for m in members))
        for member in members:
            groups[member.subject, ""].append(member)
            if member.subject == first:
                groups[member.family, member.agent].append(member)
        order = [*SUBJECTS, *FAMILIES]
        ordered = sorted(groups.items(), key=lambda group: (order.index(group[0][0]), group[0][1]))
        agents = Counter(family for family, agent in groups if agent)
        self._sizes = {key: sum(m.count for m in found) for key, found in groups.items()}
        self._first: Subject = first
        self._start = {
            key: _sequence(found, said, before, plan, LEVEL / agents[key[0]] if key[1] else LEVEL)
            for key, found in ordered
            if not key[1] or agents[key[0]] > 1
        }
        self._now = deepcopy(self._start)
        drawn = {
            (item.trial_id, "" if plan.by == "trials" else item.item.key) for item in self._items
        }
        mine = [member for member in members if member.key in drawn]
        self._members = {
            (member.key, member.subject): member for member in mine if not _known(member, before)
        }
        self._before = len({member.key for member in mine if _known(member, before)})
        return ""

    def look(self) -> SetLook:
        """Where the set stands, and how many labels are to come. Raises `NotFound` if it is gone."""
        said = self._read()
        drawn = _drawn_units(self._items, self._unit)
        found = SetLook(
            set_id=self._set.id,
            name=self._set.name,
            unit=self._unit,
            drawn=len(drawn),
            settled=sum(all(key in said and said[key].value for key in unit) for unit in drawn),
            unclear=sum(any(key in said and not said[key].value for key in unit) for unit in drawn),
            half_width=self.half_width,
            order=self.order,
            reason=self.reason,
        )
        if self.reason:
            return found
        self._take_in(said)
        shares = [self._share(key) for key in self._now if not key[1]]
        families = list(dict.fromkeys(family for family, agent in self._now if agent))
        return found.model_copy(
            update={
                "before": self._before,
                "shares": tuple(shares),
                "agents": tuple(self._share(key) for key in self._now if key[1]),
                "orders": tuple(self._order(family) for family in families),
            }
        )

    def _read(self) -> dict[ItemId, _PeopleDecision]:
        """What people decided, of set items once they have all labels that are wanted."""
        labels = self._workspace.verdicts.item_labels(self._trials)
        adjudicated = self._workspace.adjudications.newest(self._trials)
        times: dict[ItemId, list[datetime]] = defaultdict(list)
        for label in labels:
            times[label.trial_id, label.item_key].append(label.created_at)
        done = {key for key, at in times.items() if len(at) >= self._raters.get(key, 1)}
        for one in adjudicated:
            times[one.trial_id, one.item_key].append(one.at)
            done.add((one.trial_id, one.item_key))
        return {
            key: _PeopleDecision(one.value, min(times[key]), max(times[key]))
            for key, one in settle(labels, adjudicated).items()
            if key in done
        }

    def _take_in(self, said: Mapping[ItemId, _PeopleDecision]) -> None:
        """Feed what was labelled since the last look; from the beginning where a label was changed."""
        values = {key: _value(member, said) for key, member in self._members.items()}
        at = {
            key: max(said[item].last for item, _decision in self._members[key].items)
            for key, value in values.items()
            if value is not None
        }
        fed = [
            (key, value - self._members[key].judge)
            for key in sorted(at, key=lambda key: (at[key], key))
            if (value := values[key]) is not None
        ]
        if fed[: len(self._fed)] != self._fed:
            self._now, self._fed = deepcopy(self._start), []
        for key, error in fed[len(self._fed) :]:
            member = self._members[key]
            for place in self._places(member):
                self._now[place].add(member.stratum, error)
        self._fed = fed

    def _places(self, member: Member) -> list[SequenceKey]:
        """Which sequences a unit belongs to."""
        of_agent = member.family, member.agent
        both = member.subject == self._first and of_agent in self._now
        return [(member.subject, ""), of_agent] if both else [(member.subject, "")]

    def _rest(self, places: Sequence[SequenceKey]) -> list[tuple[int, str]]:
        """What is drawn and not fed yet, for these sequences, in the order of the set."""
        fed = {key for key, _error in self._fed}
        index = {place: n for n, place in enumerate(places)}
        return [
            (index[place], member.stratum)
            for key, member in self._members.items()
            if key not in fed
            for place in self._places(member)
            if place in index
        ]

    def _share(self, place: SequenceKey) -> ShareLook:
        sequence = self._now[place]
        of_agent = bool(place[1])
        subject: Subject = self._first
        if not of_agent:
            subject = next(one for one in SUBJECTS if one == place[0])
        low, high = sequence.interval
        value = sequence.estimate
        width, more = self.half_width, None
        if width is not None and not of_agent:
            more = labels_to_go(
                [sequence], self._rest([place]), lambda found: found[0].half_width <= width
            )
        return ShareLook(
            subject=subject,
            family=place[0] if of_agent else "",
            agent=place[1],
            labelled=sequence.labelled,
            size=self._sizes[place],
            share=Statistic(
                name=subject,
                value=value,
                n=sequence.labelled,
                reason="" if value is not None else _("a stratum has no labels yet"),
                low=low,
                high=high,
            ),
            half_width=(high - low) / 2,
            more=more,
        )

    def _order(self, family: str) -> OrderLook:
        places = [place for place in self._now if place[0] == family and place[1]]
        told: list[tuple[str, str]] = []
        open_: list[tuple[str, str]] = []
        for left, right in combinations(places, 2):
            pair = left[1], right[1]
            if not decided(self._now[left], self._now[right]):
                open_.append(pair)
            elif self._now[left].interval > self._now[right].interval:
                told.append(pair)
            else:
                told.append((right[1], left[1]))
        more = None
        if self.order:
            more = labels_to_go(
                [self._now[place] for place in places],
                self._rest(places),
                lambda found: all(decided(*pair) for pair in combinations(found, 2)),
            )
        return OrderLook(family=family, decided=tuple(told), open=tuple(open_), more=more)


def _drawn_units(items: Iterable[SetItem], unit: str) -> list[list[ItemId]]:
    found: dict[ItemId, list[ItemId]] = defaultdict(list)
    for item in items:
        key = item.trial_id, item.item.key
        found[(item.trial_id, "") if unit == "trials" else key].append(key)
    return list(found.values())


def _value(member: Member, said: Mapping[ItemId, _PeopleDecision]) -> float | None:
    """People's share of the unit: what they accept, of statuses what they read as the user did; None while any is open."""
    if any(key not in said or said[key].value is None for key, _decision in member.items):
        return None
    if member.subject == "status":
        accepted = sum(said[key].value == decision for key, decision in member.items)
    else:
        accepted = sum(said[key].value is Decision.YES for key, _decision in member.items)
    return accepted / len(member.items)


def _known(member: Member, before: Collection[ItemId]) -> bool:
    return bool(member.items) and all(key in before for key, _decision in member.items)


def _sequence(
    members: Sequence[Member],
    said: Mapping[ItemId, _PeopleDecision],
    before: Collection[ItemId],
    plan: SamplingPlan,
    level: float,
) -> CorrectedSequence:
    """The sequence of these units, from those that were labelled before the draw, whose values are known."""
    known = 0.0
    whole = sum(member.count for member in members)
    strata: dict[str, Counter[float]] = defaultdict(Counter)
    for member in members:
        value = _value(member, said) if _known(member, before) else None
        if value is None:
            strata[member.stratum][member.judge] += member.count
        else:
            known += value
    return CorrectedSequence(
        {
            name: StratumBounds.of(judged, whole, yes_or_no=plan.by == "items")
            for name, judged in strata.items()
        },
        known=known / whole,
        level=level,
    )


def looks_before_the_end(workspace: Workspace, set_ids: Iterable[int]) -> list[SetLook]:
    """Of these sets, those that are labelled until their figures tell enough, and are not at their end."""
    found: list[SetLook] = []
    for set_id in set_ids:
        plan = plan_of_set(workspace.label_sets.get(set_id))
        if plan is not None and (plan.half_width is not None or plan.order):
            found.append(SetWatch(workspace, set_id).look())
    return [look for look in found if not look.whole]


@dataclass(frozen=True)
class Member:
    """A unit of one subject: an item, or a trial with its items. `judge`: the share of them that the judge accepts. `count`:
    how many units alike, without items, it stands for.
    """

    key: ItemId
    subject: Subject
    family: str
    agent: str
    stratum: str
    judge: float
    items: tuple[tuple[ItemId, str], ...] = ()
    count: int = 1


def as_drawn(sizes: Mapping[str, int], plan: SamplingPlan, items: Iterable[SetItem]) -> bool:
    """Whether strata are as large as they were when the set was drawn."""
    drawn: dict[str, dict[object, float]] = defaultdict(dict)
    for item in items:
        key = item.trial_id if plan.by == "trials" else (item.trial_id, item.item.key)
        drawn[item.stratum][key] = item.probability
    return all(
        abs(len(found) / next(iter(found.values())) - sizes.get(name, 0)) < 0.5
        for name, found in drawn.items()
    )


def population_by_counts(
    workspace: Workspace, plan: SamplingPlan, trials: Collection[int]
) -> tuple[list[Member], dict[str, int]]:
    """The units that the judge decided, and the sizes of strata. Only those of these `trials` are told one by one, the rest
    by how many there are, where the plan asks for no more: there may be hundreds of thousands.
    """
    population = population_of(workspace, plan)
    whole = not set(plan.kinds) <= set(JUDGED) or not OF_ONE.isdisjoint(plan.strata)
    near = {trial.shared.trial_id for trial in population.trials if whole} or set(trials)
    sizes: Counter[str] = Counter()
    bulk: Counter[Member] = Counter()
    for trial in population.trials:
        one = [(trial.shared, 1)]
        for unit, n in one if plan.by == "trials" else trial.alike(("decision", *plan.strata)):
            stratum = stratum_of(unit, plan)
            sizes[stratum] += n
            share = accepted([unit.decision] if unit.decision else trial.decisions)
            if share is not None and unit.trial_id not in near:
                bulk[Member((0, ""), "gold", unit.family, unit.agent, stratum, share)] += n
    found = (unit for trial in population.trials if trial.shared.trial_id in near for unit in trial)
    rest = (replace(one, count=n) for one, n in bulk.items())
    return [*_members(found, plan), *rest], dict(sizes)


def _members(units: Iterable[Unit], plan: SamplingPlan) -> Iterable[Member]:
    """The units that the judge decided, in the order of the population."""
    groups: dict[tuple[ItemId, Subject], list[Unit]] = defaultdict(list)
    for unit in units:
        if unit.decision != Decision.UNJUDGED:
            key = (unit.trial_id, "" if plan.by == "trials" else unit.item.key)
            groups[key, subject_of(unit.item.kind)].append(unit)
    for (key, subject), mine in groups.items():
        yes = sum(subject == "status" or unit.decision == Decision.YES for unit in mine)
        yield Member(
            key=key,
            subject=subject,
            family=mine[0].family,
            agent=mine[0].agent,
            stratum=stratum_of(mine[0], plan),
            judge=yes / len(mine),
            items=tuple(((unit.trial_id, unit.item.key), unit.decision) for unit in mine),
        )
