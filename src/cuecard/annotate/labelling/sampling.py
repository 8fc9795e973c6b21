"""Sampling of items to label: the plan, a stratified draw by seed with each item's probability, and weights."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from cuecard.annotate.estimation.allocation import (
    EVEN_BY_VOTES,
    active_chances,
    neyman,
    pilot_doubts,
    pilot_spread,
    vote_uncertainty,
)
from cuecard.core.errors import CuecardError
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _, listed, plural
from cuecard.core.label_records import SetItem
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import LANGUAGE_WORDS
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
            reasons.append(f"{place}: {reason}" if place else reason)
        raise CuecardError(_("This set cannot be drawn"), _("; ").join(reasons)) from None


class Unit(NamedTuple):
    """An item of the population with the properties it may be stratified by; all "" where unknown. `votes`: which judges
    say yes; `judges`: whether they agree. `people`: what people decided on it before, if the plan goes by that.
    `outcome`: of its trial, see `outcome_of`.
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


def outcome_of(accepted: float | None) -> str:
    """How a trial went by its judge, who accepted this share of its items: `none`, `some` or `all`; "" for None."""
    return (
        "" if accepted is None else "none" if accepted <= 0 else "all" if accepted >= 1 else "some"
    )


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


def draw(units: Sequence[Unit], plan: SamplingPlan) -> tuple[SetItem, ...]:
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


def strata_of(units: Sequence[Unit], plan: SamplingPlan) -> tuple[Stratum, ...]:
    """What the draw takes from which stratum, by name; where each unit has its own chance, on average from all."""
    if plan.by == "items" and plan.allocation in ("proportional", "equal"):
        sizes = Counter(name for name, _unit in _named(units, plan))
        wanted = allocate(sizes, plan)
        return tuple(Stratum(name, n, wanted[name], n) for name, n in sorted(sizes.items()))
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
        return allocate(sizes, plan)
    return neyman(sizes, _spreads(groups, plan), plan.n)


def _spreads(groups: Grouped, plan: SamplingPlan) -> dict[str, float]:
    of_items = plan.by == "items"
    return {
        name: pilot_spread(_corrections(found.values()), of_items=of_items)
        for name, found in groups.items()
    }


def sizes_and_spreads(units: Sequence[Unit], plan: SamplingPlan) -> list[tuple[int, float]]:
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


def allocate(sizes: Mapping[str, int], plan: SamplingPlan) -> dict[str, int]:
    """How many to draw from each stratum: `n` in all, by largest remainder; at least one from each as far
    as `n` goes, never more than there are.
    """
    names = sorted(sizes)
    total = sum(sizes.values())
    n = min(plan.n, total)
    if not n:
        return dict.fromkeys(names, 0)
    given = dict.fromkeys(names, 0)
    for name in sorted(names, key=lambda name: -sizes[name])[:n]:
        given[name] = 1
    while (left := n - sum(given.values())) > 0:
        open_ = [name for name in names if given[name] < sizes[name]]
        shares = _shares(open_, sizes, given, n, plan)
        before = sum(given.values())
        for name in open_:
            given[name] += min(int(shares[name]), sizes[name] - given[name])
        if sum(given.values()) > before:
            continue
        ranked = sorted(open_, key=lambda name: (-shares[name], name))
        for name in ranked[:left]:
            given[name] += 1
    return given


def _shares(
    names: Sequence[str],
    sizes: Mapping[str, int],
    given: Mapping[str, int],
    n: int,
    plan: SamplingPlan,
) -> dict[str, Fraction]:
    """What each stratum still lacks of its share; in all at most `n` minus what is given."""
    weights = {name: sizes[name] if plan.allocation == "proportional" else 1 for name in names}
    full = sum(given[name] for name in given if name not in weights)
    goal = n - full
    total = sum(weights.values())
    lacks = {
        name: max(Fraction(goal * weights[name], total) - given[name], Fraction(0))
        for name in names
    }
    missing, left = sum(lacks.values()), n - sum(given.values())
    if missing <= left:
        return lacks
    return {name: lack * left / missing for name, lack in lacks.items()}


class _Drawn(NamedTuple):
    """A sampled unit: an item, or a trial with all its items."""

    stratum: str
    probability: float
    units: tuple[Unit, ...]

    @property
    def first(self) -> str:
        return self.units[0].item.key


def _grouped(
    units: Sequence[Unit], plan: SamplingPlan
) -> dict[str, dict[tuple[int, str], list[Unit]]]:
    """By stratum, the sampling units (items, or trials with all their items)."""
    found: dict[str, dict[tuple[int, str], list[Unit]]] = defaultdict(lambda: defaultdict(list))
    of_items = plan.by == "items"
    # Where each unit has its own chance, these are scaled by sums, which depend on the order.
    if plan.allocation in OWN_CHANCES:
        units = sorted(units, key=_place)
    for name, unit in _named(units, plan):
        one = (unit.trial_id, unit.item.key if of_items else "")
        found[name][one].append(unit)
    if not of_items:
        for groups in found.values():
            for mine in groups.values():
                mine.sort(key=_place)
    return {name: dict(found[name]) for name in sorted(found)}


def _named(units: Iterable[Unit], plan: SamplingPlan) -> Iterator[tuple[str, Unit]]:
    """Each unit with its stratum."""
    names: dict[tuple[str, ...], str] = {}
    for unit in units:
        values = tuple([getattr(unit, key) for key in plan.strata])
        if (name := names.get(values)) is None:
            name = names[values] = stratum_of(unit, plan)
        yield name, unit


def _place(unit: Unit) -> tuple[int, str]:
    return unit.trial_id, unit.item.key


def stratum_of(unit: Unit, plan: SamplingPlan) -> str:
    return " · ".join(getattr(unit, key) or "–" for key in plan.strata)


_WORDS: dict[StratumKey, Mapping[str, str]] = {
    "decision": {"yes": N_("covered"), "no": N_("not covered"), "unjudged": N_("unjudged")},
    "judges": {"agree": N_("judges agree"), "differ": N_("judges differ"), "–": N_("one judge")},
    "outcome": {
        "none": N_("nothing accepted"),
        "some": N_("some accepted"),
        "all": N_("all accepted"),
    },
    "family": CORE.each(lambda family: family.label),
    "language": LANGUAGE_WORDS,
}


def stratum_words(name: str, strata: Sequence[str]) -> str:
    """A stratum's name as it is read; `strata`: the plan's."""
    parts = name.split(" · ")
    if len(parts) != len(strata):
        return name  # a value has the sign between values in it
    known = (_WORDS.get(cast(StratumKey, key), {}) for key in strata)
    return " · ".join(_(w[p]) if p in w else p for w, p in zip(known, parts, strict=True))


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
