import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import judge_table
from cuecard.core.predictions import TablePrediction
from cuecard.core.verdicts import Decision

TABLE = Table.model_validate(
    {
        "columns": [
            {"name": "State"},
            {"name": "Admission Date", "preprocess": ["norm_date"]},
            {
                "name": "Population 2020",
                "preprocess": ["extract_number"],
                "metric": ["number_near"],
                "criterion": "0.01",
            },
            {"name": "Motto", "metric": ["llm_judge"], "criterion": "same meaning"},
        ],
        "unique_columns": ["State"],
        "rows": [
            ["Delaware", "1787-12-07", "989948", "Liberty and Independence"],
            ["New York", "1788-07-26", "20201249", "Excelsior"],
            ["Massachusetts", "1788-02-06", "7029917", "By the sword"],
        ],
    }
)
COLUMNS = TABLE.column_names


def judge(*rows: tuple[str, ...], columns: tuple[str, ...] = COLUMNS, table: Table = TABLE):
    verdicts, match = judge_table(table, TablePrediction(columns=columns, rows=rows))
    grid: dict[int, str] = {}
    for verdict in verdicts:
        assert verdict.rationale
        char = {Decision.YES: "y", Decision.NO: "n"}[verdict.decision]
        grid[verdict.item.index] = grid.get(verdict.item.index, "") + char
    return grid, match, verdicts


def test_each_cell_by_its_own_metric():
    grid, match, verdicts = judge(
        ("new york ", "July 26, 1788", "about 20,100,000", "excelsior!"),
        ("Massachusets", "1788年2月", "6 million", "By the pen"),
        ("Texas", "1845-12-29", "29145505", "Friendship"),
    )
    assert grid == {0: "nnnn", 1: "yyyy", 2: "ynnn"}
    assert match.usable
    assert match.predicted_rows == 3
    assert match.joined == ((1, 0), (2, 1))
    supporting = {v.item.key: v.supporting for v in verdicts}
    assert supporting["cell/1/Motto"] == (0,)
    assert supporting["cell/0/State"] == ()


def test_a_model_column_says_that_letters_decided():
    _grid, _match, verdicts = judge(("Delaware", "1787-12-07", "989948", "Liberty & Independence"))
    said = {v.item.column: v.rationale for v in verdicts if v.item.index == 0}
    assert said["Motto"] == "llm_judge holds, judged by letters"
    assert said["State"] == "key of a joined row"
    assert said["Population 2020"] == "number_near holds"


@pytest.mark.parametrize(
    "columns",
    [
        ("state", "ADMISSION DATE", " Population2020", "motto"),
        ("State Name", "Date of Admission", "Population (2020)", "Motto"),
        ("The State", "Admission Dates", "2020 Population", "State Motto"),
    ],
)
def test_columns_align_by_name(columns):
    row = ("Delaware", "1787-12-07", "989948", "Liberty and Independence")
    grid, match, _verdicts = judge(row, columns=columns)
    assert match.usable
    assert grid[0] == "yyyy"


def test_columns_align_in_any_order():
    grid, _match, _verdicts = judge(
        ("Excelsior", "20201249", "New York", "1788-07-26"),
        columns=("Motto", "Population 2020", "State", "Admission Date"),
    )
    assert grid[1] == "yyyy"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (("State", "Admission Date", "Population 2020"), "missing columns: Motto"),
        (
            ("State", "Admission Date", "Population 2010", "Motto"),
            "missing columns: Population 2020",
        ),
        ((*COLUMNS, "Governor"), "columns that were not asked for: Governor"),
        ((*COLUMNS, "motto"), "the column motto occurs twice"),
        ((), "missing columns: State, Admission Date, Population 2020, Motto"),
    ],
)
def test_columns_that_do_not_map_make_the_table_unusable(columns, reason):
    grid, match, _verdicts = judge(tuple("x" for _ in columns), columns=columns)
    assert not match.usable
    handed_in = ", ".join(columns) or "–"
    assert match.reason == f"{reason} (asked for: {', '.join(COLUMNS)}; handed in: {handed_in})"
    assert match.predicted_rows == 0
    assert set(grid.values()) == {"nnnn"}


