"""Scores of a table task (FORMATS: widesearch)."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.i18n import _
from cuecard.core.scoring.cells import key_text, preprocess
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.measures import Measure, count, harmonic, share
from cuecard.core.tasks import Preprocess, Table
from cuecard.core.verdicts import Decision, ItemKind, Judgement, TableMatch

TABLE_MEASURES = (
    "success",
    "row_precision",
    "row_recall",
    "row_f1",
    "item_precision",
    "item_recall",
    "item_f1",
)


def row_key(table: Table, cells: tuple[str, ...]) -> tuple[str, ...]:
    """The key of a row in gold column order, preprocessed and normalised for comparing."""
    columns = ((table.columns[index], cells[index]) for index in table.key_indices)
    return tuple(
        key_text(
            raw, preprocess(column, raw), number=Preprocess.EXTRACT_NUMBER in column.preprocess
        )
        for column, raw in columns
    )


def distinct_gold_rows(table: Table) -> tuple[int, ...]:
    """Indices of gold rows, the first of each key: the grader drops duplicates on both sides."""
    first: dict[tuple[str, ...], int] = {}
    for index, row in enumerate(table.rows):
        first.setdefault(row_key(table, row), index)
    return tuple(first.values())


def score_table(table: Table, judgement: Judgement) -> tuple[Measure, ...]:
    """Success, and precision, recall and F1 of rows and items, each in [0, 1], and `unjudged`.

    FORMATS, widesearch: item scores are summed over the cells of joined rows, a row scores the minimum
    over its cells; precision is over predicted rows or cells (after duplicates by key were dropped),
    recall over gold rows or cells; key columns of joined rows score 1; success only if the whole table
    is right. A response that is no table, or whose columns do not map onto the required ones,
    scores 0.

    Cells that were not judged leave both sides of every ratio; a row with such a cell and no wrong
    one does too, and leaves success undefined unless it has failed anyway. So does a gold row of which
    the judge says that it could not tell its partner. A verdict on a whole row goes before its cells in
    what is said of rows. A judgement that does not say how the table was laid over the gold one leaves
    all undefined.
    """
    gold = distinct_gold_rows(table)
    width = len(table.columns)
    match = judgement.table
    if match is None:
        reason = _("the judgement does not say which rows were joined")
        unjudged = count("unjudged", len(gold) * width, len(gold) * width)
        return (*(Measure(name, None, 0, reason) for name in TABLE_MEASURES), unjudged)
    tally = _count(table, judgement, gold, match)
    nothing = match.reason or _("no rows were handed in")
    rows = (
        share("row_precision", tally.right_rows, tally.predicted_rows, nothing, zero=True),
        share("row_recall", tally.right_rows, tally.gold_rows, _("no gold row was judged")),
    )
    items = (
        share("item_precision", tally.right_cells, tally.predicted_cells, nothing, zero=True),
        share("item_recall", tally.right_cells, tally.gold_cells, _("no gold cell was judged")),
    )
    return (
        _success(tally, match.predicted_rows, len(gold)),
        *rows,
        harmonic("row_f1", *rows),
        *items,
        harmonic("item_f1", *items),
        count("unjudged", tally.unjudged, len(gold) * width),
    )


@dataclass
class _Tally:
    """Counts without what was not judged."""

    gold_rows: int
    gold_cells: int
    predicted_rows: int
    predicted_cells: int
    right_rows: int = 0
    right_cells: int = 0
    unjudged: int = 0
    undecided_rows: int = 0


def _count(table: Table, judgement: Judgement, gold: tuple[int, ...], match: TableMatch) -> _Tally:
    decisions = Decisions.of(judgement.verdicts)
    width = len(table.columns)
    predicted = match.predicted_rows if match.usable else 0
    tally = _Tally(len(gold), len(gold) * width, predicted, predicted * width)
    joined = _joined(match, gold)
    for row in set(gold).difference(joined) if match.usable else ():
        if _left_open(table, decisions, row):
            tally.unjudged += width
            tally.gold_cells -= width
            tally.gold_rows -= 1
            tally.undecided_rows += 1
    for row in joined:
        states = [
            Decision.YES
            if column.name in table.unique_columns
            else decisions.decision(ItemKind.CELL, row, column.name)
            for column in table.columns
        ]
        open_cells = states.count(Decision.UNJUDGED)
        tally.right_cells += states.count(Decision.YES)
        tally.unjudged += open_cells
        tally.gold_cells -= open_cells
        tally.predicted_cells -= open_cells
        whole = decisions.decision(ItemKind.ROW, row)
        if whole is not Decision.UNJUDGED:
            tally.right_rows += whole is Decision.YES
            continue
        if Decision.NO in states:
            continue
        if open_cells:
            tally.undecided_rows += 1
            tally.gold_rows -= 1
            tally.predicted_rows -= 1
        else:
            tally.right_rows += 1
    return tally


def _left_open(table: Table, decisions: Decisions, row: int) -> bool:
    """Whether the judge said of every cell that it did not judge it: said nothing is another matter."""
    found = (decisions.verdict(ItemKind.CELL, row, column.name) for column in table.columns)
    return all(verdict and verdict.decision is Decision.UNJUDGED for verdict in found)


def _joined(match: TableMatch, gold: tuple[int, ...]) -> list[int]:
    """Gold rows with a partner; a row on either side is joined once."""
    if not match.usable:
        return []
    known, taken = set(gold), set[int]()
    rows: list[int] = []
    for row, partner in match.joined:
        if row in known and partner not in taken:
            known.discard(row)
            taken.add(partner)
            rows.append(row)
    return rows


def _success(tally: _Tally, predicted: int, gold: int) -> Measure:
    whole = predicted == gold == tally.right_rows + tally.undecided_rows
    if whole and tally.undecided_rows:
        return Measure("success", None, 0, _("some cells were not judged"))
    return Measure("success", float(whole), 1)
