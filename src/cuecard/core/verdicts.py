"""Verdicts of judges, and measures: a number with its n, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import overload

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen


class ItemKind(StrEnum):
    """What a decision is about. Judges decide on gold triples, cells and answers; people also label rows,
    whether a predicted triple is right (precision), and what the user part decided in a turn: the status
    of a checkpoint, whether a cue was met, whether a reply gave gold away.
    """

    TRIPLE = "triple"
    CELL = "cell"
    ANSWER = "answer"
    ROW = "row"
    PREDICTED = "predicted"
    STATUS = "status"
    CUE = "cue"
    LEAK = "leak"


class Item(Frozen):
    """One thing that is decided on: gold triple `index`, gold row `index` (and `column`), the answer,
    predicted triple `index`, or what the user part decided in turn `index`.
    """

    kind: ItemKind
    index: int = 0
    column: str = ""

    @property
    def key(self) -> str:
        """The item as text: `triple/17`, `cell/3/Year`, `answer/0`."""
        return _key(self.kind, self.index, self.column)

    @classmethod
    def of_key(cls, key: str) -> Item:
        """The item with this key. Raises `ValueError` if it is no key."""
        kind, _slash, rest = key.partition("/")
        index, _slash, column = rest.partition("/")
        return cls(kind=ItemKind(kind), index=int(index), column=column)


@lru_cache(maxsize=8192)
def _key(kind: ItemKind, index: int, column: str) -> str:
    return "/".join(filter(None, (kind.value, str(index), column)))


class GoldItem(Frozen):
    """A gold item as text for people. `text`: one line; `also`: other accepted names; `context`: what else matters for
    the decision (the stage, the row's key, the column's criterion), translated.
    """

    item: Item
    text: str
    also: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class Decision(StrEnum):
    """A judge's decision on an item. `yes`: covered or equivalent. `unjudged` is never counted as `no`."""

    YES = "yes"
    NO = "no"
    UNJUDGED = "unjudged"


class Verdict(Frozen):
    """A judge's decision on one item. `supporting`: indices (from 0) of predicted triples or rows, as the judge gave
    them, even if out of range.
    """

    item: Item
    decision: Decision
    supporting: tuple[int, ...] = ()
    rationale: str = ""


class TableMatch(Frozen):
    """How a predicted table was aligned with the gold one.

    `usable` is false if the prediction is no table or its columns do not map to the required ones. `predicted_rows`:
    number of rows after duplicates by key were dropped; `joined`: pairs of (gold row, predicted row) with the same key.
    """

    usable: bool
    predicted_rows: int = 0
    joined: tuple[tuple[int, int], ...] = ()
    reason: str = ""


Judged = tuple[tuple[Verdict, ...], TableMatch | None]
"""What is decided of a prediction; of a table with how it was laid over the gold one."""


class Judgement(Frozen):
    """All verdicts of one judge on one trial. `revision_hash`, `prompt_hash`, `trial_hash`: hashes of the task's
    revision, of the judge's prompts and of the prediction that they rest on.
    """

    judge: PlayerRef
    revision_hash: str = ""
    prompt_hash: str = ""
    trial_hash: str = ""
    verdicts: tuple[Verdict, ...]
    table: TableMatch | None = None


@dataclass(frozen=True)
class Decisions:
    """A judge's decisions by item. An item without a verdict is unjudged; of two verdicts on an item the later one
    counts.
    """

    by_item: dict[str, Verdict]

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Decisions:
        return cls({verdict.item.key: verdict for verdict in verdicts})

    def verdict(self, kind: ItemKind, index: int = 0, column: str = "") -> Verdict | None:
        return self.by_item.get(_key(kind, index, column))

    def decision(self, kind: ItemKind, index: int = 0, column: str = "") -> Decision:
        verdict = self.verdict(kind, index, column)
        return verdict.decision if verdict else Decision.UNJUDGED


_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """One number with the number of things `n` that it rests on. An undefined measure has the value None (never NaN)
    and a `reason`.
    """

    name: str
    value: float | None
    n: int
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.name} must be finite, or None with a reason")
        if self.value is None and not self.reason:
            raise ValueError(f"{self.name} is undefined and must say why")


