from __future__ import annotations

import inspect
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from cuecard.core.engine.events import Termination
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog, HelpDialog
from cuecard.tui.screens.play.card import CardPane, CueCard, FiguresPane
from cuecard.tui.screens.play.dialogs import MarkDialog
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.form import SessionFormPane
from cuecard.tui.screens.play.screen import PlayScreen, StartDialog
from cuecard.tui.screens.play.session import Composer
from cuecard.tui.screens.trial.screen import TrialScreen
from tui_rooms import (
    HOSTILE,
    agent_spoke,
    enter_play,
    fill_form,
    live_agent,
    said,
    shown,
    transcript,
    until,
)

SIZE = (80, 24)


async def test_three_turns_by_keys_alone_then_the_end_and_the_score(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        assert composer.text.startswith("Hi! I'm putting together")
        assert "Who first patented" in composer.text
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        assert composer.text == ""

        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("y")
        await until(pilot, lambda: composer.text.startswith("I had never heard of"))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 2)

        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        await until(pilot, lambda: composer.text.startswith("Hold on"))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 3)

        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("u")
        await fill_form(pilot, screen)
        ending = screen.query_one(Ending)
        await until(pilot, lambda: ending.display and "Triplet F1" in str(ending.content))
        assert "offline baseline" in str(ending.content)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))

    opening, second, third, last = said(database)
    assert (opening.stage, opening.cue_met, opening.edited) == (1, True, False)
    assert (second.stage, second.cue_met, second.edited) == (2, True, False)
    assert (third.stage, third.cue_met) == (None, False)
    assert (last.done, last.cue_met) == (True, None)
    with Workspace.open(database) as workspace:
        trial = workspace.runs.trials(1)[0]
        assert trial.termination is Termination.USER_DONE
        assert trial.user.kind == "human"
        assert workspace.verdicts.of_trial(trial.id)


async def test_who_only_looks_in_leaves_no_session_behind(
    app_with_samples: CuecardApp, database: Path
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        await enter_play(pilot, PlayScreen("espresso"))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app_with_samples.screen, PlayScreen))
    with Workspace.open(database) as workspace:
        assert workspace.runs.all() == []


async def test_paused_and_resumed_with_dialogue_mark_and_unsent_words(
    app_with_samples: CuecardApp, database: Path, make_app: object
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        composer = screen.query_one(Composer)
        await until(pilot, lambda: composer.text)
        await pilot.press(*" Wait")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)
    with Workspace.open(database) as workspace:
        (trial,) = workspace.runs.open_trials()
    again = make_app(database)  # type: ignore[operator]
    async with again.run_test(size=SIZE) as pilot:
        screen = PlayScreen(trial_id=trial.id)
        composer = await enter_play(pilot, screen)
        assert composer.text.endswith("Wait")
        assert "Angelo" in transcript(screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 2)
    assert said(database)[1].cue_met is False


