"""The search over everything, by keys: what is typed is found at once, and Enter goes to the place."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.keys import _character_to_key

from cuecard.annotate.search import Kind
from cuecard.core.contributions import Commented
from cuecard.store.workspace import Workspace
from cuecard.tui.screens.board import BoardScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.search import SearchDialog
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.widgets.review import ThreadList
from steady_app import SteadyApp
from tui_rooms import HOSTILE, shown, until


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


async def look_for(pilot, words: str) -> None:
    await pilot.press("ctrl+f")
    await until(pilot, lambda: isinstance(pilot.app.screen, SearchDialog))
    field = pilot.app.screen.query_one("#query")
    field.value = ""
    await pilot.press(*("enter" if sign == "\n" else _character_to_key(sign) for sign in words))


async def down_to(pilot, kind: Kind) -> None:
    """Wait for something of this kind, and go to it."""
    screen = pilot.app.screen
    await until(pilot, lambda: any(row.kind is kind for row in screen.rows) and not screen.busy)
    while screen.row.kind is not kind:
        await pilot.press("down")


async def test_enter_goes_to_the_place_and_escape_back(judged: Path, make_app):
    app = make_app(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await look_for(pilot, "lever piston")
        await down_to(pilot, Kind.GOLD)
        assert app.screen.row.place == "gold.triples[12].relation"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        await until(pilot, lambda: "lever piston intro" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: "What waits" in shown(app.screen))
        # All at once: Enter waits for what was typed before it.
        await look_for(pilot, "春分\n")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        assert app.screen.task_id == "table-solar-terms-zh"
        await until(pilot, lambda: "Find" not in shown(app.screen))
        await pilot.press("escape")
        await look_for(pilot, "first run")
        await until(pilot, lambda: "Run  " in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await pilot.press("escape")
        await look_for(pilot, "chen")
        await down_to(pilot, Kind.PERSON)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BoardScreen))


async def test_a_trial_opens_at_its_event_and_a_judges_reason_at_its_verdicts(
    judged: Path, make_app
):
    app = make_app(judged)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await look_for(pilot, "lever piston")
        await down_to(pilot, Kind.TRANSCRIPT)
        seq = app.screen.row.seq
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await until(pilot, lambda: app.screen._transcript.spot_event == seq)
        await pilot.press("escape")
        await look_for(pilot, "entities, same relation")
        await down_to(pilot, Kind.REASON)
        await pilot.press("enter")
        await until(pilot, lambda: "Verdicts" in shown(app.screen))
        assert app.screen._pane == "verdicts"


async def test_more_of_a_kind_commands_and_fields(judged: Path, make_app):
    app = make_app(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await look_for(pilot, "espresso")
        await down_to(pilot, Kind.GOLD)
        await pilot.press("up", "enter")
        await until(pilot, lambda: "Gold" not in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: "Gold" in shown(app.screen))
        await pilot.press("escape")
        await look_for(pilot, "board")
        await until(pilot, lambda: "Board (. b)" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BoardScreen))
        await pilot.press("escape", "2")
        await until(pilot, lambda: "Tasks" in shown(app.screen) and app.screen.focused)
        await pilot.press("slash", *"esp")
        await look_for(pilot, "moka")  # from within a field, too
        await until(pilot, lambda: "moka pot" in shown(app.screen))


async def test_a_comment_opens_its_own_thread(judged: Path, make_app):
    with Workspace.open(judged) as workspace:
        for place, text in (
            ("title", "first of all"),
            ("gold.triples[2]", "a g1raffe"),
            ("query", "a zebra"),
        ):
            workspace.reviews.act("facts-night-train", "Ana", Commented(place=place, text=text))
    app = make_app(judged)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await look_for(pilot, "g1raffe")
        await down_to(pilot, Kind.COMMENT)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TaskScreen) and app.screen.loaded)
        await until(
            pilot, lambda: (threads := app.screen.query(ThreadList)) and threads.first().has_focus
        )
        threads = app.screen.query_one(ThreadList)
        await until(pilot, lambda: threads.thread.comment.text == "a g1raffe")


async def test_hostile_text_is_found_and_shown_as_it_is(judged: Path, make_app):
    with Workspace.open(judged) as workspace:
        trial = workspace.runs.trials(1)[0].id
        workspace.trial_notes.add(trial, "Ana", "comment", "turn/0", HOSTILE)
    app = make_app(judged)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: "What waits" in shown(app.screen))
        await look_for(pilot, "[red]x[/]")
        await down_to(pilot, Kind.COMMENT)
        assert "[red]x[/]" in app.screen.row.snippet
        assert app.screen.row.snippet[:9] in shown(app.screen)
        assert "\x1b" not in shown(app.screen)
        app.screen.query_one("#query").value = '"' * 30_000 + " OR NEAR( * \x1b]0;t\x07"
        await until(pilot, lambda: "Nothing found" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SearchDialog))
