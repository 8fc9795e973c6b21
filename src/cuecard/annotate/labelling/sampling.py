"""Sampling of items to label: the plan, a stratified draw by seed with each item's probability, and weights."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, repeat
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError, field_validator, model_validator

from cuecard.annotate.estimation.allocation import (
    EVEN_BY_VOTES,
    active_chances,
    allocate,
    neyman,
    pilot_doubts,
    pilot_spread,
    vote_uncertainty,
)
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, headed, listed, plural
from cuecard.core.label_records import SetItem
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.validation import reason_of
from cuecard.core.verdicts import Item, ItemKind

StratumKey = Literal[
    "decision", "judges", "outcome", "family", "language", "agent", "relation", "task"
]
Allocation = Literal["proportional", "equal", "variance", "disagreement", "active"]
OWN_CHANCES: frozenset[Allocation] = frozenset({"disagreement", "active"})
"""Where each unit has a chance of its own and is drawn by a coin of its own."""
FROM_LABELS: frozenset[Allocation] = frozenset({"variance", "active"})
"""What goes by the labels that there are, as a pilot."""
_OF_TRIALS: frozenset[StratumKey] = frozenset({"outcome", "family", "language", "agent", "task"})
OF_ONE: frozenset[StratumKey] = frozenset({"relation", "judges"})
"""Strata that may differ among units of a trial with the same decision."""


class SamplingPlan(Frozen):
    """`by` "items" draws `n` items, "trials" draws `n` trials with all their items. `kinds`: what is
    labelled; none means what the judge decided on. `judge`: whose decisions stratify, "" for the first
    that each trial has. `strata`: the draw is stratified by these properties, with as many from each as
    it is large (`proportional`), equally many (`equal`), or more where earlier labels overturned more
    (`variance`: Neyman 1934). Or each unit has its own chance, `n` are drawn on average, and there is one
    stratum: the more judges differ on it (`disagreement`), or the more of the units of its strata on
    which judges differ as much were overturned by earlier labels (`active`: Zrnic & Candès 2024).
    `overlap`: the share of what is drawn that `raters` people label, the rest one; `people`: who, none
    meaning anybody. `half_width`, `order`: labelling may stop before all is labelled, once an interval
    reaches no further to each side, or the order of agents is told. Names and properties given twice
    count once.
    """

    runs: Annotated[tuple[int, ...], Field(min_length=1)]
    n: Annotated[int, Field(ge=1)]
    by: Literal["items", "trials"] = "items"
    kinds: tuple[ItemKind, ...] = ()
    judge: str = ""
    strata: tuple[StratumKey, ...] = ()
    allocation: Allocation = "proportional"
    seed: int = 0
    overlap: Annotated[float, Field(ge=0, le=1)] = 0
    raters: Annotated[int, Field(ge=2, le=20)] = 2
    people: tuple[str, ...] = ()
    half_width: Annotated[float | None, Field(gt=0, lt=1)] = None
    order: bool = False

    @field_validator("runs", "kinds", "strata", "people", mode="after")
    @classmethod
    def _once(cls, given: tuple[Any, ...]) -> tuple[Any, ...]:
        cleaned = (each.strip() if type(each) is str else each for each in given)
        return tuple(dict.fromkeys(each for each in cleaned if each != ""))

    @model_validator(mode="after")
    def _fits(self) -> SamplingPlan:
        if self.by == "trials" and (wrong := set(self.strata) - _OF_TRIALS):
            raise ValueError(
                _(
                    "trials have no {names}: stratify them by outcome, family, language, agent or task"
                ).format(names=listed(sorted(wrong)))
            )
        if self.allocation in OWN_CHANCES and (self.half_width is not None or self.order):
            raise ValueError(_("with chances of each item's own, a set is labelled to its end"))
        if self.people and self.overlap and len(self.people) < self.raters:
            raise ValueError(
                plural(
                    "{n} person cannot give {m} labels to one item",
                    "{n} people cannot give {m} labels to one item",
                    len(self.people),
                    m=self.raters,
                )
            )
        return self


def plan_of(fields: Mapping[str, object]) -> SamplingPlan:
    """The plan with these fields. Raises `CuecardError` with a sentence for people."""
    try:
        return SamplingPlan.model_validate(fields)
    except ValidationError as error:
        reasons: list[str] = []
        for found in error.errors():
            loc, given = found["loc"], found["input"]
            reason = reason_of(found["type"], found["msg"], found.get("ctx", {}), given)
            # Of a list its entry says more than the number of it.
            place = one_line(str(given), 40) if len(loc) > 1 else "".join(map(str, loc))
            reasons.append(headed(place, reason))
        raise CuecardError(_("This set cannot be drawn"), _("; ").join(reasons)) from None


class Unit(NamedTuple):
    """An item of the population with the properties it may be stratified by; all "" where unknown. `votes`: which judges
    say yes; `judges`: whether they agree. `people`: what people decided on it before. These, `relation` and `language` are
    known if the plan goes by them. `outcome`: of its trial, see `outcome_of`.
    """

    trial_id: int
    item: Item
    decision: str = ""
    family: str = ""
    language: str = ""
    agent: str = ""
    relation: str = ""
    task: str = ""
    votes: tuple[bool, ...] = ()
    people: str = ""
    outcome: str = ""

    @property
    def judges(self) -> str:
        return "" if len(self.votes) < 2 else "agree" if len(set(self.votes)) == 1 else "differ"

    @property
    def correction(self) -> float | None:
        """By how much people's decision is above the judge's; None where they made none."""
        if not self.people:
            return None
        if {self.people, self.decision} <= {"yes", "no"}:
            return float(self.people == "yes") - float(self.decision == "yes")
        return float(self.people != self.decision)


@dataclass(frozen=True)
class TrialUnits:
    """The units of one trial: what they share, and of each its item, what was decided on it, and, if the plan goes by one of
    them, its relation, votes, and what people decided.
    """

    shared: Unit
    items: Sequence[Item]
    decisions: Sequence[str]
    each: Sequence[tuple[str, tuple[bool, ...], str]] = ()

    def __iter__(self) -> Iterator[Unit]:
        trial_id, _item, _decision, family, language, agent, _, task, _, _, outcome = self.shared
        each = self.each or repeat(("", (), ""))
        for item, decision, (relation, votes, people) in zip(self.items, self.decisions, each):  # noqa: B905
            yield Unit(
                trial_id, item, decision, family, language, agent, relation, task, votes, people,
                outcome,
            )  # fmt: skip

    def alike(self, strata: Collection[StratumKey]) -> Iterable[tuple[Unit, int]]:
        """Of those that are the same in `strata` one, and how many it stands for."""
        if self.each and not OF_ONE.isdisjoint(strata):
            return zip(self, repeat(1))
        if "decision" not in strata:
            return [(self.shared, len(self.items))]
        counts = Counter(self.decisions)
        return [(self.shared._replace(decision=said), n) for said, n in counts.items()]


@dataclass(frozen=True)
class Population(Collection[Unit]):
    """Units by trials, each made when it is asked for: there may be a million. `without`: how many trials have none."""

    trials: Sequence[TrialUnits]
    without: int = 0

    def __len__(self) -> int:
        return sum(len(trial.items) for trial in self.trials)

    def __iter__(self) -> Iterator[Unit]:
        return chain.from_iterable(self.trials)

    def __contains__(self, unit: object) -> bool:
        return any(unit == one for one in self)


def alike(units: Iterable[Unit], strata: Collection[StratumKey]) -> Iterable[tuple[Unit, int]]:
    """Units of one trial that are the same in `strata`: one of them, and how many it stands for."""
    if isinstance(units, Population):
        return chain.from_iterable(trial.alike(strata) for trial in units.trials)
    return zip(units, repeat(1))


def accepted(decisions: Sequence[str]) -> float | None:
    """The share of what a judge decided that it accepts; None where it decided nothing."""
    decided = len(decisions) - decisions.count("unjudged")
    return decisions.count("yes") / decided if decided else None


def outcome_of(share: float | None) -> str:
    """How a trial went by its judge, who accepted this share of its items: `none`, `some` or `all`; "" for None."""
    return "" if share is None else "none" if share <= 0 else "all" if share >= 1 else "some"


@dataclass(frozen=True)
class Stratum:
    """A stratum of the draw: `size` items or trials, `drawn` of them; `population`: its items."""

    name: str
    size: int
    drawn: int
    population: int

    @property
    def items(self) -> float:
        """How many items are drawn; the expected number if trials are drawn."""
        return self.population * self.drawn / self.size


def draw(units: Collection[Unit], plan: SamplingPlan) -> tuple[SetItem, ...]:
    """The items of the set, in an order that tells nothing about them. Within a stratum each item (or trial) has the
    same probability, without replacement; it is kept, and its inverse is the weight (Horvitz & Thompson 1952). Equal
    units, in any order, and equal plans give equal sets; another seed gives another set, which may overlap with the
    first.

    If there are fewer than `n`, all are drawn. If `n` is less than the number of strata, some have no item, and weights
    represent the others only.
    """
    groups = _grouped(units, plan)
    drawn: list[_Drawn] = []
    if plan.allocation in OWN_CHANCES:
        chances = _own_chances(groups, plan)
        for found in groups.values():
            for key, mine in found.items():
                coin = int.from_bytes(_chance(plan.seed, "coin", key)[:8]) / 2**64
                if coin < chances[key]:
                    drawn.append(_Drawn("", chances[key], tuple(mine)))
        groups = {}
    wanted = _wanted(groups, plan)
    for name, found in groups.items():
        keys = nsmallest(wanted[name], found, key=_chances(plan.seed, "draw", name))
        probability = wanted[name] / len(found)
        drawn += (_Drawn(name, probability, tuple(found[key])) for key in keys)
    drawn.sort(key=lambda one: _chance(plan.seed, "order", one.units[0].trial_id, one.first))
    items = [item for one in _shared_out(drawn, plan) for item in one]
    items.sort(key=lambda item: _chance(plan.seed, "order", item.trial_id, item.item.key))
    return tuple(items)


def strata_of(units: Collection[Unit], plan: SamplingPlan) -> tuple[Stratum, ...]:
    """What the draw takes from which stratum, by name; where each unit has its own chance, on average from all."""
    if plan.allocation in ("proportional", "equal"):
        n_items: Counter[str] = Counter()
        trials: defaultdict[str, set[int]] = defaultdict(set)
        for name, unit, n in _named(alike(units, plan.strata), plan):
            n_items[name] += n
            trials[name].add(unit.trial_id)
        n_trials = {name: len(ids) for name, ids in trials.items()}
        sizes = n_trials if plan.by == "trials" else n_items
        wanted = allocate(sizes, plan.n, equal=plan.allocation == "equal")
        return tuple(
            Stratum(name, n, wanted[name], n_items[name]) for name, n in sorted(sizes.items())
        )
    groups = _grouped(units, plan)
    items = {name: sum(map(len, found.values())) for name, found in groups.items()}
    if plan.allocation in OWN_CHANCES and groups:
        size = sum(map(len, groups.values()))
        return (Stratum("", size, min(plan.n, size), sum(items.values())),)
    wanted = _wanted(groups, plan)
    return tuple(
        Stratum(name, len(found), wanted[name], items[name]) for name, found in groups.items()
    )


Grouped = Mapping[str, Mapping[tuple[int, str], Sequence[Unit]]]
"""By stratum, the items of each drawing unit: one item, or all of a trial."""


def _wanted(groups: Grouped, plan: SamplingPlan) -> dict[str, int]:
    sizes = {name: len(found) for name, found in groups.items()}
    if plan.allocation != "variance":
        return allocate(sizes, plan.n, equal=plan.allocation == "equal")
    return neyman(sizes, _spreads(groups, plan), plan.n)


def _spreads(groups: Grouped, plan: SamplingPlan) -> dict[str, float]:
    of_items = plan.by == "items"
    return {
        name: pilot_spread(_corrections(found.values()), of_items=of_items)
        for name, found in groups.items()
    }


def sizes_and_spreads(units: Collection[Unit], plan: SamplingPlan) -> list[tuple[int, float]]:
    """Of each stratum how many drawing units it has, and the standard deviation of people's corrections by earlier labels."""
    groups = _grouped(units, plan)
    return [(len(groups[name]), spread) for name, spread in _spreads(groups, plan).items()]


