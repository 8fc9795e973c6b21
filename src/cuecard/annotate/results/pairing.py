"""The records of a comparison of arms, and how trials of two arms are paired."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from cuecard.annotate.results.pool import Dimension, Row, kinds_of, values_of
from cuecard.annotate.results.row_samples import SPENT, RowSamples, place_of_row, spent_value
from cuecard.annotate.results.scores import Counts
from cuecard.annotate.results.words import place_of
from cuecard.core.scoring.aggregate import NOTHING, Part, parts_of, total_of
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family


class Arm(Frozen):
    """One value of the compared dimension (`name`); `also`: the values that its trials have in other dimensions."""

    name: str
    dimension: Dimension
    counts: Counts
    also: dict[Dimension, tuple[str, ...]]
    trials: tuple[int, ...]


class TaskDifference(Frozen):
    """A revision of a task with values of both arms; `difference`: the arm's minus the base's."""

    task: str
    revision: int
    title: str
    base: float
    arm: float
    difference: float
    base_trials: tuple[int, ...]
    arm_trials: tuple[int, ...]


class LeftOut(Frozen):
    """What a comparison is not based on: tasks of one side only; tasks played in different revisions; tasks without a
    value on one side (`undefined`); trials that are unjudged or under way (`open_…`); and judged trials of shared
    revisions without a counterpart with the same agent, user, …
    """

    base_only: tuple[str, ...] = ()
    arm_only: tuple[str, ...] = ()
    other_revisions: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    unjudged_base: int = 0
    unjudged_arm: int = 0
    open_base: int = 0
    open_arm: int = 0
    unpaired_base: int = 0
    unpaired_arm: int = 0


class Spending(Frozen):
    """Means over the paired tasks of a trial's agent cost (in the configuration's currency) and tokens.
    `cost_per_point`: the extra cost of a trial per percentage point gained; undefined, with the reason, if nothing is
    gained, no price is known, or the measure is no share.
    """

    base_cost: Statistic
    arm_cost: Statistic
    base_tokens: Statistic
    arm_tokens: Statistic
    cost_per_point: Statistic


class Contrast(Frozen):
    """One arm against the base. Means, difference and spending are over the paired tasks alone. `wins`: tasks on which
    the arm has the better value (the lower one where `lower_is_better`). `sign_test`: the two-sided exact
    binomial probability of wins and losses as uneven as these if either were as likely, ties left out
    (Conover 1999, 3.4); None without any. It asks how often, not by how much: read the interval first.
    `tasks`: those of which both have a value, those that differ most first; to a pooled ratio the others add as well.
    `base_trials` and `arm_trials`: ids behind the figures. `within`: the dimensions within which pairs were made besides the
    task's revision; `differs`: those in which the two differ and could not be paired, so that the difference may
    be theirs, with the values of the base's and the arm's paired trials. `alone`: the agent that it stands on, if
    of several that were played only one is paired; "" else. `sign_test_holm`: the probability adjusted by Holm's method
    for the number of arms that are held against the base by this measure.
    """

    base: str
    arm: str
    base_mean: Statistic
    arm_mean: Statistic
    difference: Statistic
    wins: int
    ties: int
    losses: int
    sign_test: float | None
    tasks: tuple[TaskDifference, ...]
    base_trials: tuple[int, ...]
    arm_trials: tuple[int, ...]
    spending: Spending
    left_out: LeftOut
    within: tuple[Dimension, ...] = ()
    differs: dict[Dimension, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    alone: str = ""
    sign_test_holm: float | None = None

    @property
    def unpaired(self) -> int:
        """The number of judged trials of shared revisions, on both sides, without a counterpart."""
        return self.left_out.unpaired_base + self.left_out.unpaired_arm


class Comparison(Frozen):
    """`within` and `differs` of any of its contrasts; `names`: what values are called (`words.names_of`)."""

    dimension: Dimension
    family: Family
    measure: str
    taken: Taken
    base: str
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    within: tuple[Dimension, ...]
    differs: tuple[Dimension, ...]
    names: dict[str, str] = {}
    notes: tuple[str, ...] = ()


Unit = tuple[str, int]
"""A task's id and the number of a revision."""
Cell = tuple[str, ...]

CANDIDATES: tuple[Dimension, ...] = (
    "judge",
    "agent",
    "setting",
    "memory",
    "user",
    "world",
    "model",
    "scaffold",
)
"""Dimensions within which trials are paired where both sides have the same values, in the order in which that is tried."""
_OWN: dict[Dimension, frozenset[Dimension]] = {
    "agent": frozenset(("model", "scaffold")),
    "scaffold": frozenset(("agent",)),
    "setting": frozenset(("scaffold",)),
}
"""Dimensions determined by the compared one, which therefore do not confound it; the setting of tables is the
agent's scaffold."""


