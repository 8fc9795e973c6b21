"""The rows of forms: a label and the widget that edits a value; and how a field of a pydantic model is asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, cast, get_args, get_origin

from pydantic.fields import FieldInfo
from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Checkbox, Input, Label, Select, SelectionList, TextArea
from textual.widgets.selection_list import Selection

from cuecard.core.i18n import _
from cuecard.core.text import for_display, one_line
from cuecard.tui.drawing import Horizontal
from cuecard.tui.widgets.inputs import LineEditor, PathInput, TextEditor, Tick, TickList

Kind = Literal["line", "text", "lines", "choice", "choices", "flag", "path", "folder"]
"""`lines`: a list of texts, one a line; `choices`: possible values, as ticks."""
Options = Sequence[tuple[str, Any]]
"""Labels, shown as they are, and the values that they stand for."""
Values = Mapping[str, Any]
"""What the rows of a form hold so far, by field: a number may still be the text that was typed."""


class EditorRow(Horizontal):
    """A label and the widget that edits a value; a subclass says where the value comes from and goes to."""

    SELECTS = False
    """Whether typing replaces what stands in a line that was gone to by Tab."""

    def __init__(
        self, label: str, kind: Kind, tip: str = "", *, optional: bool = True, name: str = ""
    ) -> None:
        super().__init__(classes=f"field -{kind}")
        self.kind: Kind = kind
        self._label, self._tip, self._optional, self._named = label, tip, optional, name or None
        self._shown: Any = None
        self._options: Options = ()

    def compose(self) -> ComposeResult:
        yield Label(self._label, classes="field-label", markup=False)
        yield self._editor()

    @property
    def editor(self) -> Widget:
        return self.query_one(".editor", Widget)

    def commit(self) -> None:
        """The person may have changed what stands there."""
        raise NotImplementedError

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    @on(SelectionList.SelectedChanged)
    @on(Checkbox.Changed)
    @on(PathInput.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.commit()

    def _editor(self) -> Widget:
        tip = self._tip
        look: Any = {"compact": True, "classes": "editor", "id": self._named}
        match self.kind:
            case "line":
                return LineEditor(placeholder=tip, select_on_focus=self.SELECTS, **look)
            case "path" | "folder":
                path = PathInput(folders=self.kind == "folder", placeholder=tip, id=self._named)
                return path.add_class("editor")
            case "text" | "lines":
                return TextEditor(placeholder=tip, **look)
            case "choice":
                options = _prompts(self._options)
                return Select[Any](
                    options, prompt="–", allow_blank=self._optional or not options, **look
                )
            case "choices":
                return TickList[Any](**look)
            case "flag":
                return Tick(tip, **look)

    def _show(self, value: Any, options: Options = (), suggested: Sequence[str] = ()) -> None:
        """Show a value. One that is no option is shown as one, so that it is neither hidden nor lost."""
        editor = self.editor
        if isinstance(editor, Input | PathInput):
            editor.value = one_line_of(value)
            if isinstance(editor, Input):
                if editor.has_focus:
                    editor.cursor_position = len(editor.value)
                names = sorted(set(suggested))
                editor.suggester = SuggestFromList(names, case_sensitive=False) if names else None
        elif isinstance(editor, TextEditor):
            items = cast(list[Any], value) if isinstance(value, list | tuple) else [value or ""]
            editor.show(for_display("\n".join(str(item) for item in items)))
        elif isinstance(editor, Select):
            select = cast(Select[Any], editor)
            given = [] if value is None else [value]
            select.set_options(_prompts(_with(options, given)))
            if value is not None:
                select.value = value
            elif self._optional:
                select.clear()
        elif isinstance(editor, SelectionList):
            box = cast(SelectionList[Any], editor)
            given = [*cast(Sequence[Any], value)] if isinstance(value, list | tuple) else []
            box.clear_options()
            box.add_options(
                Selection(prompt, item, item in given)
                for prompt, item in _prompts(_with(options, given))
            )
        elif isinstance(editor, Checkbox):
            editor.value = bool(value)

    def _value(self) -> Any:
        editor = self.editor
        if isinstance(editor, Input | PathInput):
            return editor.value
        if isinstance(editor, TextArea):
            if self.kind == "text":
                return editor.text
            return [line.strip() for line in editor.text.splitlines() if line.strip()]
        if isinstance(editor, Select):
            return cast(Select[Any], editor).selection
        if isinstance(editor, SelectionList):
            return [*cast(SelectionList[Any], editor).selected]
        return cast(Checkbox, editor).value


def one_line_of(value: Any) -> str:
    """A value as an input can show it; line breaks become blanks, and whole numbers have no decimals."""
    text = "" if value is None else str(value)
    if isinstance(value, float):
        text = text.removesuffix(".0")
    return for_display(text).replace("\n", " ")


def _prompts(options: Options) -> list[tuple[Text, Any]]:
    return [(Text(label), value) for label, value in options]


def _with(options: Options, given: Sequence[Any]) -> Options:
    known = [value for _label, value in options]
    return [*options, *((one_line(str(item), 40), item) for item in given if item not in known)]


@dataclass(frozen=True)
class Row:
    """How a field is asked for, where its type and `Field` do not say it: `Annotated[str, Field(title=…), Row("text")]`.

    `options`: values with their labels (marked with `N_`), or labels with their values, or what makes these of the
    values so far; a form may be given them too. `shown`: whether the field applies. `remember`: the form opens with
    what was chosen last time. `column`: where it stands in a form of several columns.
    """

    kind: Kind | None = None
    options: Mapping[Any, str] | Options | Callable[[Values], Options] | None = None
    shown: Callable[[Values], bool] | None = None
    remember: bool = False
    column: int = 0


class FormRow(EditorRow):
    """A field of a form. `value` is what was given until the person changes what is shown of it."""

    SELECTS = True

    class Edited(Message):
        """The person changed what this row holds."""

    class Entered(Message):
        """Enter was pressed in a line."""

    def __init__(
        self, name: str, field: FieldInfo, given: Any, options: Any, tip: str | None
    ) -> None:
        self.spec = next((item for item in field.metadata if isinstance(item, Row)), Row())
        kind, optional = _kind_of(field, self.spec, options)
        title = _translated(field.title)
        tip = _translated(field.description) if tip is None else tip
        flag = kind == "flag"
        super().__init__(
            "" if flag else title, kind, title if flag else tip, optional=optional, name=name
        )
        self.field, self.given = name, given
        self.touched = False
        self._source = self.spec.options if options is None else options
        self._annotation = field.annotation

    @property
    def width(self) -> int:
        """Cells that its label takes; 0 where it stands above or there is none."""
        above = self.kind in ("choices", "text", "lines") or not self._label
        return 0 if above else cell_len(self._label) + 2

    def prepare(self, values: Values) -> None:
        """Find the options, before there is a widget."""
        self._options = self._found(values)
        self.display = self._applies(values)

    def on_mount(self) -> None:
        self.query_one(".field-label").display = bool(self._label)
        self._show(self.given, self._options)
        self._shown = self._value()
        if isinstance(self.editor, TextEditor):
            self.editor.move_cursor(self.editor.document.end)
        elif isinstance(self.editor, SelectionList) and self._options:
            self.editor.highlighted = 0

    def follow(self, values: Values) -> None:
        """Be shown, and offer, what the values of other rows make of it."""
        if callable(self._source) and (options := self._found(values)) != self._options:
            value, self._options = self.value, options
            known = [item for _label, item in options]
            if self.kind == "choices":
                self.given = tuple(item for item in value if item in known)
            elif value not in known:
                self.given = None if self._optional or not known else known[0]
            self._show(self.given, options)
            self._shown = self._value()
        self.display = self._applies(values)

    @property
    def value(self) -> Any:
        if not self.is_mounted:
            return self.given
        value = self._value()
        if value == self._shown:
            return self.given
        if self.kind == "choices":
            return [item for _label, item in self._options if item in value]
        if self.kind in ("line", "path", "folder"):
            value = value.strip()
            if _inner(self._annotation)[0] is float:
                value = value.replace(",", ".")
            return None if not value and self._optional else value
        return value

    def commit(self) -> None:
        if self.is_mounted and (self.touched or self._value() != self._shown):
            self.touched = True
            self.post_message(self.Edited())

    def go(self) -> None:
        """Put the cursor here."""
        path = isinstance(self.editor, PathInput)
        (self.editor.query_one(Input) if path else self.editor).focus(scroll_visible=False)

    def on_descendant_focus(self) -> None:
        # The label too: focus by itself brings no more than the editor into view.
        self.call_after_refresh(self.scroll_visible, animate=False)
        self.add_class("-here")

    def on_descendant_blur(self) -> None:
        self.remove_class("-here")

    @on(Input.Submitted)
    @on(PathInput.Submitted)
    def _entered(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Entered())

    def _applies(self, values: Values) -> bool:
        """Whether it is asked for: what offers nothing to choose from is not."""
        if self.kind in ("choice", "choices") and not self._options:
            return False
        return self.spec.shown is None or self.spec.shown(values)

    def _found(self, values: Values) -> Options:
        source = self._source
        if callable(source):
            return cast(Options, source(values))
        if isinstance(source, Mapping):
            return [(_(label), value) for value, label in cast(Mapping[Any, str], source).items()]
        return _values_of(self._annotation) if source is None else source


def _translated(text: str | None) -> str:
    return _(text) if text else ""


def _inner(annotation: Any) -> tuple[Any, bool]:
    """A type without `None`, and whether it had it."""
    members = [each for each in get_args(annotation) if each is not type(None)]
    if type(None) in get_args(annotation):
        return members[0], True
    return annotation, False


def _values_of(annotation: Any) -> Options:
    """The values of a literal or an enumeration, of a tuple of these, or none."""
    inner, _optional = _inner(annotation)
    if get_origin(inner) is tuple:
        inner = get_args(inner)[0]
    if get_origin(inner) is Literal:
        return [(str(value), value) for value in get_args(inner)]
    if isinstance(inner, type) and issubclass(inner, Enum):
        return [(str(getattr(value, "label", value.value)), value) for value in inner]
    return ()


def _kind_of(field: FieldInfo, spec: Row, options: Any) -> tuple[Kind, bool]:
    """The kind of row that a field is edited in, and whether it may be empty."""
    inner, optional = _inner(field.annotation)
    if spec.kind is not None:
        return spec.kind, optional
    offers = options is not None or spec.options is not None or bool(_values_of(inner))
    if get_origin(inner) is tuple:
        return ("choices" if offers else "lines"), optional
    if offers:
        return "choice", optional
    if inner is bool:
        return "flag", optional
    is_path = isinstance(inner, type) and issubclass(inner, PurePath)
    return ("path" if is_path else "line"), optional
