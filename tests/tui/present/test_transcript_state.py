from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    ModelReplied,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    Act,
    AgentReply,
    CheckpointStatus,
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    Prediction,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.tui.present.entries import Entry, Paragraph, Piece, flow
from cuecard.tui.present.entry_layout import Block
from cuecard.tui.present.labels import STATUS, player_label
from cuecard.tui.present.transcript import entries_of, handed_in


def log(*bodies: EventBody) -> list[Event]:
    return [Event(seq=i, at=datetime.now(UTC), body=body) for i, body in enumerate(bodies)]


def search(step: int, *, hit: bool, turn: int = 0) -> ToolAnswered:
    return ToolAnswered(
        part="agent",
        turn=turn,
        step=step,
        call=ToolCall(name="search", arguments={"query": "born where?"}),
        answer=ToolAnswer(
            text="",
            hit=Hit(is_compound=not hit, hit=hit, matched_fact_keys=("k1",) if hit else ()),
            entries=(SearchEntry(id="1", title="A page", content="Turin", date="1851"),),
        ),
    )


def plain(entry: Entry) -> str:
    lines = Block(entry, opened=True, width=200, gap=True).lines
    return "\n".join("".join(piece.text for piece in line) for line in lines)


def test_the_calls_of_a_turn_are_one_entry_with_counts() -> None:
    model = ModelReplied(
        part="agent",
        turn=0,
        step=0,
        model="m",
        reply=ModelReply(reasoning="I should look", usage=Usage(prompt=1200, completion=34)),
    )
    entries = entries_of(
        log(
            UserSpoke(turn=0, reply=UserReply(text="Where?")),
            model,
            search(0, hit=True),
            search(1, hit=False),
            AgentSpoke(turn=0, reply=AgentReply(text="Turin")),
        )
    )
    assert [entry.role for entry in entries] == ["user", "work", "agent"]
    head = "".join(piece.text for piece in entries[1].head)
    assert head == "2 tool calls · 1 hit · 1 model call · 1,234 tokens"
    opened = plain(entries[1])
    for expected in ("born where?", "A page · 1851", "Turin", "hit: k1", "no hit", "I should look"):
        assert expected in opened


def test_calls_of_another_turn_or_part_are_another_entry() -> None:
    entries = entries_of(log(search(0, hit=True), search(0, hit=True, turn=1)))
    assert [entry.role for entry in entries] == ["work", "work"]


def test_badges_tell_stage_mark_edit_and_end() -> None:
    (entry,) = entries_of(
        log(
            UserSpoke(
                turn=2,
                reply=UserReply(text="x", stage=3, cue_met=False, edited=True, done=True),
            )
        )
    )
    head = "".join(piece.text for piece in entry.head)
    assert head == "User · ✗ cue not met · ▸ stage 3 · line edited · ends here"


def test_badges_tell_the_step_and_its_reading() -> None:
    reply = UserReply(text="x", checkpoint=1, status=CheckpointStatus.MISSED_AMBIGUITY_WRONG)
    asked = AgentSpoke(turn=0, reply=AgentReply(text="which?", act=Act.ASK))
    agent, user = entries_of(log(asked, UserSpoke(turn=1, reply=reply)))
    assert "asks" in "".join(piece.text for piece in agent.head)
    head = "".join(piece.text for piece in user.head)
    assert head == "User · step 2 ✗ did not ask, and wrong"


def test_every_status_has_words() -> None:
    assert set(STATUS) == set(CheckpointStatus)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (
            TriplesPrediction(triples=(PredictedTriple(head="a", relation="b", tail="c"),)),
            ("1 triple", "1. a · b · c"),
        ),
        (TablePrediction(columns=("x", "y"), rows=(("1", "2"),)), ("a table of 1 row", "1 | 2")),
        (AnswerPrediction(answer="Cabrera"), ("Cabrera",)),
        (UnusablePrediction(reason="no JSON", raw="{{"), ("nothing usable: no JSON", "{{")),
    ],
)
def test_what_was_handed_in_is_told_and_folded(
    prediction: Prediction, words: tuple[str, ...]
) -> None:
    shown = plain(handed_in(prediction))
    assert all(word in shown for word in words)


def test_a_failure_is_told_with_its_detail() -> None:
    (entry,) = entries_of(
        log(TrialEnded(termination=Termination.API_ERROR, detail="503 from the server"))
    )
    assert "API error" in plain(entry)
    assert "503 from the server" in plain(entry)


def test_a_baseline_is_called_one() -> None:
    assert "offline baseline" in player_label(PlayerRef(name="o", kind="offline", baseline=True))
    assert player_label(PlayerRef(name="a", kind="react", model="m")) == "a (m)"


def test_a_fold_shows_only_when_opened_and_is_marked() -> None:
    entry = Entry("work", 0, (Piece("calls"),), fold=(Paragraph("inside", indent=2),))
    folded = Block(entry, opened=False, width=40, gap=True).lines
    opened = Block(entry, opened=True, width=40, gap=True).lines
    assert folded[0][0].text == "▸ "
    assert opened[0][0].text == "▾ "
    assert len(opened) == len(folded) + 1


def test_flow_keeps_tones_over_a_break() -> None:
    lines = flow([Piece("User", "user"), Piece(" · stage one", "stage")], 10)
    assert [[(p.text, p.tone) for p in line] for line in lines] == [
        [("User", "user"), (" ·", "stage")],
        [("stage one", "stage")],
    ]


def test_hostile_words_in_a_head_do_not_lose_the_rest() -> None:
    (line,) = flow([Piece("a\x1b[31m\0b", "user"), Piece("c", "good")], 40)
    assert "".join(piece.text for piece in line).endswith("c")
