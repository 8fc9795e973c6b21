"""The two programs that `grid.py` measures: `python grid_program.py stock|grid triples|cells|rows`.

F5 shows the rows; Enter edits the cell under the cursor, Tab takes it. Both write every key into the
same edit of a task and offer candidates and warnings from the same index of its graph.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Input, Static

from cuecard.annotate.authoring import graph_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.core.text import one_line
from cuecard.tui.grid.cells import GridCell, GridColumn, ListSource
from cuecard.tui.grid.editable_grid import EditableGrid
from cuecard.tui.grid.grid import Grid
from cuecard.tui.preferences import DARK

CASES = {"triples": (5_000, 5), "cells": (500, 10), "rows": (10_000, 5)}
FIELDS = ("head", "relation", "tail")
PLACES = ["Kyoto", "東京", "Osaka", "北京", "Nara", "上海", "Kobe", "Nagoya"]
KINDS = ["University", "Museum", "Institute", "博物館", "Archive", "大学", "Library"]
RELATIONS = [
    f"{verb} {what}"
    for verb in ("located in", "founded by", "part of")
    for what in ("", "since", "near", "with")
]


def triples(count: int) -> list[dict[str, Any]]:
    chance = random.Random(4)
    names = [f"{a} {b} {n}" for a in PLACES for b in KINDS for n in range(1, 25)]
    return [
        {
            "head": chance.choice(names),
            "relation": chance.choice(RELATIONS).strip(),
            "tail": chance.choice(names),
            "sources": [f"https://example.org/{n}"] if n % 2 else [],
            "stage": 1 + n % 11,
        }
        for n in range(count)
    ]


def rows_of(case: str) -> list[list[str]]:
    count, columns = CASES[case]
    if columns == 5:
        return [
            [t["head"], t["relation"], t["tail"], str(t["stage"]), "".join(t["sources"])]
            for t in triples(count)
        ]
    chance = random.Random(5)
    return [
        [f"{chance.choice(PLACES)} {chance.randrange(9999)}" for _ in range(columns)]
        for _ in range(count)
    ]


def widths_of(case: str) -> list[tuple[str, int]]:
    if CASES[case][1] == 5:
        return [("Head", 26), ("Relation", 18), ("Tail", 26), ("Stage", 5), ("Source", 24)]
    return [(f"Column {n}", 9) for n in range(CASES[case][1])]


class Task:
    """An edit of a graph task, and what is known of its names."""

    def __init__(self, case: str) -> None:
        self.edit = TaskEdit(
            {"gold": {"family": "graph", "triples": triples(CASES[case][0]), "nodes": []}}
        )
        self.index = GraphIndex()
        self.index.refresh(self.edit)
        self.row = self.column = 0

    def write(self, row: int, column: int, text: str) -> None:
        if column < len(FIELDS):
            graph_ops.write_text(self.edit, row, FIELDS[column], text)
            self.index.refresh(self.edit)

    def matching(self, typed: str, limit: int = 6) -> list[str]:
        return self.index.candidates("relation" if self.column == 1 else "entity", typed, limit)

    def hint(self, text: str) -> str:
        kind = "relation" if self.column == 1 else "entity"
        near = self.index.near(kind, text, besides=self.row)
        if near:
            return f"like “{near[0]}”"
        triples = self.edit.items(("gold", "triples"))
        like = self.index.like(triples[self.row], besides=self.row)
        return f"like triple {like.index + 1}" if like else ""


class Program(App[None]):
    def __init__(self, case: str) -> None:
        super().__init__()
        self.case = case
        self.rows = rows_of(case)
        self.work: Task | None = Task(case) if case == "triples" else None
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        yield Static("ready")

    async def key_f5(self) -> None:
        await self.mount(self.body())

    def body(self) -> Vertical:
        raise NotImplementedError


class GridProgram(Program):
    def body(self) -> Vertical:
        columns = [
            GridColumn(label, width, grow=1, raw=True) for label, width in widths_of(self.case)
        ]
        source = ListSource(self.rows, [GridCell("")] * len(self.rows))
        if self.work is None:
            grid = Grid(columns, cursor="cell", numbered=True)
            grid.load(source)
            self.call_later(grid.focus)
            return Vertical(grid)
        editable_grid = EditableGrid(columns, marking=True)
        editable_grid.load(source)
        self.call_later(editable_grid.grid.focus)
        return Vertical(editable_grid)

    def on_editable_grid_begin_asked(self, event: EditableGrid.BeginAsked) -> None:
        assert self.work
        self.work.row, self.work.column = event.row, event.column
        text = self.rows[event.row][event.column]
        event.editable_grid.begin(
            event.row, event.column, text, candidates=self.work, hint=self.work.hint
        )

    def on_editable_grid_cell_edited(self, event: EditableGrid.CellEdited) -> None:
        assert self.work
        self.work.write(event.row, event.column, event.text)
        self.rows[event.row][event.column] = event.text
        event.editable_grid.grid.changed(event.row)


class StockProgram(Program):
    CSS = "Input { height: 1; border: none; } #offers { height: 1; }"

    def body(self) -> Vertical:
        table: DataTable[Text] = DataTable(cursor_type="cell")
        for label, width in widths_of(self.case):
            table.add_column(Text(label), width=width)
        for row in self.rows:
            table.add_row(*(_cell(text) for text in row))
        self.call_later(table.focus)
        return Vertical(table, Input(compact=True), Static("", id="offers", markup=False))

    def on_data_table_cell_selected(self, event: DataTable.CellSelected) -> None:
        editor = self.query_one(Input)
        editor.value = ""
        editor.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        table: DataTable[Text] = self.query_one(DataTable)
        row, column = table.cursor_coordinate
        if self.work is None or not event.value:
            return
        self.work.row, self.work.column = row, column
        self.work.write(row, column, event.value)
        table.update_cell_at(Coordinate(row, column), _cell(event.value))
        offers: Sequence[str] = self.work.matching(event.value)
        self.query_one("#offers", Static).update(
            Text(one_line(" · ".join([self.work.hint(event.value), *offers]), 110))
        )

    def key_tab(self) -> None:
        self.query_one(DataTable).focus()

    def key_escape(self) -> None:
        self.query_one(DataTable).move_cursor(
            column=(self.query_one(DataTable).cursor_column + 1) % 3
        )


def _cell(text: str) -> Text:
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


if __name__ == "__main__":
    kind, chosen = sys.argv[1:]
    (StockProgram if kind == "stock" else GridProgram)(chosen).run()
