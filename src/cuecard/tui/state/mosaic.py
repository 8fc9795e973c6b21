"""A run's grid at one glance: agents down, their trials across in the order of the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.store.records import TrialRecord
from cuecard.tui.state.runs import STATE_LOOK, TrialState, trial_state
from cuecard.tui.state.transcript import Piece, Tone
from cuecard.tui.widgets.grid.drawing import aligned

PARTLY = ("◐", "plain")
"""The mark of several trials of which some have ended well and others wait."""
_LABEL = 16
_LEAST = 8


def mosaic(
    trials: Sequence[TrialRecord], playing: Mapping[int, int], width: int, height: int
) -> list[list[Piece]]:
    """At most `height` lines of `width` cells. Agents of one run play the same tasks, so what stands below each
    other is the same task. Where trials are more than cells, a mark stands for several: failed if one of
    them has failed, else playing if one is. Nothing for a single trial.
    """
    if len(trials) < 2 or height < 1:
        return []
    rows: dict[str, list[TrialState]] = {}
    for trial in trials:
        rows.setdefault(trial.agent.name, []).append(trial_state(trial, playing))
    label = min(_LABEL, max(cell_len(one_line(name, _LABEL)) for name in rows))
    label = label if width - label > _LEAST else 0
    across = max(1, width - label - 1)
    most = max(map(len, rows.values()))
    shown = list(rows.items())
    if len(shown) > height:
        shown = shown[: max(1, height - 1)]
    hidden = len(rows) - len(shown)
    free = max(1, height - bool(hidden))
    # The legend takes a line where marks stand for several.
    deep, each = _shape(most, across, free // len(shown))
    if each > 1 and free > len(shown):
        deep, each = _shape(most, across, (free - 1) // len(shown))
    lines: list[list[Piece]] = []
    for name, states in shown:
        marks = [_mark(states[at : at + each]) for at in range(0, len(states), each)]
        for line in range(max(1, -(-len(marks) // across)) if deep > 1 else 1):
            head = aligned(one_line(name, _LABEL), label) if line == 0 else " " * label
            lines.append(
                [Piece(f"{head} ", "muted"), *_merged(marks[line * across : (line + 1) * across])]
            )
    if hidden and len(lines) < height:
        more = ngettext("and {n} more agent", "and {n} more agents", hidden).format(n=hidden)
        lines.append([Piece(more, "muted")])
    if each > 1 and len(lines) < height:
        lines.append([Piece(_("each mark stands for {n} trials").format(n=each), "muted")])
    return lines


def _shape(trials: int, across: int, lines: int) -> tuple[int, int]:
    """Lines for an agent, and how many trials a mark stands for."""
    lines = max(1, lines)
    each = max(1, -(-trials // (across * lines)))
    return -(-trials // (across * each)), each


def _mark(states: Sequence[TrialState]) -> tuple[str, Tone]:
    for telling in (TrialState.FAILED, TrialState.PLAYING):
        if telling in states:
            glyph, tone, _label = STATE_LOOK[telling]
            return glyph, tone
    found = set(states)
    if len(found) == 1:
        glyph, tone, _label = STATE_LOOK[states[0]]
        return glyph, tone
    return PARTLY[0], "plain"


def _merged(marks: Sequence[tuple[str, Tone]]) -> list[Piece]:
    """Neighbours of one tone as one piece."""
    pieces: list[Piece] = []
    for glyph, tone in marks:
        if pieces and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + glyph, tone)
        else:
            pieces.append(Piece(glyph, tone))
    return pieces
