"""Errors in tables that were handed in: unusable ones, rows, cells by column."""

from __future__ import annotations

from collections import defaultdict

from cuecard.core.i18n import _
from cuecard.core.scoring.trial_figures import Tally
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.results.errors.groups import Judged
from cuecard.results.errors.rates import Rate, counted, flagged, plan
from cuecard.results.pool import Row


class Reason(Frozen):
    """Why tables could not be laid over the gold ones, in the judge's words, and in which trials."""

    reason: str
    trials: tuple[int, ...]


class WrongCells(Frozen):
    """Cells of joined rows in one column (of this name, in whichever tables). `rate`: wrong of the judged ones."""

    column: str
    rate: Rate
    unjudged: int


class TableErrors(Frozen):
    """`unusable`: no table with the required columns, of the trials of which the judgement says it; `reasons` by
    frequency. Of usable tables, rows without duplicates by key: `missing` gold rows of all gold rows, `extra`
    predicted rows of all predicted. `columns`: where most cells are wrong first; key columns are left out, since
    rows are joined by them.
    """

    unusable: Rate
    reasons: tuple[Reason, ...]
    missing: Rate
    extra: Rate
    wrong: Rate
    columns: tuple[WrongCells, ...]


def table_errors(judged: Judged) -> TableErrors:
    """Errors of one arm's trials on tables."""
    told = [(row, f.table) for row, f in judged if f.table and f.table.usable is not None]
    usable = [(row, table) for row, table in told if table.usable]
    cells: dict[str, list[tuple[Row, Tally]]] = defaultdict(list)
    for row, table in usable:
        for column, tally in table.columns.items():
            cells[column].append((row, tally))
    none = _("no table was usable")
    whole = counted(
        {
            "unusable": flagged(
                "unusable",
                ((row, not table.usable) for row, table in told),
                _("the judgement does not say which rows were joined"),
            ),
            "missing": plan(
                "missing_rows",
                ((row, t.gold_rows - t.joined, t.gold_rows) for row, t in usable),
                hits=True,
                empty=none,
            ),
            "extra": plan(
                "extra_rows",
                ((row, t.predicted_rows - t.joined, t.predicted_rows) for row, t in usable),
                hits=True,
                empty=none,
            ),
            "wrong": plan(
                "wrong_cells",
                ((r, t.no, t.judged) for mine in cells.values() for r, t in mine),
                hits=True,
                empty=_("no cell was judged"),
            ),
        }
    )
    rates = counted(
        {
            column: plan(
                "wrong_cells",
                ((row, tally.no, tally.judged) for row, tally in mine),
                hits=True,
                empty=_("no cell was judged"),
            )
            for column, mine in cells.items()
        }
    )
    columns = [
        WrongCells(
            column=column,
            rate=rates[column],
            unjudged=sum(tally.unjudged for _row, tally in mine),
        )
        for column, mine in cells.items()
    ]
    reasons: dict[str, list[int]] = defaultdict(list)
    for row, table in told:
        if not table.usable:
            reasons[one_line(table.reason)].append(row.trial.id)
    return TableErrors(
        unusable=whole["unusable"],
        reasons=tuple(
            Reason(reason=reason, trials=tuple(trials))
            for reason, trials in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
        ),
        missing=whole["missing"],
        extra=whole["extra"],
        wrong=whole["wrong"],
        columns=tuple(sorted(columns, key=lambda each: (-each.rate.count, each.column))),
    )
