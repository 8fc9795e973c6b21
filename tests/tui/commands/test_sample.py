"""Labelling sets from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apart import fresh
from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace

PLAYER = PlayerRef(name="offline", kind="offline", baseline=True)


@pytest.fixture
def judged(tmp_path: Path) -> None:
    """A run of two tasks of 20 triples, three trials each of which the last was not judged."""
    triples = [{"head": "a", "relation": "r", "tail": f"b{n}"} for n in range(20)]
    with fresh(tmp_path / "cuecard.db") as workspace:
        for name in ("one", "two"):
            task = {"id": name, "title": name, "language": "en", "query": "?"}
            gold = {"family": "graph", "triples": triples}
            workspace.tasks.save(Task.model_validate({**task, "gold": gold}), author="Ana")
        run = workspace.runs.create(
            name="r", kind="grid", created_by="Ana", samples=3, limits=Limits()
        )
        cells = [
            TrialCell(
                task_id=name, revision=1, agent=PLAYER, user=PLAYER, world=PLAYER, sample=sample
            )
            for name in ("one", "two")
            for sample in range(3)
        ]
        for trial in workspace.runs.add_trials(run.id, cells):
            if trial.sample < 2:
                verdicts = tuple(
                    Verdict(
                        item=Item(kind=ItemKind.TRIPLE, index=n),
                        decision=Decision.NO if n < 5 else Decision.YES,
                    )
                    for n in range(20)
                )
                workspace.verdicts.add(trial.id, Judgement(judge=PLAYER, verdicts=verdicts))


def test_a_set_is_drawn_and_shown_before(judged: None, cuecard, tmp_path: Path):
    words = ("sample", "1", "--n", "20", "--stratify", "decision", "--allocation", "equal")
    tried = cuecard(*words, "--dry-run")
    assert (tried.code, "no" in tried.out, "Nothing was drawn yet" in tried.out) == (0, True, True)
    assert "2 trials have nothing to label" in tried.err
    drawn = cuecard("--as", "Ana", *words, "--overlap", "0.5", "--people", "Ana,Ben", "--json").data
    assert (drawn["set"], drawn["items"], drawn["labels"], drawn["population"]) == (1, 20, 30, 80)
    assert drawn["strata"] == [
        {"name": "no", "size": 20, "drawn": 10},
        {"name": "yes", "size": 60, "drawn": 10},
    ]
    assert drawn["effective_items"] == pytest.approx(80**2 / (10 * 2**2 + 10 * 6**2))
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        [kept] = workspace.label_sets.all()
        items = workspace.label_sets.items(kept.id)
    assert (kept.created_by, kept.plan) == ("Ana", drawn["plan"])
    assert {(i.stratum, i.probability) for i in items} == {("no", 0.5), ("yes", 10 / 60)}
    assert sum(len(i.people) for i in items) == 30


def test_how_many_it_takes(judged: None, cuecard):
    alone = cuecard("sample", "--width", "0.05", "--share", "0.95", "--json").data
    assert (alone["n"], alone["design_effect"]) == (304, 1)
    alike = cuecard(
        "sample", "--width", "0.05", "--share", "0.95", "--per-task", "20", "--correlation", "0.05"
    )
    assert alike.out.startswith("593 items")
    of_run = cuecard("sample", "1", "--width", "0.1", "--dry-run", "--json").data
    assert (of_run["items"], of_run["trials"], of_run["tasks"]) == (52, 4, 2)
    narrow = cuecard("sample", "1", "--width", "0.05", "--correlation", "0.5")
    assert (narrow.code, "2 tasks" in narrow.err) == (1, True)


def test_wrong_usage_is_refused(judged: None, cuecard):
    for words in (
        ("--n", "5"),
        ("1",),
        ("1", "--n", "5", "--width", "0.1"),
        ("1", "--n", "5", "--by", "trials", "--stratify", "decision"),
        ("1", "--n", "5", "--kinds", "moon"),
        ("1", "--n", "5", "--overlap", "0.5", "--people", "Ana"),
        ("--width", "1.5"),
        ("1", "--width", "0.1", "--per-task", "5"),
    ):
        assert cuecard("sample", *words).code == 2, words
