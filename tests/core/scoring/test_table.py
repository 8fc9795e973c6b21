import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.score import TABLE_MEASURES, distinct_gold_rows, score_table
from cuecard.core.verdicts import Item, ItemKind, TableMatch

COLUMNS = ("key", "x", "y")


def table(*rows: str, unique: tuple[str, ...] = ("key",)) -> Table:
    return Table.model_validate(
        {
            "columns": [{"name": name} for name in COLUMNS],
            "unique_columns": unique,
            "rows": [row.split() for row in rows],
        }
    )


FOUR = table("a 1 2", "b 3 4", "c 5 6", "d 7 8")


def cells(build, **rows: str):
    """`cells(build, r0="yn")`: decisions of x and y by row; `?` is unjudged."""
    decisions = {"y": "yes", "n": "no", "?": "unjudged"}
    return [
        build.verdict(int(name[1:]), decisions[char], column=column)
        for name, chars in rows.items()
        for column, char in zip(COLUMNS[1:], chars, strict=True)
    ]


def test_known_answer(build, values):
    # Four gold rows, five predicted; three joined: one right, one half right, one wrong but its key.
    match = TableMatch(usable=True, predicted_rows=5, joined=((0, 0), (1, 3), (2, 1)))
    verdicts = cells(build, r0="yy", r1="yn", r2="nn", r3="nn")
    measures = score_table(FOUR, build.judgement(*verdicts, table=match))
    got = values(measures)
    assert got["success"] == 0
    assert got["row_precision"] == 1 / 5
    assert got["row_recall"] == 1 / 4
    assert got["row_f1"] == pytest.approx(2 * 0.2 * 0.25 / 0.45)
    assert got["item_precision"] == 6 / 15
    assert got["item_recall"] == 6 / 12
    assert got["item_f1"] == pytest.approx(2 * 0.4 * 0.5 / 0.9)
    assert got["unjudged"] == 0
    assert {m.name: m.n for m in measures} == {
        "success": 1,
        "row_precision": 5,
        "row_recall": 4,
        "row_f1": 4,
        "item_precision": 15,
        "item_recall": 12,
        "item_f1": 12,
        "unjudged": 12,
    }


def test_success_needs_the_whole_table_and_nothing_more(build, values):
    verdicts = cells(build, r0="yy", r1="yy", r2="yy", r3="yy")
    pairs = tuple((i, i) for i in range(4))
    whole = TableMatch(usable=True, predicted_rows=4, joined=pairs)
    more = TableMatch(usable=True, predicted_rows=5, joined=pairs)
    assert set(values(score_table(FOUR, build.judgement(*verdicts, table=whole))).values()) == {
        1,
        0,
    }
    got = values(score_table(FOUR, build.judgement(*verdicts, table=more)))
    assert got["success"] == 0
    assert got["row_recall"] == 1
    assert got["row_precision"] == 4 / 5


def test_an_unusable_table_scores_zero(build, values):
    match = TableMatch(usable=False, reason="missing columns: y")
    measures = score_table(FOUR, build.judgement(*cells(build, r0="nn"), table=match))
    assert values(measures) == dict.fromkeys((*TABLE_MEASURES, "unjudged"), 0.0)
    assert next(m for m in measures if m.name == "row_precision").reason == "missing columns: y"


def test_an_empty_table_scores_zero(build, values):
    match = TableMatch(usable=True, predicted_rows=0)
    got = values(score_table(FOUR, build.judgement(table=match)))
    assert got == dict.fromkeys((*TABLE_MEASURES, "unjudged"), 0.0)


def test_without_a_layout_all_is_undefined(build):
    measures = score_table(FOUR, build.judgement(*cells(build, r0="yy")))
    assert all(m.value is None and m.reason for m in measures if m.name != "unjudged")


def test_verdicts_on_rows_that_were_not_joined_do_not_count(build, values):
    match = TableMatch(usable=True, predicted_rows=1, joined=((0, 0),))
    got = values(score_table(FOUR, build.judgement(*cells(build, r0="yy", r1="yy"), table=match)))
    assert got["item_precision"] == 1
    assert got["item_recall"] == 3 / 12


