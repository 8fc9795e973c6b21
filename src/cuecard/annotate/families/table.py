"""What authors, reviewers and evaluators know of table tasks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from cuecard.annotate.authoring import schema
from cuecard.annotate.authoring.diff import Loose, MatchRule
from cuecard.annotate.authoring.references import Data, Links, identities
from cuecard.annotate.authoring.session import shipped_guidelines
from cuecard.annotate.authoring.task_data import blank_column
from cuecard.annotate.families.common import no_strata
from cuecard.annotate.families.registry import AnnotateFamily, Decided, Dimension, GoldElement
from cuecard.annotate.labelling.effect.rescoring import By, or_none, replaced
from cuecard.annotate.lint.gold import lint_table
from cuecard.annotate.lint.rules import written_table
from cuecard.annotate.results import trial_against_gold as beside
from cuecard.annotate.results.errors.causes import cause_by_table
from cuecard.annotate.results.trial_record import HitLog
from cuecard.core.engine.events import Event
from cuecard.core.evaluation.decisions import rows_of
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import same_columns
from cuecard.core.families.table.score import distinct_gold_rows, row_key
from cuecard.core.i18n import N_
from cuecard.core.validation import Place
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    Item,
    ItemKind,
    Judgement,
    Prediction,
    TableMatch,
    TablePrediction,
)

Cover = Callable[[str], str]


def _blind_table(table: Table, cover: Cover) -> dict[str, Any]:
    columns = [
        {**column.model_dump(mode="json"), "criterion": cover(column.criterion)}
        for column in table.columns
    ]
    keys = list(table.unique_columns)
    rows = [[""] * len(columns)]
    return {"family": "table", "columns": columns, "unique_columns": keys, "rows": rows}


def _table_terms(table: Table, item: Item, prediction: Prediction) -> tuple[str, ...]:
    del prediction
    row = table.rows[item.index]
    return *table.key_of(row), *row


def _against(
    table: Table, prediction: Prediction, judgement: Judgement | None, hits: HitLog
) -> beside.TableAgainst:
    del hits
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    match = judgement.table if judgement else None
    joined = dict(match.joined) if match and match.usable else {}
    given = _in_gold_order(table, prediction)
    counted = set(distinct_gold_rows(table))
    rows: list[beside.RowAgainst] = []
    for index, row in enumerate(table.rows):
        partner = joined.get(index)
        mine = given[partner] if partner is not None and 0 <= partner < len(given) else None
        cells: list[beside.CellAgainst] = []
        for at, column in enumerate(table.column_names):
            verdict = decisions.verdict(ItemKind.CELL, index, column)
            cells.append(
                beside.CellAgainst(
                    gold=row[at],
                    given=mine[at] if mine else None,
                    decision=verdict.decision if verdict else Decision.UNJUDGED,
                    rationale=verdict.rationale if verdict else "",
                )
            )
        rows.append(
            beside.RowAgainst(
                index=index,
                key=", ".join(table.key_of(row)),
                partner=partner if mine else None,
                cells=tuple(cells),
                repeats=index not in counted,
            )
        )
    reason, raw = beside.unusable(prediction)
    if match and not match.usable:
        reason = reason or match.reason
    return beside.TableAgainst(
        columns=table.column_names,
        keys=table.key_indices,
        rows=tuple(rows),
        extra=_extra(table, given, set(joined.values())),
        predicted=len(given) if isinstance(prediction, TablePrediction) else None,
        usable=match.usable if match else None,
        reason=reason,
        raw=raw,
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
) -> tuple[beside.ExtraRow, ...]:
    seen: set[tuple[str, ...]] = set()
    found: list[beside.ExtraRow] = []
    for index, row in enumerate(given):
        cells = tuple(cell or "" for cell in row)
        known = all(row[at] is not None for at in table.key_indices)
        key = row_key(table, cells) if known else None
        if index not in joined:
            found.append(beside.ExtraRow(index=index, cells=cells, repeats=key in seen))
        if key is not None:
            seen.add(key)
    return tuple(found)


_COLUMNS = schema.Items(
    N_("Columns"),
    N_("Column {n}"),
    schema.Record(
        N_("Column"),
        {
            "name": schema.Leaf(N_("Name")),
            "preprocess": schema.Leaf(N_("Preprocess")),
            "metric": schema.Leaf(N_("Metric")),
            "criterion": schema.Leaf(N_("Criterion"), schema.PARAGRAPH),
        },
    ),
    # `cells` is what stands below a column: one that got quite another name is known by it.
    MatchRule(
        keys=(
            schema.known_by("name"),
            schema.known_by("name", plain=True),
            schema.known_by("cells"),
        ),
        loose=(Loose(lambda _column: True, schema.words("cells"), 70),),
        text=schema.words("name"),
        least=60,
    ),
    schema.words("name"),
)
_CELL = N_("Cell")
_ROWS = N_("Rows")
_ROW = N_("Row {n}")


def _fields(columns: Mapping[str, str], keys: tuple[str, ...]) -> Mapping[str, schema.Shape]:
    """The fields of a table whose rows are mappings. `columns`: what each field of a row is called;
    `keys`: the fields by which rows are known.
    """
    fields: dict[str, schema.Shape] = {
        name: schema.Leaf(label or _CELL, raw=bool(label)) for name, label in columns.items()
    }

    def key_of(row: Any) -> tuple[str, ...] | None:
        cells = tuple(schema.part(row, key) for key in keys or fields)
        return cells if any(cells) else None

    def title(row: Any) -> str:
        return " | ".join(key_of(row) or ())

    def text(row: Any) -> str:
        return " | ".join(cell for key in fields if (cell := schema.part(row, key)))

    rows = schema.Items(
        _ROWS, _ROW, schema.Record("", fields), MatchRule((key_of,), text=text, least=60), title
    )
    return {"columns": _COLUMNS, "unique_columns": schema.Leaf(N_("Key columns")), "rows": rows}


_ROWS_LOOKED_AT = 50


class _CellLinks(Links):
    """Of tables: cells by their column, and key columns, in place of positions and names."""

    def __init__(
        self,
        golds: Sequence[Data],
        fields: Mapping[str, schema.Shape],
        staged: str,
        stages: Sequence[Sequence[schema.Ref]],
    ) -> None:
        super().__init__(golds, fields, staged, stages)
        self._columns = identities([_with_cells(gold) for gold in golds], _COLUMNS.match_rule)
        self.ids = {("gold", "columns"): self._columns}
        names: dict[str, str] = {}
        for gold, known in zip(golds, self._columns, strict=True):
            for column, number in zip(schema.listed(gold, "columns"), known, strict=True):
                names[f"c{number}"] = schema.part(column, "name")
        keys = schema.listed(self.linked(0), "unique_columns")
        self.fields = _fields(
            names, tuple(f"c{key.id}" for key in keys if isinstance(key, schema.Ref))
        )

    def linked(self, at: int) -> Data:
        gold, ids = self._golds[at], self._columns[at]
        keys = [f"c{known}" for known in ids]
        rows: list[Any] = []
        for row in schema.listed(gold, "rows"):
            if isinstance(row, list):
                cells = cast(list[Any], row)
                more = [f"x{index}" for index in range(len(keys), len(cells))]
                # A row that is too short has nothing there, which is less than an empty cell.
                filled = [*cells, *[None] * (len(keys) - len(cells))]
                rows.append(dict(zip([*keys, *more], filled, strict=True)))
            else:
                rows.append(row)
        names = [schema.part(column, "name") for column in schema.listed(gold, "columns")]
        unique: list[Any] = [
            schema.Ref(ids[names.index(name)], name) if name in names else name
            for name in schema.listed(gold, "unique_columns")
        ]
        return {**gold, "rows": rows, "unique_columns": unique}

    def unlinked(self, gold: Data, stages: Sequence[int], columns: Sequence[int]) -> Data:
        at = {known: index for index, known in enumerate(columns)}
        names = [schema.part(column, "name") for column in schema.listed(gold, "columns")]
        keys: list[Any] = []
        for key in schema.listed(gold, "unique_columns"):
            if not isinstance(key, schema.Ref):
                keys.append(key)
            elif key.id in at:
                keys.append(names[at[key.id]])
        rows = [_cells(row, at) for row in schema.listed(gold, "rows")]
        return {**gold, "rows": rows, "unique_columns": keys}

    def used(self, old: Data, new: Data) -> tuple[set[int], set[int]]:
        columns = set[int]()
        for before, after in self.pairs(old, new, "rows"):
            for name, cell in schema.mapping(after).items():
                changed = not schema.same(cell, schema.mapping(before).get(name))
                if name[0] == "c" and changed and not schema.is_blank(cell):
                    columns.add(int(name[1:]))
        return set(), columns

    def place(self, path: Place, version: int) -> Place:
        if path[:2] != ("gold", "rows") or len(path) != 4:
            return path
        name, ids = str(path[3]), self._columns[version]
        number = int(name[1:])
        if name[0] == "x":
            return (*path[:3], number)
        return (*path[:3], ids.index(number) if number in ids else 0)

    def cell(self, path: Place) -> int | None:
        if path[:2] != ("gold", "rows") or len(path) != 4:
            return None
        column, now = self._columns[0][int(path[3])], self._columns[-1]
        if column not in now:
            raise KeyError(column)
        return now.index(column)


def _with_cells(gold: Data) -> list[Any]:
    """Columns with the first of their cells added, by which a renamed column is recognised."""
    rows: list[list[Any]] = [
        cast(list[Any], row) for row in schema.listed(gold, "rows") if isinstance(row, list)
    ]
    found: list[Any] = []
    for at, column in enumerate(schema.listed(gold, "columns")):
        cells = "\n".join(
            schema.text_of(row[at]) for row in rows[:_ROWS_LOOKED_AT] if at < len(row)
        )
        fields = schema.mapping(column)
        found.append({**fields, "cells": cells.strip()} if fields else column)
    return found


def _cells(row: Any, at: Mapping[int, int]) -> Any:
    """A row in column order; cells that no column holds any more are left out."""
    if not isinstance(row, dict):
        return row
    cells: dict[int, Any] = {}
    for key, value in cast(dict[str, Any], row).items():
        number = int(key[1:])
        if key[0] == "x":
            cells[number] = value
        elif number in at:
            cells[at[number]] = value
    width = max((len(at) - 1, *cells)) + 1
    row = [cells.get(index, "") for index in range(width)]
    while row and row[-1] is None:
        row.pop()
    return ["" if cell is None else cell for cell in row]


def _element(table: Table, item: Item) -> GoldElement | None:
    path = ("gold", "rows", item.index)
    if item.index >= len(table.rows):
        return None
    if item.kind is ItemKind.CELL and item.column in table.column_names:
        return GoldElement((*path, table.column_names.index(item.column)))
    return GoldElement(path) if item.kind is ItemKind.ROW else None


def _decided(table: Table, events: Sequence[Event], judgement: Judgement) -> Decided:
    del table, events
    rows = rows_of(judgement)
    return {Item(kind=ItemKind.ROW, index=index).key: or_none(said) for index, said in rows}


def _corrected(table: Table, judgement: Judgement, said: By) -> Judgement:
    decided = {**_cells_of_rows(table, said), **said}
    made, match = replaced(judgement, decided), judgement.table
    if match is None or not match.usable:
        return made
    return made.model_copy(update={"table": _rejoined(table, match, decided)})


def _cells_of_rows(table: Table, said: By) -> dict[str, Decision]:
    found: dict[str, Decision] = {}
    for key, decision in said.items():
        item = Item.of_key(key)
        if item.kind is ItemKind.ROW and decision is Decision.YES:
            for name in table.column_names:
                cell = Item(kind=ItemKind.CELL, index=item.index, column=name)
                found[cell.key] = Decision.YES
    return found


def _rejoined(table: Table, match: TableMatch, decided: By) -> TableMatch:
    covered: set[int] = set()
    without_key: set[int] = set()
    for key, decision in decided.items():
        item = Item.of_key(key)
        if item.kind is not ItemKind.CELL:
            continue
        if decision is Decision.YES:
            covered.add(item.index)
        elif item.column in table.unique_columns:
            without_key.add(item.index)
    apart = without_key - covered
    joined = [pair for pair in match.joined if pair[0] not in apart]
    free = iter(sorted(set(range(match.predicted_rows)) - {partner for _row, partner in joined}))
    have = {row for row, _partner in joined}
    joined += list(zip(sorted(covered - have), free, strict=False))
    return match.model_copy(update={"joined": tuple(sorted(joined))})


TABLE = AnnotateFamily(
    drafts=("persona", "translation"),
    persona=False,
    blank=lambda: {"columns": [blank_column()], "unique_columns": [""], "rows": [[""]]},
    blind=_blind_table,
    written=written_table,
    fields=_fields({}, ()),
    staged="",
    links=_CellLinks,
    guidelines=shipped_guidelines("table"),
    lint=(lint_table,),
    dimensions=(
        Dimension(
            key="question",
            label=N_("Question is unambiguous"),
            help=N_("It says which rows belong to the table and what goes into each column."),
        ),
        Dimension(
            key="completeness",
            label=N_("Table is complete"),
            help=N_("Every row that belongs is there, and none that does not."),
        ),
        Dimension(
            key="gold",
            label=N_("Cells are correct"),
            help=N_("The values are true and supported by the sources."),
        ),
        Dimension(
            key="stability",
            label=N_("Table is stable over time"),
            help=N_("Nothing in it changes next year, or the question fixes the date."),
        ),
        Dimension(
            key="comparison",
            label=N_("Comparison is fair"),
            help=N_(
                "Keys tell rows apart; each column's metric accepts every right way to write it."
            ),
        ),
    ),
    terms=_table_terms,
    stratum=no_strata,
    element=_element,
    decided=_decided,
    corrected=_corrected,
    cause=cause_by_table,
    against=_against,
    compared=("success", "row_f1", "item_f1"),
)
