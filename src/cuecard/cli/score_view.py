"""Score tables as `cuecard score` was asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.results.pool import Dimension, Pool
    from cuecard.results.score_table import ScoreTable


@dataclass(frozen=True)
class Cut:
    """`by` without the family, each of which has a table. `sort`: a measure, a figure (`triplet_f1.best`), a count or a
    dimension, "" for the lines' own order.
    """

    by: tuple[Dimension, ...]
    measures: tuple[str, ...] | None
    sort: str
    across: Dimension | None

    @classmethod
    def of(cls, by: Sequence[str], measures: Sequence[str], sort: str, across: str) -> Cut:
        """Raises `NotFound` for a dimension there is not."""
        from cuecard.results.comparing import dimension_named

        told: list[Dimension] = [dimension_named(name) for name in by] or [dimension_named("agent")]
        over = dimension_named(across) if across else None
        if over and over not in told:
            told.append(over)
        return cls(tuple(told), tuple(measures) or None, sort, over)


def tables_of(pool: Pool, cut: Cut) -> ScoreTable:
    """One table over all families, for the JSON. Raises `NotFound` for a measure that no trial has."""
    from cuecard.results.score_table import score_table

    _check(pool, cut)
    by: tuple[Dimension, ...] = tuple(dict.fromkeys((*cut.by, "family")))
    return _sorted(score_table(pool, by, cut.measures), cut)


def print_cut(pool: Pool, cut: Cut, *, markdown: bool) -> None:
    """A table for each family, or with `across` for each of its figures."""
    from cuecard.cli.output import say
    from cuecard.cli.result_sheets import print_result_sheets
    from cuecard.results.score_sheets import pivoted, score_sheet
    from cuecard.results.score_table import tables_by_family

    _check(pool, cut)
    tables = [_sorted(t, cut) for t in tables_by_family(pool, cut.by, cut.measures)]
    if cut.across is None:
        sheets = [score_sheet(table) for table in tables]
    else:
        sheets = [pivoted(t, cut.across, column.key) for t in tables for column in t.columns]
    if markdown:
        say("# " + _("Scores") + "\n")
    print_result_sheets(sheets, markdown=markdown)


def _check(pool: Pool, cut: Cut) -> None:
    from cuecard.results.comparing import measures_in
    from cuecard.results.score_table import Counts, unknown

    known = measures_in(pool)
    for name in cut.measures or ():
        if known and name not in known:
            raise unknown(_("No such measure"), name, known)
    sort = cut.sort.partition(".")[0]
    if sort and known and sort not in (*known, *Counts.model_fields, *cut.by):
        raise unknown(_("Nothing to sort by"), cut.sort, [*cut.by, *Counts.model_fields, *known])


def _sorted(table: ScoreTable, cut: Cut) -> ScoreTable:
    """A table that has no such figure keeps its order: another family has it."""
    from cuecard.core.errors import NotFound
    from cuecard.results.score_table import sorted_by

    if not cut.sort:
        return table
    columns = [column.key for column in table.columns]
    key = next((key for key in columns if key.partition(".")[0] == cut.sort), cut.sort)
    try:
        return sorted_by(table, key)
    except NotFound:
        return table
