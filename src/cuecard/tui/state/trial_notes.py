"""Bookmarks and comments on a trial: the Notes pane, the marks in the margin, and walking between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.store.result_records import TrialNote
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.trial_lines import PaneLine, PaneText, work_entry

BOOKMARK, COMMENT = "◆", "✎"


def notes_text(
    notes: Sequence[TrialNote],
    me: str,
    words: Callable[[str], str],
    seq_of: Callable[[str], int | None],
) -> PaneText:
    """Everybody's notes in the order of the trial; what stands at no event comes after. `words` says what a
    place is called, `seq_of` at which event it is.
    """
    if not notes:
        return PaneText(_("Nobody has noted anything here: k sets a bookmark, e writes a comment."))
    said = ngettext("{n} note", "{n} notes", len(notes)).format(n=len(notes))
    lines = [_line(note, me, words(note.place), seq_of(note.place)) for note in notes]
    lines.sort(key=lambda line: (line.seq is None, line.seq or 0))
    return PaneText(said, lines)


def _line(note: TrialNote, me: str, place: str, seq: int | None) -> PaneLine:
    mark = BOOKMARK if note.kind == "bookmark" else COMMENT
    head = [Piece(f"{mark} ", "stage"), Piece(place, "strong")]
    if note.person != me:
        head.append(Piece(f" · {one_line(note.person, 40)}", "user"))
    first, *rest = note.text.strip().split("\n", 1) if note.text.strip() else [""]
    if first:
        head.append(Piece(f" · {one_line(first, 300)}"))
    when = note.at.astimezone().strftime("%Y-%m-%d %H:%M")
    fold = [Paragraph(note.text.strip(), indent=4)] if rest else []
    fold.append(Paragraph(f"{one_line(note.person, 60)} · {when}", "muted", 4))
    return PaneLine(work_entry(head, *fold), seq=seq, place=note.place, note=note.uid)


def margin(notes: Sequence[TrialNote], seq_of: Callable[[str], int | None]) -> dict[int, str]:
    """The glyph beside each event with notes; a comment goes before a bookmark."""
    marks: dict[int, str] = {}
    for note in notes:
        seq = seq_of(note.place)
        if seq is not None and marks.get(seq) != COMMENT:
            marks[seq] = BOOKMARK if note.kind == "bookmark" else COMMENT
    return marks


def my_bookmark(notes: Sequence[TrialNote], me: str, place: str) -> TrialNote | None:
    """The bookmark that `me` has at a place."""
    mine = (n for n in notes if n.kind == "bookmark" and n.person == me and n.place == place)
    return next(mine, None)


def next_marked(marks: Sequence[int], now: int, step: int) -> int | None:
    """The next event with notes after (`step` 1) or before (-1) event `now`, round the end."""
    ordered = sorted(set(marks))
    if not ordered:
        return None
    if step > 0:
        return next((seq for seq in ordered if seq > now), ordered[0])
    return next((seq for seq in reversed(ordered) if seq < now), ordered[-1])
