"""Marks and flags in a transcript."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import Event, Marked, UserSpoke
from cuecard.core.engine.messages import (
    Compaction,
    Flag,
    FlagKind,
    HarnessPermission,
    HarnessSession,
    HarnessTool,
    Mark,
    NotesKept,
    NotesRead,
    UserReply,
)
from cuecard.tui.present.transcript import entries_of


@pytest.mark.parametrize(
    ("mark", "line", "fold"),
    [
        (
            Compaction(strategy="summary", before=9120, limit=9000, summary="so far"),
            "9,120",
            "so far",
        ),
        (Compaction(strategy="window", before=50, limit=40, dropped=3), "3 messages", ""),
        (NotesRead(notes=("ask first",)), "1 lesson", "ask first"),
        (NotesKept(notes=("a", "b")), "2 lessons kept", "b"),
        (
            HarnessSession(session="s1", harness="claw", restored=True),
            "claw: session taken up",
            "s1",
        ),
        (HarnessTool(name="read", status="done", output="text"), "read · done", "text"),
        (
            HarnessPermission(
                name="edit", title="Write", places=("/etc/x",), policy="read", answer="refused"
            ),
            "asked and was refused: edit · Write",
            "/etc/x",
        ),
    ],
)
def test_each_mark_is_a_line_with_what_belongs_to_it(mark: Mark, line: str, fold: str):
    event = Event(seq=0, at=datetime.now(UTC), body=Marked(part="agent", turn=0, step=0, mark=mark))
    (entry,) = entries_of([event])
    assert line in "".join(piece.text for piece in entry.head)
    assert fold in "".join(paragraph.text for paragraph in entry.fold)


def test_a_flagged_reply_says_what_was_found():
    reply = UserReply(
        text="It was Bezzera.",
        flags=(Flag(kind=FlagKind.LEAK, found="Bezzera"), Flag(kind=FlagKind.UNUSABLE)),
    )
    event = Event(seq=0, at=datetime.now(UTC), body=UserSpoke(turn=1, reply=reply))
    (entry,) = entries_of([event])
    head = "".join(piece.text for piece in entry.head)
    assert "⚑ leak: Bezzera" in head
    assert "could not be used" in head
