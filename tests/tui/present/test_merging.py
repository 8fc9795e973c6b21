from __future__ import annotations

import copy
from typing import Any

import pytest

from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.authoring.task_data import blank_task
from cuecard.tui.present.changes import MergeView


@pytest.fixture
def view() -> MergeView:
    base = blank_task("t", "Title", "graph", "en")
    base["sub_queries"] = ["one", "two"]
    mine, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for side, who in ((mine, "mine"), (theirs, "theirs")):
        side["title"] = who
        side["query"] = f"A question of {who}"
        side["domain"] = "both alike"
        side[{"mine": "notes", "theirs": "difficulty"}[who]] = "easy"
    theirs["sub_queries"].append("three")
    return MergeView(Merging(base, mine, theirs))


def labels(view: MergeView) -> list[str]:
    return [row.label for row in view.rows]


def test_clashes_come_first_and_are_open_until_decided(view: MergeView) -> None:
    assert labels(view) == ["Title", "Query", "Difficulty", "Sub-query 3", "Notes"]
    assert [view.choice(row) for row in view.rows] == [None, None, "theirs", "theirs", "mine"]
    assert view.summary() == "2 clashes, 2 open · 2 changes of theirs · 1 change of mine"
    assert view.merged() is None
    assert view.next_open(0) == 1
    assert view.next_open(1) == 0
    assert not view.choose(0, "both")  # a title is one or the other
    assert view.choose(0, "theirs")
    assert view.choose(2, "mine")
    assert view.choose_for_open("both") == 1
    assert (view.open, view.next_open(0)) == (0, None)
    merged: dict[str, Any] = view.merged() or {}
    assert (merged["title"], merged["difficulty"]) == ("theirs", None)
    assert merged["query"] == "A question of mine\n\nA question of theirs"
    assert (merged["domain"], merged["notes"]) == ("both alike", "easy")
    assert merged["sub_queries"] == ["one", "two", "three"]


def test_a_difference_is_told_in_full(view: MergeView) -> None:
    view.choose(1, "mine")
    entries = view.detail(1)
    heads = ["".join(piece.text for piece in entry.head) for entry in entries]
    assert heads[1:3] == ["Mine · ✓ taken", "Theirs"]
    assert heads[3] == "What both began from"
    assert entries[1].body[0].text == "A question of mine"
    heads = ["".join(piece.text for piece in entry.head) for entry in view.detail(2)]
    assert heads[1:3] == ["Mine · as before", "Theirs · ✓ taken"]


def test_what_a_choice_uncovers_is_asked_for_too() -> None:
    base = blank_task("t", "Title", "graph", "en")
    base["persona"]["stages"] = [
        {**base["persona"]["stages"][0], "title": title} for title in ("one", "two")
    ]
    mine, theirs = copy.deepcopy(base), copy.deepcopy(base)
    mine["persona"] = None
    mine["gold"]["triples"][0]["stage"] = None
    theirs["persona"]["stages"][0]["line"] = "changed"
    view = MergeView(Merging(base, mine, theirs))
    assert labels(view)[0] == "Persona"
    view.choose(0, "theirs")
    merged: dict[str, Any] = view.merged() or {}
    assert merged["persona"]["stages"][0]["line"] == "changed"
