"""Words by keys: edited, picked, marked, warned of, taken back."""

from __future__ import annotations

from pathlib import Path

from textual.events import Paste
from textual.widgets import OptionList

from cuecard.core.engine.events import AgentSpoke
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.play.dialogs import (
    EvidenceDialog,
    FaultsDialog,
    MarkDialog,
    MeaningDialog,
    ReadingDialog,
    StopDialog,
)
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.phrases import AnswersDialog, PhraseDialog
from cuecard.tui.screens.play.screen import PlayScreen
from tui_rooms import (
    agent_spoke,
    enter_play,
    events_of,
    fill_form,
    live_agent,
    said,
    shown,
    status,
    transcript,
    until,
    whole_log,
)

SIZE = (80, 24)


async def test_an_edited_line_is_told_before_it_is_sent_and_recorded_as_edited(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("ctrl+t")
        await pilot.press(*"Thanks")
        await until(pilot, lambda: "says stage 2 (edited)" in status(screen))
        assert composer.text.endswith("Thanks")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("y")
        await agent_spoke(pilot, screen, 2)
    reply = said(database)[1]
    assert (reply.stage, reply.edited, reply.cue_met) == (2, True, True)


async def test_a_line_that_was_marked_not_met_is_asked_about_before_it_is_sent(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        composer.take("")
        await pilot.press("ctrl+t")
        line = composer.text
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, FaultsDialog))
        assert "you marked not met; this says stage 2" in shown(app.screen)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        assert composer.text == line
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("y")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 2)
    reply = said(database)[1]
    assert (reply.stage, reply.cue_met) == (2, True)


async def test_a_key_that_does_nothing_now_says_why(app_with_samples: CuecardApp) -> None:
    app = app_with_samples

    def told() -> list[str]:
        return [note.message for note in app._notifications]

    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        await enter_play(pilot, screen)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "The agent is not at work." in told())
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: any("so they stay. ^r" in note for note in told()))
        before = len(app._notifications)
        # What only moves about, or is typed, is no key that must say anything.
        await pilot.press("up", "pagedown", "x")
        await pilot.pause()
        assert len(app._notifications) == before


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


async def test_evidence_phrases_answers_and_history_by_keys(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = PlayScreen("espresso")
        composer = await enter_play(pilot, screen)
        await pilot.press("enter")
        await agent_spoke(pilot, screen, 1)

        await pilot.press("f10", "e")
        await until(pilot, lambda: isinstance(app.screen, EvidenceDialog))
        await pilot.press("down", "s", "enter")
        await until(pilot, lambda: "“" in status(screen))
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EvidenceDialog))
        await pilot.press("shift+right", "enter")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        await pilot.press("n")
        await until(pilot, lambda: composer.text.startswith("I can't print"))

        composer.take("")
        await pilot.press("f10", "p")
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

        await pilot.press("f10", "a")
        await until(pilot, lambda: isinstance(app.screen, AnswersDialog))
        await pilot.press("e", "9", "enter")
        await until(pilot, lambda: isinstance(app.screen.focused, OptionList))
        await pilot.press("enter")
        await until(pilot, lambda: "9" in composer.text)

        # The line that a mark offers stands once in the answers that say it.
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, MarkDialog))
        composer.take("")
        await pilot.press("y")
        await until(pilot, lambda: composer.text.startswith("I had never heard"))
        await pilot.press("f10", "a")
        await until(pilot, lambda: isinstance(app.screen, AnswersDialog))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert composer.text.count("I had never heard") == 1
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
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "is writing" in transcript(screen))
            assert "interrupted" not in transcript(screen)
            await pilot.press("ctrl+z")
            await until(pilot, lambda: composer.text == opening)
            assert screen.play
            assert screen.play.opening
            await pilot.press("down")
            assert composer.text == "wait"
    log = [event.body.type for event in whole_log(database)]
    assert log.count("trial_reopened") == 2
    assert not events_of(database)[1:]
