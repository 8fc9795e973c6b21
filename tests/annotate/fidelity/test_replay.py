"""A recorded dialogue, decided on turn by turn: blind, in order, and nothing decided is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from apart import fresh
from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_turns import Passed
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef, UserReply
from cuecard.core.errors import NotAllowed
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from replay_trials import AGENT, checkpoint_task, four_stages, persona_task, record, said, two_steps

YES, NO, UNSURE = LabelValue.YES, LabelValue.NO, LabelValue.UNSURE


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with fresh(tmp_path / "w.db") as opened:
        yield opened


def everything(session: ReplaySession) -> str:
    """All that a screen can get from a session now, but the task, which who plays has in hand."""
    view, summary = session.current, session.summary()
    return json.dumps(
        [
            view.model_dump(mode="json") if view else None,
            summary.model_dump(mode="json"),
            session.total,
            session.decided,
            session.by.model_dump(mode="json"),
        ]
    )


def test_nothing_shows_before_it_is_decided(workspace: Workspace) -> None:
    """Over every turn: neither the user's next words, nor why, nor anything that came later."""
    trial = record(workspace, persona_task(), four_stages())
    session = ReplaySession(workspace, "Ben", trial)
    words = ["tulip", "bravo", "charlie", "delta", "echo", "foxtrot"]
    while (view := session.current) is not None:
        told = everything(session)
        turn = view.turn
        assert view.original is None
        assert f"answer-{turn - 1}" in told
        assert all(word in told for word in words[:turn])
        assert not any(word in told for word in words[turn:])
        assert not any(f"because-{word}" in told for word in words[turn:])
        assert not any(f"answer-{n}" in told for n in range(turn, 6))
        after = session.decide(YES)
        assert after.original is not None
        assert after.original.spoken.reply.text == words[turn]
        assert not any(word in everything(session) for word in words[turn + 1 :])
        session.next()
    assert "flag-delta" not in everything(session)


def test_decisions_are_blind_labels_and_the_telling_is_recorded(workspace: Workspace) -> None:
    trial = record(workspace, persona_task(), four_stages())
    session = ReplaySession(workspace, "Ben", trial)
    with pytest.raises(NotAllowed):
        session.next()
    assert session.current
    assert session.current.turn == 1
    assert session.total == 4
    session.note("looked twice")
    decided = session.decide(NO)
    assert decided.mine
    assert (decided.mine.phase, decided.mine.comment) == ("blind", "looked twice")
    assert decided.original
    assert decided.original.agrees is False
    with pytest.raises(NotAllowed):
        session.decide(YES)
    item = Item(kind=ItemKind.CUE, index=1)
    again = workspace.verdicts.label_item(trial, item, "Ben", YES)
    assert again.phase == "revealed"
    session.next()
    for value in (NO, UNSURE, YES):
        session.decide(value)
        session.next()
    assert session.current is None
    summary = session.summary()
    assert (summary.decided, summary.compared, summary.agreed, summary.seen) == (4, 3, 2, 0)
    assert [(d.turn, d.mine, d.theirs) for d in summary.differing] == [(1, NO, YES)]
    assert summary.passed == (Passed(turn=5, why="all_said"),)
    labels = workspace.verdicts.item_labels([trial])
    assert [(label.item_key, label.value.value) for label in labels] == [
        ("cue/1", "no"),
        ("cue/2", "no"),
        ("cue/3", "unsure"),
        ("cue/4", "yes"),
    ]


def test_coming_back_goes_on_where_it_was_left(workspace: Workspace, tmp_path: Path) -> None:
    trial = record(workspace, persona_task(), four_stages())
    session = ReplaySession(workspace, "Ben", trial)
    session.decide(YES)
    session.next()
    session.decide(YES)
    # Killed before going on: another process opens the same file.
    with Workspace.open(tmp_path / "w.db") as other:
        later = ReplaySession(other, "Ben", trial)
        assert later.current
        assert later.current.turn == 3
        assert later.decided == 2
        back = later.back()
        assert back
        assert back.turn == 2
        assert back.original
        assert back.original.agrees is False
        later.note("a second thought")
        assert later.current
        assert later.current.mine
        assert (later.current.mine.phase, later.current.mine.comment) == (
            "blind",
            "a second thought",
        )
        assert later.go_to(1)
        assert later.current
        assert later.current.turn == 1
        with pytest.raises(NotAllowed):
            later.go_to(4)


