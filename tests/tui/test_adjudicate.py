"""Adjudicating by keys, from Verdicts to what the task's authors and the list of runs then say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.widgets import OptionList, TextArea

from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Decision
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen
from cuecard.tui.screens.run.list import RunsScreen
from tui_rooms import shown, until


@pytest.fixture
def disputed(judged: Path) -> Path:
    """Ana and Chen disagree on the first three items that were judged covered."""
    with Workspace.open(judged) as workspace:
        yes = [r for r in workspace.verdicts.records(1) if r.decision is Decision.YES][:3]
        for record in yes:
            for person, value in (("Ana", LabelValue.YES), ("Chen", LabelValue.NO)):
                workspace.verdicts.label_item(
                    record.trial_id, record.item, person, value, f"[red]{person}[/] says", seconds=4
                )
    return judged


async def test_disputes_are_decided_by_keys(disputed: Path, make_app) -> None:
    app: CuecardApp = make_app(disputed, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "first run" in shown(app.screen))
        await pilot.press("full_stop", "j")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        with Workspace.open(disputed) as workspace:
            assert workspace.adjudications.seen("Ben") == frozenset()
        await pilot.press("y")
        await until(pilot, lambda: "dispute 1 of 3 · 3 open" in shown(app.screen))
        screen = app.screen
        assert isinstance(screen, AdjudicateScreen)
        text = shown(screen)
        for said in ("Ana · blind · 4 s", "[red]Chen[/] says", "lexical", "people differ"):
            assert said in text
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.focused, OptionList))
        await pilot.press("a")
        await until(pilot, lambda: "dispute 2 of 3 · 2 open" in shown(screen))
        # Back and decided again: a second record.
        await pilot.press("b")
        await until(pilot, lambda: "not covered · alias" in shown(screen))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.focused, OptionList))
        await pilot.press("h")
        await until(pilot, lambda: "dispute 2 of 3" in shown(screen))
        # The gold is wrong: its authors are told why.
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.focused, TextArea))
        await pilot.press(*"late", "ctrl+s")
        await until(pilot, lambda: "dispute 3 of 3 · 1 open" in shown(screen))
        await pilot.press("escape", "3")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until(pilot, lambda: re.search("⚑ .*1 +first run", shown(app.screen), re.DOTALL))
    with Workspace.open(disputed) as workspace:
        newest = workspace.adjudications.newest()
        assert {(a.value.value, a.cause, a.comment) for a in newest} == {
            ("yes", "human_slip", ""),
            ("unsure", "gold_wrong", "late"),
        }
        assert {a.by for a in newest} == {"Ben"}
        wrong = workspace.adjudications.gold_wrong()[0]
        [comment] = workspace.reviews.comments_for("Ana", wrong.task_id)
        assert comment.text.endswith("late")
        assert len(workspace.adjudications.seen("Ben")) == 3
        # Of what Ben has seen here, nothing that he labels is blind.
        first = workspace.verdicts.queue("Ben", run_id=1, limit=1000)
        seen = workspace.adjudications.seen("Ben")
        item = next(i for i in first if (i.trial_id, i.item.key) in seen)
        assert workspace.verdicts.label(item.verdict_id, "Ben", LabelValue.YES).phase == "revealed"


async def test_who_is_a_side_is_told_so(disputed: Path, make_app) -> None:
    app: CuecardApp = make_app(disputed, person="Ana")
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(AdjudicateScreen("first run", (1,)))
        await until(pilot, lambda: "Your own label is a side" in shown(app.screen))
