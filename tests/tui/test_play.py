from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from cuecard.core.events import AgentSpoke, Event, Termination, UserSpoke
from cuecard.core.parts import CheckpointStatus, UserReply
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.play import PlayScreen
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.composer import Composer
from cuecard.tui.screens.play.dialogs import MarkDialog, ReadingDialog, StopDialog
from cuecard.tui.screens.play.doubts import FaultsDialog, MeaningDialog
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.evidence import EvidenceDialog
from cuecard.tui.screens.play.form import SessionFormPane
from cuecard.tui.screens.play.picking import AnswersDialog, PhraseDialog
from cuecard.tui.screens.play.start import StartDialog
from cuecard.tui.screens.trial import TrialScreen
from cuecard.tui.widgets.cue_card import CueCard
from tui_rooms import HOSTILE, agent_spoke, enter_play, live_agent, shown, status, transcript, until

SIZE = (80, 24)


def events_of(database: Path, run: int = 1) -> list[Event]:
    with Workspace.open(database) as workspace:
        (trial,) = workspace.runs.trials(run)
        return workspace.runs.events(trial.id)


def whole_log(database: Path) -> list[Event]:
    with Workspace.open(database) as workspace:
        return workspace.runs.log(1)


def said(database: Path) -> list[UserReply]:
    bodies = [event.body for event in events_of(database)]
    return [body.reply for body in bodies if isinstance(body, UserSpoke)]


async def fill_form(pilot: Pilot[Any], screen: PlayScreen) -> None:
    """Answer the form that comes before the scores."""
    form = screen.query_one(SessionFormPane)
    await until(pilot, lambda: form.display and screen.focused in form.query("*"))
    await pilot.press(*"54321", "ctrl+s")


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

        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        await until(pilot, lambda: composer.text.startswith("Hold on"))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 3)

        await pilot.press("ctrl+g")
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


async def test_an_edited_line_is_told_before_it_is_sent_and_recorded_as_edited(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("ctrl+l")
        await pilot.press(*"Thanks")
        await until(pilot, lambda: "says stage 2 (edited)" in status(screen))
        assert composer.text.endswith("Thanks")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("y")
        await agent_spoke(pilot, screen, 2)
    reply = said(database)[1]
    assert (reply.stage, reply.edited, reply.cue_met) == (2, True, True)


async def test_a_new_line_is_typed_and_not_sent_and_a_huge_paste_is_cleaned_and_cut(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=SIZE) as pilot:
        composer = await enter_play(pilot, PlayScreen("espresso"))
        composer.take("a")
        await pilot.press("ctrl+j", "b")
        assert composer.text == "a\nb"
        composer.post_message(Paste("\x1b[31mred\x07 " + "long " * 30_000))
        await until(pilot, lambda: app_with_samples._notifications)
        assert composer.text.startswith("a\nbred\ufffd long")
        assert 99_000 < len(composer.text) < 100_100


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
        await pilot.press("ctrl+t")
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


async def test_a_checkpoint_task_reading_clue_warning_and_completion(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        screen = PlayScreen("checkpoints-highest-mountain")
        composer = await enter_play(pilot, screen)
        await until(pilot, lambda: "CLUE, IF ASKED which criterion" in shown(screen))
        assert "NEVER SAY" in shown(screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReadingDialog))
        await pilot.press("a")
        await until(pilot, lambda: composer.text.startswith("Not above sea level"))
        await pilot.press(*" Chimborazo")
        await until(pilot, lambda: "must not be said: Chimborazo" in status(screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        assert len(screen.play.dialogue.of("user")) == 1  # type: ignore[union-attr]
        composer.take(composer.text.removesuffix(" Chimborazo"))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 2)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReadingDialog))
        await pilot.press("c")
        await fill_form(pilot, screen)
        ending = screen.query_one(Ending)
        await until(pilot, lambda: ending.display and "Accuracy" in str(ending.content))
    replies = said(database)
    assert (replies[1].checkpoint, replies[1].status) == (0, CheckpointStatus.AMBIGUITY_DETECTED)
    assert replies[2].status is CheckpointStatus.TASK_COMPLETED
    assert replies[2].done


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
        await pilot.press("ctrl+d", "enter")
        await agent_spoke(pilot, screen, 2)
        await pilot.press("ctrl+g")
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
            options = app.screen.query_one("#agents", OptionList)
            texts = [str(options.get_option_at_index(i).prompt) for i in range(2)]
            assert texts == ["offline · offline baseline", "live · scripted-1"]
            await pilot.press("down", "enter")
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
            assert "last words." in transcript(screen)
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
            text = transcript(screen)
            for kept in ("[red]x[/] and [/]", "@click=app.quit", "שלום", "end of the hostile text"):
                assert kept in text.replace("\n", " ").replace("  ", " ")
            assert text.replace("\n", "").replace(" ", "").count("y" * 10_000) == 1
            assert not set(text) & set("\x1b\x00\x07\u202e\u202c\x9b")
            assert not set(shown(screen)) - {"\n"} & set(map(chr, range(32)))
            await pilot.press("pageup", "pageup", "pageup")
            await pilot.press("ctrl+l")
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
        await until(pilot, lambda: "IF NOT" in shown(screen))
        text = shown(screen)
        for word in ("CUE", "LINE", "1/12", "You begin", "Send", "Push", "Line", "Pause"):
            assert word in text
        assert "Mark" not in text
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await until(pilot, lambda: "Mark" in shown(screen))
        for word in ("Send", "Mark", "Line", "Push", "Phrases", "End", "Pause"):
            assert word in shown(screen)
        assert screen.query_one(CueCard).display


