"""What is typed at play: history, evidence, phrases, several questions, and what is wrong with words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.document._document import Document

from budget import examples
from cuecard.core.users.faults import Fault, FaultKind
from cuecard.core.users.scripted import pushes
from cuecard.tui.present.play import Answer, answers_for, choices_of, composed, gives_line
from cuecard.tui.present.play_decisions import Insertion, Mark, Reading
from cuecard.tui.present.play_status import (
    FAULTS,
    InputHistory,
    evidence_of,
    fault_label,
    location_at,
    offset_at,
    selectable,
    sentence_at,
    to_ask,
    to_hint,
    works_now,
)
from play_rooms import FIRST, SECOND, Play, at_first_step, at_second_stage, facts_task, persona_task


def test_the_arrows_walk_through_what_was_said_and_the_draft_stays() -> None:
    history = InputHistory()
    for text in ("one", "two", "two"):
        history.said(text)
    assert history.walk(1, "draft") is None
    assert history.walk(-1, "draft") == "two"
    assert (history.browsing, history.draft) == (True, "draft")
    assert history.walk(-1, "two, edited") == "one"
    assert history.walk(-1, "one") is None
    assert history.walk(1, "one") == "two, edited"
    assert history.walk(1, "two, edited") == "draft"
    assert (history.browsing, history.draft) == (False, "")


def test_a_draft_that_waited_waits_again() -> None:
    history = InputHistory()
    history.restore("lost without anything said")
    assert not history.browsing
    history.said("one")
    history.restore("draft")
    assert history.draft == "draft"
    assert history.walk(1, "one") == "draft"
    history.said("three")
    assert history.draft == ""


AWKWARD = "One. Two 《三》。\tThree\r\nfour\u2028five\x0b\x1b[31m six\u202e seven \x85end"


@settings(max_examples=examples(40))
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_what_can_be_selected_has_the_places_of_the_raw_text(raw: str) -> None:
    shown = selectable(raw)
    assert len(shown) == len(raw)
    document = Document(shown)
    for offset in range(len(shown) + 1):
        row, column = location_at(shown, offset)
        assert offset_at(shown, (row, column)) == offset
        if offset < len(shown) and shown[offset] != "\n":
            assert document.get_line(row)[column] == shown[offset]


def test_nothing_that_a_terminal_acts_on_can_be_selected() -> None:
    shown = selectable(AWKWARD)
    assert not set(shown) & set("\x1b\x0b\r\x85\u2028\u202e\t")
    assert shown.splitlines() == shown.split("\n")


@pytest.mark.parametrize(
    ("at", "sentence"),
    [(0, "It is 1.5 old."), (9, "It is 1.5 old."), (16, "Is it?"), (22, "都是。"), (27, "Rest")],
)
def test_the_sentence_at_the_cursor(at: int, sentence: str) -> None:
    text = "It is 1.5 old. Is it? 都是。\nRest"
    start, end = sentence_at(text, at)
    assert text[start:end] == sentence


def test_evidence_is_a_span_of_the_raw_text_without_blanks_around_it() -> None:
    evidence = evidence_of("It was  Moriondo. ", 18, 6)
    assert evidence
    assert (evidence.start, evidence.end, evidence.text) == (8, 17, "Moriondo.")
    assert evidence_of("a   b", 1, 4) is None


def test_phrases_are_the_cards_then_natural_ones_then_what_was_said_before_each_once() -> None:
    play = at_second_stage()
    play.state.mark = Mark.NOT_MET
    play.say("A name, please!")
    play.answer("Hm.")
    play.state.mark = Mark.NOT_MET
    play.say("I need a name.")
    play.answer("Hm?")
    choices = choices_of(play.state)
    assert (choices[0].source, choices[0].text) == ("card", "I need a name.")
    assert [c.text for c in choices if c.source == "before"] == ["A name, please!"]
    assert len({c.text for c in choices}) == len(choices)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_several_ways_to_push_in_each_language(language: str) -> None:
    assert len(set(pushes(language))) >= 5  # type: ignore[arg-type]


def test_phrases_of_a_checkpoint_begin_with_what_the_reading_calls_for() -> None:
    state = at_first_step().state
    state.reading = Reading.WRONG
    assert choices_of(state)[0].text.startswith("That does not seem right")


def test_each_question_gets_the_line_what_was_said_or_dont_care() -> None:
    play = Play(persona_task())
    play.say(play.state.insert(Insertion.LINE))
    play.answer(
        "I have a few questions. Is it the first machine that was shown to the public?"
        " Shall I say where that person was born and into which family? Blue or green?"
    )
    answers = answers_for(play.state)
    assert [a.kind for a in answers] == ["said", "line", "never_mind"]
    text = composed(answers, "en")
    assert text.index(FIRST) < text.index(SECOND) < text.index("I don't mind")
    assert gives_line(answers)
    play.state.insert(Insertion.LINE)
    reply = play.state.reply(text)
    assert (reply.stage, reply.edited) == (2, True)


def test_a_clue_answers_the_question_that_asks_rightly() -> None:
    play = at_first_step()
    play.state.reading = Reading.SEARCHED
    play.say("Go on.")
    play.answer("Do you mean 1908 or 1948? And in which language?")
    kinds = [a.kind for a in answers_for(play.state)]
    assert kinds == ["line", "never_mind"]


def test_answers_turn_through_what_there_is_and_what_is_said_twice_is_said_once() -> None:
    answer = Answer("Q?", "line", line="The line.")
    assert answer.kinds == ("line", "never_mind", "own", "skip")
    assert answer.turned(-1).kind == "skip"
    own = Answer("Q?", "own", own=" mine ")
    care = Answer("Q?", "never_mind")
    assert composed([care, own, care, Answer("Q?", "skip")], "zh") == "这个我都可以，您来定吧。mine"


def test_no_questions_no_answers() -> None:
    assert answers_for(at_second_stage().state) == []


def test_what_leaks_is_asked_about_and_what_is_clumsy_is_only_mentioned() -> None:
    assert set(FAULTS) == set(FaultKind)
    faults = [Fault(kind=kind, found="x" * 500) for kind in FaultKind]
    asked = {fault.kind for fault in to_ask(faults)}
    assert asked >= {FaultKind.LEAK, FaultKind.FORBIDDEN, FaultKind.AHEAD, FaultKind.COACHED}
    assert {fault.kind for fault in to_hint(faults)} == set(FaultKind) - asked
    assert all(len(fault_label(fault)) < 200 for fault in faults)


def test_the_keys_that_work_follow_the_phase() -> None:
    actions = ("insert", "mark", "answers", "end", "interrupt", "retry", "undo", "note")

    def working(play: Play) -> set[str]:
        return {action for action in actions if works_now(play.state, action)}

    play = Play(facts_task())
    assert working(play) == {"insert"}
    play.say("几点到？")
    assert working(play) == {"insert", "interrupt", "retry", "undo", "note"}
    play.state.phase = "stopped"
    assert working(play) == {"insert", "retry", "undo", "note"}
    play.answer("哪一天？", interrupted=True)
    assert working(play) == {"insert", "answers", "end", "retry", "undo", "note"}
    play.say("", done=True)
    assert play.state.phase == "concluding"
    assert working(play) == {"note"}
    play.end()
    assert working(play) == set()
    assert "mark" in working(at_second_stage())
    assert "undo" not in working(at_second_stage())
