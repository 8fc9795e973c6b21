"""The papers' tables by name, and each paper's main table filled from a pool."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.results import PaperTable
from cuecard.annotate.results.designs import design_tables, designs_in
from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.row_samples import figure_key
from cuecard.annotate.results.score_tables import table_of_scores
from cuecard.annotate.results.scores import ScoreTable, of_family, score_table, unknown
from cuecard.annotate.results.words import place_of, value_word
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.scoring.measures import pooled_notes
from cuecard.core.tables.table import Cell, Table
from cuecard.core.tables.texts import table_data
from cuecard.core.tasks.models import FAMILIES, Family


def main_tables(pool: Pool) -> tuple[Table, ...]:
    """For each family with judged trials its paper's main table, over all tasks, and for each language, difficulty or
    tier if there are several. Shares in percent.
    """
    return tuple(
        table
        for family in FAMILIES
        if any(row.figures is not None for row in of_family(pool, family).rows)
        for table in _family(of_family(pool, family), family)
    )


def _family(pool: Pool, family: Family) -> Iterator[Table]:
    shape = ANNOTATE[family].paper
    yield _table(pool, shape, value_word("family", family))
    values = sorted(pool.values(shape.split), key=lambda value: place_of(shape.split, value))
    if len(values) < 2:
        return
    for value in values:
        part = pool.where(lambda row, value=value: row.value(shape.split) == value)
        title = _("{family}, {part}").format(
            family=value_word("family", family),
            part=value_word(shape.split, value) if value else _("not known"),
        )
        table = _table(part, shape, title)
        # Only figures over all tasks are those of `groups`; what the notes say stands below the first table.
        notes = (*pooled_notes(shape.measures), _in_percent())
        bare = tuple(tuple(replace(cell, key="") for cell in line) for line in table.lines)
        yield replace(table, lines=bare, notes=notes)


def _table(pool: Pool, shape: PaperTable, title: str) -> Table:
    scores = _ordered(score_table(pool, ("family", *shape.by), shape.measures), shape)
    table = table_of_scores(scores, title=title, percent=True)
    return table.noted((_in_percent(),))


def _ordered(table: ScoreTable, shape: PaperTable) -> ScoreTable:
    known = {column.key: column for column in table.columns}
    keys = [figure_key(*figure) for figure in shape.figures]
    return table.model_copy(update={"columns": tuple(known[key] for key in keys if key in known)})


def _in_percent() -> str:
    return _("Shares in percent.")


Tables = tuple[Table, ...]


def settings_tables(pool: Pool) -> Tables:
    """The tables of all designs that the pool has."""
    return tuple(table for found in designs_in(pool) for table in design_tables(pool, found))


def _interaction(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.behaviour_tables import interaction_tables

    return tuple(interaction_tables(pool))


def _errors(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.error_tables import error_tables
    from cuecard.annotate.results.errors.report import error_report

    return tuple(error_tables(error_report(pool)))


def _compactions(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.behaviour_tables import compaction_tables

    return tuple(compaction_tables(pool))


def _profiles(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.family_tables import profile_tables

    return tuple(profile_tables(pool))


def _tiers(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.family_tables import tier_tables

    return tuple(tier_tables(pool))


def _curves(pool: Pool, k_trunc: int | None = None) -> Tables:
    from cuecard.annotate.results.errors.family_tables import curve_tables

    return curve_tables(pool, k_trunc=k_trunc)


def _tools(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.behaviour_tables import tool_tables

    return tuple(tool_tables(pool))


def _causes(pool: Pool) -> Tables:
    from cuecard.annotate.results.errors.causes import cause_tables

    return tuple(cause_tables(pool))


def _differences(pool: Pool) -> Tables:
    """Agents by task, of each family in which two or more share tasks."""
    from cuecard.annotate.results.comparison_tables import comparison_tables
    from cuecard.annotate.results.comparisons import comparisons

    if len({row.value("agent") for row in pool.rows if row.figures}) < 2:
        return ()
    try:
        return comparison_tables(comparisons(pool, "agent"))
    except NotAllowed:
        return ()


def _leaderboard(pool: Pool) -> Tables:
    from cuecard.annotate.results.leaderboard import leaderboard_tables

    return leaderboard_tables(pool)


def _repeats(pool: Pool) -> Tables:
    from cuecard.annotate.results.repeats import repeat_tables

    return repeat_tables(pool)


def _trials(pool: Pool) -> Tables:
    from cuecard.annotate.results.score_tables import trial_tables

    return trial_tables(pool)


def _plots(pool: Pool) -> Tables:
    """The numbers of every plot."""
    from cuecard.annotate.results.plots.builders import plots_of
    from cuecard.annotate.results.plots.model import plot_table

    return tuple(plot_table(plot) for plot in plots_of(pool))


PAPER_TABLES: dict[str, Callable[[Pool], Tables]] = {
    "main": main_tables,
    "leaderboard": _leaderboard,
    "repeats": _repeats,
    "interaction": _interaction,
    "errors": _errors,
    "causes": _causes,
    "compactions": _compactions,
    "settings": settings_tables,
    "profiles": _profiles,
    "tiers": _tiers,
    "curves": _curves,
    "tools": _tools,
    "differences": _differences,
    "trials": _trials,
    "plots": _plots,
}


def paper_table(pool: Pool, name: str, *, k_trunc: int | None = None) -> Tables:
    """The tables of this name, with a `key` for every cell with a number (its place in `cuecard score --json`, or
    `tables/main/0/lines/2/1/value`). `k_trunc`: for `curves`, the last call of the fixed cohorts. None if the pool has
    nothing for it. Raises `NotFound`, listing the names.
    """
    if name not in PAPER_TABLES:
        raise unknown(_("No such table"), name, list(PAPER_TABLES))
    if k_trunc is not None:
        # Of another cohort than that of the JSON, so that no figure has a place there.
        return _curves(pool, k_trunc)
    return keyed(name, PAPER_TABLES[name](pool))


def keyed(name: str, tables: Sequence[Table]) -> Tables:
    """The tables with each number's place under `tables` in the JSON as key."""
    return tuple(
        replace(
            table,
            lines=tuple(
                tuple(
                    _keyed(cell, f"tables/{name}/{s}/lines/{at}/{c}") for c, cell in enumerate(line)
                )
                for at, line in enumerate(table.lines)
            ),
        )
        for s, table in enumerate(tables)
    )


def tables_json(pool: Pool) -> dict[str, list[dict[str, Any]]]:
    """Every paper table as JSON: tables of lines of cells."""
    return {name: [table_data(one) for one in PAPER_TABLES[name](pool)] for name in PAPER_TABLES}


def _keyed(cell: Cell, key: str) -> Cell:
    return replace(cell, key=f"{key}/value") if cell.is_figure and not cell.key else cell
