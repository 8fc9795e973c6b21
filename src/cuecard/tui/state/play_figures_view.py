"""The figures of a session as lines of pieces."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from rich.cells import cell_len

from cuecard.core.i18n import N_, _, ngettext, pgettext
from cuecard.core.text import one_line
from cuecard.core.times import stopwatch
from cuecard.tui.state.play_figures import Note, PlayFigures, Spent
from cuecard.tui.state.transcript import Piece

if TYPE_CHECKING:
    from cuecard.lab.listener import Listening

ABOUT = {"agent": N_("agent"), "task": N_("task"), "other": N_("other")}
_LABEL, _WHO = 13, 7
"""Cells up to the column of values, and of times."""
_SILENT = ("acp", "http")
"""Kinds of agents that do not tell what their models are asked."""


Line = list[Piece]


def figure_lines(
    figures: PlayFigures,
    *,
    now: datetime | None = None,
    currency: str = "USD",
    context: int | None = None,
    listening: Listening | None = None,
) -> list[Line]:
    """Every figure with its name; see `FiguresPane.load`."""
    turns = f"{figures.turns}"
    if figures.max_turns is not None:
        turns = _("{n} of {most}").format(n=figures.turns, most=figures.max_turns)
    lines = [
        _title(_("SESSION")),
        _row(_("turns"), turns),
        _row(_("time"), stopwatch(figures.active(now).total_seconds())),
        [],
        *_thinking(figures),
        _title(_("AGENT")),
        *_tokens(figures, currency, context),
        *_calls(figures),
    ]
    if listening is not None and listening.shadows:
        answered = _("{n} of {all} have answered").format(
            n=listening.answered, all=listening.shadows
        )
        lines += [[], _title(_("SIMULATORS LISTEN")), [Piece(answered)]]
        if listening.failed:
            lines.append([Piece(_("{n} failed").format(n=listening.failed), "bad")])
    return [*lines, [], *_notes(figures.notes)]


def _title(text: str) -> Line:
    return [Piece(text, "stage")]


def _row(label: str, value: str, tail: str = "", column: int = _LABEL) -> Line:
    # Blanks are kept where a piece begins, not where it ends.
    room = " " * max(1, column - cell_len(label))
    line = [Piece(label, "muted"), Piece(f"{room}{value}")]
    return [*line, Piece(f" · {tail}", "muted")] if tail else line


def _thinking(figures: PlayFigures) -> list[Line]:
    """How long each side took for its newest turn."""
    rows = [*_times(_("agent"), figures.thinking), *_times(_("you"), figures.yours)]
    return [_title(_("LAST TURN")), *rows, []] if rows else []


def _times(label: str, seconds: dict[int, float]) -> list[Line]:
    """The newest turn, and what is usual."""
    if not seconds:
        return []
    newest = stopwatch(seconds[max(seconds)])
    usual = _("median {time}").format(time=stopwatch(median(seconds.values())))
    return [_row(label, newest, usual if len(seconds) > 1 else "", _WHO)]


def _tokens(figures: PlayFigures, currency: str, context: int | None) -> list[Line]:
    agent, spent = figures.agent, figures.spent
    if agent is not None and agent.kind == "human":
        return [[Piece(_("a person: no tokens"), "muted")]]
    if agent is not None and agent.baseline:
        return [[Piece(_("offline: no tokens"), "muted")]]
    if not spent.calls:
        silent = agent is not None and agent.kind in _SILENT
        told = _("it does not tell its tokens") if silent else _("no model call yet")
        return [[Piece(told, "muted")]]
    usage = spent.usage
    lines = [
        _row(_("model calls"), f"{spent.calls:,}"),
        _row(_("tokens in"), f"{usage.prompt:,}"),
        _row(_("tokens out"), f"{usage.completion:,}"),
        _row(_("cost"), _cost(spent, currency)),
    ]
    if figures.context:
        share = f"{figures.context / context:.0%}" if context else ""
        lines.append(_row(_("context"), f"{figures.context:,}", share))
    return lines


def _cost(spent: Spent, currency: str) -> str:
    if spent.cost is None:
        return _("no price")
    told = f"{spent.cost:.4f} {currency}"
    if spent.unpriced:
        unpriced = ngettext("{n} call without a price", "{n} calls without a price", spent.unpriced)
        told += f" + {unpriced.format(n=spent.unpriced)}"
    return told


def _calls(figures: PlayFigures) -> list[Line]:
    lines = [_row(_("tool calls"), f"{figures.calls:,}")]
    if figures.searched:
        found = _("{hits} of {n}").format(hits=figures.hits, n=figures.searched)
        lines.append(_row(pgettext("a page came up in a search", "found"), found))
    if world := figures.world_spent.calls:
        lines.append(_row(_("world's model calls"), f"{world:,}"))
    return lines


def _notes(notes: Iterable[Note]) -> list[Line]:
    every = list(notes)
    lines = [_title(_("NOTES ({n})").format(n=len(every)))]
    if not every:
        return [*lines, [Piece(_("none yet"), "muted")]]
    for note in every:
        about = _(ABOUT[note.remark.about])
        turn = _("turn {n}").format(n=note.turn + 1)
        lines.append([Piece(f"{turn} · {about}: ", "muted"), Piece(one_line(note.remark.text))])
    return lines