@dataclass(frozen=True)
class Pair:
    """A revision of a task with what both sides add to the measure, and what a trial cost (None: unknown)."""

    unit: Unit
    title: str
    left: Part
    right: Part
    left_spent: dict[str, float | None]
    right_spent: dict[str, float | None]
    left_trials: tuple[int, ...]
    right_trials: tuple[int, ...]


@dataclass(frozen=True)
class Pairing:
    """`pairs` by task and revision. `within`, `differs` and `left_out` as in `Contrast`, left being the base."""

    pairs: tuple[Pair, ...]
    within: tuple[Dimension, ...]
    differs: dict[Dimension, tuple[tuple[str, ...], tuple[str, ...]]]
    left_out: LeftOut


@dataclass(frozen=True)
class Matched:
    """Trials of two arms that can be paired, whatever is measured: `cells` of each side, those that both have, and these
    by revision; `used`: trials in them.
    """

    sides: tuple[Sequence[Row], Sequence[Row]]
    judged: Sequence[Sequence[Row]]
    cells: Sequence[Mapping[tuple[Unit, Cell], list[Row]]]
    shared: Sequence[tuple[Unit, Cell]]
    by_unit: Mapping[Unit, Sequence[tuple[Unit, Cell]]]
    used: Sequence[set[int]]
    within: tuple[Dimension, ...]
    differs: dict[Dimension, tuple[tuple[str, ...], tuple[str, ...]]]

    @cached_property
    def samples(self) -> tuple[RowSamples, ...]:
        """Of each side, the cells that both have."""
        return tuple(samples_of_cells([side[key] for key in self.shared]) for side in self.cells)


def matched(left: Sequence[Row], right: Sequence[Row], dimension: Dimension) -> Matched:
    """Trials of one family. Other dimensions in which trials vary are matched too, one after the other, as long as any
    pair remains.
    """
    sides = [[row for row in side if row.figures is not None] for side in (left, right)]
    judged = sides
    if dimension == "judge":
        both = {row.trial.id for row in sides[0]} & {row.trial.id for row in sides[1]}
        sides = [[row for row in side if row.trial.id in both] for side in sides]
    within, differs = _within(sides[0], sides[1], dimension)
    cells = [cells_of(side, within) for side in sides]
    shared = sorted(cells[0].keys() & cells[1].keys())
    by_unit: dict[Unit, list[tuple[Unit, Cell]]] = defaultdict(list)
    for key in shared:
        by_unit[key[0]].append(key)
    used = [{row.trial.id for key in shared for row in side[key]} for side in cells]
    return Matched(
        sides=(left, right),
        judged=judged,
        cells=cells,
        shared=shared,
        by_unit=by_unit,
        used=used,
        within=within,
        differs={
            each: (_values(sides[0], used[0], each), _values(sides[1], used[1], each))
            for each in differs
        },
    )


def paired(found: Matched, measure: str, taken: Taken) -> Pairing:
    """Their pairs; a revision's value is the mean over its own."""
    left, right = found.cells
    parts = [parts_of_cells(samples, measure, taken) for samples in found.samples]
    part_of = dict(zip(found.shared, zip(*parts, strict=True), strict=True))
    pairs = [
        pair
        for unit, keys in found.by_unit.items()
        if (pair := _pair(unit, [(left[key], right[key], part_of[key]) for key in keys], taken))
    ]
    known = {pair.unit for pair in pairs}
    return Pairing(
        pairs=tuple(pairs),
        within=found.within,
        differs=found.differs,
        left_out=_left_out(found.sides, found.judged, found.by_unit.keys(), known, found.used),
    )


def _values(rows: Sequence[Row], used: set[int], dimension: Dimension) -> tuple[str, ...]:
    """Of the rows that are in pairs."""
    found = {row.value(dimension) for row in rows if row.trial.id in used}
    return tuple(sorted(found, key=lambda value: place_of(dimension, value)))