def _corrections(found: Iterable[Sequence[Unit]]) -> list[float]:
    """Of drawing units that were labelled before, the mean of people's corrections."""
    by_unit = ([c for unit in units if (c := unit.correction) is not None] for units in found)
    return [sum(known) / len(known) for known in by_unit if known]


def _own_chances(groups: Grouped, plan: SamplingPlan) -> dict[tuple[int, str], float]:
    """Each drawing unit's chance, by its doubt; a trial's is the mean of its items'."""
    every = {(name, key): units for name, found in groups.items() for key, units in found.items()}
    if plan.allocation == "disagreement":
        doubts = [
            sum(vote_uncertainty(u.votes) for u in mine) / len(mine) for mine in every.values()
        ]
        chances = active_chances(doubts, plan.n, even=EVEN_BY_VOTES)
    else:
        class_of_unit = [
            (name, round(sum(unit.judges == "differ" for unit in mine) / len(mine), 1))
            for (name, _key), mine in every.items()
        ]
        classes: dict[tuple[str, float], list[Sequence[Unit]]] = defaultdict(list)
        for each, mine in zip(class_of_unit, every.values(), strict=True):
            classes[each].append(mine)
        pilot = {each: _corrections(found) for each, found in classes.items()}
        doubt = pilot_doubts(pilot, of_items=plan.by == "items")
        chances = active_chances([doubt[each] for each in class_of_unit], plan.n)
    return dict(zip((key for _name, key in every), chances, strict=True))


