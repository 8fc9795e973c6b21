"""Lines of the panes beside a transcript: what each shows, and where Enter goes from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone

DECISION: dict[Decision, tuple[str, Tone]] = {
    Decision.YES: ("✓", "good"),
    Decision.NO: ("✗", "bad"),
    Decision.UNJUDGED: ("?", "muted"),
}


@dataclass(frozen=True)
class PaneLine:
    """Enter goes to event `seq`, or to where `item` was first named. `place`: where a note on this line is
    pinned. `note`: the note that the line shows, by its uid.
    """

    entry: Entry
    seq: int | None = None
    item: Item | None = None
    place: str = ""
    note: str = ""


@dataclass(frozen=True)
class PaneText:
    """What a pane shows: a line or two above, and its lines."""

    note: str
    lines: Sequence[PaneLine] = ()


def work_entry(head: Sequence[Piece], *fold: Paragraph, turn: int = -1) -> Entry:
    return Entry("work", turn, tuple(head), fold=fold)


def turn_piece(turn: int) -> Piece:
    """` · turn 3`; `turn` counts from 0."""
    return Piece(" · " + _("turn {n}").format(n=turn + 1), "muted")


def quoted(text: str, limit: int = 160) -> str:
    return f"“{one_line(text, limit)}”"
