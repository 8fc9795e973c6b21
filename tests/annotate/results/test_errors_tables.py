"""The paper tables of errors and behaviour, cell by cell."""

from __future__ import annotations

import pytest

from cuecard.annotate.results.errors.behaviour_tables import (
    compaction_tables,
    interaction_tables,
    tool_tables,
)
from cuecard.annotate.results.errors.error_tables import error_tables
from cuecard.annotate.results.errors.family_tables import (
    chosen,
    curve_tables,
    profile_tables,
    tier_tables,
)
from cuecard.annotate.results.errors.report import error_report, search_errors
from cuecard.core.families.checkpoints.score import StepRecord
from cuecard.core.scoring.trial_score import (
    FactFigures,
    GraphFigures,
    StepFigures,
    TableFigures,
    Tally,
)
from cuecard.core.tables.table import Table
from cuecard.core.tables.texts import as_markdown
from result_rows import pool, row


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in table.lines]


def behind(table: Table, line: int, column: int) -> tuple[int, ...]:
    cell = table.lines[line][column]
    return cell.trials


def step(
    at: int = 0,
    *,
    searches: int = 0,
    asks: int = 0,
    before: int | None = None,
    advanced: bool = True,
) -> StepFigures:
    record = StepRecord(at, True, searches, asks, asks, before, advanced)
    return StepFigures(record=record, ambiguity="version")


def graph(predicted: int | None, **relations: Tally) -> GraphFigures:
    return GraphFigures(
        gold=4,
        predicted=predicted,
        relations=relations,
        stages={2: Tally(yes=1), 10: Tally(no=1)},
        invalid={"near": 2} if predicted else {},
    )


def test_error_tables_of_graphs():
    found = {"triplet_f1": 0.5, "user_turns": 4, "tool_calls": 7}
    rows = [
        row("a", "t1", found, graph=graph(8, born=Tally(yes=1, no=1), died=Tally(unjudged=1))),
        row("a", "t2", found, graph=graph(2, born=Tally(yes=1))),
        row("b", "t1", found, graph=graph(None, born=Tally(no=2)), handed_in="unusable",
            reason="no [array]\nin it", raw="I \x1b[31mfound\nthings"),
        row("b", "t2", None),
    ]  # fmt: skip
    tables = {s.title.partition(": ")[2]: s for s in error_tables(error_report(pool(*rows)))}
    whole = tables["what goes wrong"]
    assert whole.headings[:5] == (
        "Agent",
        "Trials",
        "Tasks",
        "Format failures",
        "Nothing handed in",
    )
    assert texts(whole) == [
        ["a", "2", "2", "0.0 [0.0, 65.8]", "0.0 [0.0, 65.8]", "50.0", "0.0 [0.0, 65.8]", "1.25"],
        ["b", "1", "1", "100.0", "0.0", "0.0", "0.0", "–"],
    ]  # fmt: skip
    assert behind(whole, 0, 5) == (rows[0].trial.id,)
    assert "1 trial is not judged and in no score." in whole.notes
    assert texts(tables["what could not be read"]) == [
        ["no [array] in it", "0", "1", "I found things"]
    ]
    assert texts(tables["coverage by relation"]) == [
        ["born", "66.7 (3)", "0.0 (2)"],
        ["died", "–", "–"],
    ]
    assert "1 gold triple was not judged and is left out." in tables["coverage by relation"].notes
    assert [line[0] for line in texts(tables["coverage by stage"])] == ["2", "10"]
    assert texts(tables["relations that support nothing"]) == [["near", "4", "0"]]
    turns, together = texts(tables["F1 by user turns"])
    assert turns[0] == "<=10"
    assert together == ["Pearson's r", "–", "–"]
    constant = tables["F1 by user turns"].lines[1][1].statistic
    assert (constant.n, constant.reason) == (2, "one of the two is the same in every trial")
    (turns,) = texts(tables["F1 by user turns, finer classes (ours)"])
    assert (turns[0], turns[1].split()[0], turns[1].split()[-1]) == ("3-5", "50.0", "(2)")
    assert [line[0] for line in texts(tables["F1 by tool calls"])] == ["6-10"]
    assert [line[0] for line in texts(tables["F1 with and without compaction"])] == ["without"]
    for table in tables.values():
        assert as_markdown(table)