async def test_what_is_typed_is_on_disk_within_a_moment_though_nothing_is_closed(
    app_with_samples: CuecardApp, home: Path
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        composer = await enter_play(pilot, PlayScreen("espresso"))
        composer.take("")
        await pilot.press(*"half a thought")
        await until(
            pilot,
            lambda: any("half a thought" in f.read_text() for f in home.rglob("unsent/*.json")),
        )


async def test_another_persons_session_cannot_be_resumed(
    app_with_samples: CuecardApp, database: Path, make_app: object
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
    other = make_app(database, "Ben")  # type: ignore[operator]
    async with other.run_test(size=SIZE) as pilot:
        other.push_screen(PlayScreen(trial_id=1))
        await until(pilot, lambda: other._notifications)
        await until(pilot, lambda: not isinstance(other.screen, PlayScreen))
        assert "cannot be resumed" in next(iter(other._notifications)).title


async def test_what_nobody_foresaw_while_play_opens_is_told_though_the_screen_closes(
    app_with_samples: CuecardApp,
) -> None:
    class Broken(PlayScreen):
        """Looks for a widget that it does not have."""

        CSS_PATH = str(Path(inspect.getfile(PlayScreen)).parent / "play.tcss")

        async def _open_one(self, wanted: Any) -> Any:
            self.query_one("#nowhere")

    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(Broken("espresso"))
        await until(pilot, lambda: app._notifications)
        await until(pilot, lambda: not isinstance(app.screen, PlayScreen))


async def test_a_session_that_cannot_be_read_leaves_no_empty_screen(
    app_with_samples: CuecardApp, database: Path
) -> None:
    """Whatever the reason, also one that nobody foresaw."""
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)
        with closing(sqlite3.connect(database)) as damaged, damaged:
            damaged.execute("DROP TRIGGER event_no_update")
            damaged.execute("UPDATE event SET body = '{}', packed = NULL WHERE seq = 1")
        app.push_screen(PlayScreen(trial_id=1))
        await until(pilot, lambda: app._notifications)
        await until(pilot, lambda: not isinstance(app.screen, PlayScreen))


async def test_a_task_without_persona_shows_its_query_and_ends_as_answered(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("facts-night-train")
        await enter_play(pilot, screen)
        await until(pilot, lambda: "QUERY" in shown(screen))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("f10", "d", "enter")
        await agent_spoke(pilot, screen, 2)
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await fill_form(pilot, screen)
        await until(pilot, lambda: screen.query_one(Ending).display)
        await until(pilot, lambda: "The trial ended: answered" in shown(screen))
    with Workspace.open(database) as workspace:
        assert workspace.runs.trials(1)[0].termination is Termination.ANSWERED
    assert "I don't mind" in said(database)[1].text


async def test_of_two_agents_one_is_chosen_and_baselines_are_called_so(
    app_with_samples: CuecardApp, home: Path
) -> None:
    app = app_with_samples
    with live_agent(home, "Hello from the model."):
        async with app.run_test(size=SIZE) as pilot:
            screen = PlayScreen("espresso")
            app.push_screen(screen)
            await until(pilot, lambda: isinstance(app.screen, StartDialog))
            await pilot.press("tab", "enter")
            await until(pilot, lambda: "live · scripted-1" in shown(app.screen))
            assert "offline · offline baseline" in shown(app.screen)
            await pilot.press("end", "up", "enter", "ctrl+s")
            await until(pilot, lambda: screen.play is not None)
            await pilot.press("enter")
            await agent_spoke(pilot, screen, 1)
            assert "Hello from the model." in transcript(screen)


async def test_leaving_the_choice_of_an_agent_leaves_play(
    app_with_samples: CuecardApp, home: Path
) -> None:
    app = app_with_samples
    with live_agent(home, "x"):
        async with app.run_test(size=SIZE) as pilot:
            app.push_screen(PlayScreen("espresso"))
            await until(pilot, lambda: isinstance(app.screen, StartDialog))
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, PlayScreen | StartDialog))


async def test_the_reply_is_shown_while_it_is_written_and_typing_goes_on(
    app_with_samples: CuecardApp, home: Path, database: Path
) -> None:
    reply = "First words, " + "and some more words " * 30 + "last words."
    with live_agent(home, reply, "Second.", pause=0.02):
        async with app_with_samples.run_test(size=SIZE) as pilot:
            screen = PlayScreen("espresso", agent="live")
            composer = await enter_play(pilot, screen)
            await pilot.press("enter")
            await until(pilot, lambda: "First words" in transcript(screen))
            assert "last words" not in transcript(screen)
            assert "is writing" in transcript(screen)
            await pilot.press(*"impatient")
            await pilot.press("enter")
            assert composer.text == "impatient"
            await agent_spoke(pilot, screen, 1)
            await until(pilot, lambda: "last words." in transcript(screen))
            assert composer.text == "impatient"
    assert len(said(database)) == 1


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_text_from_the_agent_is_text(
    app_with_samples: CuecardApp, home: Path, size: tuple[int, int]
) -> None:
    with live_agent(home, HOSTILE):
        async with app_with_samples.run_test(size=size) as pilot:
            screen = PlayScreen("espresso", agent="live")
            await enter_play(pilot, screen)
            await pilot.press("enter")
            await agent_spoke(pilot, screen, 1)
            await until(pilot, lambda: "hostile text" in " ".join(transcript(screen).split()))
            text = transcript(screen)
            for kept in ("[red]x[/] and [/]", "@click=app.quit", "שלום", "end of the hostile text"):
                assert kept in text.replace("\n", " ").replace("  ", " ")
            assert text.replace("\n", "").replace(" ", "").count("y" * 10_000) == 1
            assert not set(text) & set("\x1b\x00\x07\u202e\u202c\x9b")
            assert not set(shown(screen)) - {"\n"} & set(map(chr, range(32)))
            await pilot.press("pageup", "pageup", "pageup")
            await pilot.press("ctrl+t")
            assert screen.query_one(Composer).text


