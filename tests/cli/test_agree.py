from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cuecard.lab.runs import RunPlan, start_run
from cuecard.store.records import LabelValue
from cuecard.store.workspace import Workspace

# Rater A says yes 25 times, rater B 30 times; both yes 20, both no 15.
COUNTS = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}


def ratings(path: Path, columns: str = "item,rater,label") -> None:
    pairs = [pair for pair, count in COUNTS.items() for _ in range(count)]
    lines = [columns, *(f"{i},A,{a}\n{i},B,{b}" for i, (a, b) in enumerate(pairs))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_known_answers(program, tmp_path: Path):
    ratings(tmp_path / "r.csv")
    words = ("--item", "item", "--rater", "rater", "--label", "label", "--json")
    found = program("agree", "r.csv", *words)
    assert (found.code, found.err) == (0, "")
    data = found.data
    assert (data["items"], data["ratings"], data["raters"]) == (50, 100, ["A", "B"])
    assert data["percent"] == pytest.approx(0.7)
    assert data["cohen_kappa"] == pytest.approx(0.4)
    assert data["fleiss_kappa"] == pytest.approx((0.7 - 0.505) / 0.495)
    assert data["n"] == {"percent": 50, "cohen_kappa": 50, "fleiss_kappa": 50}
    assert data["confusion"]["counts"] == [[15, 10], [5, 20]]
    assert data["prevalence"] == {"no": 0.45, "yes": 0.55}


def test_tables_for_people(cuecard, tmp_path: Path):
    ratings(tmp_path / "r.csv", "case,who,verdict")
    shown = cuecard("agree", "r.csv", "--item", "case", "--rater", "who", "--label", "verdict")
    assert shown.code == 0
    assert "Agreement of A, B on 50 items" in shown.out
    assert "0.400" in shown.out


def test_undefined_is_null_with_a_reason(cuecard, tmp_path: Path):
    (tmp_path / "r.csv").write_text("item,rater,label\n1,A,yes\n1,B,yes\n", encoding="utf-8")
    data = cuecard("agree", "r.csv", "--json").data
    assert (data["percent"], data["cohen_kappa"]) == (1, None)
    assert data["undefined"]["cohen_kappa"]
    assert "only one category used" in cuecard("agree", "r.csv").out


def test_wrong_files(cuecard, tmp_path: Path):
    ratings(tmp_path / "r.csv")
    column = cuecard("agree", "r.csv", "--rater", "who")
    assert (column.code, column.out) == (1, "")
    assert column.err.startswith("r.csv: who: there is no such column")
    assert "--rater" in column.err
    assert cuecard("agree", "nowhere.csv").code == 1


def test_hostile_labels(cuecard, tmp_path: Path):
    text = "item,rater,label\n1,[red]A,\x1b[31myes\n1,B,[/]\n"
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    shown = cuecard("agree", "r.csv")
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert "[red]A" in shown.out
    assert "[/]" in shown.out


def test_people_and_judge_on_a_run(cuecard, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    task_file("tram", folder="tasks")
    cuecard("init", "--no-samples")
    cuecard("import", "tasks")
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        plan = RunPlan(tasks=("ferry", "tram"), samples=2)
        asyncio.run(start_run(workspace, plan, by="ann"))

    nothing = cuecard("agree", "--run", "1")
    assert nothing.code == 0
    assert "0 of 4 verdicts labelled by nobody" in nothing.out
    assert cuecard("agree", "--run", "1", "--json").data["cohen_kappa"] is None

    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        records = workspace.verdicts.records(1)
        assert len(records) == 4
        for index, record in enumerate(records):
            # Ann agrees with the judge throughout, Bea on every item but the first.
            other = LabelValue.NO if record.decision == "yes" else LabelValue.YES
            said = LabelValue(record.decision.value)
            workspace.verdicts.label(record.verdict_id, "ann", said)
            workspace.verdicts.label(record.verdict_id, "bea", other if index == 0 else said)

    data = cuecard("agree", "--run", "1", "--json").data
    assert (data["verdicts"], data["labelled"], data["people"]) == (4, 4, ["ann", "bea"])
    assert sorted(data["raters"]) == ["ann", "bea", "judge:lexical"]
    pairs = {pair["right"]: pair["percent"] for pair in data["judge_human"]}
    assert pairs == {"ann": 1, "bea": 0.75}
    assert [pair["percent"] for pair in data["human_human"]] == [0.75]
    assert data["majority"][0]["items"] == 3
    # Of twelve pairs of raters' decisions two disagree, both on the first item.
    assert data["percent"] == pytest.approx(10 / 12)

    shown = cuecard("agree", "--run", "1").out
    assert "4 of 4 verdicts labelled by ann, bea" in shown
    assert "judge lexical" in shown
    assert cuecard("agree", "--run", "2").code == 1
