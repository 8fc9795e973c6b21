from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apart import fresh
from cuecard.core.contributions import Claimed, ReviewDecision, Reviewed, Submitted
from cuecard.core.tasks.models import Task

GOLD = {"family": "facts", "facts": [{"key": "a", "value": "7"}], "answer": "8"}


@pytest.fixture
def team(tmp_path: Path) -> None:
    """Ana's `open` has Ben's review and is with Chen; both approved six others, Ben failed one thing."""
    with fresh(tmp_path / "cuecard.db") as ws:
        for task_id in ("open", "a", "b", "c", "d", "e", "f"):
            task = {"id": task_id, "title": task_id, "language": "en", "query": "?", "gold": GOLD}
            ws.tasks.save(Task.model_validate(task), author="Ana")
            ws.reviews.act(task_id, "Ana", Submitted())
            for name in ("Ben",) if task_id == "open" else ("Ben", "Chen"):
                rating = "fail" if (task_id, name) == ("a", "Ben") else "pass"
                ws.reviews.act(
                    task_id,
                    name,
                    Reviewed(ratings={"laws": rating}, decision=ReviewDecision.APPROVE, seconds=90),
                )
        until = datetime.now(UTC) + timedelta(hours=1)
        ws.reviews.act("open", "Chen", Claimed(person="Chen", until=until))


def test_board_and_figures(team: None, cuecard):
    data = cuecard("--as", "Eve", "board", "--json").data
    assert (data["counts"]["in_review"], data["counts"]["approved"]) == (1, 6)
    task = data["tasks"][0]
    assert (task["id"], task["reviews"], task["needed"], task["claims"]) == ("open", 1, 2, 1)
    assert not any(task[key] for key in ("authors", "reviewed", "reviewing", "waits_for"))
    [pair] = data["figures"]["pairs"]
    assert pair["who"] == ["Ben", "Chen"]
    decision, _together, laws = pair["agreement"]
    assert (decision["percent"]["value"], decision["percent"]["n"]) == (1, 6)
    assert decision["percent"]["low"] == pytest.approx(6 / (6 + 1.96**2), abs=1e-3)
    assert decision["cohen_kappa"]["value"] is None
    assert decision["cohen_kappa"]["reason"] == "only one category used"
    assert laws["percent"]["value"] == pytest.approx(5 / 6)
    assert data["figures"]["overall"]["returned"]["n"] == 12

    shown = cuecard("--as", "Chen", "board")
    assert (shown.code, shown.err) == (0, "")
    assert "you · 1/2 in" in shown.out
    assert "undefined (–): only one category used" in shown.out
    assert "1.5 (1.5–1.5) n=6" in shown.out


def test_a_board_without_tasks(tmp_path: Path, cuecard):
    assert cuecard("board").code == 1
    with fresh(tmp_path / "cuecard.db"):
        pass
    empty = cuecard("board")
    assert (empty.code, empty.out) == (0, "")
    assert "cuecard import" in empty.err
    assert cuecard("board", "--json").data["figures"]["overall"]["reviews"] == 0
