"""A fifth family as the screens see it."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.independent_gold.matching import Element as Compared
from cuecard.core.agents.briefing import PublicTask
from cuecard.core.verdicts import TablePrediction
from cuecard.tui.families import Element, HandIn, Side, TuiFamily
from cuecard.tui.present.entries import Entry, Piece
from cuecard.tui.present.independent_gold import each_by, nothing_given
from fifth_family.core import Ranking


def _elements(gold: Ranking) -> Iterator[Element]:
    for at, line in enumerate(gold.lines):
        yield Element(f"gold.ranked[{at}]", Entry("work", 0, (Piece(f"{at + 1}. {line}"),)))


def _read(task: PublicTask, text: str) -> HandIn:
    del task
    rows = tuple((line.strip(),) for line in text.splitlines() if line.strip())
    return HandIn(TablePrediction(columns=("name",), rows=rows, raw=text), f"{len(rows)} things")


def _side(gold: Ranking, element: Compared, index: int) -> Side:
    del element
    return Side(gold.ranked[index].name)


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
    build="Find the figures and put the things into their order.",
    given=nothing_given,
    versions=each_by(_side),
    values=lambda gold: {f"ranked/{n}": line for n, line in enumerate(gold.lines)},
)
