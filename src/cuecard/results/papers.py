"""The papers' tables by name: what `cuecard table NAME RUN…` prints, and what the JSON and reports hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.results.cells import ResultCell
from cuecard.results.designs import design_sheets, designs_in
from cuecard.results.main_table import main_sheets
from cuecard.results.pool import Pool
from cuecard.results.score_table import unknown

Sheets = tuple[Sheet, ...]


def settings_sheets(pool: Pool) -> Sheets:
    """The tables of all designs that the pool has."""
    return tuple(sheet for found in designs_in(pool) for sheet in design_sheets(pool, found))


def _interaction(pool: Pool) -> Sheets:
    from cuecard.results.errors.interaction_sheets import interaction_sheets

    return tuple(interaction_sheets(pool))


def _errors(pool: Pool) -> Sheets:
    from cuecard.results.errors.error_sheets import error_sheets
    from cuecard.results.errors.report import error_report

    return tuple(error_sheets(error_report(pool)))


def _compactions(pool: Pool) -> Sheets:
    from cuecard.results.errors.compaction_sheets import compaction_sheets

    return tuple(compaction_sheets(pool))


def _profiles(pool: Pool) -> Sheets:
    from cuecard.results.errors.profile_sheets import profile_sheets

    return tuple(profile_sheets(pool))


def _tiers(pool: Pool) -> Sheets:
    from cuecard.results.errors.tier_sheets import tier_sheets

    return tuple(tier_sheets(pool))


def _curves(pool: Pool, k_trunc: int | None = None) -> Sheets:
    from cuecard.results.errors.curve_sheets import curve_sheets

    return curve_sheets(pool, k_trunc=k_trunc)


def _tools(pool: Pool) -> Sheets:
    from cuecard.results.errors.tool_sheets import tool_sheets

    return tuple(tool_sheets(pool))


def _causes(pool: Pool) -> Sheets:
    from cuecard.results.errors.cause_sheets import cause_sheets

    return cause_sheets(pool)


def _differences(pool: Pool) -> Sheets:
    """Agents by task, of each family in which two or more share tasks."""
    from cuecard.results.comparing import comparisons
    from cuecard.results.comparison_sheets import comparison_sheets

    if len({row.value("agent") for row in pool.rows if row.figures}) < 2:
        return ()
    try:
        return comparison_sheets(comparisons(pool, "agent"))
    except NotAllowed:
        return ()


def _trials(pool: Pool) -> Sheets:
    from cuecard.results.trial_counts import trial_sheets

    return trial_sheets(pool)


def _plots(pool: Pool) -> Sheets:
    """The numbers of every plot."""
    from cuecard.results.plots.builders import plots_of
    from cuecard.results.plots.tables import plot_sheet

    return tuple(plot_sheet(plot) for plot in plots_of(pool))


PAPER_TABLES: dict[str, Callable[[Pool], Sheets]] = {
    "main": main_sheets,
    "interaction": _interaction,
    "errors": _errors,
    "causes": _causes,
    "compactions": _compactions,
    "settings": settings_sheets,
    "profiles": _profiles,
    "tiers": _tiers,
    "curves": _curves,
    "tools": _tools,
    "differences": _differences,
    "trials": _trials,
    "plots": _plots,
}


def paper_table(pool: Pool, name: str, *, k_trunc: int | None = None) -> Sheets:
    """Its sheets, every cell of a figure with its `key` (`tables/main/0/lines/2/1/value` where it is no figure of
    `groups`). `k_trunc`: of `curves` instead, with fixed cohorts up to this call. None where the pool has nothing for it. Raises `NotFound`, telling the names there are.
    """
    if name not in PAPER_TABLES:
        raise unknown(_("No such table"), name, list(PAPER_TABLES))
    if k_trunc is not None:
        # Of another cohort than that of the JSON, so that no figure has a place there.
        return _curves(pool, k_trunc)
    return keyed(name, PAPER_TABLES[name](pool))


def keyed(name: str, sheets: Sequence[Sheet]) -> Sheets:
    """The sheets with the places of their figures in `tables` of the JSON."""
    return tuple(
        replace(
            sheet,
            lines=tuple(
                tuple(
                    _keyed(cell, f"tables/{name}/{s}/lines/{at}/{c}") for c, cell in enumerate(line)
                )
                for at, line in enumerate(sheet.lines)
            ),
        )
        for s, sheet in enumerate(sheets)
    )


def tables_json(pool: Pool) -> dict[str, list[dict[str, Any]]]:
    """Every paper table as data: sheets of lines of cells."""
    return {name: [sheet_json(one) for one in PAPER_TABLES[name](pool)] for name in PAPER_TABLES}


def sheet_json(sheet: Sheet) -> dict[str, Any]:
    """`lines`: cells as `{"text": …}` and, of figures, `value`, `n`, `low` and `high` (null without an interval), and
    `remark`: why the value or its interval is missing. Numbers are unrounded.
    """
    return {
        "title": sheet.title,
        "headings": list(sheet.headings),
        "lines": [[cell_json(cell) for cell in line] for line in sheet.lines],
        "notes": list(sheet.notes),
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    if cell.statistic is not None:
        one = cell.statistic
        return {
            "text": cell.text,
            "value": one.value,
            "n": one.n,
            "low": one.low,
            "high": one.high,
            "remark": cell.remark,
        }
    if isinstance(cell, ResultCell) and cell.value is not None:
        return {"text": cell.text, "value": cell.value}
    return {"text": cell.text}


def _keyed(cell: Cell, key: str) -> Cell:
    if cell.statistic is None and not (isinstance(cell, ResultCell) and cell.value is not None):
        return cell
    if isinstance(cell, ResultCell):
        return cell if cell.key else replace(cell, key=f"{key}/value")
    return ResultCell(cell.text, cell.place, cell.statistic, key=f"{key}/value")
