"""The model judge on tables: columns, keys and cells that letters cannot settle."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.engine.step_context import FreshCalls
from cuecard.core.errors import ModelCallError
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.score import score_table
from cuecard.core.predictions import TablePrediction
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Judgement
from judge_scripts import Entry, good, material_of, model_judge, script, verdicts
from openai_server import OpenAIServer, Reply, Request, error, text

TABLE = Table.model_validate(
    {
        "columns": [
            {"name": "State"},
            {"name": "Admission Date", "preprocess": ["norm_date"]},
            {
                "name": "Population",
                "preprocess": ["extract_number"],
                "metric": ["number_near"],
                "criterion": "0.01",
            },
            {"name": "Motto", "metric": ["llm_judge"], "criterion": "same meaning"},
            {
                "name": "Colours",
                "preprocess": ["norm_str"],
                "metric": ["llm_judge"],
                "criterion": "at least one in common",
            },
        ],
        "unique_columns": ["State"],
        "rows": [
            ["Delaware", "1787-12-07", "989948", "Liberty and Independence", "buff"],
            ["New York", "1788-07-26", "20201249", "Excelsior", "blue"],
            ["Massachusetts", "1788-02-06", "7029917", "By the sword", "blue, red"],
        ],
    }
)
TASK = Task(id="states", title="States", language="en", query="List the states.", gold=TABLE)
COLUMNS = TABLE.column_names
ROWS = TABLE.rows


async def judge(reply, rows, columns=COLUMNS, task: Task = TASK, **more):
    async with OpenAIServer(reply) as server:
        player, hub = model_judge(server.url, **more)
        prediction = TablePrediction(columns=columns, rows=rows)
        judgement = await player.judge(task, prediction, FreshCalls())
        await hub.close()
    letters = {Decision.YES: "y", Decision.NO: "n", Decision.UNJUDGED: "u"}
    grid: dict[int, str] = {}
    for verdict in judgement.verdicts:
        grid[verdict.item.index] = grid.get(verdict.item.index, "") + letters[verdict.decision]
    assert sum(map(len, grid.values())) == 15
    return grid, judgement, server.requests


def scores(judgement: Judgement) -> dict[str, float | None]:
    return {m.name: m.value for m in score_table(TABLE, judgement)}


async def test_the_same_table_needs_no_model():
    grid, judgement, requests = await judge(good, ROWS)
    assert set(grid.values()) == {"yyyyy"}
    assert requests == []
    assert scores(judgement)["success"] == 1


async def test_only_cells_that_need_a_model_are_asked_about_column_by_column():
    rows = (
        ("Delaware", "Dec 7, 1787", "990,000", "LIBERTY AND INDEPENDENCE!", "Buff  "),
        ("New York", "1788", "19 million", "Ever upward", "blue"),
        ("Massachusetts", "6 Feb 1788", "7029917", "", "red, white"),
    )
    grid, judgement, requests = await judge(good, rows)
    assert grid == {0: "yyyny", 1: "ynnny", 2: "yyynn"}
    asked = {m["column"]: m for m in map(material_of, requests)}
    assert set(asked) == {"Motto", "Colours"}
    assert asked["Motto"]["criterion"] == "same meaning"
    # As written, not as norm_str leaves it for comparing letters.
    assert asked["Motto"]["cells"] == [
        [0, "LIBERTY AND INDEPENDENCE!", "Liberty and Independence"],
        [1, "Ever upward", "Excelsior"],
    ]
    assert asked["Colours"]["cells"] == [[2, "red, white", "blue, red"]]
    reasons = {v.item.key: v.rationale for v in judgement.verdicts}
    assert reasons["cell/0/Motto"] == "compared"
    assert reasons["cell/0/State"] == "key of a joined row"
    assert reasons["cell/2/Motto"] == "one of the cells is empty"
    assert reasons["cell/1/Population"] == "number_near does not hold"


async def test_columns_permuted_and_renamed_and_keys_otherwise_spelt():
    order = (3, 0, 4, 2, 1)
    columns = ("Motto of it", "State / territory", "Colours", "POPULATION", "Admitted")
    names = ("Delaware", "New York (NY)", "Mass.")
    rows = tuple(
        tuple((name, *row[1:])[i] for i in order) for name, row in zip(names, ROWS, strict=True)
    )
    extra = tuple(("Texas", "1845-12-29", "29145505", "Friendship", "red")[i] for i in order)
    grid, judgement, requests = await judge(good, (extra, *rows[::-1]), columns)
    assert set(grid.values()) == {"yyyyy"}
    assert judgement.table is not None
    assert judgement.table.predicted_rows == 4
    assert judgement.table.joined == ((0, 3), (1, 2), (2, 1))
    mapping, keys = map(material_of, requests)
    assert mapping["required"] == [[0, "State"], [1, "Admission Date"], [3, "Motto"]]
    assert [line[:2] for line in mapping["columns"]] == [
        [0, "Motto of it"],
        [1, "State / territory"],
        [4, "Admitted"],
    ]
    assert mapping["columns"][0][2] == ["Friendship", "By the sword", "Excelsior"]
    assert keys["key_columns"] == ["State"]
    assert keys["gold"] == [[1, "New York"], [2, "Massachusetts"]]
    assert keys["predicted"] == [[0, "Texas"], [1, "Mass."], [2, "New York (NY)"]]


@pytest.mark.parametrize("columns", [COLUMNS[:4], (*COLUMNS, "Notes"), (*COLUMNS[:4], COLUMNS[0])])
async def test_columns_that_cannot_map_score_nothing_without_a_call(columns):
    grid, judgement, requests = await judge(good, [("x",) * len(columns)], columns)
    assert set(grid.values()) == {"nnnnn"}
    assert requests == []
    assert judgement.table is not None
    assert not judgement.table.usable
    assert set(scores(judgement).values()) == {0}


async def test_columns_that_the_model_does_not_map_score_nothing():
    columns = (*COLUMNS[:4], "Weather")
    grid, judgement, requests = await judge(good, ROWS, columns)
    assert set(grid.values()) == {"nnnnn"}
    assert len(requests) == 1
    assert judgement.table is not None
    assert judgement.table.reason == (
        "missing columns: Colours (asked for: State, Admission Date, Population, Motto, Colours;"
        " handed in: State, Admission Date, Population, Motto, Weather)"
    )


async def test_two_columns_for_one_do_not_both_map():
    def greedy(entries: list[Entry], _request: Request) -> list[Entry]:
        return [{**entry, "partner": 3} for entry in entries]

    columns = (*COLUMNS[:3], "Saying", "Hues")
    grid, judgement, _requests = await judge(script(greedy), ROWS, columns)
    assert set(grid.values()) == {"nnnnn"}
    assert judgement.table is not None
    assert not judgement.table.usable


async def test_where_the_columns_stay_open_everything_is_unjudged():
    columns = (*COLUMNS[:4], "Colors")
    grid, judgement, requests = await judge(lambda _request: text("Well."), ROWS, columns)
    assert set(grid.values()) == {"uuuuu"}
    assert len(requests) == 3
    assert judgement.table is None
    assert scores(judgement)["row_f1"] is None
    assert scores(judgement)["unjudged"] == 15


async def test_a_partner_must_exist_and_a_key_without_an_answer_is_unjudged():
    def odd(entries: list[Entry], _request: Request) -> list[Entry]:
        wanted = {0: {"partner": 1}, 1: {"partner": 41}}
        return [
            {**entry, **wanted[entry["index"]]} for entry in entries if entry["index"] in wanted
        ]

    rows = (("A", *ROWS[0][1:]), ("B", *ROWS[0][1:]), ("C", *ROWS[0][1:]))
    grid, judgement, requests = await judge(script(odd), rows)
    assert grid == {0: "yyyyy", 1: "uuuuu", 2: "uuuuu"}
    assert judgement.table is not None
    assert judgement.table.joined == ((0, 1),)
    assert (scores(judgement)["unjudged"], scores(judgement)["row_recall"]) == (10, 1)
    assert scores(judgement)["row_precision"] == pytest.approx(1 / 3)
    assert scores(judgement)["success"] is None
    assert len(requests) == 3
    assert "must be an index that stands in the list" in requests[-1].messages[0]["content"]


async def test_a_row_is_joined_once():
    def same(entries: list[Entry], _request: Request) -> list[Entry]:
        return [{**entry, "partner": 0} for entry in entries]

    grid, judgement, _requests = await judge(script(same), [("USA", *ROWS[0][1:])])
    assert grid == {0: "yyyyy", 1: "nnnnn", 2: "nnnnn"}
    assert judgement.table is not None
    assert judgement.table.joined == ((0, 0),)


async def test_cells_without_an_answer_are_unjudged_and_counted():
    def reply(request: Request) -> Reply:
        shown = material_of(request)
        if shown["column"] == "Motto":
            return error(500)
        return text('{"verdicts": [{"index": 1, "reason": "r", "score": 0.5}]}')

    rows = tuple((*row[:3], "another", "another") for row in ROWS)
    grid, judgement, requests = await judge(reply, rows)
    assert set(grid.values()) == {"yyyuu"}
    assert len(requests) == 4
    assert scores(judgement)["unjudged"] == 6
    assert "the call failed" in judgement.verdicts[3].rationale

    with pytest.raises(ModelCallError):
        await judge(lambda _request: error(500), rows)


async def test_chinese():
    task = Task.model_validate({**TASK.model_dump(), "language": "zh"})
    rows = [(*ROWS[0][:3], "自由与独立", "buff")]
    _grid, _judgement, requests = await judge(good, rows, task=task)
    assert "符合标准得 1 分" in requests[-1].messages[0]["content"]


_scraps = st.one_of(st.none(), st.integers(-2, 4), st.floats(0, 1), st.text(max_size=2))
_entries = st.lists(
    st.dictionaries(st.sampled_from(["index", "reason", "partner", "score"]), _scraps), max_size=4
)


@settings(max_examples=examples(15), deadline=None)
@given(answers=st.lists(st.one_of(_entries, st.text(max_size=20)), min_size=1, max_size=5))
async def test_every_cell_has_exactly_one_verdict_whatever_the_model_says(answers):
    def reply(request: Request) -> Reply:
        answer = answers[request.number % len(answers)]
        return text(answer) if isinstance(answer, str) else verdicts(answer)

    columns = (*COLUMNS[:3], "Colors", "Mottoes")
    rows = [(f"{row[0]}!?", *row[1:3], "other", "another") for row in ROWS]
    await judge(reply, [("Dela", *rows[0][1:]), *rows[1:]], columns, attempts=2)