def test_duplicates_by_key_are_dropped_and_the_first_stays():
    grid, match, _verdicts = judge(
        ("Delaware", "1787-12-07", "989948", "Liberty and Independence"),
        ("**delaware**", "1999", "0", "x"),
    )
    assert match.predicted_rows == 1
    assert match.joined == ((0, 0),)
    assert grid[0] == "yyyy"


def test_keys_join_one_to_one_and_the_nearest_wins():
    _grid, match, _verdicts = judge(
        ("Massachusets", "", "", ""), ("Massachussets", "", "", ""), ("Delaware, USA", "", "", "")
    )
    assert match.predicted_rows == 3
    assert [gold for gold, _row in match.joined] == [0, 2]
    assert dict(match.joined)[0] == 2


def test_empty_and_short_tables():
    assert judge()[1].joined == ()
    grid, match, _verdicts = judge(("Delaware",))
    assert match.usable
    assert grid[0] == "ynnn"


def test_numbers_as_keys_do_not_blur():
    years = Table.model_validate(
        {
            "columns": [{"name": "Year", "preprocess": ["extract_number"]}, {"name": "Who"}],
            "unique_columns": ["Year"],
            "rows": [["1998", "a"], ["1999", "b"]],
        }
    )
    _grid, match, _verdicts = judge(
        ("Year 1998", "a"), ("1997", "b"), columns=("Year", "Who"), table=years
    )
    assert match.joined == ((0, 0),)


def test_keys_of_several_columns_must_all_agree():
    pairs = Table.model_validate(
        {
            "columns": [
                {"name": "City"},
                {"name": "Date", "preprocess": ["norm_date"]},
                {"name": "Who"},
            ],
            "unique_columns": ["City", "Date"],
            "rows": [["London", "2012-07-27", "a"], ["London", "1948-07-29", "b"]],
        }
    )
    grid, match, _verdicts = judge(
        ("London, England", "29 July 1948", "b"),
        ("London", "2012-07-28", "a"),
        columns=("City", "Date", "Who"),
        table=pairs,
    )
    assert match.joined == ((1, 0),)
    assert grid == {0: "nnn", 1: "yyy"}


def test_a_gold_row_that_repeats_a_key_is_not_judged():
    doubled = Table.model_validate(
        {
            "columns": [{"name": "k"}, {"name": "v"}],
            "unique_columns": ["k"],
            "rows": [["a", "1"], ["A", "2"]],
        }
    )
    grid, _match, _verdicts = judge(("a", "1"), columns=("k", "v"), table=doubled)
    assert grid == {0: "yy"}


def test_gold_columns_that_differ_only_in_case():
    odd = Table.model_validate(
        {
            "columns": [{"name": "k"}, {"name": "K"}],
            "unique_columns": ["k"],
            "rows": [["a", "1"]],
        }
    )
    _grid, match, _verdicts = judge(("a", "1"), columns=("k", "other"), table=odd)
    assert not match.usable


names = st.sampled_from(
    ["Delaware", "New York", "NewYork", "Massachusets", "Texas", "York", "delaware"]
)


@settings(max_examples=examples(50))
@given(
    st.lists(names, unique_by=lambda n: n.lower().replace(" ", ""), max_size=5),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_change_what_is_right(keys, random):
    rows = [(key, "1788-07-26", "7029917", "Excelsior") for key in keys]
    shuffled = list(rows)
    random.shuffle(shuffled)
    first, again = judge(*rows), judge(*shuffled)
    assert first[0] == again[0]
    assert first[1].predicted_rows == again[1].predicted_rows == len(rows)
