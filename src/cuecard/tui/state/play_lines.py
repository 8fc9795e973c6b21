"""Whether words say a card's line: as it stands, edited, or in other words that carry it."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

from cuecard.core.tasks import CueKind, Task
from cuecard.core.text import normalise
from cuecard.core.users.lines import carries

RECOGNISABLE = 0.3
"""The share of an inserted line's characters that must be left for it to count as said."""


def opening_text(task: Task) -> str:
    """What the card gives to begin with: the query, and a first stage that belongs to the start."""
    query, first = task.opening, next(iter(task.stages), None)
    if first is None or first.cue.kind is not CueKind.START:
        return query
    if normalise(first.line) in normalise(query):
        return query
    if normalise(query) in normalise(first.line):
        return first.line
    return f"{query}\n\n{first.line}"


@lru_cache(maxsize=8)
def says(line: str, text: str, *, offered: bool) -> bool:
    """Whether `text` says `line`. `offered`: the line was put into the message, so that less of it need
    be left.
    """
    if not line:
        return False
    text = bounded(line, text)
    if normalise(line) in normalise(text) or carries(text, line):
        return True
    return offered and kept_share(line, text) >= RECOGNISABLE


def keeps_meaning(line: str, text: str) -> bool:
    """Whether it is plain that `text` says what `line` says; otherwise the person must say."""
    return carries(bounded(line, text), line)


def bounded(line: str, text: str) -> str:
    """As much of what may have been pasted as is compared with a line."""
    return text[: 4 * len(line) + 1000]


def kept_share(line: str, text: str) -> float:
    """Which share of `line`'s characters `text` keeps in order, in runs of at least three, 0 to 1."""
    line, text = normalise(line), normalise(text)
    if not line or _shared_runs(line, text) < RECOGNISABLE / 3:
        return 0.0
    blocks = SequenceMatcher(None, line, text, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= 3) / len(line)


def _shared_runs(line: str, text: str) -> float:
    """Which share of the line's runs of three characters stand somewhere in the text: a bound that costs
    little, so that a long text which has nothing of the line is not compared at length.
    """
    runs = [line[at : at + 3] for at in range(max(len(line) - 2, 1))]
    return sum(run in text for run in runs) / len(runs)
