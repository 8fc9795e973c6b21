from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.core.errors import FileProblems
from cuecard.core.tasks import SHIPPED
from cuecard.core.tasks.gold import Family
from cuecard.core.tasks.models import Foreign, Task, content_hash
from cuecard.core.tasks.yaml_io import dump_task, load_task, load_tasks, parse_task, read_data
from cuecard.core.validation import Place

SAMPLES = sorted(Path("sample_tasks").glob("*.yaml"))
slow = settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))

ESPRESSO = """\
# A hand-written file: comments stay allowed everywhere.
id: espresso  # trailing
title: Espresso machines
family: graph
language: en
domain:
query: Which machines have a PID?
persona:
  identity: A barista.
  initial_query: Any good machines?
  stages:
    - title: one
      cue: {kind: start, text: The conversation starts}
      line: Hello
    - title: two
      cue: {kind: asks, text: The agent asks}
      line: Budget
    - title: three
      cue: {kind: mentions, text: The reply mentions a price}
      line: Size
    - title: four
      cue: {kind: completes, text: The list is complete}
      line: LINE
gold:
  triples:
    # head, relation, tail
    - {head: A, relation: makes, tail: 1.50}
    - {head: A, relation: since, tail: 2020-01-01, stage: 4}
sources:
"""


def problems(text: str) -> list[str]:
    with pytest.raises(FileProblems) as caught:
        parse_task(text, "sample_tasks/espresso.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("family", SHIPPED)
def test_any_task_comes_back_from_yaml_as_it_was(family: Family) -> None:
    @slow
    @given(strategies.tasks(family))
    def round_trip(task: Task) -> None:
        text = dump_task(task)
        again = parse_task(text)
        assert again == task
        assert content_hash(again) == content_hash(task)
        assert dump_task(again) == text

    round_trip()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_round_trip_and_carry_their_name(path: Path) -> None:
    task = load_task(path)
    assert parse_task(dump_task(task)) == task
    assert task.id == path.stem


def test_scalars_are_the_text_that_stands_there() -> None:
    task = parse_task(ESPRESSO.replace("LINE", "on"))
    assert [triple.tail for triple in task.gold.triples] == ["1.50", "2020-01-01"]  # type: ignore[union-attr]
    assert task.stages[3].line == "on"


def test_a_field_without_a_value_counts_as_left_out() -> None:
    task = parse_task(ESPRESSO)
    assert task.domain == ""
    assert task.sources == ()


@pytest.mark.parametrize("value", ['""', "", "~", '"  "', "|\n\n"])
def test_an_empty_line_is_told_by_file_path_and_reason(value: str) -> None:
    assert problems(ESPRESSO.replace("LINE", value)) == [
        "sample_tasks/espresso.yaml: persona.stages[3].line: must not be empty"
    ]


def test_problems_carry_their_line() -> None:
    with pytest.raises(FileProblems) as caught:
        parse_task(ESPRESSO.replace("LINE", '""').replace("stage: 4", "stage: x"), "f.yaml")
    found = {problem.place: problem.line for problem in caught.value.problems}
    lines = ESPRESSO.split("\n")
    assert found == {
        "persona.stages[3].line": lines.index("      line: LINE") + 1,
        "gold.triples[1].stage": next(i for i, t in enumerate(lines, 1) if "stage: 4" in t),
    }


def test_one_wrong_entry_is_not_also_a_list_too_short() -> None:
    text = ESPRESSO.replace("{head: A, relation: makes, tail: 1.50}", "{head: A, tail: b}")
    text = text.replace("    - {head: A, relation: since, tail: 2020-01-01, stage: 4}\n", "")
    assert problems(text) == ["sample_tasks/espresso.yaml: gold.triples[0].relation: is missing"]


def test_an_empty_list_is_too_short() -> None:
    text = ESPRESSO[: ESPRESSO.index("gold:")] + "gold: {triples: []}\n"
    assert problems(text) == [
        "sample_tasks/espresso.yaml: gold.triples: must have at least 1 entry"
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id: espresso", "id: my task", "id: may hold letters, digits"),
        ("language: en", "language: fr", "language: must be one of 'en' or 'zh'"),
        ("family: graph", "family: chart", "family: must be one of graph, table, checkpoints"),
        ("family: graph\n", "", "family: is missing; must be one of graph, table"),
        ("domain:", "domian: x", "domian: is not a known field; check the spelling"),
        ("title: Espresso machines", "title: [a]", "title: must be text"),
        ("title: Espresso machines\n", "", "title: is missing"),
        ("kind: asks", "kind: shouts", "persona.stages[1].cue.kind: must be one of 'start'"),
        ("stage: 4", "stage: 5", "gold.triples[1].stage: the persona has 4 stages, not 5"),
        ("stage: 4", "stage: 0", "gold.triples[1].stage: must be at least 1"),
        ("stage: 4", "stage: x", "gold.triples[1].stage: must be a whole number"),
        ("sources:", "sources: [{url: ftp://x}]", "sources[0].url: must be a web address"),
        ("sources:", "sources: x", "sources: must be a list"),
        ("gold:\n", "gold: x\ngold2:\n", "gold: must be a mapping of fields"),
        ("language: en", "id: twice", "id: stands here twice (line 5)"),
        ("family: graph", "family: [", "line 6:"),
        ("{head: A, relation: makes, tail: 1.50}", "~", "gold.triples[0]:"),
    ],
)
def test_reasons(old: str, new: str, expected: str) -> None:
    assert old in ESPRESSO
    found = problems(ESPRESSO.replace(old, new, 1))
    assert any(f"sample_tasks/espresso.yaml: {expected}" in line for line in found), found


