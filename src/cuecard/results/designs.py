"""Ready-made comparisons: the papers' settings, which recognise themselves in a pool and yield the papers' tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.core.tasks import Family
from cuecard.results.pool import Dimension, Pool

DesignName = Literal[
    "facts_settings",
    "checkpoint_settings",
    "graph_settings",
    "table_scaffold",
    "memory",
    "compaction",
    "users",
    "judges",
]


@dataclass(frozen=True)
class Design:
    """`arms` in the papers' order, the first is the base; without any, those that occur. `family`: of which it is; None:
    of all. `title` is translated when it is shown.
    """

    name: DesignName
    title: str
    dimension: Dimension
    family: Family | None
    arms: tuple[str, ...]


DESIGNS: tuple[Design, ...] = ()


@dataclass(frozen=True)
class Found:
    """A design of which a pool has judged trials of two arms or more, `arms` of them."""

    design: Design
    arms: tuple[str, ...]
    families: tuple[Family, ...]


def designs_in(pool: Pool) -> tuple[Found, ...]:
    raise NotImplementedError


def design_sheets(pool: Pool, found: Found) -> tuple[Sheet, ...]:
    """The paper's table of the design (agents down, arms across), and the paired differences."""
    raise NotImplementedError
