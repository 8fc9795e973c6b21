"""What the evidence tab says about the work that went into a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.task_list import moment

if TYPE_CHECKING:
    from cuecard.store.records import EffortEntry, EffortTotals

_LOGGED, _SHOWN = 200, 30


def effort_lines(mine: EffortTotals, everybody: EffortTotals) -> list[list[Piece]]:
    """What this person put in so far, and where others did too, what all did."""
    lines = [[Piece(_("Your work: "), "strong"), *_figures(mine)]]
    if everybody != mine:
        lines.append([Piece(_("Everybody's: "), "strong"), *_figures(everybody)])
    return lines


def log_lines(entries: Sequence[EffortEntry]) -> list[Paragraph]:
    """The queries and pages that were logged with a text, the newest first."""
    told = [entry for entry in reversed(entries) if entry.kind != "time" and entry.text]
    return [
        Paragraph(
            f"{moment(entry.at)} {_('query') if entry.kind == 'query' else _('page')}"
            f" · {one_line(entry.text, _LOGGED)}",
            "muted",
        )
        for entry in told[:_SHOWN]
    ]


def last_page(entries: Sequence[EffortEntry], person: str) -> str:
    """The page that this person logged last; "" if there is none."""
    pages = (e.text for e in reversed(entries) if e.kind == "page" and e.person == person)
    return next((text for text in pages if text), "")


def _figures(totals: EffortTotals) -> list[Piece]:
    minutes = round(totals.seconds / 60)
    time = ngettext("{n} minute", "{n} minutes", minutes).format(n=minutes)
    queries = ngettext("{n} query", "{n} queries", totals.queries).format(n=totals.queries)
    pages = ngettext("{n} page", "{n} pages", totals.pages).format(n=totals.pages)
    return [Piece(" · ".join((time, queries, pages)))]
