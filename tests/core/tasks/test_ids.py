"""What a task may be called, wherever an id enters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apart import fresh, small_task
from cuecard.annotate.authoring.session import begin_task, rename_draft
from cuecard.core.errors import CuecardError, FileProblems
from cuecard.core.formats.base import FORMATS
from cuecard.core.tasks.base import id_problem
from cuecard.core.tasks.yaml_io import dump_task, parse_task

BAD = {
    "..": "dots alone",
    ".": "dots alone",
    "-x": "must not begin with '-'",
    "--help": "must not begin with '-'",
    "con": "keeps for a device",
    "NUL.v2": "keeps for a device",
    "com1": "keeps for a device",
    "a/b": "letters, digits",
    "a\\b": "letters, digits",
    "a\nb": "letters, digits",
    "a\x07b": "letters, digits",
    "a b": "letters, digits",
    "": "letters, digits",
    "x" * 121: "letters, digits",
}
CHAIN = {
    "id": "-x",
    "original_question": "Which?",
    "rewritten_question": "Which?",
    "final_answer": "a",
    "checkpoints": [
        {
            "question": "Which?",
            "goal": "a",
            "type": "ambi",
            "ambiguity_type": "entity",
            "ambiguity_logic": "two",
            "candidates": ["a", "b"],
            "clue_if_asked": "a",
        }
    ],
}


@pytest.mark.parametrize(
    "good", ["a", "x-1", "a..b", ".a", "任务-1", "console", "com10", "x" * 120]
)
def test_what_can_be_an_id(good: str):
    assert id_problem(good) == ""
    assert parse_task(dump_task(small_task(good))).id == good


@pytest.mark.parametrize("bad", BAD)
def test_an_id_is_refused_with_its_reason_where_it_enters(bad: str, tmp_path: Path):
    assert BAD[bad] in id_problem(bad)
    text = json.dumps({**json.loads(_as_json("t")), "id": bad})
    with pytest.raises(FileProblems, match="id: ") as caught:
        parse_task(text)
    assert any(
        BAD[bad] in problem.reason and problem.line == 1 for problem in caught.value.problems
    )
    with fresh(tmp_path / "w.db") as workspace:
        data = {**small_task().model_dump(mode="json"), "id": bad}
        with pytest.raises(CuecardError, match="cannot be an id"):
            begin_task(workspace, "Ana", data)
        begin_task(workspace, "Ana", {**data, "id": "t"})
        with pytest.raises(CuecardError, match="cannot be an id"):
            rename_draft(workspace, "Ana", {**data, "id": "t"}, bad)


def test_an_import_refuses_the_file(tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(CHAIN) + "\n", encoding="utf-8")
    _tasks, (problem,) = FORMATS["discobench"].read_tasks(path)
    assert (problem.place, BAD["-x"] in problem.reason) == ("id", True)
    path.write_text(json.dumps({**CHAIN, "id": "x"}) + "\n", encoding="utf-8")
    ((task,), problems) = FORMATS["discobench"].read_tasks(path)
    assert (task.id, problems) == ("x", [])


def test_the_store_takes_no_new_task_under_such_an_id_and_keeps_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with fresh(tmp_path / "w.db") as workspace:
        with pytest.raises(CuecardError, match="cannot be an id"):
            workspace.tasks.save(small_task(".."), author="Ana")
        assert workspace.tasks.summaries() == []
        with monkeypatch.context() as before:
            # As a workspace from before the rule holds it.
            before.setattr("cuecard.store.task_saving.id_problem", lambda _id: "")
            workspace.tasks.save(small_task("-old"), author="Ana")
        revised = workspace.tasks.save(small_task("-old", title="Better"), author="Ana")
        assert (revised.number, workspace.tasks.revision("-old").task.title) == (2, "Better")


def _as_json(task_id: str) -> str:
    task = small_task(task_id).model_dump(mode="json", exclude_defaults=True)
    return json.dumps({**task, "family": "graph", "gold": {"triples": [{"head": "a", "relation": "r", "tail": "b"}]}})  # fmt: skip
