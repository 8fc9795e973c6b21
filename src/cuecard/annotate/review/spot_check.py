"""Which gold items a reviewer must check: drawn for each reviewer, spread over the whole of the gold."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuecard.core.i18n import _, ngettext
from cuecard.core.review import CheckMark, GoldCheck, ReviewDecision
from cuecard.core.tasks import CheckpointChain, FactWorld, Graph, Table, Task
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.records import Review

GOLD = "gold"
"""The dimension that passes only once the sample is marked and nothing is marked wrong."""


class GoldItem(Frozen):
    """One thing in the gold that can be right or wrong by itself. `sources`: the pages it cites."""

    place: str
    sources: tuple[str, ...] = ()


def gold_items(task: Task) -> tuple[GoldItem, ...]:
    """The triples, rows, checkpoints or facts of a task, in their order."""
    match task.gold:
        case Graph() as graph:
            return _cited("triples", graph.triples)
        case Table() as table:
            return tuple(GoldItem(place=f"gold.rows[{at}]") for at in range(len(table.rows)))
        case CheckpointChain() as chain:
            return _cited("steps", chain.steps)
        case FactWorld() as world:
            return _cited("facts", world.facts)


def sources_of(task: Task, place: str) -> tuple[str, ...]:
    """The pages behind a gold item: those it cites, or else those of the task as a whole."""
    cited = next((item.sources for item in gold_items(task) if item.place == place), ())
    return cited or tuple(source.url for source in task.sources)


def sample_of(task: Task, revision_uid: str, reviewer: str, k: int) -> tuple[str, ...]:
    """The places of `k` gold items (all if there are fewer) in their order: the same for a revision and
    a reviewer in every workspace, another draw for another reviewer.

    Stratified: over the stages that triples answer, over facts and rules by entity, over equal
    stretches of rows and steps. Each stratum gets its share, at least one as long as `k` allows it.
    """
    items = gold_items(task)
    if k >= len(items):
        return tuple(item.place for item in items)
    if k <= 0:
        return ()
    rank = {item.place: _rank(revision_uid, reviewer, item.place) for item in items}
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[_stratum(task, at, len(items), k)].append(item.place)
    strata = [sorted(group, key=rank.__getitem__) for group in groups.values()]
    strata.sort(key=lambda group: rank[group[0]])
    drawn: set[str] = set()
    for group, share in zip(strata, _shares([len(group) for group in strata], k), strict=True):
        drawn.update(group[:share])
    return tuple(item.place for item in items if item.place in drawn)


def unmarked(sample: Collection[str], checks: Collection[GoldCheck]) -> tuple[str, ...]:
    """The places of a sample that carry no mark yet, in their order."""
    marked = {check.place for check in checks}
    return tuple(place for place in sample if place not in marked)


def check_marks(given: Review, task: Task, revision_uid: str) -> str:
    """What speaks against the marks of a review, translated; "" if nothing does. A review that names a
    sample names the one that was drawn for its reviewer, and passes the gold only with all of it marked
    and nothing marked wrong.
    """
    drawn = sample_of(task, revision_uid, given.reviewer, len(given.sample))
    if given.sample and set(given.sample) != set(drawn):
        return _("The spot check is not the one that was drawn for this reviewer.")
    known = {item.place for item in gold_items(task)}
    if strange := [check.place for check in given.checks if check.place not in known]:
        return _("There is no gold item {place}.").format(place=strange[0])
    passes = given.ratings.get(GOLD) == "pass"
    approves = given.decision is ReviewDecision.APPROVE
    left = unmarked(given.sample, given.checks) if passes or approves else ()
    if left:
        text = ngettext(
            "{n} item of the spot check is not marked.",
            "{n} items of the spot check are not marked.",
            len(left),
        )
        return text.format(n=len(left))
    if (passes or approves) and any(check.mark == "wrong" for check in given.checks):
        return _("Gold with an item marked wrong does not pass.")
    return ""


def marks_of(checks: Collection[GoldCheck]) -> Mapping[CheckMark, int]:
    """How many items carry each mark."""
    counts: dict[CheckMark, int] = {"right": 0, "wrong": 0, "unsure": 0}
    for check in checks:
        counts[check.mark] += 1
    return counts


def _cited(name: str, items: Sequence[Any]) -> tuple[GoldItem, ...]:
    return tuple(
        GoldItem(place=f"gold.{name}[{at}]", sources=tuple(dict.fromkeys(item.sources)))
        for at, item in enumerate(items)
    )


def _stratum(task: Task, at: int, count: int, k: int) -> Hashable:
    match task.gold:
        case Graph(triples=triples):
            return triples[at].stage
        case FactWorld(facts=facts):
            return facts[at].kind.value, facts[at].entity
        case _:
            return at * k // count


def _shares(sizes: Sequence[int], k: int) -> list[int]:
    """`k` over strata: one each first, the rest by size (largest remainder), none more than it has."""
    shares = [0] * len(sizes)
    for at in range(min(k, len(sizes))):
        shares[at] = 1
    total = sum(sizes)
    for _more in range(k - sum(shares)):
        behind = (at for at in range(len(sizes)) if shares[at] < sizes[at])
        shares[min(behind, key=lambda at: shares[at] / k - sizes[at] / total)] += 1
    return shares


def _rank(revision_uid: str, reviewer: str, place: str) -> bytes:
    said = "\0".join((revision_uid, reviewer, place))
    return hashlib.sha256(said.encode()).digest()