def test_a_table_tells_which_row_and_cell() -> None:
    head = "id: t\ntitle: t\nlanguage: en\nquery: q\nfamily: table\ngold:\n"
    head += "  columns: [{name: A}, {name: B}]\n  unique_columns: [A]\n  rows:\n"
    assert problems(head + "    - [1, 2]\n    - [3]\n")[0].endswith(
        "gold.rows[1]: has 1 cell, not 2"
    )
    assert problems(head + "    - [1, ~]\n")[0].endswith(
        'gold.rows[0][1]: has no value; write "" for empty text'
    )
    task = parse_task(head + '    - [1, ""]\n')
    assert task.gold.rows == (("1", ""),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("just words", "must be a mapping"),
        ("[" * 200_000, "is nested too deeply"),
        ("{a: " * 50_000, "is nested too deeply"),
        ("a: &a [*a]", "is nested too deeply"),
        ("id: x\n---\nid: y\n", "document"),
        ("id: \x01", "control characters"),
        ("? [a]\n: b\n", "a key must be plain text"),
        ("a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 10)}]\n" for i in range(8)), "too many values"),
    ],
)  # fmt: skip
def test_what_is_no_task_file(text: str, reason: str) -> None:
    (found,) = problems(text)
    assert reason in found


def test_text_that_cannot_be_stored_is_refused_with_its_place() -> None:
    task = parse_task(ESPRESSO)
    for bad in ("a\ud800", "a\0b"):
        with pytest.raises(ValueError, match="notes: holds"):
            Task.model_validate({**dict(task), "notes": bad})
    for fields in ({"a": float("nan")}, {"a": [float("inf")]}, {"\ud800": 1}, {"a": "\udfff"}):
        with pytest.raises(ValueError, match="foreign"):
            Task.model_validate({**dict(task), "foreign": Foreign(format="x", fields=fields)})
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        Task.model_validate({**dict(task), "foreign": Foreign(format="x", fields={"a": deep})})


def test_foreign_fields_keep_their_json_types() -> None:
    fields = {"i": 1, "f": 1.5, "b": True, "n": None, "s": "1", "e": "1e3", "t": "true", "z": "~"}
    task = parse_task(ESPRESSO).model_copy(
        update={"foreign": Foreign(format="vibesearch", fields={**fields, "l": [fields]})}
    )
    again = parse_task(dump_task(task))
    assert again.foreign == task.foreign
    assert again.foreign
    assert {k: type(v) for k, v in again.foreign.fields.items()} == {
        **{k: type(v) for k, v in fields.items()},
        "l": list,
    }