class _Drawn(NamedTuple):
    """A sampled unit: an item, or a trial with all its items."""

    stratum: str
    probability: float
    units: tuple[Unit, ...]

    @property
    def first(self) -> str:
        return self.units[0].item.key


def _grouped(
    units: Collection[Unit], plan: SamplingPlan
) -> dict[str, dict[tuple[int, str], list[Unit]]]:
    """By stratum, the sampling units (items, or trials with all their items)."""
    found: dict[str, dict[tuple[int, str], list[Unit]]] = defaultdict(lambda: defaultdict(list))
    of_items = plan.by == "items"
    # Where each unit has its own chance, these are scaled by sums, which depend on the order.
    if plan.allocation in OWN_CHANCES:
        units = sorted(units, key=_place)
    for name, unit, _n in _named(zip(units, repeat(1)), plan):
        one = (unit.trial_id, unit.item.key if of_items else "")
        found[name][one].append(unit)
    if not of_items:
        for groups in found.values():
            for mine in groups.values():
                mine.sort(key=_place)
    return {name: dict(found[name]) for name in sorted(found)}


def _named(
    units: Iterable[tuple[Unit, int]], plan: SamplingPlan
) -> Iterator[tuple[str, Unit, int]]:
    """Each unit, and how many it stands for, with its stratum."""
    names: dict[tuple[str, ...], str] = {}
    for unit, n in units:
        values = tuple([getattr(unit, key) for key in plan.strata])
        if (name := names.get(values)) is None:
            name = names[values] = stratum_of(unit, plan)
        yield name, unit, n


