"""Submitting, and the review queue, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apart import fresh
from cuecard.annotate.samples import load_sample
from cuecard.core.tasks.models import Task

CLEAN, WARNED = "facts-night-train", "toy"
GOLD = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}


@pytest.fixture
def team(tmp_path: Path) -> None:
    """Two tasks of Ana's, one of them with warnings; Bo reviews, Cleo coordinates."""
    toy = {"id": WARNED, "title": "Toy", "language": "en", "query": "How many?", "gold": GOLD}
    with fresh(tmp_path / "cuecard.db") as workspace:
        workspace.tasks.save(load_sample(f"{CLEAN}.yaml"), author="Ana")
        workspace.tasks.save(Task.model_validate(toy), author="Ana")
        workspace.people.add("Bo")
    (tmp_path / "cuecard.yaml").write_text("review:\n  coordinators: [Cleo]\n", encoding="utf-8")


def test_submitting_refuses_warnings_without_a_reason_and_goes_on(team: None, cuecard):
    done = cuecard("--as", "Ana", "submit", WARNED, CLEAN, "nosuch")
    assert done.code == 1
    assert done.out == f"{CLEAN}: revision 1 is in review.\n"
    assert f"{WARNED}: Warnings need a reason\n  Sources: " in done.err
    assert "[L010]" in done.err
    assert "nosuch: There is no such task" in done.err
    again = cuecard("--as", "Ana", "submit", WARNED, "--reason", "a toy", "--json")
    assert (again.code, again.data["refused"]) == (0, [])
    assert again.data["submitted"] == [{"task": WARNED, "revision": 1}]
    assert cuecard("--as", "Bo", "submit", CLEAN).code == 1
    assert cuecard("submit").code == 2


def test_the_queue_is_listed_taken_skipped_and_coordinated(team: None, cuecard):
    cuecard("--as", "Ana", "submit", CLEAN, WARNED, "--reason", "ready")
    assert {task["task"] for task in cuecard("--as", "Bo", "review", "--json").data} == {
        CLEAN,
        WARNED,
    }
    assert cuecard("--as", "Ana", "review", "--json").data == []
    assert "is yours to review until" in cuecard("--as", "Bo", "review", "take", CLEAN).out
    listed = cuecard("--as", "Bo", "review")
    assert "yours, 2 d left" in " ".join(listed.out.split())
    assert "Ana" not in listed.out
    assert cuecard("--as", "Bo", "review", "skip", WARNED, "--reason", "not mine").code == 0
    assert [task["task"] for task in cuecard("--as", "Bo", "review", "--json").data] == [CLEAN]
    both = cuecard("--as", "Bo", "review", "--skipped", "--json").data
    assert [task["skipped"] for task in both] == [False, True]

    refused = cuecard("--as", "Bo", "review", "assign", WARNED, "Bo")
    assert (refused.code, "Only a coordinator" in refused.err) == (1, True)
    assert cuecard("--as", "Cleo", "review", "assign", WARNED, "Bo").code == 0
    assert cuecard("--as", "Cleo", "review", "priority", WARNED, "2").code == 0
    first = cuecard("--as", "Cleo", "review", "--json").data[0]
    assert (first["task"], first["priority"], first["at_work"]) == (WARNED, 2, 1)
    assert [lease["person"] for lease in first["leases"]] == ["Bo"]
    taken = cuecard("--as", "Cleo", "review", "unassign", WARNED, "Bo", "--reason", "on leave")
    assert taken.code == 0
    assert cuecard("--as", "Cleo", "review", "priority", WARNED, "3").code == 2


def test_skills_mark_what_is_outside_them(team: None, cuecard):
    cuecard("--as", "Ana", "submit", CLEAN)
    said = cuecard("--as", "Bo", "review", "skills", "--language", "zh", "--domain", " history ")
    assert said.out == "You review: zh, history.\n"
    (task,) = cuecard("--as", "Bo", "review", "--json").data
    assert not task["fits"]
    assert cuecard("--as", "Bo", "review", "skills", "--language", "xx").code == 1
    assert cuecard("--as", "Bo", "review", "skills").out == "You review: anything.\n"
    assert cuecard("--as", "Bo", "review", "--json").data[0]["fits"]
