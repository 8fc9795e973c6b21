"""`cuecard score` for several runs, `cuecard compare` and `cuecard table`, over runs judged by hand."""

from __future__ import annotations

import inspect
import os
import shutil
from pathlib import Path

import pytest

from apart import fresh
from cuecard.annotate.results.papers import PAPER_TABLES
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.scores import interval_groups, run_scores
from cuecard.core.evaluation.scores import score_run
from cuecard.core.scoring.breakdowns import Breakdown
from cuecard.store.workspace import Workspace
from cuecard.tui.commands.results import table
from effect_runs import judged_run
from judged_trials import GOLD, ended_run, graph_task, triples

# Covered triples of four: triplet F1 is their share. Task by task 1/4 more for beta but on t5.
ALPHA = ("ynnn", "yynn", "yyyn", "ynnn", "yynn", "yyyy")
BETA = ("yynn", "yyyn", "yyyy", "yynn", "yyyn", "ynnn")


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("results") / "w.db"
    with fresh(path) as workspace:
        judged_run(workspace, {"alpha": ALPHA, "beta": BETA})
        judged_run(workspace, {"alpha": BETA})
        gather(workspace, [1, 2], ["strict"])
    return path


@pytest.fixture
def results(cuecard, kept: Path, tmp_path: Path):
    shutil.copy(kept, tmp_path / "w.db")

    def call(verb: str, *words: str):
        return cuecard("--db", "w.db", verb, *words, "--judge", "strict")

    return call


def test_scores_of_runs(results, kept: Path):
    data = results("score", "1", "--json").data
    (alpha, beta) = data["groups"]
    entry = alpha["measures"]["triplet_f1"]
    assert entry["avg"] == pytest.approx((1 + 2 + 3 + 1 + 2 + 4) / 24)
    low, high = entry["interval"]["avg"]
    assert low < entry["avg"] < high
    assert (entry["n"]["avg"], entry["samples"], alpha["trials"]) == (6, 1, 6)
    assert beta["measures"]["cost"]["avg"] is None
    assert beta["measures"]["cost"]["no_interval"]["avg"]
    assert set(data["tables"]) == set(PAPER_TABLES)
    assert data["tables"]["main"][0]["title"] == "Graph tasks"
    assert data["scores"]["lines"][1]["figures"]["triplet_f1.avg"]["interval"]
    assert data["run"]["id"] == 1
    with Workspace.open(kept) as workspace:
        pool = gather(workspace, [1], ["strict"])
        assert run_scores(pool, interval_groups(pool), ()) == score_run(workspace, 1, "strict")
        # What is printed needs no details of trials; all else is the same.
        for group, short in zip(
            interval_groups(pool), interval_groups(pool, whole=False), strict=True
        ):
            assert short.figures == group.figures
            assert short.scores == group.scores.model_copy(update={"breakdown": Breakdown()})

    shown = results("score", "1")
    assert "Graph tasks: agent alpha" in shown.out
    assert "interval" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80

    both = results("score", "1", "2", "--json").data
    assert "run" not in both
    assert [run["id"] for run in both["runs"]] == [1, 2]
    assert [group["trials"] for group in both["groups"]] == [12, 6]
    assert {one["run"] for one in both["results"]} == {1, 2}
    cut = results("score", "1", "2", "--by", "agent", "--by", "run", "--sort", "triplet_f1")
    names = [line.split("  ")[0] for line in cut.out.splitlines() if " · run" in line]
    assert [name.split(" ")[0] for name in names[:3]] == ["alpha", "beta", "alpha"]
    across = results("score", "1", "--across", "agent", "--by", "task", "--measure", "triplet_f1")
    assert "t5    1.000  0.250" in across.out
    assert results("score", "1", "--only", "agent=beta", "--markdown").out.count("| beta |") == 1


def test_compare(results):
    data = results("compare", "1", "--by", "agent", "--json").data
    first = data["comparisons"][0]
    (contrast,) = first["contrasts"]
    assert (first["measure"], first["base"], contrast["arm"]) == ("triplet_f1", "alpha", "beta")
    # A quarter more on five tasks, three less on one.
    assert contrast["difference"]["value"] == pytest.approx((5 - 3) / 24)
    assert (contrast["wins"], contrast["ties"], contrast["losses"]) == (5, 0, 1)
    assert contrast["tasks"][0]["task"] == "t5"

    shown = results("compare", "1", "--base", "beta", "--measure", "triplet_f1")
    assert "Graph tasks: compared by agent, against beta" in shown.out
    assert "1/0/5" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    told = results("compare", "1", "2", "--by", "run", "--only", "agent=alpha", "--markdown")
    # Task t0 was saved once: the same revision was played in both runs.
    assert "| 5/0/1 |" in told.out
    assert results("compare", "1", "--design", "judges").code == 1


