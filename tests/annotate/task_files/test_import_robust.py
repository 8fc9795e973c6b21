"""A folder with everything in it that goes wrong: the good files come in, the rest is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuecard.annotate.samples import load_samples
from cuecard.annotate.task_files import export_tasks, import_path
from cuecard.core.families.graph.gold import Graph
from cuecard.core.tasks.models import Silenced, Task
from cuecard.core.tasks.yaml_io import dump_task
from cuecard.store.workspace import Workspace


@pytest.fixture
def empty(tmp_path: Path):
    with Workspace.open(tmp_path / "empty.db") as opened:
        yield opened


def facts(id: str, **changes) -> Task:
    task = next(task for task in load_samples() if task.id == "facts-night-train")
    return task.model_copy(update={"id": id, **changes})


def write(folder: Path, *tasks: Task) -> Path:
    folder.mkdir(exist_ok=True)
    for task in tasks:
        (folder / f"{task.id}.yaml").write_text(dump_task(task), encoding="utf-8")
    return folder


def test_all_good_files_come_in_and_each_bad_one_is_told(empty: Workspace, tmp_path: Path):
    good = [facts(f"t{n:02}") for n in range(12)]
    folder = write(tmp_path / "in", *good, facts("ABC"), facts("abc"))
    (folder / "latin.yaml").write_bytes("title: café".encode("latin-1"))
    (folder / "binary.yaml").write_bytes(bytes(range(256)))
    (folder / "empty.yml").write_text("")
    (folder / "deep.yaml").write_text("[" * 20_000)
    (folder / "double.yaml").write_text(dump_task(facts("t03")), encoding="utf-8")
    (folder / "bad.yaml").write_text("id: x\ntitle: ''\nlanguage: fr\n")
    (folder / "lost.yaml").symlink_to("nowhere.yaml")
    (folder / "loop").symlink_to(folder)
    big = folder / "big.yaml"
    with big.open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    seen: list[tuple[int, int]] = []

    def progress(done: int, of: int) -> bool:
        seen.append((done, of))
        return True

    report = import_path(empty, folder, by="bob", progress=progress)
    ids = ["ABC", "abc", *(task.id for task in good if task.id != "t03"), "t03"]
    assert sorted(task.task_id for task in report.tasks) == sorted(ids)
    assert empty.tasks.count() == len(ids)
    names = {Path(problem.file).name for problem in report.problems}
    assert names == {
        "latin.yaml", "binary.yaml", "empty.yml", "deep.yaml", "t03.yaml", "bad.yaml",
        "lost.yaml", "big.yaml",
    }  # fmt: skip
    assert all(problem.reason for problem in report.problems)
    assert report.bad_files == len(names)
    assert seen[-1] == (21, 21)
    assert "bad.yaml:2: title: must not be empty" in "\n".join(map(str, report.problems))
    again = import_path(empty, folder, by="bob")
    assert again.count("unchanged") == len(ids)


def test_a_dry_run_says_what_would_be_and_saves_nothing(empty: Workspace, tmp_path: Path):
    empty.tasks.save_all([facts("same"), facts("old")], author="ann")
    folder = write(tmp_path / "in", facts("same"), facts("old", title="New"), facts("fresh"))
    dry = import_path(empty, folder, by="bob", dry=True)
    assert empty.tasks.count() == 2
    assert not empty.people.exists("bob")
    real = import_path(empty, folder, by="bob")
    assert (dry.dry, dry.tasks) == (True, real.tasks)
    assert {task.task_id: (task.outcome, task.revision) for task in real.tasks} == {
        "fresh": ("new", 1),
        "old": ("revised", 2),
        "same": ("unchanged", 1),
    }


def test_a_stopped_import_leaves_whole_files(empty: Workspace, tmp_path: Path):
    folder = write(tmp_path / "in", *(facts(f"t{n}") for n in range(5)))
    report = import_path(empty, folder, by="bob", progress=lambda done, of: done < 3)
    assert (report.stopped, report.files, empty.tasks.count()) == (True, 3, 3)
    assert import_path(empty, folder, by="bob").count("new") == 2


def test_a_draft_is_never_overwritten(empty: Workspace, tmp_path: Path):
    empty.tasks.save_all([facts("t")], author="ann")
    data = facts("t", title="Mine").model_dump(mode="json")
    empty.drafts.save("t", "ann", 1, data)
    folder = write(tmp_path / "in", facts("t", title="Theirs"))
    assert import_path(empty, folder, by="ann").count("revised") == 1
    draft = empty.drafts.get("t", "ann")
    assert draft
    assert (draft.base, draft.data["title"]) == (1, "Mine")


def test_another_kind_of_task_is_another_task(empty: Workspace, tmp_path: Path):
    graph = next(task for task in load_samples() if task.id == "espresso")
    empty.tasks.save_all([graph], author="ann")
    report = import_path(empty, write(tmp_path / "in", facts("espresso")), by="bob")
    assert report.tasks == ()
    assert "is a graph task in this workspace" in report.problems[0].reason


@pytest.mark.parametrize("format", ["vibesearch", "widesearch", "paraworld", "discobench"])
def test_what_a_format_cannot_hold_survives_it(workspace: Workspace, tmp_path: Path, format: str):
    families = {
        "vibesearch": "graph",
        "widesearch": "table",
        "paraworld": "facts",
        "discobench": "checkpoints",
    }
    silence = Silenced(code="L001", reason="it is meant")
    for summary in workspace.tasks.summaries(family=families[format]):
        task = workspace.tasks.revision(summary.id).task
        workspace.tasks.save(
            task.model_copy(update={"silenced": (silence,), "notes": "n"}), author="ann"
        )
    report = export_tasks(workspace, tmp_path / "out", format=format, family=families[format])
    assert report.left_out["silences"] == report.tasks == 2
    back = import_path(workspace, tmp_path / "out", format=format, by="bob")
    assert [task.outcome for task in back.tasks] == ["unchanged", "unchanged"]


def test_an_edited_triple_leaves_the_others_their_sources(workspace: Workspace, tmp_path: Path):
    (path,) = export_tasks(
        workspace, tmp_path / "out", format="vibesearch", task_ids=["espresso"]
    ).files
    data = json.loads(path.read_text(encoding="utf-8"))
    data["triples"][0]["relation"] = "is said to be"
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    before = workspace.tasks.revision("espresso").task.gold
    assert import_path(workspace, path, by="bob").count("revised") == 1
    after = workspace.tasks.revision("espresso").task.gold
    assert isinstance(before, Graph)
    assert isinstance(after, Graph)
    assert after.triples[1:] == before.triples[1:]
    assert after.nodes == before.nodes
    first = before.triples[0].model_copy(update={"relation": "is said to be"})
    assert after.triples[0] == first
