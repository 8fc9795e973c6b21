from __future__ import annotations

from pathlib import Path


def bad(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "bad.yaml").write_text(
        "id: bad\ntitle: ''\nfamily: facts\nlanguage: fr\nquery: Why?\n"
        "gold: {facts: [{key: a}], answer: b}\n",
        encoding="utf-8",
    )
    (folder / "torn.yml").write_text("id: [", encoding="utf-8")


def test_every_problem_is_listed_with_file_place_and_reason(cuecard, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    bad(tmp_path / "tasks")
    found = cuecard("check", "tasks")
    assert found.code == 1
    said = found.out.splitlines()
    for start in (
        "tasks/bad.yaml: title: must not be empty",
        "tasks/bad.yaml: language: ",
        "tasks/bad.yaml: gold.facts[0].value: is missing",
        "tasks/torn.yml: ",
    ):
        assert [line for line in said if line.startswith(start)], start
    assert found.err == "1 task read, 4 errors, 0 warnings\n"


def test_json(cuecard, task_file, tmp_path: Path):
    task_file("ferry", folder="tasks")
    assert cuecard("check", "tasks", "--json").data == {
        "tasks": 1,
        "errors": 0,
        "warnings": 0,
        "silenced": 0,
        "problems": [],
    }
    bad(tmp_path / "tasks")
    found = cuecard("check", "tasks", "--json")
    assert found.code == 1
    assert found.data["errors"] == 4
    places = {(p["file"], p["place"]): p["line"] for p in found.data["problems"]}
    assert places["tasks/bad.yaml", "title"] == 2


def test_silenced_findings_are_counted_and_shown_when_asked(cuecard, task_file):
    path = task_file("ferry", query="What does the ferry cost with 10 euros?")
    with path.open("a", encoding="utf-8") as file:
        file.write("silenced: [{code: L010, reason: looked at}]\n")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('sources: [{url: "https://example.org/ferry"}]\n', ""))
    found = cuecard("check", "ferry.yaml", "--strict", "--all")
    assert found.code == 0
    assert "[silenced L010] — looked at" in found.out
    assert found.err == "1 task read, 0 errors, 0 warnings, 1 silenced\n"
    data = cuecard("check", "ferry.yaml", "--json").data
    assert [(p["code"], p["silenced"], p["about"]) for p in data["problems"]] == [
        ("L010", "looked at", "")
    ]


def test_nothing_there(cuecard):
    Path("empty").mkdir()
    assert cuecard("check", "empty").code == 1
    assert cuecard("check", "empty", "--json").code == 1
    assert cuecard("check", "nowhere").code == 1


def test_sample_tasks_are_fine(cuecard):
    cuecard("init")
    cuecard("export", "-o", "out")
    assert cuecard("check", "out").code == 0


def test_hostile_text_is_shown_not_obeyed(cuecard, tmp_path: Path):
    (tmp_path / "x.yaml").write_text(
        'id: "a\\e[31m[red]b[/]\\u202e"\ntitle: "[/]"\nfamily: facts\n', encoding="utf-8"
    )
    found = cuecard("check", "x.yaml")
    assert found.code == 1
    assert not {"\x1b", "\u202e"} & set(found.out + found.err)
    as_json = cuecard("check", "x.yaml", "--json")
    assert not {"\x1b", "\u202e"} & set(as_json.out)
