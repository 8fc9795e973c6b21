"""How runs are marked that stand on gold which adjudication found wrong."""

from __future__ import annotations

from cuecard.core.i18n import _, ngettext
from cuecard.tui.state.transcript import Piece

DISPUTED = "⚑"
"""Marks gold that somebody holds for wrong."""


def disputed_lines(count: int) -> list[list[Piece]]:
    """A line about a run with so many items of wrong gold; none for none."""
    if not count:
        return []
    said = ngettext(
        "gold disputed: {n} item of its revisions was found wrong by adjudication",
        "gold disputed: {n} items of its revisions were found wrong by adjudication",
        count,
    )
    return [[Piece(f"{DISPUTED} {said.format(n=count)}", "bad")]]


def disputed_legend() -> str:
    """What the mark in the list of runs means."""
    return _("{mark} n: gold disputed, so many gold items were found wrong by adjudication").format(
        mark=DISPUTED
    )
