"""A source as a row of a table, as a few lines and as a page to read."""

from __future__ import annotations

from cuecard.core.i18n import _, pgettext
from cuecard.core.text import one_line
from cuecard.tui.state.entries import Entry, Paragraph, Piece
from cuecard.tui.state.sources import Source
from cuecard.tui.widgets.grid.source import GridCell


def row_of(source: Source) -> list[GridCell]:
    """What became of it, title, address, turns."""
    return [
        GridCell(
            fate_of(source), "good" if source.cited else "plain" if source.visited else "muted"
        ),
        GridCell(source.title or "–"),
        GridCell(source.url.partition("://")[2] or source.url, "muted"),
        GridCell(_turns(source), "muted"),
    ]


def fate_of(source: Source) -> str:
    """Whether the agent only found it, opened it, or names it in a reply."""
    words = [_("visited") if source.visited else pgettext("a page came up in a search", "found")]
    if source.cited:
        words.append(_("cited"))
    return ", ".join(words)


def detail_of(source: Source) -> list[list[Piece]]:
    """The query that found it, what it was visited for, and the beginning of its text."""
    lines: list[list[Piece]] = []
    if source.found_by:
        queries = " · ".join(source.found_by)
        lines.append([Piece(_("found by: "), "muted"), Piece(one_line(queries, 200))])
    if source.goals:
        lines.append(
            [Piece(_("visited for: "), "muted"), Piece(one_line(" · ".join(source.goals), 200))]
        )
    lines.append([Piece(one_line(source.text, 300), "muted")])
    return lines[:3]


def source_entry(source: Source) -> Entry:
    """All that was seen of it."""
    head = [Piece(one_line(source.title or source.url, 300), "strong")]
    head.append(Piece(f" · {fate_of(source)}", "muted"))
    body = [Paragraph(text, "link") for text in (source.url,) if text]
    known = [source.date, _("turns {list}").format(list=_turns(source))]
    body.append(Paragraph(" · ".join(filter(None, known)), "muted"))
    for label, values in ((_("found by: "), source.found_by), (_("visited for: "), source.goals)):
        body += [Paragraph(label + one_line(value, 500), "muted") for value in values]
    body += [Paragraph(""), *(Paragraph(part) for part in source.text.split("\n"))]
    return Entry("handed", 0, tuple(head), tuple(body))


def _turns(source: Source) -> str:
    return ", ".join(str(turn + 1) for turn in source.turns)