async def test_a_model_that_fails_ends_the_trial_with_its_reason(
    app_with_samples: CuecardApp, home: Path
) -> None:
    (home / "cuecard.yaml").write_text(
        "models:\n  gone: {base_url: 'http://127.0.0.1:9/v1', model: m, retries: 0}\n"
        "agents:\n  live: {kind: react, model: gone}\n"
    )
    async with app_with_samples.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso", agent="live")
        await enter_play(pilot, screen)
        await pilot.press("enter")
        ending = screen.query_one(Ending)
        await until(pilot, lambda: ending.display)
        assert "API error" in str(ending.content)


async def test_a_missing_key_is_told_and_play_is_left(
    app_with_samples: CuecardApp, home: Path
) -> None:
    app = app_with_samples
    (home / "cuecard.yaml").write_text(
        "models:\n"
        "  far: {base_url: 'http://127.0.0.1:9/v1', model: m, api_key_env: CUECARD_NO_SUCH_KEY}\n"
        "agents:\n  live: {kind: react, model: far}\n"
    )
    async with app.run_test(size=SIZE) as pilot:
        app.push_screen(PlayScreen("espresso", agent="live"))
        await until(pilot, lambda: app._notifications)
        await until(pilot, lambda: not isinstance(app.screen, PlayScreen))
        assert "CUECARD_NO_SUCH_KEY" in next(iter(app._notifications)).message


async def test_the_card_the_input_and_the_main_keys_are_there_at_80_by_24(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        words = ("IF NOT", "CUE", "LINE", "1/12", "You begin", "Send", "Menu", "Line", "Pause")
        await until(pilot, lambda: all(word in shown(screen) for word in words))
        assert "Mark" not in shown(screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        words = ("Send", "Mark", "Line", "Menu", "Pause")
        await until(pilot, lambda: all(word in shown(screen) for word in words))
        assert screen.query_one(CueCard).display


async def test_the_persona_and_the_tool_calls_are_folded_and_open_by_key(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        persona = screen.query_one(CardPane).query_one("#persona", Static)
        assert not persona.display
        await pilot.press("f10", "w")
        assert persona.display
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        assert "tool call" in transcript(screen)
        assert "on record" not in transcript(screen)
        await pilot.press("f10", "c")
        assert "on record" in transcript(screen)


async def test_in_the_input_help_names_the_keys_that_work_there_and_f6_shows_the_figures(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("f6")
        await until(pilot, lambda: screen.query_one(FiguresPane).display)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app_with_samples.screen, HelpDialog))
        told = shown(app_with_samples.screen)
        assert "F10 n  Push" in told
        assert ". n  Push" not in told


async def test_who_ends_is_told_that_the_words_in_the_input_are_said_last(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "What stands in the input" not in shown(app.screen)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        composer.take("Thanks.")
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "What stands in the input is said before" in shown(app.screen)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("u")
        await until(pilot, lambda: screen.query_one(SessionFormPane).display and screen.focused)
        await until(pilot, lambda: "Satisfied" in shown(screen))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        assert "1 … 7  Answer" in shown(app.screen)


async def _played_again(pilot: Pilot[Any], key: str) -> str:
    """The dialogue, once this answers what is offered; "" where the screen is left."""
    app, screen = pilot.app, PlayScreen("espresso")
    await app.push_screen(screen)
    await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
    await pilot.press(key)
    await until(pilot, lambda: not screen.is_running or screen.query_one("#body").visible)
    if not screen.is_running:
        return ""
    found = transcript(screen)
    await pilot.press("escape")
    await until(pilot, lambda: not screen.is_running)
    return found


async def test_a_task_with_an_open_session_offers_to_go_on_with_it(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)
        assert "Here is what I found" not in await _played_again(pilot, "n")
        assert "Here is what I found" in await _played_again(pilot, "g")
        assert not await _played_again(pilot, "escape")
    with Workspace.open(database) as workspace:
        assert len(workspace.runs.all()) == 1
