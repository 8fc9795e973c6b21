from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.annotate.review.assignment import queue_for
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL
from cuecard.annotate.samples import import_samples, load_samples, offer_sample, sample_names
from cuecard.annotate.task_files import export_tasks, import_path
from cuecard.core.contributions import TaskState
from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.formats.base import FORMATS
from cuecard.core.tasks.base import MOST_CHARACTERS
from cuecard.store.workspace import Workspace


@pytest.fixture
def empty(tmp_path: Path):
    with Workspace.open(tmp_path / "empty.db") as opened:
        yield opened


def test_samples_are_imported_once(empty: Workspace):
    first = import_samples(empty, "ann")
    assert [revision.number for revision in first] == [1] * len(load_samples())
    assert import_samples(empty, "bob") == first
    edited = first[0].task.model_copy(update={"title": "Edited"})
    empty.tasks.save(edited, author="bob", base=1)
    assert import_samples(empty, "ann")[0].number == 2


def test_yaml_out_and_in_again_changes_nothing(
    workspace: Workspace, empty: Workspace, tmp_path: Path
):
    files = export_tasks(workspace, tmp_path / "out").files
    assert len(files) == len(load_samples())
    report = import_path(empty, tmp_path / "out", by="bob")
    assert report.format == "cuecard"
    assert report.problems == ()
    assert report.count("new") == len(files)
    again = import_path(empty, tmp_path / "out", by="bob")
    assert again.count("unchanged") == len(files)
    for summary in workspace.tasks.summaries():
        left, right = workspace.tasks.revision(summary.id), empty.tasks.revision(summary.id)
        assert left.hash == right.hash
        assert right.number == 1


@pytest.mark.parametrize(
    ("format", "family"),
    [
        ("vibesearch", "graph"),
        ("widesearch", "table"),
        ("paraworld", "facts"),
        ("discobench", "checkpoints"),
    ],
)
def test_foreign_formats_out_and_in(
    workspace: Workspace, empty: Workspace, tmp_path: Path, format, family
):
    export_tasks(workspace, tmp_path / "out", format=format, family=family)
    report = import_path(empty, tmp_path / "out", by="bob")
    assert report.format == format
    assert [str(problem) for problem in report.problems] == []
    assert report.count("new") == 2
    assert import_path(empty, tmp_path / "out", format=format, by="bob").count("unchanged") == 2
    assert {summary.family for summary in empty.tasks.summaries()} == {family}


def test_a_bad_file_harms_no_other(workspace: Workspace, empty: Workspace, tmp_path: Path):
    export_tasks(workspace, tmp_path / "out", task_ids=["espresso", "facts-night-train"])
    bad = tmp_path / "out" / "espresso.yaml"
    bad.write_text(bad.read_text().replace("language: en", "language: fr"))
    report = import_path(empty, tmp_path / "out", by="bob")
    assert [task.task_id for task in report.tasks] == ["facts-night-train"]
    (problem,) = report.problems
    assert (problem.file, problem.place) == (str(bad), "language")
    assert empty.tasks.count() == 1


def test_a_file_of_many_tasks_is_imported_whole_or_not_at_all(
    workspace: Workspace, empty: Workspace, tmp_path: Path
):
    report = export_tasks(workspace, tmp_path / "out", format="discobench", family="checkpoints")
    (path,) = report.files
    lines = path.read_text().splitlines()
    data = json.loads(lines[1])
    del data["final_answer"]
    path.write_text(f"{lines[0]}\n{json.dumps(data)}\n")
    (path.parent / "of another format.yaml").write_text("id: a")
    report = import_path(empty, path.parent, by="bob")
    assert report.tasks == ()
    assert [str(problem) for problem in report.problems] == [
        f"{path}: line 2, final_answer: is missing"
    ]
    assert report.others == 1
    assert empty.tasks.count() == 0


def test_a_text_that_would_hold_up_whoever_opens_it_is_refused(empty: Workspace, tmp_path: Path):
    task = load_samples()[0]
    long = task.model_copy(update={"query": "a" * (MOST_CHARACTERS + 1)})
    (file,) = FORMATS["cuecard"].write_tasks([long], tmp_path)
    (problem,) = import_path(empty, file, by="bob").problems
    assert (problem.place, problem.reason) == ("query", "is longer than 200,000 characters")


def test_a_changed_task_is_a_new_revision(workspace: Workspace, tmp_path: Path):
    (path,) = export_tasks(workspace, tmp_path / "out", task_ids=["espresso"]).files
    path.write_text(path.read_text().replace("Marta Lindqvist", "Maria Lindqvist"))
    report = import_path(workspace, path, by="bob")
    assert [(task.outcome, task.revision) for task in report.tasks] == [("revised", 2)]
    assert workspace.tasks.revision("espresso").author == "bob"


def test_what_cannot_be_done_says_why(workspace: Workspace, tmp_path: Path):
    with pytest.raises(NotFound, match="no such file"):
        import_path(workspace, tmp_path / "absent", by="bob")
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(CuecardError, match="--format"):
        import_path(workspace, tmp_path / "x.txt", by="bob")
    (tmp_path / "broken.json").write_text('{"question": 1,\n')
    with pytest.raises(CuecardError, match="line 2, column 1") as raised:
        import_path(workspace, tmp_path / "broken.json", by="bob")
    assert "--format" not in str(raised.value)  # which would not mend it
    with pytest.raises(CuecardError, match="Unknown format"):
        import_path(workspace, tmp_path / "x.txt", format="csv", by="bob")
    with pytest.raises(NotFound):
        export_tasks(workspace, tmp_path / "o", task_ids=["absent"])
    with pytest.raises(CuecardError, match="do not fit"):
        export_tasks(workspace, tmp_path / "o", format="widesearch")
    with pytest.raises(NotFound, match="Nothing to export"):
        export_tasks(workspace, tmp_path / "o", task_ids=[])


def test_samples_are_nobodys_and_one_can_be_put_before_reviewers(empty: Workspace) -> None:
    import_samples(empty)
    first = offer_sample(empty)
    assert empty.reviews.state(first) is TaskState.IN_REVIEW
    assert [
        line.task.id for line in queue_for(empty, "Ann", EMBEDDED_PROTOCOL, datetime.now(UTC))
    ] == [first]
    offered = {first, *(offer_sample(empty) for _n in sample_names()[1:])}
    assert len(offered) == len(sample_names())
    with pytest.raises(NotFound, match="No sample task is left"):
        offer_sample(empty)
