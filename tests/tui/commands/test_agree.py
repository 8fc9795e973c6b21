from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace

# Rater A says yes 25 times, rater B 30 times; both yes 20, both no 15.
COUNTS = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}


def ratings(path: Path, columns: str = "item,rater,label") -> None:
    pairs = [pair for pair, count in COUNTS.items() for _ in range(count)]
    lines = [columns, *(f"{i},A,{a}\n{i},B,{b}" for i, (a, b) in enumerate(pairs))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_known_answers(cuecard, tmp_path: Path):
    ratings(tmp_path / "r.csv")
    words = ("--item", "item", "--rater", "rater", "--label", "label", "--json")
    found = cuecard("agree", "r.csv", *words)
    assert (found.code, found.err) == (0, "")
    data = found.data
    assert (data["items"], data["ratings"], data["raters"]) == (50, 100, ["A", "B"])
    assert data["percent"] == pytest.approx(0.7)
    assert data["cohen_kappa"] == pytest.approx(0.4)
    assert data["fleiss_kappa"] == pytest.approx((0.7 - 0.505) / 0.495)
    assert set(data["n"].values()) == {50}
    # No group was named, so each item varies for itself: p = 35/50, its interval by linearisation
    # 0.7 -+ t sqrt(0.7 x 0.3 / 49) with t = 2.0096 for 49 degrees of freedom, that by resampling near it.
    low, high = data["figures"]["percent"]["analytic"]
    assert (low, high) == pytest.approx((0.5684, 0.8316), abs=1e-4)
    assert data["figures"]["percent"]["low"] == pytest.approx(0.57, abs=0.03)
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


def test_the_number_of_a_run_leads_to_its_option(cuecard):
    told = cuecard("agree", "4")
    assert told.code == 2
    assert "a run of the workspace is --run 4" in " ".join(told.err.split())


def test_the_columns_of_a_wide_file_are_told_and_only_raters_count(cuecard, tmp_path: Path):
    # Of four items three are rated by both, two alike; taking the comments for a rater gave 0.111.
    text = "id;ana;ben;comment\n1;yes;Yes;sure\n2;no;yes;odd name\n3;NA;no;\n4;no;ＮＯ;see 2\n5;unsure;yes;\n"
    (tmp_path / "w.csv").write_text(text, encoding="utf-8-sig")
    data = cuecard("agree", "w.csv", "--json").data
    assert (data["raters"], data["labels"]) == (["ana", "ben"], ["no", "yes"])
    assert (data["items"], data["paired"]) == (5, 3)
    assert data["percent"] == pytest.approx(2 / 3)
    assert data["taken"] == {
        "shape": "wide",
        "item": "id",
        "rater": None,
        "label": None,
        "group": None,
        "raters": ["ana", "ben"],
        "left_out": {"comment": "name"},
        "missing": {"NA": 1},
        "cannot_tell": {"unsure": 1},
        "merged": {"yes": ["Yes"], "no": ["ＮＯ"]},
    }
    shown = cuecard("agree", "w.csv")
    assert (shown.code, shown.err) == (0, "")
    for line in (
        "Read as: items from id; raters ana, ben; left out comment (by its name).",
        "No ratings: missing 1 × NA; cannot tell 1 × unsure (other words: --missing).",
        "Spellings taken for one label: yes = Yes; no = ＮＯ.",
    ):
        assert line in shown.out
    kept = cuecard("agree", "w.csv", "--missing", "NA", "--json").data
    assert (kept["labels"], kept["taken"]["cannot_tell"]) == (["no", "unsure", "yes"], {})
    assert kept["paired"] == 4


def test_a_file_that_does_not_tell_its_columns_is_wrong_usage(cuecard, tmp_path: Path):
    (tmp_path / "one.csv").write_text("item;ana;comment\n1;yes;x\n2;no;\n", encoding="utf-8")
    refused = cuecard("agree", "one.csv")
    assert (refused.code, refused.out) == (2, "")
    for word in ("only ana looks like a column of ratings", "--item", "--raters"):
        assert word in refused.err
    assert cuecard("agree", "one.csv", "--raters", "ana").code == 2
    assert cuecard("agree", "one.csv", "--raters", "ana,comment", "--rater", "ana").code == 2
    (tmp_path / "two.csv").write_text("item;ana;ben\n1;yes;no\n2;yes;no\n", encoding="utf-8")
    assert cuecard("agree", "two.csv").code == 2
    named = cuecard("agree", "two.csv", "--raters", "ana,ben", "--json")
    assert (named.code, named.data["percent"], named.data["taken"]["item"]) == (0, 0, "item")


def test_hostile_labels(cuecard, tmp_path: Path):
    text = "item,rater,label\n1,[red]A,\x1b[31myes\n1,B,[/]\n"
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    shown = cuecard("agree", "r.csv")
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert "[red]A" in shown.out
    assert "[/]" in shown.out


@pytest.mark.usefixtures("begun")
def test_people_and_judge_on_a_run(cuecard, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    task_file("tram", folder="tasks")
    cuecard("import", "tasks")
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        plan = RunPlan(tasks=("ferry", "tram"), samples=2)
        asyncio.run(start_run(workspace, plan, by="ann"))

    nothing = cuecard("agree", "--run", "1")
    assert nothing.code == 0
    assert "0 of 4 verdicts labelled by nobody" in nothing.out
    assert cuecard("agree", "--run", "1", "--json").data["pairs"] == []

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
    pairs = {(p["left"]["role"], p["right"]["role"], p["right"]["name"]): p for p in data["pairs"]}

    def percent(*pair: str | None) -> float:
        return pairs[pair]["figures"]["percent"]["value"]

    assert percent("judge", "person", "ann") == 1
    assert percent("judge", "person", "bea") == percent("person", "person", "bea") == 0.75
    # Where the two disagree there is no majority.
    assert (pairs["judge", "majority", None]["items"], percent("judge", "majority", None)) == (3, 1)
    assert data["people_together"]["percent"] == 0.75
    assert data["ceilings"][0]["difference"]["percent"]["value"] == pytest.approx(0.125)
    assert data["weighted"] is False

    short = cuecard("agree", "--run", "1")
    assert "Sensitivity" in short.out
    assert "nothing may be concluded yet" in short.out
    assert "--all prints every figure" in short.err
    assert "MCC" not in short.out
    shown = cuecard("agree", "--run", "1", "--all").out
    assert "4 of 4 verdicts labelled by ann, bea" in shown
    assert "judge lexical" in shown
    assert "not weighted" in shown
    assert "fewer than 5 groups" in shown
    written = cuecard("agree", "--run", "1", "--markdown").out
    assert written.startswith("# Run 1: 4 of 4")
    assert "\n## Judges against most people\n" in written
    for sheet_line in ("| Judge |", "| --- |"):
        assert sheet_line in written
    assert cuecard("agree", "--run", "1", "--kind", "cue", "--json").data["pairs"] == []
    assert cuecard("agree", "--set", "1").code == 1
    assert cuecard("agree", "--set", "1", "--run", "1").code == 2
    assert cuecard("agree", "--run", "2").code == 1


def test_a_column_for_each_rater_groups_and_scales(cuecard, tmp_path: Path):
    # Five items of three tasks; A and B differ by one step once, C has a gap.
    lines = ["task,A,B,C", "x,1,1,1", "x,2,2,", "y,3,2,3", "y,1,1,1", "z,3,3,3"]
    (tmp_path / "w.csv").write_text("\n".join(lines), encoding="utf-8")
    data = cuecard("agree", "w.csv", "--group", "task", "--weights", "linear", "--json").data
    assert (data["items"], data["raters"], data["groups"]) == (5, ["A", "B", "C"], 3)
    assert data["level"] == "ordinal"
    first = data["pairs"][0]
    assert first["raters"] == ["A", "B"]
    assert first["percent"] == pytest.approx(0.8)
    # Marginals 2,1,2 and 2,2,1 of 5: expected linear agreement 0.54, observed 0.9.
    assert first["kappa_linear"] == pytest.approx((0.9 - 0.54) / 0.46)
    assert "kappa_quadratic" not in first
    assert first["figures"]["percent"]["no_interval"]

    against = cuecard(
        "agree", "w.csv", "--column", "A", "--column", "B", "--reference", "B", "--json"
    )
    [table] = against.data["against_reference"]
    assert table["figures"]["recall:2"]["value"] == 0.5
    assert cuecard("agree", "w.csv", "--reference", "D").code == 1
    assert cuecard("agree", "w.csv", "--column", "A", "--column", "D").err.startswith("w.csv: D")
    unknown = cuecard("agree", "w.csv", "--group", "task", "--labels", "1,2")
    assert (unknown.code, "line 4: 3 is not one of 1, 2" in unknown.err) == (1, True)
    shown = cuecard("agree", "w.csv", "--group", "task", "--markdown").out
    assert "## Every two raters" in shown
