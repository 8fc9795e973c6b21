from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from apart import fresh
from cuecard.annotate.samples import load_samples
from cuecard.core.formats.base import FORMATS


def read(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_out_and_in_again(cuecard, tmp_path: Path):
    assert cuecard("init").code == 0
    out = cuecard("export", "-o", "out")
    assert (out.code, out.out) == (0, f"{len(load_samples())} files written to out.\n")
    assert cuecard("--db", "other.db", "init", "--no-samples").code == 0
    back = cuecard("--db", "other.db", "import", "out", "--json")
    assert (back.code, back.err) == (0, "")
    assert len(back.data["tasks"]) == len(load_samples())
    assert {task["outcome"] for task in back.data["tasks"]} == {"new"}
    assert cuecard("--db", "other.db", "export", "--output", "again", "--json").code == 0
    assert read(tmp_path / "again") == read(tmp_path / "out")


@pytest.mark.parametrize("name", ["vibesearch", "widesearch", "paraworld", "discobench"])
def test_each_format_comes_back_alike(samples, tmp_path: Path, name):
    out = samples("export", "--format", name, "-o", "out")
    assert out.code == 0
    others = len(load_samples()) - 2
    assert f"{others} tasks of other families are left out; {name} holds" in out.err
    fresh(tmp_path / "other.db").close()
    back = samples("--db", "other.db", "import", "out")
    assert back.code == 0
    assert back.out == f"out ({name}): 2 new, 0 revised, 0 unchanged\n"
    again = samples("--db", "other.db", "export", "--format", name, "-o", "again", "--json")
    assert again.data["format"] == name
    assert read(tmp_path / "again") == read(tmp_path / "out")
    once_more = samples("--db", "other.db", "import", "again", "--format", name, "--json")
    assert {task["outcome"] for task in once_more.data["tasks"]} == {"unchanged"}


def test_named_tasks_and_families(samples, tmp_path: Path):
    assert samples("export", "espresso", "table-us-states", "-o", "two").code == 0
    assert sorted(read(tmp_path / "two")) == ["espresso.yaml", "table-us-states.yaml"]
    assert samples("export", "--family", "facts", "-o", "facts").out.startswith("2 files")
    unknown = samples("export", "espresso", "ghost", "-o", "none")
    assert unknown.code == 1
    assert "ghost" in unknown.err
    wrong = samples("export", "espresso", "--format", "widesearch", "-o", "none")
    assert wrong.code == 1
    assert "espresso" in wrong.err
    assert not (tmp_path / "none").exists()


def test_one_bad_file_harms_no_other(samples, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    (tmp_path / "tasks" / "bad.yaml").write_text("id: bad\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    found = samples("import", "nowhere", "tasks", "notes.txt")
    assert found.code == 1
    assert found.out == "tasks (cuecard): 1 new, 0 revised, 0 unchanged\n"
    assert "tasks/bad.yaml: title: is missing" in found.err
    assert "cuecard: There is no such file: nowhere" in found.err
    assert "notes.txt" in found.err
    data = samples("import", "nowhere", "tasks", "--json").data
    assert [task["outcome"] for task in data["tasks"]] == ["unchanged"]
    assert {problem["file"] for problem in data["problems"]} == {"nowhere", "tasks/bad.yaml"}


def test_a_task_of_another_benchmark(samples, tmp_path: Path):
    line = {
        "index": 7,
        "prompt": [{"role": "user", "content": "When does the ferry leave?"}],
        "answer": "09:15",
        "extra_info": {
            "world_truth_info": {
                "generated_question": "When does the ferry leave?",
                "atomic_facts": {"first ferry": "09:00", "delay today": "15 minutes"},
                "final_answer": "09:15",
            }
        },
        "level": 3,
    }
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert (
        samples("import", "in.jsonl").out == "in.jsonl (paraworld): 1 new, 0 revised, 0 unchanged\n"
    )
    assert "paraworld" in FORMATS
    assert samples("export", "paraworld_7", "--format", "paraworld", "-o", "out").code == 0
    written = (tmp_path / "out" / "paraworld.jsonl").read_text(encoding="utf-8")
    assert json.loads(written) == line


def test_a_dry_run_saves_nothing_and_says_what_would_be(samples, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    (tmp_path / "tasks" / "bad.yaml").write_text("id: bad\ntitle: ''\n", encoding="utf-8")
    found = samples("import", "tasks", "--dry-run")
    assert found.code == 1
    assert found.out == "tasks (cuecard), would be: 1 new, 0 revised, 0 unchanged\n"
    assert "tasks/bad.yaml:2: title: must not be empty" in found.err
    assert "1 file with problems" in found.err
    data = samples("import", "tasks", "--dry-run", "--json").data
    assert (data["dry_run"], data["files"][0]["bad"]) == (True, 1)
    assert samples("import", "tasks").out.startswith("tasks (cuecard): 1 new")


def test_standard_input_is_a_file(samples, task_file, monkeypatch, tmp_path: Path):
    data = task_file("ferry").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert samples("import", "-").out == "- (cuecard): 1 new, 0 revised, 0 unchanged\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    found = samples("import", "-", "--format", "paraworld")
    assert found.code == 1
    assert found.err.startswith("-: extra_info.world_truth_info.atomic_facts: is missing")


def test_graphs_go_out_whole_and_what_others_cannot_hold_is_told(samples, tmp_path: Path):
    out = samples("export", "espresso", "--format", "turtle", "-o", "out")
    assert (out.code, out.err) == (0, "")
    assert samples("import", "out", "--json").data["tasks"][0]["outcome"] == "unchanged"
    told = samples("export", "espresso", "--format", "vibesearch", "-o", "vibe")
    assert "vibesearch has no place for: " in told.err
    data = samples("export", "espresso", "--format", "vibesearch", "-o", "vibe", "--json").data
    assert data["left_out"]["titles"] == 1
