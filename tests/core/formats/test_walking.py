from __future__ import annotations

import os
from pathlib import Path

import pytest

from cuecard.core.formats.files import file_names, find_files, parse_json, read_objects


def test_what_is_in_a_folder_and_what_is_not(tmp_path: Path) -> None:
    for name in ("b.yaml", "A.YML", "x.txt", "cuecard.yaml", "sub/deep/c.yaml", "sub/.hidden.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self.yaml").symlink_to("self.yaml")
    (tmp_path / "lost.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "link.yaml").symlink_to("b.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    found = find_files(tmp_path, (".yaml", ".yml"), deep=True)
    names = [str(path.relative_to(tmp_path)) for path in found.files]
    assert names == ["A.YML", "b.yaml", "link.yaml", "sub/.hidden.yaml", "sub/deep/c.yaml"]
    assert [Path(p.file).name for p in found.problems] == ["lost.yaml", "self.yaml"]
    assert len(find_files(tmp_path, (".yaml",)).files) == 2
    some = find_files(tmp_path, (".yaml",), patterns=("l*.yaml", "b*"))
    assert [path.name for path in some.files] == ["link.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    found = find_files(tmp_path, (".yaml",), deep=True)
    assert [p.file for p in found.problems] == [str(closed)]


def test_no_two_tasks_share_a_file_on_any_system() -> None:
    ids = ["a", "A", "é", "e\u0301", "con", "中" * 120, "中" * 119, "task_a", "-x", "..", "ok.1"]
    names = file_names(ids, ".yaml")
    assert len({name.casefold() for name in names}) == len(ids)
    assert (names[0], names[-1], names[-2]) == ("a.yaml", "ok.1.yaml", "...yaml")
    assert all(len(name.encode()) < 255 for name in names)
    assert names == file_names(ids, ".yaml")
    assert file_names(["a", "task_a"], ".json", prefix="task_")[0] == "task_a.json"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "b": {"x": 1, "x": 2}}', "the field 'x' stands here twice"),
        ("1" * 5000, "more than 1000 digits"),
        ("[" * 100_000, "nested too deeply"),
        ("Infinity", "not JSON"),
    ],
)
def test_json_that_would_lose_something_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    (problem,) = read_objects(tmp_path / "none.json")
    assert "No such file" in problem.reason
