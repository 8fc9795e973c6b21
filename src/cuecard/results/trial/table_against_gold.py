"""A predicted table laid beside the gold one, as a judge laid it."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from cuecard.core.judges.table_layout import same_columns
from cuecard.core.prediction import Prediction, TablePrediction, UnusablePrediction
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.table import distinct_gold_rows, row_key
from cuecard.core.scoring.trial_figures import Tally
from cuecard.core.tasks import Table
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, ItemKind, Judgement


class CellAgainst(Frozen):
    """`given`: the cell of the row that was joined; None where there is none, or where nobody knows which
    predicted column was meant.
    """

    gold: str
    given: str | None
    decision: Decision
    rationale: str = ""


class RowAgainst(Frozen):
    """Gold row `index`. `partner`: the predicted row that was joined, None if none was. `repeats`: the row has
    the key of an earlier one, and graders drop it.
    """

    index: int
    key: str
    partner: int | None
    cells: tuple[CellAgainst, ...]
    repeats: bool = False


class ExtraRow(Frozen):
    """A predicted row that was joined with no gold row, in gold column order as far as columns are known.
    `repeats`: it has the key of an earlier predicted row and was dropped.
    """

    index: int
    cells: tuple[str, ...]
    repeats: bool = False


class TableAgainst(Frozen):
    """`usable`: None where nobody has judged. `predicted`: rows that were handed in, None where nothing
    readable was. `reason` why it is unusable.
    """

    family: Literal["table"] = "table"
    columns: tuple[str, ...]
    keys: tuple[int, ...]
    rows: tuple[RowAgainst, ...]
    extra: tuple[ExtraRow, ...]
    predicted: int | None
    usable: bool | None
    reason: str = ""
    raw: str = ""

    @property
    def tally(self) -> Tally:
        """Of the cells that are judged: those of rows that repeat no earlier key."""
        n = Counter(c.decision for row in self.rows if not row.repeats for c in row.cells)
        return Tally(yes=n[Decision.YES], no=n[Decision.NO], unjudged=n[Decision.UNJUDGED])

    @property
    def missed(self) -> int:
        """Gold rows that no predicted row was joined with."""
        return sum(row.partner is None and not row.repeats for row in self.rows)


def table_against(
    table: Table, prediction: Prediction, judgement: Judgement | None
) -> TableAgainst:
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    match = judgement.table if judgement else None
    joined = dict(match.joined) if match and match.usable else {}
    given = _in_gold_order(table, prediction)
    counted = set(distinct_gold_rows(table))
    rows: list[RowAgainst] = []
    for index, row in enumerate(table.rows):
        partner = joined.get(index)
        mine = given[partner] if partner is not None and 0 <= partner < len(given) else None
        cells: list[CellAgainst] = []
        for at, column in enumerate(table.column_names):
            verdict = decisions.verdict(ItemKind.CELL, index, column)
            cells.append(
                CellAgainst(
                    gold=row[at],
                    given=mine[at] if mine else None,
                    decision=verdict.decision if verdict else Decision.UNJUDGED,
                    rationale=verdict.rationale if verdict else "",
                )
            )
        rows.append(
            RowAgainst(
                index=index,
                key=", ".join(table.key_of(row)),
                partner=partner if mine else None,
                cells=tuple(cells),
                repeats=index not in counted,
            )
        )
    unusable = prediction if isinstance(prediction, UnusablePrediction) else None
    reason = match.reason if match and not match.usable else ""
    return TableAgainst(
        columns=table.column_names,
        keys=table.key_indices,
        rows=tuple(rows),
        extra=_extra(table, given, set(joined.values())),
        predicted=len(given) if isinstance(prediction, TablePrediction) else None,
        usable=match.usable if match else None,
        reason=unusable.reason if unusable else reason,
        raw=unusable.raw if unusable else "",
    )


def _in_gold_order(table: Table, prediction: Prediction) -> list[tuple[str | None, ...]]:
    """The predicted rows with their cells under the gold columns of the same name."""
    if not isinstance(prediction, TablePrediction):
        return []
    partner = same_columns(table, prediction.columns).partner
    order = [partner.get(at) for at in range(len(table.columns))]
    return [
        tuple(row[at] if at is not None and at < len(row) else None for at in order)
        for row in prediction.rows
    ]


def _extra(
    table: Table, given: list[tuple[str | None, ...]], joined: set[int]
) -> tuple[ExtraRow, ...]:
    seen: set[tuple[str, ...]] = set()
    found: list[ExtraRow] = []
    for index, row in enumerate(given):
        cells = tuple(cell or "" for cell in row)
        known = all(row[at] is not None for at in table.key_indices)
        key = row_key(table, cells) if known else None
        if index not in joined:
            found.append(ExtraRow(index=index, cells=cells, repeats=key in seen))
        if key is not None:
            seen.add(key)
    return tuple(found)
