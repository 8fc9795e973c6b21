"""A fifth family as the screens see it."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.core.agents.briefing import PublicTask
from cuecard.core.predictions import TablePrediction
from cuecard.tui.families import Element, HandIn, TuiFamily
from cuecard.tui.present.entries import Entry, Piece
from fifth_family.core import Ranking


def _elements(gold: Ranking) -> Iterator[Element]:
    for at, line in enumerate(gold.lines):
        yield Element(f"gold.ranked[{at}]", Entry("work", 0, (Piece(f"{at + 1}. {line}"),)))


def _read(task: PublicTask, text: str) -> HandIn:
    del task
    rows = tuple((line.strip(),) for line in text.splitlines() if line.strip())
    return HandIn(TablePrediction(columns=("name",), rows=rows, raw=text), f"{len(rows)} things")


RANKING = TuiFamily(
    badge=("▲", "secondary", "ranking"),
    about="ranking: things in the order of a figure",
    counts=lambda gold: [f"{len(gold.ranked)} ranked things"],
    gold=_elements,
    tabs=("items", "gold"),
    first_tab=("ranked",),
    asked="{user} wants things in the right order.",
    ends="At the end you hand in the list.",
    hint="One thing a line, the first at the top.",
    read=_read,
    values=lambda gold: {f"ranked/{n}": line for n, line in enumerate(gold.lines)},
)