def test_keys_of_joined_rows_are_right_whatever_a_judge_says(build, values):
    match = TableMatch(usable=True, predicted_rows=1, joined=((0, 0),))
    verdicts = [*cells(build, r0="yy"), build.verdict(0, "no", column="key")]
    got = values(score_table(FOUR, build.judgement(*verdicts, table=match)))
    assert got["row_precision"] == 1


def test_a_row_on_either_side_is_joined_once(build, values):
    match = TableMatch(usable=True, predicted_rows=2, joined=((0, 0), (0, 1), (1, 0), (9, 1)))
    got = values(score_table(FOUR, build.judgement(*cells(build, r0="yy", r1="yy"), table=match)))
    assert got["row_precision"] == 1 / 2
    assert got["row_recall"] == 1 / 4


def test_unjudged_cells_leave_both_sides(build, values):
    match = TableMatch(usable=True, predicted_rows=4, joined=((0, 0), (1, 1), (2, 2)))
    verdicts = cells(build, r0="yy", r1="y?", r2="n?")
    got = values(score_table(FOUR, build.judgement(*verdicts, table=match)))
    assert got["unjudged"] == 2
    assert got["item_recall"] == (3 + 2 + 1) / (12 - 2)
    assert got["item_precision"] == (3 + 2 + 1) / (12 - 2)
    # Row 1 is undecided; row 2 is wrong whatever its open cell is.
    assert got["row_recall"] == 1 / 3
    assert got["row_precision"] == 1 / 3
    assert got["success"] == 0


def test_success_is_undefined_while_it_hangs_on_an_unjudged_cell(build, values):
    match = TableMatch(usable=True, predicted_rows=4, joined=tuple((i, i) for i in range(4)))
    verdicts = cells(build, r0="yy", r1="y?", r2="yy", r3="yy")
    assert values(score_table(FOUR, build.judgement(*verdicts, table=match)))["success"] is None


def test_gold_rows_of_one_key_count_once(build, values):
    doubled = table("a 1 2", "A 9 9", "b 3 4")
    assert distinct_gold_rows(doubled) == (0, 2)
    match = TableMatch(usable=True, predicted_rows=2, joined=((0, 0), (2, 1)))
    verdicts = cells(build, r0="yy", r1="nn", r2="yy")
    assert values(score_table(doubled, build.judgement(*verdicts, table=match)))["success"] == 1


def test_a_table_of_keys_alone(build, values):
    keys = table("a 1 2", "b 1 2", unique=COLUMNS)
    match = TableMatch(usable=True, predicted_rows=2, joined=((0, 1), (1, 0)))
    assert values(score_table(keys, build.judgement(table=match)))["success"] == 1


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6),
    st.lists(st.text("yn?", min_size=2, max_size=2), min_size=4, max_size=4),
)
def test_scores_are_shares(build, values, predicted, joined, decisions):
    joined = [pair for pair in joined if pair[1] < predicted]
    match = TableMatch(usable=True, predicted_rows=predicted, joined=tuple(joined))
    verdicts = cells(build, **{f"r{i}": chars for i, chars in enumerate(decisions)})
    got = values(score_table(FOUR, build.judgement(*verdicts, table=match)))
    assert all(v is None or 0 <= v <= 1 for k, v in got.items() if k != "unjudged")
    if got["success"]:
        assert got["row_f1"] == got["item_f1"] == 1


def test_what_is_said_of_a_row_goes_before_its_cells_for_rows(build, values):
    match = TableMatch(usable=True, predicted_rows=4, joined=tuple((i, i) for i in range(4)))
    rows = [
        build.verdict(index, decision).model_copy(
            update={"item": Item(kind=ItemKind.ROW, index=index)}
        )
        for index, decision in ((0, "no"), (1, "yes"), (2, "unjudged"))
    ]
    verdicts = cells(build, r0="yy", r1="yn", r2="nn", r3="yy")
    before = values(score_table(FOUR, build.judgement(*verdicts, table=match)))
    after = values(score_table(FOUR, build.judgement(*verdicts, *rows, table=match)))
    assert before["row_recall"] == after["row_recall"] == 2 / 4
    assert before["item_recall"] == after["item_recall"] == 9 / 12
    alone = values(score_table(FOUR, build.judgement(*verdicts, rows[0], table=match)))
    assert alone["row_precision"] == 1 / 4
