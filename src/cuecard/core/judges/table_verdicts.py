"""From a table laid over the gold one to one verdict per gold cell."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.core.i18n import _
from cuecard.core.judges.table_layout import Layout
from cuecard.core.scoring.table import distinct_gold_rows
from cuecard.core.tasks import Column, Table
from cuecard.core.verdicts import Decision, Item, ItemKind, TableMatch, Verdict

Decide = Callable[[int, int], tuple[Decision, str]]
"""gold row, column -> decision and reason, for a cell of a joined row that is no key."""


def judge_cells(
    table: Table, layout: Layout, decide: Decide
) -> tuple[tuple[Verdict, ...], TableMatch]:
    """One verdict per gold cell, and how the two tables were laid over each other.

    FORMATS, widesearch: key columns of joined rows are right, whatever is in them. A gold row that
    repeats an earlier key has no cells of its own to judge: graders drop it.
    """
    if layout.reason:
        verdicts = fill(table, Decision.NO, layout.reason)
        return verdicts, TableMatch(usable=False, reason=layout.reason)
    match = TableMatch(
        usable=True,
        predicted_rows=len(layout.rows),
        joined=tuple(sorted(layout.joined.items())),
    )
    found: list[Verdict] = []
    for index in distinct_gold_rows(table):
        found.extend(_row_verdicts(table, layout, index, decide))
    return tuple(found), match


def fill(table: Table, decision: Decision, reason: str) -> tuple[Verdict, ...]:
    """The same verdict for every gold cell."""
    return tuple(
        Verdict(item=_item(index, column), decision=decision, rationale=reason)
        for index in distinct_gold_rows(table)
        for column in table.columns
    )


def _row_verdicts(table: Table, layout: Layout, index: int, decide: Decide) -> list[Verdict]:
    partner = layout.joined.get(index)
    if partner is None:
        decision, reason = Decision.NO, _("no predicted row has this key")
        if index in layout.undecided:
            decision, reason = Decision.UNJUDGED, _("no answer on which row has this key")
        return [
            Verdict(item=_item(index, column), decision=decision, rationale=reason)
            for column in table.columns
        ]
    verdicts: list[Verdict] = []
    for position, column in enumerate(table.columns):
        if column.name in table.unique_columns:
            decision, reason = Decision.YES, _("key of a joined row")
        else:
            decision, reason = decide(index, position)
        verdicts.append(
            Verdict(
                item=_item(index, column),
                decision=decision,
                supporting=(partner,),
                rationale=reason,
            )
        )
    return verdicts


def _item(index: int, column: Column) -> Item:
    return Item(kind=ItemKind.CELL, index=index, column=column.name)