def _within(
    left: Sequence[Row], right: Sequence[Row], dimension: Dimension
) -> tuple[tuple[Dimension, ...], tuple[Dimension, ...]]:
    within: tuple[Dimension, ...] = ()
    differs: list[Dimension] = []
    kinds = kinds_of((*left, *right))
    before = [cells_of(side, within).keys() for side in (left, right)]
    own = _OWN.get(dimension, frozenset[Dimension]())
    if left and left[0].family == "table" and dimension in ("agent", "scaffold", "model"):
        own |= {"setting"}
    for candidate in CANDIDATES:
        if candidate == dimension:
            continue
        if len({row.value(candidate) for row in kinds}) < 2:
            continue
        tried = (*within, candidate)
        after = [cells_of(side, tried).keys() for side in (left, right)]
        same = [len(one) == len(other) for one, other in zip(before, after, strict=True)]
        if after[0] & after[1]:
            # What follows from the others, as a model from its agent, tells no pairs apart.
            follows = all(same) and len(after[0] & after[1]) == len(before[0] & before[1])
            within, before = (within, before) if follows else (tried, after)
        elif candidate not in own:
            differs.append(candidate)
    if dimension != "run" and left and right:
        runs: tuple[Dimension, ...] = (*within, "run")
        if not cells_of(left, runs).keys() & cells_of(right, runs).keys():
            differs.append("run")
    return within, tuple(differs)


def cells_of(
    rows: Iterable[Row], within: Sequence[Dimension]
) -> dict[tuple[Unit, Cell], list[Row]]:
    """Rows by revision of a task and values in these dimensions."""
    found: dict[tuple[Unit, Cell], list[Row]] = defaultdict(list)
    for row, cell in values_of(rows, within):
        found[row.unit, cell].append(row)
    return dict(found)


def _pair(
    unit: Unit, cells: Sequence[tuple[list[Row], list[Row], tuple[Part, Part]]], taken: Taken
) -> Pair | None:
    """None if no pair of cells has a value on both sides. For a pooled ratio all cells add, also those without a value."""
    values: list[tuple[Part, Part]] = []
    rows: tuple[list[Row], list[Row]] = ([], [])
    for left, right, (one, other) in cells:
        known = one.value is not None and other.value is not None
        if known or taken is Taken.POOLED:
            values.append((one, other))
            rows[0].extend(left)
            rows[1].extend(right)
    if not values:
        return None
    return Pair(
        unit=unit,
        title=rows[0][0].trial.title,
        left=_mean_part([one for one, _other in values]),
        right=_mean_part([other for _one, other in values]),
        left_spent=_spent(rows[0]),
        right_spent=_spent(rows[1]),
        left_trials=tuple(sorted({row.trial.id for row in rows[0]})),
        right_trials=tuple(sorted({row.trial.id for row in rows[1]})),
    )


def samples_of_cells(cells: Sequence[Sequence[Row]]) -> RowSamples:
    """Judged rows, taken together cell by cell."""
    return RowSamples({f"{at:09}": sorted(rows, key=place_of_row) for at, rows in enumerate(cells)})


def parts_of_cells(samples: RowSamples, measure: str, taken: Taken) -> list[Part]:
    """What the rows of each cell add together."""
    found = parts_of(samples, (measure,)).get((measure, taken))
    if found is None:
        return [NOTHING] * len(samples.tasks)
    return [Part(*each) for each in found.tolist()]


def _mean_part(parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    total = total_of(parts)
    return Part(total.above / len(parts), total.below / len(parts))


def _spent(rows: Sequence[Row]) -> dict[str, float | None]:
    """The mean of each of `SPENT` over trials, None where one of them is not known."""
    found: dict[str, float | None] = {}
    for name in SPENT:
        values = [spent_value(row, name) for row in rows if row.figures is not None]
        known = [value for value in values if value is not None]
        whole = known and len(known) == len(values)
        found[name] = fsum(known) / len(known) if whole else None
    return found


def _left_out(
    sides: tuple[Sequence[Row], Sequence[Row]],
    judged: Sequence[Sequence[Row]],
    shared: Iterable[Unit],
    known: set[Unit],
    used: Sequence[set[int]],
) -> LeftOut:
    units = [{row.unit for row in side} for side in judged]
    tasks = [{task for task, _revision in side} for side in units]
    both = units[0] & units[1]
    met = {task for task, _revision in both}
    unjudged = [
        sum(row.figures is None and row.trial.termination is not None for row in side)
        for side in sides
    ]
    still_open = [sum(row.trial.termination is None for row in side) for side in sides]
    unpaired = [
        len({row.trial.id for row in side if row.trial.id not in mine and row.unit in both})
        for side, mine in zip(judged, used, strict=True)
    ]
    return LeftOut(
        base_only=tuple(sorted(tasks[0] - tasks[1])),
        arm_only=tuple(sorted(tasks[1] - tasks[0])),
        other_revisions=tuple(sorted((tasks[0] & tasks[1]) - met)),
        undefined=tuple(sorted({task for task, _revision in set(shared) - known})),
        unjudged_base=unjudged[0],
        unjudged_arm=unjudged[1],
        open_base=still_open[0],
        open_arm=still_open[1],
        unpaired_base=unpaired[0],
        unpaired_arm=unpaired[1],
    )
