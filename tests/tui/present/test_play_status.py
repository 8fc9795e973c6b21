from __future__ import annotations

from cuecard.core.engine.messages import Dialogue, Message, PlayerRef
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Mark, Reading
from cuecard.tui.present.play_status import MARK, READING, heading, status_pieces

HELLO = Message(role="user", turn=0, text="Hello")
REPLY = Message(role="agent", turn=0, text="Yes?")


def persona(*, stages: int = 1) -> Task:
    cue = Cue(kind=CueKind.MENTIONS, text="names it")
    return Task(
        id="t",
        title="T",
        language="en",
        query="q",
        persona=Persona(
            identity="i",
            initial_query="Hello",
            stages=tuple(
                Stage(title=f"S{n}", cue=cue, line=f"The line number {n} is said now")
                for n in range(stages)
            ),
        ),
        gold=Graph(triples=(Triple(head="a", relation="b", tail="c"),)),
    )


def chain() -> Task:
    ambiguity = Ambiguity(
        type=AmbiguityType.ENTITY, logic="l", candidates=("a", "b"), clue="the first of them"
    )
    return Task(
        id="c",
        title="C",
        language="en",
        query="q",
        gold=CheckpointChain(
            opening="o",
            steps=(Checkpoint(question="which?", target="a", ambiguity=ambiguity),),
            final_answer="a",
            forbidden=("secret",),
        ),
    )


def status(state: PlayState, text: str = "", calls: int = 0) -> str:
    return "".join(piece.text for piece in status_pieces(state, text, calls))


def test_it_says_whose_turn_it_is() -> None:
    state = PlayState(persona())
    assert status(state) == "You begin"
    state.phase = "writing"
    assert status(state, "typed", 3) == "The agent is at work… tool calls: 3"
    state.phase = "ended"
    assert "ended" in status(state)


def test_it_asks_for_the_mark_and_says_what_is_disclosed() -> None:
    state = PlayState(persona(), Dialogue((HELLO, REPLY)))
    assert status(state) == "^l Did the reply meet the cue?"
    state.mark = Mark.MET
    line = "The line number 0 is said now"
    assert status(state, line) == "✓ the cue is met · says stage 1"
    assert status(state, f"Well. {line}") == "✓ the cue is met · says stage 1 (edited)"
    assert status(state, "Oh") == "✓ the cue is met · your own words"


def test_after_the_last_stage_it_names_the_key_that_ends() -> None:
    said = Message(role="user", turn=0, text="x", stage=1)
    assert "F9" in status(PlayState(persona(), Dialogue((said, REPLY))))


def test_it_warns_of_what_must_not_be_said() -> None:
    state = PlayState(chain(), Dialogue((HELLO, REPLY)))
    assert "^l How do you read" in status(state)
    state.reading = Reading.ASKED
    assert "gives the clue" in status(state, "the first of them")
    assert "⚠ must not be said: secret" in status(state, "the Secret")


def test_every_mark_and_reading_has_words_and_keys_differ() -> None:
    assert set(MARK) == set(Mark)
    assert set(READING) == set(Reading)
    assert len({key for key, _label in READING.values()}) == len(Reading)


def test_the_head_calls_a_baseline_one() -> None:
    agent = PlayerRef(name="offline", kind="offline", baseline=True)
    text = "".join(piece.text for piece in heading(PlayState(persona()), agent))
    assert "offline baseline" in text
    assert "turn 1" in text
    over = PlayState(persona(), phase="ended")
    assert heading(over, agent)[0].text == "0 turns"
