from __future__ import annotations

import pytest

from cuecard.core.engine.messages import Act, CheckpointStatus, Evidence
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Decision, Insertion, Mark, Reading, kept_share
from play_rooms import FIRST, SECOND, Play, at_first_step, at_second_stage, facts_task, persona_task


def test_the_opening_says_the_first_stage_if_that_belongs_to_the_start() -> None:
    play = Play(persona_task())
    assert play.state.opening
    text = play.state.insert(Insertion.LINE)
    assert text == f"Hello, help me!\n\n{FIRST}"
    reply = play.say(text)
    assert (reply.stage, reply.cue_met, reply.edited, reply.done) == (1, True, False, False)
    assert play.state.phase == "writing"
    assert play.state.stage_number == 2


def test_an_opening_in_other_words_is_recorded_as_edited() -> None:
    reply = Play(persona_task()).say("Hi there")
    assert (reply.stage, reply.cue_met, reply.edited) == (None, None, True)


def test_the_start_of_the_conversation_needs_no_mark() -> None:
    play = Play(persona_task())
    play.say("Hello, help me!")
    play.answer("Gladly. What?")
    assert not play.state.mark_wanted
    reply = play.say(play.state.insert(Insertion.LINE))
    assert (reply.stage, reply.cue_met, reply.edited) == (1, True, False)
    assert play.state.stage_number == 2


@pytest.mark.parametrize(
    ("mark", "met"), [(Mark.MET, True), (Mark.NOT_MET, False), (Mark.UNSURE, None)]
)
def test_the_mark_goes_into_the_log_as_it_is(mark: Mark, met: bool | None) -> None:
    play = at_second_stage()
    assert play.state.mark_wanted
    play.state.mark = mark
    assert not play.state.mark_wanted
    assert play.say("Hm.").cue_met is met
    assert play.state.mark is None


def test_an_edited_line_discloses_its_stage_and_says_so() -> None:
    play = at_second_stage()
    play.state.insert(Insertion.LINE)
    reply = play.say("Thanks! And where was that man born, and into which family?")
    assert (reply.stage, reply.edited) == (2, True)


def test_a_line_typed_by_hand_discloses_too() -> None:
    reply = at_second_stage().say(f"Good. {SECOND}")
    assert (reply.stage, reply.edited) == (2, True)


def test_words_that_kept_nothing_of_the_inserted_line_disclose_nothing() -> None:
    play = at_second_stage()
    play.state.insert(Insertion.LINE)
    reply = play.say("Not so fast.")
    assert (reply.stage, reply.edited) == (None, False)


def test_own_words_without_the_line_disclose_nothing() -> None:
    assert at_second_stage().say("Are you sure about that person?").stage is None


def test_pushing_says_what_the_card_has_or_a_phrase_in_the_tasks_language() -> None:
    assert at_second_stage().state.insert(Insertion.PUSH) == "I need a name."
    zh = Play(facts_task())
    zh.say("几点到？")
    zh.answer("?")
    assert "请继续" in zh.state.insert(Insertion.PUSH)
    assert "都可以" in zh.state.insert(Insertion.NEVER_MIND)


def test_the_mark_suggests_the_line_or_the_push() -> None:
    state = at_second_stage().state
    assert state.suggestion() == ""
    state.mark = Mark.MET
    assert state.suggestion() == SECOND
    state.mark = Mark.NOT_MET
    assert state.suggestion() == "I need a name."
    state.mark = Mark.UNSURE
    assert state.suggestion() == ""


def test_stages_are_done_now_or_later() -> None:
    play = Play(persona_task())
    assert [play.state.stage_state(n) for n in (1, 2)] == ["now", "later"]
    play = at_second_stage()
    assert [play.state.stage_state(n) for n in (1, 2)] == ["done", "now"]
    play.say(SECOND)
    assert play.state.stage_number is None
    play.answer("Turin.")
    assert not play.state.mark_wanted


def test_ending_without_words_says_a_farewell() -> None:
    play = at_second_stage()
    reply = play.say("", done=True)
    assert reply.done
    assert not reply.answered
    assert "Thank you" in reply.text
    play.end()
    assert play.state.phase == "ended"