def test_tables_in_every_format(results, tmp_path: Path):
    assert "Graph tasks" in results("table", "main", "1").out
    assert results("table", "main", "1", "--csv").out.startswith("\ufefftable,")
    tables = results("table", "main", "1", "--json").data["sheets"]
    assert tables[0]["lines"][0][0]["text"] == "alpha"
    written = results("table", "main", "1", "-o", "main.tex")
    assert "main.tex" in written.err
    assert "\\begin{tab" in (tmp_path / "main.tex").read_text(encoding="utf-8")
    assert results("table", "main", "1", "--csv", "--json").code == 2
    assert results("table", "main", "1", "-o", "main.xls").code == 2
    assert "no such folder" in results("table", "main", "1", "-o", "no/main.md").err
    os.mkfifo(tmp_path / "pipe.md")
    reader = os.open(tmp_path / "pipe.md", os.O_RDONLY | os.O_NONBLOCK)
    assert results("table", "trials", "1", "-o", "pipe.md").code == 0
    # A pipe, or a device, is written into and not replaced.
    assert os.read(reader, 9) == b"## Trials"
    os.close(reader)
    assert "nothing for the table settings" in results("table", "settings", "1").err
    told = results("table", "settings", "1", "-o", "nothing.tex")
    assert "nothing for the table settings" in told.err
    assert "Written" not in told.err
    assert not (tmp_path / "nothing.tex").exists()
    help = inspect.getsource(table.function)
    assert all(name in help for name in PAPER_TABLES)


def test_what_cannot_be_told_is_told_in_one_line(results):
    for words, said in (
        (("score", "1", "--by", "colour"), "No such dimension: colour (There are: run, agent"),
        (("score", "1", "--only", "agent"), "language=zh"),
        (("score", "1", "--sort", "speed"), "Nothing to sort by: speed"),
        (("compare", "1", "--by", "language"), "belongs to the task"),
        (("compare", "1", "--by", "run"), "nothing to compare: run is run everywhere"),
        (("compare", "1", "--design", "colours"), "No such design: colours"),
        (("table", "maine", "1"), "No such table: maine (There are: main,"),
    ):
        refused = results(*words)
        assert (refused.code, refused.out) == (1, ""), words
        assert said in refused.err
        assert refused.err.count("\n") == 1


def test_unjudged_runs_are_told(cuecard, results):
    with Workspace.open(Path("w.db")) as workspace:
        run = str(ended_run(workspace, graph_task(), [triples(*GOLD)] * 2))
    quiet = cuecard("--db", "w.db", "compare", run, "--judge", "nobody")
    assert (quiet.code, quiet.out) == (1, "")
    assert "cuecard judge" in quiet.err
    for verb in ("table main", "suspects", "blame"):
        none = cuecard("--db", "w.db", *verb.split(), run, "--judge", "nobody")
        assert "No trial of these runs is judged" in none.err
    shown = cuecard("--db", "w.db", "score", run, "--judge", "nobody")
    assert "2 trials are not judged by nobody" in shown.err


@pytest.mark.parametrize(
    "words",
    [
        "score 1", "leaderboard 1", "compare 1", "plan 1", "suspects 1", "blame 1", "table main 1", "report 1",
        "sample 1 --n 5 --dry-run", "agree --effect --run 1", "export --run 1 -o out",
    ],
)  # fmt: skip
def test_a_judge_that_judged_nothing_here_is_no_reason_to_judge_again(
    cuecard, results, words: str
) -> None:
    """Once "nothing is judged" was said of trials that others had judged."""
    found = cuecard("--db", "w.db", *words.split(), "--judge", "nobody")
    assert (found.code, found.out) == (1, "")
    assert (
        "None of these trials is judged by nobody: judges here: strict (`cuecard judge" in found.err
    )
    assert not Path("out").exists()
