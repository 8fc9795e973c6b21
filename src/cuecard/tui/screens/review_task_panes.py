"""The panes of a review: the task as a document; the dimensions and how far the review is, or the
reviews that are in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.glyphs import VOTE, ink
from cuecard.tui.screens.qc_summary import QcSummary
from cuecard.tui.state.entries import Paragraph, Piece, Tone
from cuecard.tui.state.review_side import (
    compared,
    disagreeing,
    hints,
    reading_paragraphs,
    wants,
    writing_paragraphs,
)
from cuecard.tui.widgets.dimensions import DimensionList
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.paragraphs import Paragraphs

if TYPE_CHECKING:
    from cuecard.annotate.review.desk import ReviewDesk
    from cuecard.store.records import Review
    from cuecard.tui.state.review import ReviewForm

_INK: dict[Tone, str] = {"good": "success", "bad": "error", "muted": "muted", "stage": "primary"}


class Comparison(Static):
    """Lines of pieces whose blanks are kept, so that columns stay columns."""

    DEFAULT_CSS = """
    Comparison { height: auto; width: 1fr; text-wrap: nowrap; }
    """

    def show(self, lines: Sequence[Sequence[Piece]]) -> None:
        colours = self.app.theme_variables
        text = Text(no_wrap=True, overflow="crop")
        for line in lines:
            for piece in line:
                tone = "bold" if piece.tone == "strong" else ink(colours, _INK.get(piece.tone, ""))
                text.append(piece.text, tone)
            text.append("\n")
        text.rstrip()
        self.update(text)


class ReviewDocument(EntryList):
    """The task, or what changed in it. Enter opens what its mark says is folded, so the footer has
    room for what else works here.
    """

    BINDINGS = keys(
        Key("review_document.open", "enter,space", "open", N_("Open/fold"), N_("Show or hide what is folded under the cursor"), show=False),
    )  # fmt: skip


class ReviewSide(VerticalScroll, can_focus=False):
    """`load` shows what fits: a form to fill in, or reviews to read."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self._reviews: Sequence[Review] = ()
        self._desk: ReviewDesk | None = None
        self._me = ""

    def compose(self) -> ComposeResult:
        yield DimensionList(id="dimensions")
        yield Paragraphs(id="standing")
        yield Comparison(id="compared", markup=False)
        yield Paragraphs(id="notes")
        yield QcSummary(id="qc")

    @property
    def dimensions(self) -> DimensionList:
        return self.query_one(DimensionList)

    @property
    def qc(self) -> QcSummary:
        return self.query_one(QcSummary)

    def load(self, desk: ReviewDesk, form: ReviewForm, words: Callable[[str], str]) -> None:
        self._desk, self._me = desk, form.reviewer
        reading = desk.reading
        self.qc.look(desk.sheet.task.id)
        self.can_focus = reading
        self.dimensions.display = not reading
        self.query_one("#standing").display = self.query_one("#compared").display = reading
        if reading:
            self._read(desk, words)
            return
        self.dimensions.load(
            desk.sheet.dimensions,
            form.ratings,
            hints=hints(desk),
            wants=wants(form, desk.sheet.dimensions),
        )
        self.query_one("#notes", Paragraphs).load(writing_paragraphs(desk, form, words))

    def on_resize(self, event: events.Resize) -> None:
        if self._desk is not None and self._desk.reading:
            self._compare()

    def _read(self, desk: ReviewDesk, words: Callable[[str], str]) -> None:
        given = desk.sheet.visible
        newest = max((review.revision for review in given), default=0)
        self._reviews = [review for review in given if review.revision == newest]
        split = disagreeing(self._reviews)
        self.query_one("#standing", Paragraphs).load(
            [*reading_paragraphs(desk, split=split), Paragraph("")]
        )
        self._compare()
        labels = {d.key: _(d.label) for d in desk.sheet.dimensions}
        lines: list[Paragraph] = []
        for review in reversed(given):
            glyph, _colour, label = VOTE[review.decision.value]
            name = _("you") if review.reviewer == self._me else one_line(review.reviewer)
            head = _("{reviewer}, revision {n}: {decision}").format(
                reviewer=name, n=review.revision, decision=f"{glyph} {_(label)}"
            )
            tone: Tone = "good" if review.decision.value == "approve" else "bad"
            lines += [Paragraph(""), Paragraph(head, tone)]
            for comment in review.comments:
                why = labels.get(comment.dimension, "")
                about = " · ".join(filter(None, (words(comment.place), why)))
                lines.append(Paragraph(f"✎ {about}: {comment.text}", indent=2))
        self.query_one("#notes", Paragraphs).load(lines)

    def _compare(self) -> None:
        if self._desk is None:
            return
        widget = self.query_one(Comparison)
        widget.display = bool(self._reviews)
        width = max(self.scrollable_content_region.width, 24)
        dimensions = self._desk.sheet.dimensions
        if self._reviews:
            widget.show(compared(self._reviews, dimensions, self._me, width))
