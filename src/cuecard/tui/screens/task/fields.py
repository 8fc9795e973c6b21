"""The fields of forms: their declaration, the widget that edits a value, and a column of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from rich.segment import Segment
from textual.app import ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.task_data import Path
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.kit.rows import EditorRow, Kind, Options
from cuecard.tui.present.entries import wrap
from cuecard.tui.present.labels import CUE_KIND, coded


@dataclass(frozen=True)
class FieldSpec:
    """The declaration of a field. `path`: relative to the place a form is loaded with; `lines`: a list of texts, one a
    line; `choices`: possible values. `label` and `tip` are marked with `N_`.

    `read` and `write` replace the default access if the value is not simply that at the path; `shown` says whether the
    field applies to what is loaded.
    """

    path: Path
    label: str
    kind: Kind = "line"
    tip: str = ""
    options: Callable[[TaskEdit], Options] | None = None
    suggest: Callable[[TaskEdit], Iterable[str]] | None = None
    read: Callable[[TaskEdit, Path], Any] | None = None
    write: Callable[[TaskEdit, Path, Any], None] | None = None
    shown: Callable[[TaskEdit, Path], bool] | None = None

    def value(self, edit: TaskEdit, place: Path) -> Any:
        """What the data holds for this field of the thing at `place`."""
        if self.read is not None:
            return self.read(edit, place)
        return edit.get((*place, *self.path))

    def store(self, edit: TaskEdit, place: Path, value: Any) -> None:
        """Write what was typed or chosen. Raises `LookupError` when the place is gone."""
        if self.write is not None:
            self.write(edit, place, value)
        else:
            edit.set((*place, *self.path), value, typing=self.kind in ("line", "text", "lines"))


class FieldRow(EditorRow):
    """One field with its label. `load` it with an edit and a place; every change is written to the edit at once.

    It draws the label itself, left of its editor: a widget less for each of the many fields of a tab.
    """

    COMPONENT_CLASSES = {"field--label"}
    LABEL: ClassVar[int] = 12
    """Cells that a label may take; `task.tcss` leaves them free."""

    class Edited(Message):
        """What this field shows was changed by the person and is in the edit."""

        def __init__(self, row: FieldRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(_(spec.label), spec.kind, _(spec.tip))
        self.spec = spec
        self._edit: TaskEdit | None = None
        self._place: Path = ()
        self._label_lines = wrap(self._label, self.LABEL)
        self.styles.min_height = len(self._label_lines)

    def compose(self) -> ComposeResult:
        yield self._editor()

    def render_lines(self, crop: Region) -> list[Strip]:
        return Widget.render_lines(self, crop)

    def render_line(self, y: int) -> Strip:
        if y >= len(self._label_lines):
            return Strip(())
        style = self.get_component_rich_style("field--label")
        return Strip([Segment(self._label_lines[y], style)])

    def load(self, edit: TaskEdit, place: Path) -> None:
        """Show what the edit holds at `place`; what was typed for the place before is kept first."""
        self.commit()
        moved = (edit, place) != (self._edit, self._place)
        self._edit, self._place = edit, place
        self.display = self.spec.shown is None or self.spec.shown(edit, place)
        value = self.spec.value(edit, place)
        if moved or not self.display or value != self._value():
            self._shown = value
            spec = self.spec
            options = spec.options(edit) if spec.options else ()
            self._show(value, options, [*spec.suggest(edit)] if spec.suggest else ())
        # Read back, since a widget may show a value in its own way (line ends, control characters):
        # only what a person changes after this is an edit.
        self._shown = self._value()

    def reload(self) -> None:
        """Show again what the edit holds now."""
        if self._edit is not None:
            self.load(self._edit, self._place)

    def commit(self) -> None:
        """Write the widget's value to the edit, if it is not written yet."""
        if self._edit is None or not self.display:
            return
        value = self._value()
        if value != self._shown:
            self._shown = value
            self.spec.store(self._edit, self._place, value)
            self.post_message(self.Edited(self))

    def unload(self) -> None:
        """The thing at the place is gone; nothing more is written there."""
        self._edit = None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()

    def _value(self) -> Any:
        value = super()._value()
        if self.kind == "choices":
            # A pipeline has an order: what was ticked before keeps its place.
            before = cast(list[Any], self._shown) if isinstance(self._shown, list) else []
            kept = [item for item in before if item in value]
            return [*kept, *(item for item in value if item not in kept)]
        return value


class Form(VerticalScroll, can_focus=False):
    """`load` it with an edit and the place of a thing; `reveal` one of its fields."""

    # At once, not after the keys that follow: what is typed ahead belongs to the next field.
    BINDINGS = keys(
        Key("form.next", Means.ONWARD, "app.focus_next", N_("Next field"), N_("To the field below"), show=False, priority=True),
        Key("form.previous", Means.BACKWARD, "app.focus_previous", N_("Field before"), N_("To the field above"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, specs: Sequence[FieldSpec], *, classes: str = "form") -> None:
        super().__init__(classes=classes)
        self._specs = specs

    def compose(self) -> ComposeResult:
        if not any(getattr(each, "ahead", False) for each in self.ancestors):
            yield from map(FieldRow, self._specs)

    async def grow(self, most: int | None = None) -> bool:
        """Make fields that are not made yet, at `most` so many; whether there were any."""
        rows = [*map(FieldRow, self._specs[len(self.query_children(FieldRow)) :][:most])]
        await self.mount_all(rows)
        return bool(rows)

    def load(self, edit: TaskEdit, place: Path) -> None:
        for row in self.query_children(FieldRow):
            row.load(edit, place)

    def commit(self) -> None:
        """Write what is typed and not yet written."""
        for row in self.query_children(FieldRow):
            row.commit()

    def unload(self) -> None:
        """The thing is gone."""
        for row in self.query_children(FieldRow):
            row.unload()

    def on_field_row_edited(self, event: FieldRow.Edited) -> None:
        """Other fields may make sense now, or not any more."""
        for row in self.query_children(FieldRow):
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
        rows = [row for row in self.query_children(FieldRow) if row.display]
        best = (r for r in rows if r.spec.path and path[: len(r.spec.path)] == r.spec.path)
        return next(best, rows[0] if rows else None)


LANGUAGE = {"en": "English", "zh": "中文"}
CUE = CUE_KIND


def labelled(choices: Mapping[str, str]) -> Callable[[TaskEdit], Options]:
    """The values with their translated labels."""
    return lambda edit: [(_(label), value) for value, label in choices.items()]


def with_codes(choices: Mapping[str, str]) -> Callable[[TaskEdit], Options]:
    """The same, with what stands in the task's file beside each label."""
    return lambda edit: [(coded(label, value), value) for value, label in choices.items()]


def list_cell(value: Any, words: Mapping[str, str] | None = None) -> str:
    """A list of texts, or of values with these labels, in one cell of a table."""
    items = cast(list[Any], value) if isinstance(value, list) else []
    known = words or {}
    return " · ".join(_(known[item]) if item in known else str(item) for item in items)


ALIASES = FieldSpec(("aliases",), N_("Aliases"), "lines", N_("Other ways to say it, one a line"))
SOURCES = FieldSpec(("sources",), N_("Sources"), "lines", N_("Web addresses, one a line"))
