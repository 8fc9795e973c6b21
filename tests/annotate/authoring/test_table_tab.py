"""A table's rows and columns under an author's hands."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring import ops, table_ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import COLUMNS, KEYS, ROWS
from cuecard.annotate.authoring.paste import as_markdown, as_tsv, parse_rows
from cuecard.annotate.authoring.table_columns import CellChecks, DuplicateKeys, type_of
from cuecard.annotate.authoring.table_ops import PasteMode, apply_paste, plan_paste
from cuecard.annotate.authoring.task_data import blank_column, blank_task


def table(columns: list[dict[str, Any]], keys: list[str], rows: list[list[str]]) -> TaskEdit:
    data = blank_task("t", "T", "table", "en")
    filled = [{**blank_column(), **column} for column in columns]
    return TaskEdit({**data, "gold": {"family": "table", "columns": filled, "unique_columns": keys, "rows": rows}})  # fmt: skip


@pytest.fixture
def peaks() -> TaskEdit:
    return table(
        [
            {"name": "Peak"},
            {"name": "Height", "preprocess": ["extract_number"], "metric": ["number_near"]},
            {"name": "First climbed", "preprocess": ["norm_date"]},
        ],
        ["Peak"],
        [["K2", "8,611 m", "31 July 1954"], ["Peak 10", "", ""], ["Peak 9", "900 m", "1953"]],
    )


def first_cells(edit: TaskEdit) -> list[str]:
    return [row[0] for row in edit.items(ROWS)]


def test_cells_that_do_not_fit_their_column_say_why() -> None:
    checks = CellChecks()
    assert checks.misfit("number", "about 8,611 m") == ""
    assert "number" in checks.misfit("number", "high")
    assert checks.misfit("url", "https://a.org") == ""
    assert checks.misfit("url", "a.org")
    assert checks.misfit("date", "1953年5月") == checks.misfit("date", "1954") == ""
    assert checks.misfit("date", "long ago")
    assert checks.misfit("date", "") == checks.misfit("text", "x") == ""


def test_uncommon_dates_are_read_when_there_is_time() -> None:
    checks = CellChecks()
    assert checks.misfit("date", "le 3 mai 1953") == checks.misfit("date", "99 qqq 2") == ""
    assert checks.pending
    checks.settle()
    assert not checks.pending
    assert checks.misfit("date", "le 3 mai 1953") == ""
    assert checks.misfit("date", "99 qqq 2")


def test_a_column_has_the_type_of_how_it_is_compared(peaks: TaskEdit) -> None:
    assert [type_of(column) for column in peaks.items(COLUMNS)] == ["text", "number", "date"]


def test_rows_are_sorted_by_value_with_empty_cells_last(peaks: TaskEdit) -> None:
    table_ops.sort_rows(peaks, 1)
    assert first_cells(peaks) == ["Peak 9", "K2", "Peak 10"]
    table_ops.sort_rows(peaks, 1, down=True)
    assert first_cells(peaks) == ["K2", "Peak 9", "Peak 10"]
    table_ops.sort_rows(peaks, 0)
    assert first_cells(peaks) == ["K2", "Peak 9", "Peak 10"]
    table_ops.sort_rows(peaks, 2)
    assert first_cells(peaks) == ["Peak 9", "K2", "Peak 10"]
    for _step in range(3):
        peaks.undo()
    assert first_cells(peaks) == ["K2", "Peak 10", "Peak 9"]


def test_blocks_of_rows_move_are_copied_and_deleted(peaks: TaskEdit) -> None:
    assert table_ops.move_items(peaks, ROWS, {1, 2}, -1) == {0, 1}
    assert first_cells(peaks) == ["Peak 10", "Peak 9", "K2"]
    assert table_ops.move_items(peaks, ROWS, {0, 1}, -1) == {0, 1}
    assert table_ops.copy_items(peaks, ROWS, {0, 2}) == {3, 4}
    assert first_cells(peaks) == ["Peak 10", "Peak 9", "K2", "Peak 10", "K2"]
    table_ops.delete_items(peaks, ROWS, {0, 1, 4})
    assert first_cells(peaks) == ["K2", "Peak 10"]
    table_ops.delete_items(peaks, ROWS, {0, 1})
    assert peaks.items(ROWS) == []


def test_rows_with_the_same_key_are_found_while_typing(peaks: TaskEdit) -> None:
    watch = DuplicateKeys()
    assert watch.duplicates(peaks) == {}
    ops.write_cell(peaks, 2, 0, "ｋ2 ")
    assert watch.duplicates(peaks) == {0: 2, 2: 0}
    ops.write_key(peaks, 1, True)
    assert watch.duplicates(peaks) == {}
    table_ops.delete_items(peaks, ROWS, {1})
    ops.write_cell(peaks, 1, 1, "8611")
    assert watch.duplicates(peaks) == {0: 1, 1: 0}


def test_rows_pasted_with_a_header_find_their_columns(peaks: TaskEdit) -> None:
    pasted = parse_rows(
        "height,peak,Country,Site\n1,A,X,https://a.org\n2,B,Y,https://b.org",
        ops.column_names(peaks),
    )
    plan = plan_paste(peaks, pasted, "rows", 0, 1, add_columns=False)
    assert (plan.targets, plan.left_out) == ((1, 0, None, None), ("Country", "Site"))
    plan = plan_paste(peaks, pasted, "rows", 0, 1, add_columns=True)
    assert (plan.added, plan.changed, plan.new) == (2, 0, ("Country", "Site"))
    before = copy.deepcopy(peaks.data)
    apply_paste(peaks, plan)
    assert peaks.items(ROWS)[1:3] == [["A", "1", "", "X", "https://a.org"], ["B", "2", "", "Y", "https://b.org"]]  # fmt: skip
    assert peaks.items(ROWS)[0] == ["K2", "8,611 m", "31 July 1954", "", ""]
    assert [type_of(column) for column in peaks.items(COLUMNS)][3:] == ["text", "url"]
    peaks.undo()
    assert peaks.data == before
    assert not peaks.can_undo


def test_cells_pasted_at_the_cursor_overwrite_and_add_rows(peaks: TaskEdit) -> None:
    plan = plan_paste(peaks, parse_rows("1\t1990\n2\t1991"), "cells", 2, 1, add_columns=False)
    assert (plan.changed, plan.added) == (1, 1)
    apply_paste(peaks, plan)
    assert peaks.items(ROWS)[2:] == [["Peak 9", "1", "1990"], ["", "2", "1991"]]
    wide = plan_paste(peaks, parse_rows("a\tb\tc"), "cells", 0, 2, add_columns=True)
    assert wide.targets == (2, 3, 4)
    assert len(set(wide.new)) == 2
    apply_paste(peaks, wide)
    assert peaks.items(ROWS)[0][2:] == ["a", "b", "c"]


def test_an_empty_table_takes_names_and_rows_from_what_is_pasted() -> None:
    edit = TaskEdit(blank_task("t", "T", "table", "en"))
    pasted = parse_rows("| State | Year |\n|--|--|\n| Utah | 1896 |")
    apply_paste(edit, plan_paste(edit, pasted, "cells", 0, 0, add_columns=True))
    assert ops.column_names(edit) == ["State", "Year"]
    assert edit.get(KEYS) == ["State"]
    assert edit.items(ROWS) == [["Utah", "1896"]]
    edit.undo()
    assert not edit.can_undo


def test_copied_rows_paste_back() -> None:
    rows = [["a\tb", 'say "x"'], ["", "c|d"]]
    assert parse_rows(as_tsv(rows)).rows == (("a b", 'say "x"'), ("", "c|d"))
    assert parse_rows(as_markdown(["p|q", "r"], rows)).header == ("p|q", "r")
    assert parse_rows(as_markdown(["p|q", "r"], rows)).rows[1] == ("", "c|d")


CELLS = st.sampled_from(["", "a", "b", "7", "1990"])


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_undo_after_any_edits_gives_the_exact_table_back(data: st.DataObject) -> None:
    edit = table([{"name": "A"}, {"name": "B"}], ["A"], [["a", "1"], ["b", ""], ["", "2"]])
    before = copy.deepcopy(edit.data)
    for _step in range(data.draw(st.integers(1, 6))):
        count, width = len(edit.items(ROWS)), len(edit.items(COLUMNS))
        rows = data.draw(st.frozensets(st.integers(0, max(count - 1, 0)), max_size=3))
        row, column = data.draw(st.integers(0, count)), data.draw(st.integers(0, width - 1))
        match data.draw(st.integers(0, 8)):
            case 0:
                table_ops.insert_row(edit, row)
            case 1 if rows and count:
                table_ops.delete_items(edit, ROWS, rows)
            case 2:
                table_ops.move_items(edit, ROWS, rows, data.draw(st.sampled_from([-1, 1])))
            case 3:
                table_ops.copy_items(edit, ROWS, rows)
            case 4:
                table_ops.sort_rows(edit, column, down=data.draw(st.booleans()))
            case 5:
                table_ops.add_column(edit, column)
            case 6 if row < count:
                ops.write_cell(edit, row, column, data.draw(CELLS))
            case _:
                grid = data.draw(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=3))
                pasted = parse_rows(as_tsv(grid))
                mode: PasteMode = data.draw(st.sampled_from(["rows", "cells"]))
                add = data.draw(st.booleans())
                apply_paste(edit, plan_paste(edit, pasted, mode, row, column, add_columns=add))
        width = len(edit.items(COLUMNS))
        assert all(len(r) == width for r in edit.items(ROWS))
    while edit.undo() is not None:
        pass
    assert edit.data == before