@dataclass(frozen=True, slots=True)
class Measures(Sequence[Measure]):
    """A trial's measures as columns, which tables read without a `Measure` for each number. `reasons`: by place, of
    those that are undefined or say more.
    """

    names: tuple[str, ...]
    values: Sequence[float | None]
    counts: Sequence[int]
    reasons: Mapping[int, str]
    places: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """Where each name stands."""

    def __post_init__(self) -> None:
        # Looked up once: tables ask for it hundreds of thousands of times.
        object.__setattr__(self, "places", _places(self.names))

    @classmethod
    def of(cls, measures: Iterable[Measure]) -> Measures:
        if isinstance(measures, Measures):
            return measures
        found = tuple(measures)
        return cls(
            tuple(each.name for each in found),
            [each.value for each in found],
            [each.n for each in found],
            {at: each.reason for at, each in enumerate(found) if each.reason},
        )

    def value(self, name: str) -> float | None:
        at = self.places.get(name)
        return None if at is None else self.values[at]

    @overload
    def __getitem__(self, index: int) -> Measure: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Measure, ...]: ...
    def __getitem__(self, index: int | slice) -> Measure | tuple[Measure, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = range(len(self.names))[index]
        return Measure(self.names[at], self.values[at], self.counts[at], self.reasons.get(at, ""))

    def __len__(self) -> int:
        return len(self.names)


@lru_cache(maxsize=1024)
def _places(names: tuple[str, ...]) -> Mapping[str, int]:
    # Of several of one name the last counts, as in a dictionary of them.
    return {name: at for at, name in enumerate(names)}


def share(name: str, part: float, whole: int, empty: str, *, zero: bool = False) -> Measure:
    """`part` / `whole` with n = `whole`. With a whole of 0 it is undefined for the reason `empty`, or 0 with `zero`,
    where a benchmark defines it so.

    >>> share("recall", 3, 4, "no gold").value
    0.75
    """
    if whole > 0:
        return Measure(name, part / whole, whole)
    return Measure(name, 0.0 if zero else None, 0, empty)


def harmonic(name: str, precision: Measure, recall: Measure) -> Measure:
    """F1, the harmonic mean of precision and recall, with the n of recall; 0 if both are 0, undefined if either is."""
    if precision.value is None:
        return Measure(name, None, recall.n, precision.reason)
    if recall.value is None:
        return Measure(name, None, recall.n, recall.reason)
    total = precision.value + recall.value
    return Measure(name, 2 * precision.value * recall.value / total if total else 0.0, recall.n)


def count(name: str, value: float, n: int = 1) -> Measure:
    """A count as a measure; `n`: how many things were counted over (1: this trial)."""
    return Measure(name, float(value), n)


def mean(name: str, values: Iterable[float], empty: str = "") -> Measure:
    """The arithmetic mean with n = the number of values; without any undefined, for the reason `empty`."""
    collected = list(values)
    return share(name, math.fsum(collected), len(collected), empty or _("nothing to average"))


def pearson(name: str, pairs: Sequence[tuple[float, float]]) -> Measure:
    """Pearson's correlation coefficient of pairs, with n = the number of pairs; undefined for fewer than two pairs and if
    either variable is constant.
    """
    n = len(pairs)
    if n < 2:
        return Measure(name, None, n, _("fewer than two trials"))
    means = [math.fsum(column) / n for column in zip(*pairs, strict=True)]
    apart = [(x - means[0], y - means[1]) for x, y in pairs]
    spread = [math.fsum(column) for column in zip(*((x * x, y * y) for x, y in apart), strict=True)]
    if min(spread) < _TINY:
        return Measure(name, None, n, _("one of the two is the same in every trial"))
    together = math.fsum(x * y for x, y in apart)
    found = together / math.sqrt(spread[0] * spread[1])
    return Measure(name, max(-1.0, min(1.0, found)), n)


def score_answer(name: str, judgement: Judgement) -> tuple[Measure, Measure]:
    """1 if the final answer was judged equivalent, 0 if not, undefined if unjudged; and `unjudged`."""
    decision = Decisions.of(judgement.verdicts).decision(ItemKind.ANSWER)
    unjudged = decision is Decision.UNJUDGED
    value = (
        Measure(name, None, 0, _("the answer was not judged"))
        if unjudged
        else Measure(name, float(decision is Decision.YES), 1)
    )
    return value, count("unjudged", float(unjudged))
