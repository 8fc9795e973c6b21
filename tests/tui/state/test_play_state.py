from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cuecard.core.events import AgentSpoke, Event, Termination, TrialEnded, UserSpoke
from cuecard.core.parts import Act, AgentReply, CheckpointStatus, UserReply
from cuecard.core.tasks import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
    Cue,
    CueKind,
    Fact,
    FactWorld,
    Graph,
    Persona,
    Stage,
    Task,
    Triple,
)
from cuecard.tui.state.play import Insertion, Mark, PlayState, Reading
from cuecard.tui.state.play_lines import kept_share

FIRST = "Who built the first machine, and in which year was it shown to the public?"
SECOND = "And where was that person born, and into which family?"


def persona_task() -> Task:
    stages = (
        Stage(title="First", cue=Cue(kind=CueKind.START, text="The start"), line=FIRST),
        Stage(
            title="Second",
            cue=Cue(kind=CueKind.MENTIONS, text="names Moriondo", terms=("Moriondo",)),
            line=SECOND,
            not_met="I need a name.",
        ),
    )
    return Task(
        id="t",
        title="T",
        language="en",
        query="Everything about it",
        persona=Persona(identity="A curator", initial_query="Hello, help me!", stages=stages),
        gold=Graph(triples=(Triple(head="a", relation="b", tail="c"),)),
    )


def chain_task() -> Task:
    ambiguity = Ambiguity(
        type=AmbiguityType.VERSION,
        logic="three editions",
        candidates=("1908", "1948"),
        clue="The first one after the war.",
    )
    return Task(
        id="c",
        title="C",
        language="en",
        query="full",
        gold=CheckpointChain(
            opening="Who won there?",
            steps=(
                Checkpoint(question="Which Games?", target="1948 Games", ambiguity=ambiguity),
                Checkpoint(question="Who won?", target="Cabrera"),
            ),
            final_answer="Cabrera",
            forbidden=("1948", "Cabrera"),
        ),
    )


def facts_task() -> Task:
    return Task(
        id="f",
        title="F",
        language="zh",
        query="几点到？",
        gold=FactWorld(facts=(Fact(key="k", value="v"),), answer="八点"),
    )


class Play:
    """A state with a log of its own, as the trial loop would feed it."""

    def __init__(self, task: Task) -> None:
        self.state = PlayState(task)
        self.turn = 0
        self._seq = 0

    def _add(self, body: UserSpoke | AgentSpoke | TrialEnded) -> None:
        self.state.follow(Event(seq=self._seq, at=datetime.now(UTC), body=body))
        self._seq += 1

    def say(self, text: str, *, done: bool = False) -> UserReply:
        reply = self.state.reply(text, done=done)
        self._add(UserSpoke(turn=self.turn, reply=reply))
        return reply

    def answer(self, text: str, act: Act = Act.REPLY) -> None:
        self._add(AgentSpoke(turn=self.turn, reply=AgentReply(text=text, act=act)))
        self.turn += 1

    def end(self) -> None:
        self._add(TrialEnded(termination=Termination.USER_DONE))


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


def at_second_stage() -> Play:
    play = Play(persona_task())
    play.say(play.state.insert(Insertion.LINE))
    play.answer("It was Moriondo.")
    return play


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


def at_first_step() -> Play:
    play = Play(chain_task())
    play.say("Who won there?")
    play.answer("Which Games do you mean?", Act.ASK)
    return play


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
