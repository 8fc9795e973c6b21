"""What a transcript is made of: entries of paragraphs and pieces, each in a tone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal[
    "plain", "strong", "user", "agent", "work", "muted", "good", "bad", "stage", "added", "removed"
]  # fmt: skip
Role = Literal["user", "agent", "work", "handed", "end", "writing"]


@dataclass(frozen=True)
class Piece:
    """A run of text in one tone."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Paragraph:
    """Text of any length, to be wrapped behind `indent` blanks. `pieces`: the same in several tones."""

    text: str
    tone: Tone = "plain"
    indent: int = 0
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One thing in a transcript. `fold` shows only when the entry is opened. `left_out`: numbers of
    the events of which the fold has only the beginnings.
    """

    role: Role
    turn: int
    head: tuple[Piece, ...]
    body: tuple[Paragraph, ...] = ()
    fold: tuple[Paragraph, ...] = ()
    left_out: tuple[int, ...] = ()