def test_error_tables_of_tables():
    table = TableFigures(
        usable=True,
        reason="",
        gold_rows=4,
        predicted_rows=3,
        joined=2,
        columns={"Year": Tally(yes=1, no=1), "Town": Tally(no=2)},
    )
    lost = table.model_copy(update={"usable": False, "reason": "no column Year"})
    rows = [
        row("a", "t1", {}, family="table", handed_in="table", table=table),
        row("a", "t2", {}, family="table", handed_in="table", table=lost),
    ]
    whole, reasons, columns = error_tables(error_report(pool(*rows)))
    assert [t.split()[0] for t in texts(whole)[0][5:]] == ["50.0", "50.0", "33.3", "75.0"]
    assert (texts(reasons), behind(reasons, 0, 1)) == (
        [["no column Year", "1"]],
        (rows[1].trial.id,),
    )
    assert [line[0] for line in texts(columns)] == ["Town", "Year"]
    assert texts(columns)[1][1].endswith("(2)")


def test_interaction_is_a_mean_over_tasks():
    def talked(turns: float, share: float | None, done: float) -> dict[str, float | None]:
        return {
            "agent_turns": turns,
            "compactions": 0,
            "done": done,
            "stage_share": share,
            "stages_disclosed": 0 if share is None else 4 * share,
            "prompt_tokens": 1000 * turns,
        }

    rows = [
        row("a", "t1", talked(2, 1, 1)),
        row("a", "t1", talked(4, 0.5, 0), 1),
        row("a", "t2", talked(9, 1, 1)),
        row("a", "f", talked(1, None, 1), family="facts"),
    ]
    turns, told, tokens, facts, _fact_tokens = interaction_tables(pool(*rows))
    assert turns.headings == (
        "Agent",
        "Trials",
        "Tasks",
        "Agent turns",
        "User had nothing left to say",
    )
    # Of t1 3, of t2 9.
    assert texts(turns) == [["a", "3", "2", "6.0", "75.0"]]
    cell = turns.lines[0][3]
    assert cell.key == "groups/a/graph/measures/agent_turns/avg"
    assert cell.statistic
    assert (cell.statistic.n, cell.number) == (2, 6)
    assert cell.trials == tuple(each.trial.id for each in rows[:3])
    assert texts(told) == [["a", "3", "2", "3.5", "87.5"]]
    assert texts(tokens) == [["a", "3", "2", "6,000"]]
    assert texts(facts)[0][0] == "a"
    assert "Stages disclosed" not in facts.headings


def test_compactions_with_the_difference_they_go_with():
    values = {
        "t1": (0.2, 0.6),
        "t2": (0.4, 0.6),
        "t3": (0.3, 0.9),
        "t4": (0.1, 0.4),
        "t5": (0.5, 0.5),
    }
    rows = [
        row("a", task, {"triplet_f1": f1, "compactions": 2 * (s == 0)}, s)
        for task, both in values.items()
        for s, f1 in enumerate(both)
    ]
    rows.append(row("a", "t6", {"triplet_f1": None, "compactions": 0}))
    (table,) = compaction_tables(pool(*rows))
    (line,) = texts(table)
    assert line[:2] == ["a", "11"]
    assert line[2].startswith("45.5 [")
    assert line[3].startswith("0.91 [")
    assert (line[4].split()[0], line[4].split()[-1]) == ("30.0", "(5)")
    assert (line[5].split()[0], line[5].split()[-1]) == ("60.0", "(5)")
    difference = table.lines[0][6].statistic
    assert difference
    assert difference.value == pytest.approx(-0.3)
    low, high = difference.interval or (0, 0)
    assert -0.6 < low < -0.3 < high < 0.1
    assert behind(table, 0, 4) == tuple(each.trial.id for each in rows[:10:2])
    assert [*compaction_tables(pool(row("a", "t", {"compactions": 0})))] == []


def test_profiles():
    rows = [
        row("a", "t1", {}, family="checkpoints", handed_in="answer", difficulty="easy",
            steps=(step(searches=1), step(1, searches=9, advanced=False)),
            statuses={"correct_answer": 3, "search_only": 1}),
        row("a", "t2", {}, family="checkpoints", handed_in="answer", difficulty="easy",
            steps=(step(asks=1, before=2),)),
    ]  # fmt: skip
    met, passed, kinds, hard, read = profile_tables(pool(*rows))
    assert met.headings[2:] == (
        "Guesses at once",
        "Searches long, then guesses",
        "Asks at once",
        "Searches, then asks",
    )
    assert [t.split()[0] for t in texts(met)[0]] == ["a", "3", "33.3", "33.3", "0.0", "33.3"]
    assert "K: a 1." in met.notes[1]
    assert [t.split()[0] for t in texts(passed)[0]] == ["a", "3", "100.0", "0.0", "–", "100.0"]
    assert behind(passed, 0, 2) == (rows[0].trial.id,)
    assert texts(kinds)[0][0] == "a · which version"
    assert texts(hard)[0][0] == "a · easy"
    assert [t[0] for t in texts(read)] == ["turns", "right answer", "searched only"]
    assert [t[1].split()[0] for t in texts(read)] == ["4", "75.0", "25.0"]
    assert profile_tables(pool(row("a", "t", {}))) == ()


