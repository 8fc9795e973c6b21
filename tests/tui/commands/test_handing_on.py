"""`cuecard export --run` and `cuecard rescore` from the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from apart import fresh
from cuecard.core.evaluation.judging import judge_run
from cuecard.store.workspace import Workspace
from exported_trials import exported_run
from judged_trials import GOLD, graph_task


@pytest.fixture
def run(tmp_path: Path) -> int:
    with fresh(tmp_path / "cuecard.db") as workspace:
        number = exported_run(workspace)
        asyncio.run(judge_run(workspace, number))
    return number


def correct(tmp_path: Path, *, query: str = "Since when?") -> None:
    task = graph_task(gold=(*GOLD[1:], ("maker 9", "founded in", "1909")))
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        changed = task.model_copy(update={"query": query})
        workspace.tasks.save(changed, author="bo", message="")


def test_trials_are_exported_and_wrong_usage_is_told(cuecard, run: int, tmp_path: Path):
    words = ("export", "--run", str(run), "-o")
    done = cuecard(*words, "logs", "--format", "inspect")
    assert (done.code, done.out) == (0, "7 trials written to logs (4 files).\n")
    seen, *rest = done.err.splitlines()
    assert "counts as having seen what was decided on 67 items" in seen
    assert rest == [
        "Left out: trials that have not ended (1).",
        "`inspect view --log-dir logs` shows them.",
    ]
    again = cuecard(*words, "logs")
    assert (again.code, again.out) == (1, "")
    assert "Name a folder that is empty" in again.err
    data = cuecard(*words, "wide", "--format", "widesearch", "--json").data
    assert (data["format"], data["trials"], len(data["files"])) == ("widesearch", 4, 2)
    assert data["left_out"] == {"trials of other families": 3, "trials that have not ended": 1}
    assert cuecard(*words, "lines").code == 0
    assert len((tmp_path / "lines" / "trials.jsonl").read_text().splitlines()) == 7
    for wrong in (
        (*words, "x", "--format", "graphml"),
        (*words, "x", "--family", "graph"),
        (*words, "x", "makers"),
        (*words, "x", "--content"),
        ("export", "-o", "x", "--format", "otel"),
        ("export", "-o", "x", "--judge", "lexical"),
    ):
        assert cuecard(*wrong).code == 2
    assert cuecard("export", "--run", "99", "-o", "x").code == 1
    assert not (tmp_path / "x").exists()
    # Tasks go out as they did.
    assert cuecard("export", "-o", "tasks").code == 0


def test_what_moved_is_told_and_the_same_twice(cuecard, run: int, tmp_path: Path):
    assert cuecard("rescore", str(run)).out == "No gold has changed since main / run.\n"
    assert cuecard("rescore", str(run), "--json").data["changed"] is False
    correct(tmp_path)
    planned = cuecard("rescore", str(run), "--dry-run", "--json").data
    (judge,) = planned["judges"]
    assert (planned["new"], judge["kept"], judge["asked"], judge["removed"]) == ("", 31, 3, 3)
    assert planned["gold"][0]["counts"] == {"same": 5, "changed": 0, "added": 1, "removed": 1}
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        assert len(workspace.runs.all()) == 1
    data = cuecard("rescore", str(run), "--json").data
    assert (data["new"], data["open"]) == ("main / run, rescored", 1)
    assert [m["difference"]["value"] for m in data["judges"][0]["measures"][:2]] == [
        pytest.approx(-1 / 6), pytest.approx(-1 / 3),
    ]  # fmt: skip
    told = cuecard("rescore", str(run))
    assert told.code == 0
    assert told.out.splitlines()[-1] == "The rescored trials are run 2, “main / run, rescored”."
    assert "\x1b" not in told.out
    assert cuecard("rescore", str(run), "--json").data == data
    text = cuecard("rescore", str(run), "--markdown").out
    assert "| makers | 1 → 2 | 5 | 0 | 1 | 1 |" in text
    assert json.loads(cuecard("score", "2", "--json").out)["run"]["name"] == "main / run, rescored"


def test_a_task_that_asks_otherwise_is_left_out_and_told(cuecard, run: int, tmp_path: Path):
    correct(tmp_path, query="Who?")
    left = cuecard("rescore", str(run), "--dry-run", "--json")
    assert (left.code, left.data["left"][0]["changed"]) == (1, ["the query"])
    assert cuecard("rescore", str(run), "--revision", "2").code == 2
    assert cuecard("rescore", str(run), "--revision", "makers@x").code == 2
    assert cuecard("rescore", str(run), "--revision", "makers@7").code == 1
    same = cuecard("rescore", str(run), "--revision", "makers@1")
    assert (same.code, same.out) == (0, "No gold has changed since main / run.\n")
    assert cuecard("rescore", str(run), "--json", "--markdown").code == 2
    assert cuecard("rescore", "9").code == 1