def test_without_a_persona_the_end_is_an_answer() -> None:
    play = Play(facts_task())
    play.say("几点到？")
    play.answer("八点", Act.ANSWER)
    assert play.say("", done=True).answered


def test_a_right_question_releases_the_clue_and_stays_at_the_step() -> None:
    play = at_first_step()
    assert play.state.reading_wanted
    play.state.reading = Reading.ASKED
    reply = play.say(play.state.insert(Insertion.LINE))
    assert (reply.checkpoint, reply.status) == (0, CheckpointStatus.AMBIGUITY_DETECTED)
    assert reply.stage is None
    assert (play.state.step_number, play.state.clue_released) == (0, True)


def test_an_answer_after_the_right_question_is_plainly_right() -> None:
    play = at_first_step()
    play.state.reading = Reading.ASKED
    play.say("The first one after the war.")
    play.answer("The 1948 Games", Act.ANSWER)
    play.state.reading = Reading.RIGHT
    assert play.say("Yes.").status is CheckpointStatus.CORRECT_ANSWER
    assert play.state.step_number == 1


@pytest.mark.parametrize(
    ("reading", "status", "step"),
    [
        (Reading.RIGHT, CheckpointStatus.MISSED_AMBIGUITY_CORRECT, 1),
        (Reading.WRONG, CheckpointStatus.MISSED_AMBIGUITY_WRONG, 0),
        (Reading.ASKED_ELSE, CheckpointStatus.WRONG_AMBIGUITY_DETECTED, 0),
        (Reading.SEARCHED, CheckpointStatus.SEARCH_ONLY, 0),
    ],
)
def test_whether_the_ambiguity_was_missed_follows_from_the_log(
    reading: Reading, status: CheckpointStatus, step: int
) -> None:
    play = at_first_step()
    play.state.reading = reading
    assert play.say("Hm.").status is status
    assert play.state.step_number == step


def test_the_reading_suggests_the_clue_or_what_the_responder_would_say() -> None:
    state = at_first_step().state
    state.reading = Reading.ASKED
    assert state.suggestion() == "The first one after the war."
    state.reading = Reading.RIGHT
    assert state.suggestion() == "That fits, go on."
    state.reading = Reading.WRONG
    assert "look again" in state.suggestion()


def test_the_last_steps_answer_completes_the_task_and_ends_it() -> None:
    play = at_first_step()
    play.state.reading = Reading.RIGHT
    play.say("Yes.")
    play.answer("Cabrera", Act.ANSWER)
    play.state.reading = Reading.RIGHT
    reply = play.say("Thanks!")
    assert reply.status is CheckpointStatus.TASK_COMPLETED
    assert (reply.done, reply.answered, reply.text) == (True, True, "Thanks!")


def test_asking_at_a_step_without_ambiguity_is_asking_about_something_else() -> None:
    play = at_first_step()
    play.state.reading = Reading.RIGHT
    play.say("Yes.")
    play.answer("Who?", Act.ASK)
    play.state.reading = Reading.ASKED
    assert play.say("Hm.").status is CheckpointStatus.WRONG_AMBIGUITY_DETECTED


def test_a_completed_task_ends_as_answered() -> None:
    play = at_first_step()
    play.state.reading = Reading.COMPLETED
    reply = play.say("", done=True)
    assert reply.answered
    assert reply.status is CheckpointStatus.TASK_COMPLETED
    assert reply.checkpoint == 1
    assert play.state.step_number is None


def test_forbidden_strings_are_found_as_words() -> None:
    state = at_first_step().state
    assert state.forbidden_in("The cabrera of 1948!") == ("1948", "Cabrera")
    assert state.forbidden_in("The 19480 people") == ()


def test_what_no_database_can_hold_is_replaced() -> None:
    assert Play(facts_task()).state.reply("a\0b\ud800").text == "a\ufffdb\ufffd"


def test_kept_share_counts_only_runs() -> None:
    assert kept_share("abc def", "abc def") == 1.0
    assert kept_share("where were you born", "xyz") == 0.0


def test_words_that_carry_the_line_disclose_it_though_none_was_inserted() -> None:
    state = at_second_stage().state
    said = "Where was that person born then, and which family was he born into?"
    assert (state.discloses(said), state.doubt(said)) == (2, None)


