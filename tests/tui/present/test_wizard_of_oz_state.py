"""What the agent's window makes of what is typed, and of what is taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.agents.briefing import PublicTask
from cuecard.core.engine.events import AgentSpoke, Event, EventBody, Limits, UserSpoke
from cuecard.core.engine.messages import Act, AgentReply, ToolCall, UserReply
from cuecard.core.engine.step_context import ReplyMove, ToolMove
from cuecard.core.evaluation.wizard_of_oz import Briefing, PlayerView
from cuecard.core.predictions import TablePrediction, TriplesPrediction
from cuecard.core.worlds.closed import PYTHON, SEARCH, VISIT
from cuecard.tui.present.wizard_of_oz import (
    NotACall,
    Typed,
    WizardOfOzState,
    call_from,
    read_hand_in,
)

GRAPH = PublicTask(family="graph", language="en")
TABLE = PublicTask(family="table", language="en", columns=("State", "Capital"))
ANSWER = PublicTask(family="facts", language="en")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_one_line_is_a_call():
    call = call_from(SEARCH, " who built it? ")
    assert call.arguments == {"query": "who built it?"}
    assert call_from(PYTHON, "print(1)").arguments == {"code": "print(1)"}
    pages = call_from(VISIT, "https://a.org/x who built it? http://b.org").arguments
    assert pages == {"urls": ["https://a.org/x", "http://b.org"], "goal": "who built it?"}
    assert call_from(VISIT, "https://a.org", goal="the need").arguments["goal"] == "the need"
    for line, reason in (("", "Type first"), ("no address", "address of a page")):
        with pytest.raises(NotACall, match=reason):
            call_from(VISIT, line)


@pytest.mark.parametrize(
    ("text", "count", "problem"),
    [
        ("A -> born in -> B\n- C | founded in | 1900\n(D, is, E)\nF → g → H", 4, ""),
        ("A\tborn in\tB\nC\tx\tD", 2, ""),
        ("head,relation,tail\nA,b,C\nA,b,C\nX,,Z", 1, "X Z"),
        ('```json\n[{"head": "a", "relation": "b", "tail": "c"}]\n```', 1, ""),
        ("| head | relation | tail |\n|---|---|---|\n| a | b | c |", 1, ""),
        ("头,关系,尾\n甲,生于,乙", 1, ""),
        ("A -> b -> C\nD -> e -> F\nnonsense", 2, "nonsense"),
    ],
)
def test_triples_in_many_shapes(text: str, count: int, problem: str):
    read = read_hand_in(GRAPH, text)
    assert isinstance(read.prediction, TriplesPrediction)
    assert len(read.prediction.triples) == count
    assert problem in " ".join(read.problems)
    assert bool(problem) == bool(read.problems)


def test_tables_and_answers():
    for text in ("State,Capital\nOhio,Columbus", "| State | Capital |\n|-|-|\n| Ohio | Columbus |"):
        read = read_hand_in(TABLE, text)
        assert isinstance(read.prediction, TablePrediction)
        assert read.prediction.rows == (("Ohio", "Columbus"),)
        assert not read.problems
    guessed = read_hand_in(TABLE, "Ohio\tColumbus\nTexas\tAustin")
    assert isinstance(guessed.prediction, TablePrediction)
    assert guessed.prediction.columns == TABLE.columns
    assert "No line names" in guessed.problems[0]
    assert "Capital" in read_hand_in(TABLE, "State\tCity\nOhio\tColumbus").problems[0]
    assert read_hand_in(ANSWER, "Final answer: 42\n").prediction.model_dump()["answer"] == "42"
    for task in (GRAPH, TABLE, ANSWER):
        assert read_hand_in(task, " \n").empty


@given(st.text(alphabet=st.sampled_from('ab,;|\t\n"->[]{}(): '), max_size=60))
@settings(max_examples=examples(40), deadline=None)
def test_whatever_is_typed_is_read(text: str):
    for task in (GRAPH, TABLE, ANSWER):
        read_hand_in(task, text)


def state(**typed: str) -> WizardOfOzState:
    briefing = Briefing(
        trial_id=1,
        user="Ana",
        task=GRAPH,
        role="",
        closing="",
        tools=(SEARCH,),
        choose_act=False,
        limits=Limits(),
    )
    return WizardOfOzState(briefing, Typed(**typed))


def view(*said: str, taken_back: int = 0, **more: object) -> PlayerView:
    """A view after words of the user and the agent in turn."""
    bodies: list[EventBody] = [
        AgentSpoke(turn=i // 2, reply=AgentReply(text=text))
        if i % 2
        else UserSpoke(turn=i // 2, reply=UserReply(text=text))
        for i, text in enumerate(said)
    ]
    events = tuple(Event(seq=i, at=NOW, body=body) for i, body in enumerate(bodies))
    shape = PlayerView(
        events=events,
        phase="yours" if len(said) % 2 else "user",
        turn=max(len(said) - 1, 0) // 2,
        take=taken_back,
        place="agent/0/move/0",
        calls_left=5,
        newest_at=NOW,
        newest=len(events) + 10 * taken_back,
        taken_back=taken_back,
    )
    return shape.model_copy(update=more)


def words(state: WizardOfOzState, after: float = 0) -> str:
    return "".join(piece.text for piece in state.status(NOW + timedelta(seconds=after)))


def test_a_reply_that_was_taken_back_is_given_back():
    wizard = state()
    wizard.follow(view("hello"), NOW)
    wizard.sent("my reply")
    assert wizard.follow(view("hello", "my reply"), NOW) == ""
    assert wizard.follow(view("hello", taken_back=1), NOW) == "my reply"
    assert "take your turn again" in words(wizard)
    assert wizard.follow(view(taken_back=2), NOW) == ""
    assert "took back what they had said" in words(wizard)
    wizard.searched()
    assert "took back" not in words(wizard)
    # A reply that stands is not given back when a later turn is taken back.
    wizard.sent("kept")
    wizard.follow(view("a", "kept", "b", taken_back=2), NOW)
    assert wizard.follow(view("a", "kept", taken_back=3), NOW) == ""


def test_what_was_sent_just_before_a_crash_is_not_there_again():
    wizard = state(reply="my reply", search="who?")
    wizard.follow(view("hello", "my reply"), NOW)
    assert wizard.typed.reply == ""
    wizard = state(reply="my reply", search="who?")
    call = ToolMove(call=ToolCall(name="search", arguments={"query": "who?"}))
    wizard.follow(view("hello", phase="working", pending=call), NOW)
    assert (wizard.typed.reply, wizard.typed.search) == ("my reply", "")
    wizard = state(reply="my reply", search="")
    wizard.follow(view("hello", pending=ReplyMove(text="my reply", act=Act.REPLY)), NOW)
    assert wizard.typed.reply == ""
    assert Typed.of(Typed(reply="x", tool="visit").kept()) == Typed(reply="x", tool="visit")
    assert Typed(tool="visit").kept() == {}


def test_the_status_tells_for_whom_one_waits():
    wizard = state()
    assert "Sitting down" in words(wizard)
    wizard.follow(view(), NOW)
    assert words(wizard) == "Ana begins."
    wizard.follow(view("hello"), NOW)
    assert "5 searches are left" in words(wizard)
    wizard.follow(view("hello", "reply"), NOW)
    assert words(wizard) == "Waiting for Ana to answer."
    assert "has Ana the session open" in words(wizard, 600)
    pending = ReplyMove(text="on my way")
    wizard.follow(view("hello", phase="working", pending=pending), NOW)
    assert "carries it out" in words(wizard)
    assert "has Ana the session open" in words(wizard, 20)
    assert "on my way" in str(wizard.entries[-1].body)
