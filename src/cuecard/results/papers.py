"""The papers' tables by name: what `cuecard table NAME RUN…` prints, and what the JSON and reports hold."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.results.pool import Pool

PAPER_TABLES: dict[str, Callable[[Pool], tuple[Sheet, ...]]] = {}
"""`main`, `interaction`, `errors`, `compactions`, `settings`, `profiles`, `tiers`, `curves`, `tools`."""


def paper_table(pool: Pool, name: str) -> tuple[Sheet, ...]:
    """Its sheets, every cell of a figure with its `key` (`tables/main/0/lines/2/1` where it is no figure of
    `groups`). Raises `NotFound`, telling the names there are.
    """
    raise NotImplementedError