def test_tiers():
    def played(task: str, facts: int, passed: float, fcr: float, sample: int = 0):
        found = {
            "pass_at_1": passed,
            "fcr": fcr,
            "hit_rate": 0.5,
            "tool_calls": 3,
            "premature_stop": 1,
        }
        return row("a", task, found, sample, family="facts", handed_in="answer", facts=facts)

    rows = [
        played("t1", 5, 1, 1),
        played("t1", 5, 0, 0.5, 1),
        played("t2", 6, 0, 0.25),
        played("t3", 11, 0, 0),
    ]
    (table,) = tier_tables(pool(*rows))
    assert table.headings == (
        "Agent · Tier", "Trials", "Tasks",
        "Pass@1", "Fact coverage", "Hit rate", "Tool calls", "Stopped too early",
    )  # fmt: skip
    assert [[t.split()[0] for t in line[1:5]] for line in texts(table)] == [
        ["2", "1", "50.0", "75.0"],
        ["1", "1", "0.0", "25.0"],
        ["1", "1", "0.0", "0.0"],
        # 1/2, 0, 0 and 3/4, 1/4, 0 over three tasks.
        ["4", "3", "16.7", "33.3"],
    ]
    assert [line[0] for line in texts(table)] == ["a · easy", "a · medium", "a · hard", "a · all"]
    assert len(tier_tables(pool(*rows[:2]))[0].lines) == 1


def test_curves_and_which_calls_a_table_tells():
    searched = FactFigures(facts=2, hits=(True, False), fresh=(1, 0))
    rows = pool(
        row("a", "t1", {}, family="facts", handed_in="answer", searched=searched),
        row("a", "t2", {}, family="facts", handed_in="answer", searched=searched),
        row(
            "a", "t3", {}, family="facts", handed_in="answer",
            searched=FactFigures(facts=2, hits=(False,), fresh=(0,)),
        ),
    )  # fmt: skip
    paper, ours = curve_tables(rows)
    assert paper.title == "Fact tasks: a, call by call, fixed cohort (paper), n = 2"
    assert ours.title == "Fact tasks: a, call by call, all trials (ours)"
    assert [[t.split()[0] for t in line] for line in texts(paper)] == [
        ["1", "2", "1.00", "50.0", "100.0"],
        ["2", "2", "0.00", "50.0", "50.0"],
    ]
    assert [[t.split()[0] for t in line] for line in texts(ours)] == [
        ["1", "3", "0.67", "33.3", "66.7"],
        ["2", "2", "0.00", "33.3", "50.0"],
    ]
    assert "Fewer than 50 trials made a call" in paper.notes[0]
    one, _other = curve_tables(rows, k_trunc=1)
    assert one.title.endswith("n = 3")
    assert len(one.lines) == 1
    none, _other = curve_tables(rows, k_trunc=3)
    assert (none.lines, none.notes[0]) == ((), "No trial made 3 calls.")
    long = FactFigures(facts=2, hits=(True,) * 23, fresh=(0,) * 23)
    only = row("a", "t", {}, family="facts", handed_in="answer", searched=long)
    assert only.figures
    points = search_errors(((only, only.figures),)).points
    assert [point.k for point in chosen(points)] == [*range(1, 11), 15, 20, 23]
    assert curve_tables(pool(row("a", "t", {}))) == ()


def test_tools():
    rows = [
        row("a", "t1", {}, tools={"search": 4, "visit": 1}),
        row("a", "t2", {}, tools={"search": 1}),
        row("b", "t1", {}, tools={"python": 2}),
    ]
    (table,) = tool_tables(pool(*rows))
    assert texts(table) == [
        ["trials", "2", "1"],
        ["search", "2.5", "0.0"],
        ["python", "0.0", "2.0"],
        ["visit", "0.5", "0.0"],
        ["all tools", "3.0", "2.0"],
    ]
    assert behind(table, 3, 1) == (rows[0].trial.id,)
    assert [*tool_tables(pool(row("a", "t", {})))] == []
