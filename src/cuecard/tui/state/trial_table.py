"""A predicted table laid beside the gold one, as rows and cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.results.trial.table_against_gold import CellAgainst, ExtraRow, RowAgainst, TableAgainst
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.trial_gold import SHOWN_LABEL, Shown, tally_words
from cuecard.tui.state.trial_lines import DECISION

GridTone = Literal["plain", "muted", "good", "bad", "accent"]
_TONE: dict[Decision, GridTone] = {
    Decision.YES: "good",
    Decision.NO: "bad",
    Decision.UNJUDGED: "muted",
}


@dataclass(frozen=True)
class TableCell:
    """`item`: the gold cell that it is about; None for what is not in the gold."""

    text: str
    tone: GridTone
    item: Item | None
    detail: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True)
class TableView:
    """`rows` of cells in the gold's column order. Missing rows stand in the gold's place, extra rows below."""

    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]


def table_view(against: TableAgainst, shown: Shown) -> TableView:
    rows = [_row(against, row) for row in against.rows if _is_shown(row, shown)]
    if shown in ("all", "extra"):
        rows += [_extra(against, row) for row in against.extra]
    return TableView(_note(against, shown), against.columns, tuple(rows))


def _note(against: TableAgainst, shown: Shown) -> str:
    gold = len(against.rows)
    if against.predicted is None or against.reason:
        reason = one_line(against.reason, 160) or _("no table was handed in")
        return _("nothing usable: {reason}").format(reason=reason)
    said = [
        _("{n} rows handed in, {gold} in the gold").format(n=against.predicted, gold=gold),
        ngettext("{n} row missed", "{n} rows missed", against.missed).format(n=against.missed),
        ngettext("{n} row extra", "{n} rows extra", len(against.extra)).format(
            n=len(against.extra)
        ),
    ]
    cells = _("cells: {counts}").format(counts=tally_words(against.tally))
    if shown != "all":
        cells += " · " + _(SHOWN_LABEL[shown])
    return " · ".join(said) + "\n" + cells


def _is_shown(row: RowAgainst, shown: Shown) -> bool:
    states = [cell.decision for cell in row.cells]
    match shown:
        case "all":
            return True
        case "no":
            return Decision.NO in states
        case "yes":
            return all(state is Decision.YES for state in states)
        case "unjudged":
            return Decision.UNJUDGED in states
        case "extra":
            return False


def _row(against: TableAgainst, row: RowAgainst) -> tuple[TableCell, ...]:
    return tuple(
        _cell(row, cell, column, key=at in against.keys)
        for at, (cell, column) in enumerate(zip(row.cells, against.columns, strict=True))
    )


def _cell(row: RowAgainst, cell: CellAgainst, column: str, *, key: bool) -> TableCell:
    mark, tone = DECISION[cell.decision]
    missed = row.partner is None
    text = cell.gold if key else "–" if missed else cell.given if cell.given is not None else "?"
    if row.repeats:
        mark = "="
    where = f"{one_line(row.key, 60)} · {one_line(column, 40)}"
    given = _("row missed") if missed else cell.given if cell.given is not None else "?"
    detail: list[tuple[Piece, ...]] = [
        (Piece(where, "strong"), Piece(f"  {mark}", tone)),
        (Piece(_("GOLD"), "agent"), Piece(f"   {one_line(cell.gold, 300)}")),
        (Piece(_("GIVEN"), "agent"), Piece(f"  {one_line(given, 300)}")),
    ]
    said = _("repeats the key of an earlier row, and graders drop it") if row.repeats else ""
    if said or cell.rationale:
        detail.append((Piece(one_line(said or cell.rationale, 300), "muted"),))
    item = Item(kind=ItemKind.CELL, index=row.index, column=column)
    tone_ = "muted" if row.repeats else _TONE[cell.decision]
    return TableCell(f"{mark} {one_line(text, 200)}", tone_, item, tuple(detail))


def _extra(against: TableAgainst, row: ExtraRow) -> tuple[TableCell, ...]:
    told = _("row {n} of what was handed in is joined with no gold row").format(n=row.index + 1)
    if row.repeats:
        told = _(
            "row {n} of what was handed in repeats an earlier key, and graders drop it"
        ).format(n=row.index + 1)
    mark = "=" if row.repeats else "+"
    cells: Sequence[str] = row.cells
    return tuple(
        TableCell(
            f"{mark} {one_line(text, 200)}",
            "muted" if row.repeats else "accent",
            None,
            (
                (Piece(one_line(column, 40), "strong"), Piece(f"  {mark}", "stage")),
                (Piece(_("GIVEN"), "agent"), Piece(f"  {one_line(text, 300)}")),
                (Piece(told, "muted"),),
            ),
        )
        for text, column in zip(cells, against.columns, strict=True)
    )
