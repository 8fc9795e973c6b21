"""What the document of a review shows just now, and where things are in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cuecard.annotate.review.desk import ReviewDesk
from cuecard.annotate.review.spot_check import sources_of
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.state.document import Element, document_of, owner_of
from cuecard.tui.state.review import ReviewForm, inside
from cuecard.tui.state.review_places import pin_places, words_of
from cuecard.tui.state.review_rows import (
    Notes,
    Row,
    change_rows,
    changed_elements,
    marks_of_form,
    marks_of_reviews,
    task_rows,
)


@dataclass
class ReviewView:
    """`only_changes`: what changed since this person's last review, instead of the whole task."""

    desk: ReviewDesk
    form: ReviewForm
    only_changes: bool = False
    rows: list[Row] = field(default_factory=list[Row], init=False)

    def __post_init__(self) -> None:
        sheet = self.desk.sheet
        self.data: dict[str, Any] = sheet.task.model_dump(mode="json")
        self.document: list[Element] = document_of(sheet.task)
        self.changed = changed_elements(self.desk.changes, self.document)
        self.only_changes = bool(self.desk.changes) and not self.desk.reading
        self.refresh()

    def refresh(self) -> None:
        """Make the rows anew."""
        desk, form = self.desk, self.form
        labels = {d.key: _(d.label) for d in desk.sheet.dimensions}
        if desk.reading:
            newest = max((given.revision for given in desk.sheet.visible), default=0)
            given = [g for g in desk.sheet.visible if g.revision == newest == desk.sheet.revision]
            marks = marks_of_reviews(desk.items, [review.checks for review in given])
            notes = Notes((), desk.threads, labels, form.reviewer, names=True)
        else:
            marks = marks_of_form(desk.items, desk.sample, form.marks)
            mine = [t for t in desk.threads if t.comment.by == form.reviewer]
            notes = Notes(form.comments, mine, labels, form.reviewer)
        if self.only_changes:
            self.rows = change_rows(desk.changes, self.document, notes, marks)
        else:
            changed = () if desk.reading else self.changed
            self.rows = task_rows(self.document, notes, marks, changed)

    def row_at(self, index: int) -> Row | None:
        return self.rows[index] if 0 <= index < len(self.rows) else None

    def row_of(self, place: str) -> int | None:
        """The row that shows a place; the first that shows something of its element."""
        owner = owner_of(self.document, place) or place
        for index, row in enumerate(self.rows):
            if row.place == place or (place and inside(row.place, owner)):
                return index
        return None

    def next_to_mark(self, cursor: int) -> str | None:
        """The next unmarked item of the sample behind row `cursor`, or from the start again."""
        left = set(self.form.left_to_mark)
        order = [element.place for element in self.document]
        row = self.row_at(cursor)
        here = owner_of(self.document, row.place) if row else None
        at = order.index(here) if here in order else -1
        return next(
            (place for place in [*order[at + 1 :], *order[: at + 1]] if place in left), None
        )

    def places(self, place: str) -> list[tuple[str, str]]:
        """What a comment made at `place` can be pinned to, with how it is called."""
        return [(value, self.words(value)) for value in pin_places(place, self.data)]

    def words(self, place: str) -> str:
        return words_of(place, self.data)

    def sources(self, row: Row) -> tuple[str, ...]:
        """The pages that can be opened at a row."""
        return sources_of(self.desk.sheet.task, row.item)

    @property
    def title(self) -> str:
        parts = [_("revision {n}").format(n=self.desk.sheet.revision)]
        if n := len(self.desk.changes):
            parts.append(ngettext("{n} change", "{n} changes", n).format(n=n))
        return " · ".join([one_line(self.desk.sheet.task.title), *parts])

    @property
    def pane_title(self) -> str:
        if self.only_changes:
            n = self.desk.sheet.previous_number
            return _("Changed since revision {n}").format(n=n)
        return _("Task")