def _place(unit: Unit) -> tuple[int, str]:
    return unit.trial_id, unit.item.key


def stratum_of(unit: Unit, plan: SamplingPlan) -> str:
    return " · ".join(getattr(unit, key) or "–" for key in plan.strata)


def _shared_out(drawn: Sequence[_Drawn], plan: SamplingPlan) -> Iterable[list[SetItem]]:
    """Which of those that were drawn several people label, spread evenly over the strata, and who labels
    what. People who share a trial share all of it.
    """
    by_stratum: dict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(drawn):
        by_stratum[one.stratum].append(index)
    shared: set[int] = set()
    carried = 0.0
    for name in sorted(by_stratum):
        exact = len(by_stratum[name]) * plan.overlap + carried
        count = min(round(exact), len(by_stratum[name]))
        carried = exact - count
        shared.update(by_stratum[name][:count])
    turn = 0
    for index, one in enumerate(drawn):
        raters = plan.raters if index in shared else 1
        people = (
            tuple(plan.people[(turn + k) % len(plan.people)] for k in range(raters))
            if plan.people
            else ()
        )
        turn += raters
        yield [
            SetItem(
                trial_id=unit.trial_id,
                item=unit.item,
                stratum=one.stratum,
                probability=one.probability,
                raters=raters,
                people=people,
            )
            for unit in one.units
        ]


def _chance(seed: int, *parts: object) -> bytes:
    """A pseudo-random number from seed and parts alone, for orders that do not depend on input order."""
    return _digest(repr((seed, *parts)))


def _chances(seed: int, *parts: object) -> Callable[[object], bytes]:
    """As `_chance`, of many that differ in the last part only."""
    begun = repr((seed, *parts))[:-1]
    return lambda last: _digest(f"{begun}, {last!r})")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()
