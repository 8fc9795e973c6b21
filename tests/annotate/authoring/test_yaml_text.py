from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from budget import examples
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import blank_task
from cuecard.annotate.authoring.yaml_text import NOTE, annotated, from_yaml, problem_text, to_yaml
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import dump_task, parse_task


@given(task=strategies.tasks())
@settings(max_examples=examples(15), deadline=None)
def test_a_task_comes_back_as_it_went(task: Task) -> None:
    data = task.model_dump(mode="json")
    text = to_yaml(data)
    assert parse_task(text) == task
    back = from_yaml(text, task.id, task.family)
    assert (back.data, back.problems) == (data, ())


@given(task=strategies.tasks(), data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_a_draft_that_is_no_task_comes_back_as_it_went(task: Task, data: st.DataObject) -> None:
    """Texts emptied and lists cleared at any place, as drafts are while they are written."""
    draft = task.model_dump(mode="json")

    def spoil(value):
        if isinstance(value, str):
            return data.draw(st.sampled_from(["", value, value, " \t"]))
        if isinstance(value, list):
            kept = [] if data.draw(st.integers(0, 4)) == 0 else value
            return [spoil(item) for item in kept]
        if isinstance(value, dict):
            return {key: item if key in keep else spoil(item) for key, item in value.items()}
        return value

    keep = {"id", "family", "foreign", "language"}
    draft = spoil(draft)
    back = from_yaml(to_yaml(draft), task.id, task.family)
    assert back.data == draft
    assert bool(back.problems) == bool(TaskEdit(draft).problems())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_task_can_be_written_outside(family) -> None:
    blank = blank_task("t", "Title", family, "zh")
    text = to_yaml(blank)
    assert f"family: {family}" in text
    back = from_yaml(text, "t", family)
    assert back.data == blank
    assert all(problem.line for problem in back.problems if problem.place != "")


def test_the_samples_look_as_their_files_do(samples: dict[str, Task]) -> None:
    for task in samples.values():
        assert to_yaml(task.model_dump(mode="json")) == dump_task(task)


def edited(samples: dict[str, Task], old: str, new: str):
    text = to_yaml(samples["espresso"].model_dump(mode="json"))
    assert old in text
    return from_yaml(text.replace(old, new, 1), "espresso", "graph")


def test_what_is_wrong_is_told_by_line_and_place(samples: dict[str, Task]) -> None:
    back = edited(samples, "kind: mentions", "kind: whispers")
    assert back.data["persona"]["stages"][1]["cue"]["kind"] == "whispers"
    (problem,) = back.problems
    assert problem.place == "persona.stages[1].cue.kind"
    assert problem.line > 10
    assert problem_text(problem).startswith(
        f"line {problem.line} · persona.stages[1].cue.kind · must be"
    )


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("persona:\n", "persona: [1\n", ""),
        ("stage: 1,", "stage: [1],", "gold.triples[0].stage"),
        ("family: graph", "family: table", "family"),
        ("family: graph", "family: poem", "family"),
        ("title: Espresso", "title: [Espresso]\nother: Espresso", "title"),
    ],
)
def test_what_has_another_shape_is_not_taken(samples, old, new, place) -> None:
    back = edited(samples, old, new)
    assert back.data is None
    assert back.problems[0].place == place
    assert back.problems[0].line


@pytest.mark.parametrize("text", ["", "- a", "just text", "a: 1\na: 2", "\x00", "{" * 300])
def test_text_that_is_no_task_is_not_taken(text) -> None:
    back = from_yaml(text, "t", "graph")
    assert back.data is None
    assert back.problems


def test_the_id_stays_and_unknown_fields_are_kept_and_told(samples: dict[str, Task]) -> None:
    back = edited(samples, "id: espresso", "id: latte\ncolour: brown")
    assert back.data["id"] == "espresso"
    assert back.data["colour"] == "brown"
    assert [problem.place for problem in back.problems] == ["id", "colour"]


def test_problems_stand_at_the_top_with_lines_that_fit_and_go_away(samples) -> None:
    text = to_yaml(samples["espresso"].model_dump(mode="json"))
    broken = text.replace("kind: mentions", "kind: whispers", 1)
    back = from_yaml(broken, "espresso", "graph")
    shown = annotated(broken, back.problems)
    lines = shown.split("\n")
    assert lines[0].startswith(NOTE)
    number = int(lines[1].split("line ")[1].split(" ")[0])
    assert "whispers" in lines[number - 1]
    again = from_yaml(shown, "espresso", "graph")
    assert again.data == back.data
    assert annotated(shown, again.problems) == shown
    assert annotated(shown, ()) == broken
    torn = from_yaml("a: [1\nb: 2\n", "t", "graph")
    assert annotated("a: [1\nb: 2\n", torn.problems).split("\n")[1].count("line") == 1
    assert problem_text(torn.problems[0]).count("line") == 1
