"""The first lines of the Run screen: how far the run is, what it takes, what goes wrong."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.state.gold_disputes import disputed_lines
from cuecard.tui.state.run_look import RunLook, pace_line, spending_line, troubles_line
from cuecard.tui.state.runs import counts, heading, progress, why_it_stands
from cuecard.tui.state.transcript import Piece

BAR, BAR_WIDE = 12, 24
WIDE = 100


def head_lines(
    look: RunLook, live: LiveRun | None, currency: str = "", room: int = WIDE
) -> list[list[Piece]]:
    """`live`: the run as it is or was played in this process; `currency`: of the configuration, once it is known."""
    here = live is not None and live.going_on
    playing = live.playing if live else {}
    lines = [
        heading(look.run),
        [
            *progress(look.run, BAR_WIDE if room >= WIDE else BAR),
            Piece("   "),
            *counts(look.trials, playing),
        ],
    ]
    if live is not None and here:
        lines.append(pace_line(live.pace, stopping=live.stopping, left=live.control.seconds_left))
    lines += [
        line
        for line in (
            spending_line(look.spent, look.budget, currency),
            troubles_line(look.trials, live.pace if live else None, live.problems if live else {}),
        )
        if line
    ]
    if look.unread is not None:
        lines.append([Piece(one_line(str(look.unread), 200), "bad")])
    return [*lines, *why_it_stands(look.run, here=here), *disputed_lines(look.disputed)]


def tab_line(shown: str) -> list[Piece]:
    """The panes with their keys; the one that is shown stands in brackets, so that it is told without colour."""
    pieces: list[Piece] = []
    for name, key, word in (("trials", "t", _("Trials")), ("scores", "s", _("Scores"))):
        if name == shown:
            pieces.append(Piece(f"[{key} {word}]", "strong"))
        else:
            pieces.append(Piece(f" {key} {word} ", "muted"))
    return pieces
