"""Scores of any groups of trials: a line for each group, a column for each figure, every number with its n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tasks.base import Frozen
from cuecard.results.pool import Dimension, Pool


class Counts(Frozen):
    """`trials`: all of them; of these `open` and `ended`; of the ended `failed` (by a failure, which scores like any
    other outcome), `judged` and `unjudged`. `items_unjudged`: of judged trials, items left without a
    decision. `samples`: the most that any task has. `baseline`: one of the players is an embedded offline one.
    """

    trials: int = 0
    open: int = 0
    ended: int = 0
    failed: int = 0
    judged: int = 0
    unjudged: int = 0
    items_unjudged: int = 0
    tasks: int = 0
    samples: int = 0
    baseline: bool = False


class Column(Frozen):
    """A figure: a measure (or `cost`, `tokens`) and how samples are taken together. `key`: `triplet_f1.avg`."""

    measure: str
    taken: Taken
    label: str

    @property
    def key(self) -> str:
        return f"{self.measure}.{self.taken.value}"


class Line(Frozen):
    """`group`: what its trials have in common, in the order of the table's `by`; `figures` by the columns' keys,
    those that its trials have; `trials`: ids of all of its trials.
    """

    group: tuple[tuple[Dimension, str], ...]
    counts: Counts
    figures: dict[str, Statistic]
    trials: tuple[int, ...]

    def value(self, dimension: Dimension) -> str:
        return dict(self.group).get(dimension, "")


class ScoreTable(Frozen):
    """`notes` say what a reader must know: what was taken together, what is not judged."""

    by: tuple[Dimension, ...]
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    def column(self, key: str) -> Column:
        """Raises `NotFound`."""
        raise NotImplementedError


def score_table(
    pool: Pool,
    by: Sequence[Dimension] = ("agent", "family"),
    measures: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> ScoreTable:
    """A line for each combination of `by` that occurs, sorted by what it is. `measures`: those to tell; without any, the
    headlines of the families there are (`core.scoring.labels.HEADLINES`). Values are those of `aggregate` over
    the line's judged trials, intervals resample tasks. Where several judges judged, the judge is added to `by`.
    """
    raise NotImplementedError


def tables_by_family(
    pool: Pool,
    by: Sequence[Dimension] = ("agent",),
    measures: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ScoreTable, ...]:
    """A table for each family with its columns only; `family` is the first of their `by`."""
    raise NotImplementedError


def sorted_by(
    table: ScoreTable, key: Dimension | str, *, descending: bool = True
) -> ScoreTable:
    """Lines by a dimension of `by`, a column's key (`triplet_f1.avg`) or a field of `Counts`; those without a value
    last. Raises `NotFound`.
    """
    raise NotImplementedError


def filtered(pool: Pool, wanted: Mapping[Dimension, Sequence[str]]) -> Pool:
    """The rows that have one of the wanted values in each of the dimensions. Raises `NotFound` for a value that no row
    has, telling those there are.
    """
    raise NotImplementedError
