"""The words of re-play."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_turns import Passed
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace
from cuecard.tui.present.replay import (
    original_paragraphs,
    passed_line,
    play_state,
    progress,
    question_lines,
    summary_lines,
)
from replay_trials import checkpoint_task, four_stages, persona_task, record, two_steps


def test_what_is_asked_told_and_summed_up(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "w.db") as workspace:
        trial = record(workspace, persona_task(), four_stages())
        session = ReplaySession(workspace, "Ben", trial)
        view = session.current
        assert view is not None
        assert progress(view, session.total, session.decided) == "turn 2 · 1 of 4 · 0 decided"
        assert question_lines(view, 76)[1:] == ["y cue met · n cue not met · u cannot tell"]
        assert play_state(session.task, view.events).stage_number == 2
        decided = session.decide(LabelValue.NO)
        assert decided.original is not None
        told = [line.text for line in original_paragraphs(decided, decided.original)]
        assert told == [
            "You: ✗ cue not met",
            "actor (m-1): ✓ cue met · ≠ different",
            "why: because-bravo",
        ]
        session.next()
        for value in (LabelValue.NO, LabelValue.UNSURE, LabelValue.YES):
            session.decide(value)
            session.next()
        summary = session.summary()
        lines = [line.text for line in summary_lines(summary, session.by)]
        assert lines == [
            "You and actor (m-1) agree on 2 of 3 turns.",
            "In 1 turn one of you could not tell.",
            "turn 6 passed over: every stage had been said",
        ]
        [differing] = summary.differing
        assert (differing.turn, differing.mine.value, differing.theirs.value) == (1, "no", "yes")
        chain = ReplaySession(workspace, "Ben", record(workspace, checkpoint_task(), two_steps()))
        assert chain.current is not None
        asked = question_lines(chain.current, 76)
        assert all(cell_len(line) <= 76 for line in asked)
        assert "d ✓ asked rightly" in asked[1]
        assert CheckpointStatus.CORRECT_ANSWER not in chain.current.choices
        assert "right answer" not in " ".join(asked)


def test_turns_passed_over_stand_together_by_their_reason() -> None:
    passed = [
        Passed(turn=1, why="start"),
        Passed(turn=2, why="not_decided"),
        Passed(turn=3, why="start"),
    ]
    assert passed_line(passed) == (
        "turns 2, 4 passed over: its stage belongs to the start of the conversation"
        " · turn 3 passed over: the record holds no decision on it"
    )
    assert passed_line([]) == ""