def test_files_and_folders_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.yaml").write_text("\ufeff" + ESPRESSO, encoding="utf-8")
    (tmp_path / "sub" / "b.yml").write_text("id: [", encoding="utf-8")
    (tmp_path / "sub" / "c.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "notes.txt").write_text("not a task", encoding="utf-8")
    tasks, found = load_tasks([tmp_path, tmp_path / "missing.yaml"])
    assert [task.id for _path, task in tasks] == ["espresso"]
    assert [(Path(p.file).name, p.reason.split(":")[0]) for p in found] == [
        ("b.yml", "line 2"),
        ("c.yaml", "is not UTF-8 text; save it as UTF-8"),
        ("missing.yaml", "No such file or directory"),
    ]


PAIRS = r"""{"id": "ferry", "title": "\ud83d\ude00 \\ud83d\\ude00 A\/B \u6e21", "family": "facts", "language": "en",
	"query": "\ud834\udd1e\ud834\udd1e?", "gold": {"facts": [{"key": "a\ud83d\ude00", "value": 1.50}], "answer": "1"}}
"""


def test_json_is_read_with_characters_that_it_escapes_in_halves(tmp_path: Path) -> None:
    task = parse_task(PAIRS)
    assert task.title == "😀 \\ud83d\\ude00 A/B 渡"
    assert (task.query, task.gold.facts[0].key) == ("𝄞𝄞?", "a😀")
    assert task.gold.facts[0].value == "1.50"
    assert parse_task(dump_task(task)) == task
    # Half a character is none, and what only looks like JSON is left as it is.
    assert "line 1" in problems(PAIRS.replace("\\ude00 ", " "))[0]
    plain = parse_task(ESPRESSO.replace("Espresso machines", r"\ud83d\ude00"))
    assert plain.title == r"\ud83d\ude00"


def test_a_folder_gives_its_yaml_and_the_json_that_holds_tasks(tmp_path: Path) -> None:
    (tmp_path / "ferry.json").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "espresso.yaml").write_text(ESPRESSO, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "x"}', encoding="utf-8")
    (tmp_path / "scores.json").write_text(
        '{"runs": [{"family": "a", "gold": {}}]}', encoding="utf-8"
    )
    loaded, found = load_tasks([tmp_path])
    assert ([task.id for _path, task in loaded], found) == (["espresso", "ferry"], [])
    (tmp_path / "ferry.json").write_text(PAIRS.replace('"query"', "query"), encoding="utf-8")
    assert [problem.file for problem in load_tasks([tmp_path])[1]] == [str(tmp_path / "ferry.json")]


@slow
@given(data=st.data())
def test_a_text_is_read_in_one_pass_as_from_its_nodes(data: st.DataObject) -> None:
    """The quick way gives what the careful one does, or leaves the text to it."""
    text = data.draw(st.sampled_from([ESPRESSO, *(path.read_text("utf-8") for path in SAMPLES)]))
    odd = ("", "\n", "- ", "{", "]", ": ", "&a ", "*a", "'", "  ", "\n---\n", "? ", "#", "!!x ")
    for _turn in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        rest = text[at + data.draw(st.integers(0, 5)) :]
        text = f"{text[:at]}{data.draw(st.sampled_from(odd))}{rest}"
    # An anchor that nothing refers to changes nothing, and is left to the careful way.
    key = re.search(r"(?m)^id: (?=\w)", text)
    both: list[object] = []
    for each in (text, re.sub(r"(?m)^id: (?=\w)", "id: &x ", text)):
        lines: dict[Place, int] = {}
        try:
            both.append((read_data(each, "f", lines), lines))
        except FileProblems as error:
            both.append([problem.reason for problem in error.problems])
    assert both[0] == both[1] or key is None or isinstance(both[0], list)


def test_a_file_without_an_end_is_too_large():
    with pytest.raises(FileProblems, match="larger than 32 MB"):
        load_task(Path("/dev/zero"))