def test_what_was_labelled_elsewhere_counts_and_is_known_from_then_on(
    workspace: Workspace,
) -> None:
    trial = record(workspace, persona_task(), four_stages())
    first, third = (Item(kind=ItemKind.CUE, index=n) for n in (1, 3))
    for item in (first, third):
        workspace.verdicts.label_item(trial, item, "Ben", YES)
    session = ReplaySession(workspace, "Ben", trial)
    assert session.current
    assert session.current.turn == 2
    # Turn 1 shows with its words, turn 3 does not yet.
    assert workspace.verdicts.label_item(trial, first, "Ben", YES).phase == "revealed"
    session.decide(NO)
    view = session.next()
    assert view
    assert view.turn == 3
    assert view.original
    assert view.mine
    assert view.mine.phase == "blind"
    assert workspace.verdicts.label_item(trial, third, "Ben", YES).phase == "revealed"


def test_what_was_read_before_is_not_blind(workspace: Workspace) -> None:
    trial = record(workspace, persona_task(), four_stages())
    session = ReplaySession(workspace, "Ben", trial, seen=True)
    decided = session.decide(YES)
    assert decided.mine
    assert decided.mine.phase == "revealed"
    assert session.summary().seen == 1


def test_checkpoints_offer_the_statuses_of_the_situation(workspace: Workspace) -> None:
    trial = record(workspace, checkpoint_task(), two_steps())
    session = ReplaySession(workspace, "Ben", trial)
    status = CheckpointStatus
    assert session.current
    assert session.current.item == Item(kind=ItemKind.STATUS, index=1)
    assert session.current.choices == (
        status.AMBIGUITY_DETECTED,
        status.WRONG_AMBIGUITY_DETECTED,
        status.MISSED_AMBIGUITY_CORRECT,
        status.MISSED_AMBIGUITY_WRONG,
        status.SEARCH_ONLY,
        status.TASK_COMPLETED,
        UNSURE,
    )
    with pytest.raises(NotAllowed):
        session.decide(YES)
    session.decide(status.AMBIGUITY_DETECTED)
    view = session.next()
    # The clue was given, so an answer is right or wrong, not "missed".
    assert view
    assert status.CORRECT_ANSWER in view.choices
    assert view
    assert status.MISSED_AMBIGUITY_CORRECT not in view.choices
    session.decide(status.WRONG_ANSWER)
    view = session.next()
    assert view
    assert view.choices == (
        status.WRONG_AMBIGUITY_DETECTED,
        status.WRONG_ANSWER,
        status.SEARCH_ONLY,
        status.TASK_COMPLETED,
        UNSURE,
    )
    session.decide(status.TASK_COMPLETED)
    assert [d.turn for d in session.summary().differing] == [2]


def test_nobody_replays_their_own_part(workspace: Workspace) -> None:
    ana = PlayerRef(name="Ana", kind="human")
    replies = [said("tulip", 1, True), said("bravo", unsure=True), said("charlie", 2, True)]
    trial = record(workspace, persona_task(), replies, user=ana, ended=False)
    with pytest.raises(NotAllowed):
        ReplaySession(workspace, "Ana", trial)
    session = ReplaySession(workspace, "Ben", trial)
    told = session.decide(YES).original
    # Who played could not tell either way.
    assert told
    assert told.value is None
    assert told.agrees is None
    played = record(
        workspace,
        persona_task(id="other"),
        four_stages(),
        agent=AGENT.model_copy(update={"kind": "human"}),
    )
    workspace.player_moves.become_player(played, "Ben")
    with pytest.raises(NotAllowed):
        ReplaySession(workspace, "Ben", played)


def test_a_dialogue_that_goes_on_and_one_with_nothing_to_decide(workspace: Workspace) -> None:
    waiting = [UserReply(text="tulip"), said("bravo", 1, True), said("charlie", 2, True)]
    trial = record(workspace, persona_task(2), waiting, ended=False)
    session = ReplaySession(workspace, "Ben", trial)
    assert session.current
    assert session.current.turn == 2
    assert session.current.passed == (Passed(turn=1, why="start"),)
    session.decide(YES)
    assert session.next() is None
    assert session.total == 1
    bare = persona_task(id="bare").model_copy(update={"persona": None})
    nothing = ReplaySession(
        workspace, "Ben", record(workspace, bare, [said("tulip"), said("bravo", done=True)])
    )
    assert nothing.current is None
    assert nothing.total == 0
    assert nothing.summary().passed == (Passed(turn=1, why="not_decided"),)
