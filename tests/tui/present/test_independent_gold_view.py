"""What the comparison of two golds shows and keeps, without a screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard.annotate.independent_gold.building import COVER, blank_for
from cuecard.annotate.independent_gold.comparison import (
    Comparison,
    IndependentGold,
    agreement_of,
    align,
)
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.independent_gold import SHOWN, GoldView, brief_entries

SAMPLES = Path(__file__).parents[3] / "src" / "cuecard" / "sample_tasks"
CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "espresso": lambda gold: gold["triples"][0].update(tail="nobody knows", sources=[]),
    "table-us-states": lambda gold: gold["rows"][0].__setitem__(2, ""),
    "checkpoints-highest-mountain": lambda gold: gold["steps"].pop(),
    "facts-night-train": lambda gold: gold.update(answer="40 euros", answer_aliases=[]),
}


def view_of(name: str, *, obstacle: str = "") -> GoldView:
    task = load_task(SAMPLES / f"{name}.yaml")
    data = task.model_dump(mode="json")
    CHANGES[name](data["gold"])
    gold = Task.model_validate(data).gold
    found = align(task.gold, gold)
    second = IndependentGold("u1", "Ben\x1b[31m", 1, datetime.now(UTC), 150, "a note", gold)
    return GoldView(
        Comparison(
            task=task,
            head=2,
            second=second,
            others=(second,),
            alignment=found,
            agreement=agreement_of(found.levels),
            person="Ana",
            obstacle=obstacle,
            takes={"gone": "both"},
        )
    )


def texts(entries: list[Entry]) -> str:
    return "\n".join(part.text for entry in entries for part in (*entry.head, *entry.body))


@pytest.mark.parametrize("name", list(CHANGES))
def test_one_difference_is_first_shown_on_both_sides_and_decided(name: str) -> None:
    view = view_of(name)
    assert view.rows[0].status != "agreed"
    assert (view.open, view.to_decide, view.next_open(5)) == (1, 1, 0)
    what, author, second, taken = view.cells(0)
    assert what
    assert author != second
    assert taken == "?"
    mine, theirs = view.both_sides(0)
    assert texts(mine).startswith("Author")
    assert "a note" in texts(theirs)
    assert view.choose(0, "author")
    assert view.progress() == "1 of 1 decided"
    assert "✓" in texts(view.both_sides(0)[0])
    assert view.next_open(0) is None
    assert view.figures()
    assert "beside revision 2" in view.who()


def test_what_is_shown_is_filtered_and_decided_alike() -> None:
    view = view_of("checkpoints-highest-mountain")
    seen = [view.shown]
    while (view.show_next() or view.shown) != "all":
        seen.append(view.shown)
        assert view.rows
    assert set(seen) <= set(SHOWN)
    assert "second" not in seen
    view.show("open")
    assert view.choose_for_open("second") == 1
    assert view.takes[view.rows[0].key] == "neither"
    assert view.open == 0
    assert view.both_sides(9) == ([], [])
    assert view.heading(9) == ""


def test_who_may_not_decide_only_reads() -> None:
    view = view_of("espresso", obstacle="Not you.")
    assert not view.choose(0, "author")
    assert view.progress() == "Not you."
    assert view.cells(0)[3] == ""
    what, author, second, _taken = view.cells(0)
    assert what.endswith("— …")
    assert second == "nobody knows"
    assert author not in what


def test_the_brief_says_what_to_build_and_what_is_covered() -> None:
    for name in CHANGES:
        blank = blank_for(load_task(SAMPLES / f"{name}.yaml"))
        said = texts(brief_entries(blank))
        assert blank["query"].split("\n")[0] in said
        assert (COVER in said) == (COVER in str(blank))
