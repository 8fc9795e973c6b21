from __future__ import annotations

from pathlib import Path

import pytest

from cuecard.annotate.task_files import ImportedTask, ImportProblem, ImportReport
from cuecard.tui.present.files import MOST, counts_of, entries_of_export, entries_of_report
from cuecard.tui.present.paths import complete, path_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tasks", "tables", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "task list.yaml").write_text("")
    (tmp_path / "lost").symlink_to("nowhere")
    return tmp_path


def test_a_path_goes_on_as_far_as_it_is_clear(folder: Path) -> None:
    assert complete(f"{folder}/t").text == f"{folder}/ta"
    assert complete(f"{folder}/t").names == ("tables/", "task list.yaml", "tasks/")
    assert complete(f"{folder}/task").names == ("task list.yaml", "tasks/")
    assert complete(f"{folder}/tab").text == f"{folder}/tables/"
    assert complete(f"{folder}/t", folders=True).names == ("tables/", "tasks/")
    assert complete(f"{folder}/.").names == (".hidden/",)
    assert ".hidden/" not in complete(f"{folder}/").names
    for odd in ("", "~nobody/x", f"{folder}/none/x", "\0", "a" * 5000 + "/x"):
        assert complete(odd).text.startswith(odd) or complete(odd).text == odd
    assert path_of(" ~/x ") == Path.home() / "x"


def report(tasks: int = 0, problems: int = 0) -> ImportReport:
    return ImportReport(
        format="cuecard",
        tasks=tuple(
            ImportedTask(
                task_id=f"t{n}", title="T", revision=n + 1, outcome="revised" if n else "new"
            )
            for n in range(tasks)
        ),
        problems=tuple(
            ImportProblem(file=f"f{n}.yaml", place="id", reason="is missing", line=n)
            for n in range(problems)
        ),
    )


def test_a_report_is_listed_to_a_length_that_can_be_read() -> None:
    found = entries_of_report(report(MOST + 5, MOST + 7))
    assert len(found) == 2 * MOST + 2
    assert [found[MOST].head[0].text, found[-1].head[0].text] == ["… and 7 more", "… and 5 more"]
    assert counts_of(report(3, 1)) == "1 new, 2 revised, 0 unchanged · 1 file with problems"
    assert "f1.yaml:1" in found[1].head[1].text


def test_an_export_says_what_stays_out() -> None:
    texts = [entry.head[0].text for entry in entries_of_export(3, 1, 2, {})]
    assert len(texts) == 4
    assert texts[-1] == "The format holds all of it"
    assert entries_of_export(1, 0, 0, {"silences": 2})[1].body[0].text == "silences: 2"
