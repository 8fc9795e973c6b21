"""A column of fields over one thing in a task."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.fields import FieldRow
from cuecard.tui.screens.task.specs import FieldSpec


class Form(VerticalScroll, can_focus=False):
    """`load` it with an edit and the place of a thing; `reveal` one of its fields."""

    # At once, not after the keys that follow: what is typed ahead belongs to the next field.
    BINDINGS = keys(
        Key("form.next", "tab", "app.focus_next", N_("Next field"), N_("To the field below"), show=False, priority=True),
        Key("form.previous", "shift+tab", "app.focus_previous", N_("Field before"), N_("To the field above"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, specs: Sequence[FieldSpec], *, classes: str = "form") -> None:
        super().__init__(classes=classes)
        self._specs = specs

    def compose(self) -> ComposeResult:
        for spec in self._specs:
            yield FieldRow(spec)

    def load(self, edit: TaskEdit, place: Path) -> None:
        for row in self.query(FieldRow):
            row.load(edit, place)

    def commit(self) -> None:
        """Write what is typed and not yet written."""
        for row in self.query(FieldRow):
            row.commit()

    def unload(self) -> None:
        """The thing is gone."""
        for row in self.query(FieldRow):
            row.unload()

    def on_field_row_edited(self, event: FieldRow.Edited) -> None:
        """Other fields may make sense now, or not any more."""
        for row in self.query(FieldRow):
            if row.spec.shown is not None and row is not event.row:
                row.reload()

    def locate(self, path: Path) -> None:
        """Bring the field that holds `path` (below the form's place) into view."""
        if path and (row := self._row_of(path)) is not None:
            row.scroll_visible(animate=False)

    def reveal(self, path: Path) -> None:
        """Put the cursor into the field that holds `path` (below the form's place), or the first."""
        if (row := self._row_of(path)) is not None:
            row.editor.focus()

    def _row_of(self, path: Path) -> FieldRow | None:
        """The field that holds `path`, else the first; None where none is shown."""
        rows = [row for row in self.query(FieldRow) if row.display]
        best = (r for r in rows if r.spec.path and path[: len(r.spec.path)] == r.spec.path)
        return next(best, rows[0] if rows else None)
