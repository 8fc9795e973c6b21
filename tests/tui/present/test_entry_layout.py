from __future__ import annotations

from datetime import UTC, datetime

from cuecard.core.engine.events import AgentSpoke, Event, EventBody, TrialRetried, UserSpoke
from cuecard.core.engine.messages import AgentReply, UserReply
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.entry_layout import EAGER, Block, EntryLayout
from cuecard.tui.present.transcript import TranscriptState, entries_of

LONG = "\n\n".join(f"{n} *words* and more words that go on and on for a while" for n in range(400))


def event(seq: int, body: EventBody) -> Event:
    return Event(seq=seq, at=datetime.now(UTC), body=body)


def entry(text: str, *, markdown: bool = True) -> Entry:
    return Entry("agent", 0, (Piece("Agent"),), (Paragraph(text, markdown=markdown),))


def test_what_is_in_view_is_laid_out_and_stays_where_it_is() -> None:
    layout = EntryLayout(gap=True)
    layout.width = 30
    layout.load([entry(f"first {LONG}"), entry(f"second {LONG}"), entry("last")])
    assert layout.height > EAGER
    end = layout.height
    layout.settle(end - 20, end)
    assert [p.text for p in layout.line(layout.height - 2)] == ["last"]
    top = layout.start_of(1) + 600
    top += layout.settle(top - 40, top + 40, top)
    seen = layout.line(top)
    assert seen
    grown = layout.settle(0, top, top)
    assert layout.line(top + grown) == seen
    whole = layout.lines
    assert len(whole) == layout.height
    assert whole == [
        line
        for one in layout.entries
        for line in Block(one, opened=False, width=30, gap=True).lines
    ]


def test_at_another_width_about_the_same_words_are_in_view() -> None:
    layout = EntryLayout(gap=True)
    layout.width = 30
    layout.load([entry("first"), entry(LONG), entry("last")])
    layout.settle(0, 10_000)
    middle = layout.start_of(1) + (layout.start_of(2) - layout.start_of(1)) // 2
    top = layout.resize(90, middle)
    layout.settle(top - 50, top + 50)
    share = (top - layout.start_of(1)) / (layout.start_of(2) - layout.start_of(1))
    assert 0.4 < share < 0.6


def test_what_is_written_becomes_the_reply_without_being_read_again() -> None:
    state, layout = TranscriptState(), EntryLayout(gap=True)
    layout.width = 60
    text = f"# Title\n\n{LONG[:3000]}\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    state.follow(event(0, UserSpoke(turn=0, reply=UserReply(text="Go on"))))
    before: Entry | None = None
    for at in range(0, len(text), 90):
        state.write(0, text[at : at + 90])
        layout.load(state.entries)
        user, writing = state.entries
        assert before is None or user is before, "what is over stays the same object"
        assert writing.role == "writing"
        before = user
    lines = layout.lines
    state.follow(event(1, AgentSpoke(turn=0, reply=AgentReply(text=text))))
    layout.load(state.entries)
    assert layout.lines[4:] == lines[4:]
    assert state.entries == entries_of(state.effective)


def test_taken_back_words_are_gone_and_so_is_what_was_written_since() -> None:
    state = TranscriptState()
    said = [
        UserSpoke(turn=0, reply=UserReply(text="one")),
        AgentSpoke(turn=0, reply=AgentReply(text="two")),
        UserSpoke(turn=1, reply=UserReply(text="three")),
    ]
    for seq, body in enumerate(said):
        state.follow(event(seq, body))
    state.write(1, "half an answ")
    assert state.is_writing
    state.follow(event(3, TrialRetried(keep=True, reason="undo", back_to=2)))
    assert [entry.role for entry in state.entries] == ["user", "agent"]
    assert not state.is_writing
    state.write(1, "")
    assert not state.is_writing