async def test_the_persona_and_the_tool_calls_are_folded_and_open_by_key(
    app_with_samples: CuecardApp,
) -> None:
    async with app_with_samples.run_test(size=(120, 40)) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        persona = screen.query_one(CardPane).query_one("#persona", Static)
        assert not persona.display
        await pilot.press("ctrl+r")
        assert persona.display
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        assert "tool call" in transcript(screen)
        assert "on record" not in transcript(screen)
        await pilot.press("ctrl+o")
        assert "on record" in transcript(screen)


async def test_evidence_phrases_answers_and_history_by_keys(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)

        await pilot.press("f5")
        await until(pilot, lambda: isinstance(app.screen, EvidenceDialog))
        await pilot.press("down", "full_stop", "enter")
        await until(pilot, lambda: "“" in status(screen))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EvidenceDialog))
        await pilot.press("shift+right", "enter")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        await until(pilot, lambda: composer.text.startswith("I can't print"))

        composer.take("")
        await pilot.press("f6")
        await until(pilot, lambda: isinstance(app.screen, PhraseDialog))
        await pilot.press("down", "enter")
        await until(pilot, lambda: composer.text.startswith("That is not quite"))
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 2)

        composer.take("draft")
        await pilot.press("up")
        assert composer.text.startswith("That is not quite")
        await pilot.press("up")
        assert composer.text.startswith("Hi! I'm putting together")
        await pilot.press("down", "down")
        assert composer.text == "draft"
        composer.take("")

        await pilot.press("f4")
        await until(pilot, lambda: isinstance(app.screen, AnswersDialog))
        await pilot.press("e", "9", "enter")
        await until(pilot, lambda: isinstance(app.screen.focused, OptionList))
        await pilot.press("enter")
        await until(pilot, lambda: "9" in composer.text)
    reply = said(database)[1]
    spoken = next(e.body for e in events_of(database) if isinstance(e.body, AgentSpoke))
    assert reply.evidence
    assert spoken.reply.text[reply.evidence.start : reply.evidence.end] == reply.evidence.text
    assert reply.cue_met is False


async def test_words_in_doubt_are_the_persons_to_judge_and_what_leaks_is_warned_of(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        composer.take("Give me a table in Markdown. Was it Luigi Bezzera?")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MeaningDialog))
        await pilot.press("e")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MeaningDialog))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, FaultsDialog))
        assert "Luigi Bezzera" in shown(app.screen)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        assert composer.text.startswith("Give me")
        composer.take("Tell me about espresso, please.")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MeaningDialog))
        await pilot.press("n")
        await agent_spoke(pilot, screen, 1)
    (reply,) = said(database)
    assert (reply.stage, reply.edited, reply.meaning) == (None, True, "changed")


async def test_the_agent_is_interrupted_retried_and_the_last_words_are_taken_back(
    app_with_samples: CuecardApp, home: Path, database: Path
) -> None:
    app = app_with_samples
    reply = "First words, " + "and some more words " * 60 + "last words."
    with live_agent(home, reply, pause=0.05):
        async with app.run_test(size=SIZE) as pilot:
            screen = PlayScreen("espresso", agent="live")
            composer = await enter_play(pilot, screen)
            opening = composer.text
            await pilot.press("enter")
            await until(pilot, lambda: "First words" in transcript(screen))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, StopDialog))
            await pilot.press("i")
            await agent_spoke(pilot, screen, 1)
            assert "interrupted" in transcript(screen)
            composer.take("wait")
            await pilot.press("f9")
            await until(pilot, lambda: "is writing" in transcript(screen))
            assert "interrupted" not in transcript(screen)
            await pilot.press("f10")
            await until(pilot, lambda: composer.text == opening)
            assert screen.play
            assert screen.play.opening
            await pilot.press("down")
            assert composer.text == "wait"
    log = [event.body.type for event in whole_log(database)]
    assert log.count("trial_reopened") == 2
    assert not events_of(database)[1:]
