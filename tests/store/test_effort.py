from __future__ import annotations

import pytest

from cuecard.core.records import EffortTotals
from cuecard.store.workspace import Workspace


def test_effort_is_summed_by_task_and_person(workspace: Workspace) -> None:
    effort = workspace.effort
    effort.add("t", "Ann", "time", 61.5)
    effort.add("t", "Ann", "query", 1, "who built it? \0")
    effort.add("t", "Bob", "time", 30)
    effort.add("t", "Bob", "page", 1, "https://e.org/")
    effort.add("u", "Ann", "page", 2)
    assert effort.totals("t") == EffortTotals(seconds=91.5, queries=1, pages=1)
    assert effort.totals("t", "Ann") == EffortTotals(seconds=61.5, queries=1)
    assert effort.totals("t", "Cy") == effort.totals("none") == EffortTotals()
    kinds = [(e.person, e.kind, e.amount) for e in effort.of("t")]
    assert kinds == [
        ("Ann", "time", 61.5),
        ("Ann", "query", 1),
        ("Bob", "time", 30),
        ("Bob", "page", 1),
    ]
    assert effort.of("t")[1].text == "who built it? \ufffd"
    for amount in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="above 0"):
            effort.add("t", "Ann", "time", amount)


def test_a_task_that_gets_another_id_takes_its_effort_along(workspace: Workspace) -> None:
    effort = workspace.effort
    effort.add("t", "Ann", "time", 10)
    effort.add("t", "Ann", "query", 1, "q")
    effort.add("t", "Bob", "time", 5)
    effort.move("t", "Ann", "t-2")
    assert effort.totals("t") == EffortTotals(seconds=5)
    assert effort.totals("t-2") == EffortTotals(seconds=10, queries=1)
    assert [(e.person, e.amount) for e in effort.of("t")] == [("Bob", 5)]
    assert [e.text for e in effort.of("t-2")] == ["", "q"]
    effort.move("t-2", "Ann", "t")
    assert effort.totals("t") == EffortTotals(seconds=15, queries=1)
    assert effort.of("t-2") == []