def test_a_line_edited_beyond_recognition_is_the_persons_to_judge() -> None:
    state = at_second_stage().state
    state.mark = Mark.MET
    state.insert(Insertion.LINE)
    said = "And where was that machine built?"
    assert state.doubt(said) == "edited"
    same = state.reply(said, decision=Decision("kept", counts=True))
    assert (same.stage, same.edited, same.meaning) == (2, True, "kept")
    other = state.reply(said, decision=Decision("changed", counts=True))
    assert (other.stage, other.edited, other.meaning) == (2, True, "changed")
    not_said = state.reply(said, decision=Decision("changed", counts=False))
    assert (not_said.stage, not_said.edited, not_said.meaning) == (None, True, "changed")


def test_a_line_that_is_due_and_not_in_the_words_is_asked_about() -> None:
    state = at_second_stage().state
    said = "Tell me about his childhood."
    assert state.doubt(said) is None
    state.mark = Mark.NOT_MET
    assert state.doubt(said) is None
    state.mark = Mark.MET
    assert state.doubt(said) == "unsaid"
    reply = state.reply(said, decision=Decision("kept", counts=True))
    assert (reply.stage, reply.edited, reply.cue_met) == (2, True, True)
    later = state.reply(said, decision=Decision("", counts=False))
    assert (later.stage, later.edited, later.meaning) == (None, False, "")


def test_a_clue_that_is_due_and_not_in_the_words_is_asked_about() -> None:
    state = at_first_step().state
    state.reading = Reading.ASKED
    assert state.doubt("The nice one.") == "unsaid"
    assert state.doubt(state.line) is None


def test_an_opening_in_other_words_may_still_say_its_stage() -> None:
    state = PlayState(persona_task())
    assert state.doubt("Hi there") == "edited"
    assert state.due_stage == 1
    reply = state.reply("Hi there", decision=Decision("kept", counts=True))
    assert (reply.stage, reply.cue_met, reply.edited) == (1, True, True)


def test_an_open_mark_and_its_evidence_are_told() -> None:
    play = at_second_stage()
    evidence = Evidence(start=7, end=15, text="Moriondo")
    play.state.mark, play.state.evidence = Mark.UNSURE, evidence
    reply = play.say("Hm.")
    assert (reply.cue_met, reply.unsure, reply.evidence) == (None, True, evidence)
    assert play.state.evidence is None


def test_words_taken_back_come_with_their_mark() -> None:
    play = at_second_stage()
    play.state.mark = Mark.MET
    play.state.evidence = Evidence(start=0, end=2, text="It")
    said = play.say(f"Good! {SECOND}")
    assert play.state.stage_number is None
    play.take_back(1)
    state = play.state
    assert (state.phase, state.stage_number, state.mark) == ("yours", 2, None)
    assert state.take_back(said) == f"Good! {SECOND}"
    assert (state.mark, state.evidence) == (Mark.MET, said.evidence)
    assert state.reply(said.text) == said


def test_a_retried_turn_is_the_agents_again_and_its_mark_is_forgotten() -> None:
    play = at_second_stage()
    play.state.mark = Mark.MET
    play.take_back(1)
    assert (play.state.phase, play.state.mark, play.state.last_reply) == ("writing", None, "")


def test_a_clue_taken_back_is_not_released() -> None:
    play = at_first_step()
    play.state.reading = Reading.ASKED
    said = play.say("The first one after the war.")
    assert play.state.clue_released
    play.take_back(1)
    assert not play.state.clue_released
    play.state.take_back(said)
    assert (play.state.reading, play.state.status()) == (Reading.ASKED, said.status)


@pytest.mark.parametrize("reading", list(Reading))
def test_every_reading_comes_back_with_its_words(reading: Reading) -> None:
    play = at_first_step()
    play.state.reading = reading
    said = play.say("Words.")
    play.take_back(1)
    play.state.take_back(said)
    assert play.state.reply("Words.", done=said.done) == said


def test_whether_the_agent_was_interrupted_is_known_of_its_last_reply() -> None:
    play = at_second_stage()
    assert not play.state.interrupted
    play.say("Go on.")
    play.answer("It was", interrupted=True)
    assert play.state.interrupted
