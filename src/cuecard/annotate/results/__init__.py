"""Results of runs: scores with intervals, comparisons, errors, plots, reports, all computed from one `Pool`; the dimensions
by which trials can be grouped, and the main table of a paper, which is laid out by them.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from cuecard.core.scoring.aggregate import Statistic as Taken

Dimension = Literal[
    "run", "agent", "model", "scaffold", "setting", "memory", "user", "world", "judge", "family", "language",
    "difficulty", "domain", "tier", "compacted", "task",
]  # fmt: skip
"""The dimensions by which trials can be grouped; see `Row.value`."""
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)


@dataclass(frozen=True)
class PaperTable:
    """The main table of a family's paper. The layout of a main table. `by`: dimensions of its lines, besides the family; `figures`: its columns; `split`:
    one table for all, then one for each value of this dimension.
    """

    by: tuple[Dimension, ...]
    figures: tuple[tuple[str, Taken], ...]
    split: Dimension

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _taken in self.figures))


def averages(*names: str) -> tuple[tuple[str, Taken], ...]:
    """The averages of these measures."""
    return tuple((name, Taken.AVG) for name in names)
