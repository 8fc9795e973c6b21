"""Find and replace over a task: what is found, and that undo gives back exactly what was there."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import TextMatch, find, replace
from cuecard.annotate.authoring.task_data import leaves, put
from cuecard.core.text import words_pattern

IDS = ("espresso", "table-us-states", "checkpoints-highest-mountain", "facts-night-train", "table-solar-terms-zh")  # fmt: skip


def at(hits: list[TextMatch], *path: str | int) -> TextMatch:
    return next(hit for hit in hits if path in (hit.path, *hit.paths))


def graph(**more: Any) -> TaskEdit:
    gold = {
        "family": "graph",
        "nodes": [{"id": "Q1", "name": "Rome", "aliases": ["Q1 city"]}],
        "triples": [
            {"head": "Q1", "relation": "capital of", "tail": "Italy", "stage": 1, "note": "Q1"},
            {"head": "Italy", "relation": "has capital", "tail": "Q1", "stage": None, "note": ""},
        ],
    }
    return TaskEdit({"id": "italy", "title": "italy", "gold": gold, **more}, base=1)


@pytest.mark.parametrize(
    ("words", "case", "whole", "text", "count"),
    [
        ("art", False, True, "Art, artful, 画art画, art_2", 2),
        ("art", True, True, "Art, artful, 画art画", 1),
        ("art", False, False, "Art, artful, ART", 3),
        ("轮", False, True, "三轮对话轮次", 2),
        ("a.c", False, False, "abc a.c", 1),
        ("(", False, True, "f(x)", 1),
    ],
)
def test_words_are_found_as_they_are_written(
    words: str, case: bool, whole: bool, text: str, count: int
) -> None:
    assert len(words_pattern(words, case=case, whole=whole).findall(text)) == count


def test_ids_stay_and_an_entity_is_replaced_everywhere() -> None:
    edit = graph()
    hits = find(edit.data, "italy", "Italia")
    assert [hit.path for hit in hits] == [("title",), ("gold", "triples", 0, "tail")]
    assert at(hits, "gold", "triples", 1, "head").after == "Italia"
    assert at(hits, "gold", "triples", 1, "head").place(edit.data) == "an entity, 2 places"
    assert replace(edit, hits) == 2
    assert [t["tail"] for t in edit.data["gold"]["triples"]] == ["Italia", "Q1"]
    assert edit.data["id"] == "italy"
    edit.undo()
    assert edit.data == graph().data
    assert not edit.can_undo
    # `Q1` is shown as Rome: nobody reads it, and triples refer to it.
    assert [hit.path for hit in find(edit.data, "Q1", "x")] == [
        ("gold", "nodes", 0, "aliases", 0),
        ("gold", "triples", 0, "note"),
    ]
    assert find(edit.data, "", "x") == find(edit.data, "Rome", "Rome") == []
    assert find(edit.data, "graph", "x") == []


def test_a_key_column_that_is_renamed_stays_one(samples: dict[str, Any]) -> None:
    edit = TaskEdit.of(samples["table-us-states"], base=1)
    key = edit.data["gold"]["unique_columns"][0]
    hits = [hit for hit in find(edit.data, key, "Renamed", case=True) if "columns" in hit.path]
    replace(edit, hits)
    assert "Renamed" in edit.data["gold"]["unique_columns"][0]
    assert edit.problems() == []


def test_what_was_changed_since_stays() -> None:
    edit = graph()
    hits = find(edit.data, "italy", "Italia")
    edit.set(("title",), "Italy by train")
    assert replace(edit, hits) == 1
    assert edit.data["title"] == "Italy by train"


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_nothing_but_the_ticked_texts_changes_and_undo_brings_all_back(
    samples: dict[str, Any], data: st.DataObject
) -> None:
    edit = TaskEdit.of(samples[data.draw(st.sampled_from(IDS))], base=1)
    before = copy.deepcopy(edit.data)
    texts = [text for _path, text in leaves(before) if text.strip()]
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    words = text[start : start + data.draw(st.integers(1, 12))]
    hits = find(
        edit.data,
        words,
        data.draw(st.sampled_from(["", "x", "线", words.upper(), f"{words}{words}", "\\1"])),
        case=data.draw(st.booleans()),
        whole=data.draw(st.booleans()),
    )
    ticked = [hit for hit in hits if data.draw(st.booleans())]
    assert replace(edit, ticked) == len(ticked) if ticked else True
    expected: Any = before
    for hit in ticked:
        for path in hit.paths or (hit.path,):
            expected = put(expected, path, hit.after)
    renamed = {"unique_columns"} if any("columns" in hit.path for hit in ticked) else set[str]()
    told = {**expected["gold"]}, {**edit.data["gold"]}
    for gold in told:
        for name in renamed:
            gold.pop(name)
    assert {**expected, "gold": told[0]} == {**edit.data, "gold": told[1]}
    if ticked:
        assert edit.undo() is not None
    assert edit.data == before
    assert not edit.can_undo
