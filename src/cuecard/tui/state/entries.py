"""What a transcript is made of: entries of paragraphs and pieces, each in a tone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cuecard.tui.state.markdown.segments import Segment

Tone = Literal[
    "plain", "strong", "user", "agent", "work", "muted", "good", "bad", "stage", "added", "removed",
    "emph", "code", "link", "gone",
]  # fmt: skip
Role = Literal["user", "agent", "work", "handed", "end", "writing"]


@dataclass(frozen=True)
class Piece:
    """A run of text in one tone."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Paragraph:
    """Text of any length, to be wrapped behind `indent` blanks. `pieces`: the same in several tones.
    `segment`: a part of a Markdown text, laid out as such. `markdown`: all of one, to be cut into segments
    when it comes into view.
    """

    text: str
    tone: Tone = "plain"
    indent: int = 0
    pieces: tuple[Piece, ...] = ()
    markdown: bool = False
    segment: Segment | None = None


@dataclass(frozen=True)
class Entry:
    """One thing in a transcript. `fold` shows only when the entry is opened. `left_out`: numbers of
    the events of which the fold has only the beginnings. `events`: the numbers of those that it tells;
    of several, `starts` has the paragraph of the fold at which each begins.
    """

    role: Role
    turn: int
    head: tuple[Piece, ...]
    body: tuple[Paragraph, ...] = ()
    fold: tuple[Paragraph, ...] = ()
    left_out: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
