"""Forms: a frozen pydantic model makes the rows of a dialog, what is checked as one types, and what comes back."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, headed
from cuecard.core.text import one_line
from cuecard.core.validation import reason_of
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Horizontal, Vertical, VerticalScroll
from cuecard.tui.kit.rows import FormRow, Options, Row
from cuecard.tui.present.entries import Entry
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.text import PlainText

ModelT = TypeVar("ModelT", bound=BaseModel)
Answer = TypeVar("Answer")
PAUSE = 0.15
"""Seconds without a change before a form's summary is worked out."""


class FormPane(Horizontal, Generic[ModelT]):
    """The rows of `model`'s fields that have a title. `options` and `tips` by field replace those of its rows."""

    DEFAULT_CSS = """
    FormPane {
        height: auto;
        .column { height: auto; width: 1fr; }
        FormRow { height: auto; }
        FormRow.-choices, FormRow.-text, FormRow.-lines { layout: vertical; }
        .field-label { color: $muted; padding: 0 1 0 0; }
        FormRow.-here .field-label { color: $primary; text-style: bold; }
        FormRow.-wrong .field-label { color: $error; text-style: bold; }
        .editor { width: 1fr; border: none; }
        LineEditor { padding: 0 1; height: 1; }
        Tick { background: $surface; padding: 0; }
        TextEditor { height: auto; min-height: 3; max-height: 9; padding: 0; margin: 0 0 1 0; }
        TickList { height: auto; max-height: 8; padding: 0; margin: 0 0 1 0; }
        Select > SelectCurrent { height: 1; background: $panel; }
        Select:focus > SelectCurrent { background: $typing; }
    }
    """

    class Changed(Message):
        """The person changed a row."""

    def __init__(
        self,
        model: ModelT,
        options: Mapping[str, Any] | None = None,
        tips: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._given = model
        offered, told = options or {}, tips or {}
        self._fields = {
            name: field
            for name, field in type(model).model_fields.items()
            if field.title is not None
        }
        self.rows = [
            FormRow(name, field, getattr(model, name), offered.get(name), told.get(name))
            for name, field in self._fields.items()
        ]
        self.problems: dict[str, str] = {}
        """What is wrong, by field, as `read` found it last; "" stands for the whole."""

    def compose(self) -> ComposeResult:
        values = self.values
        for row in self.rows:
            row.prepare(values)
        for column in sorted({row.spec.column for row in self.rows}):
            with Vertical(classes=f"column -column-{column}"):
                yield from (row for row in self.rows if row.spec.column == column)

    def on_mount(self) -> None:
        columns = list(self.query(".column"))
        for column, short in product(columns, (False, True) if len(columns) > 1 else (False,)):
            # Where columns are narrow, choices have short labels of their own.
            rows = [
                row
                for row in column.query(FormRow)
                if row.width and (len(columns) == 1 or (row.kind == "choice") == short)
            ]
            for row in rows:
                row.query_one(".field-label").styles.width = min(30, max(row.width for row in rows))

    @property
    def values(self) -> dict[str, Any]:
        return {row.field: row.value for row in self.rows}

    def read(self) -> ModelT | None:
        """The model that the rows make, or None: then `problems` say why."""
        given = {name: getattr(self._given, name) for name in type(self._given).model_fields}
        self.problems = {}
        try:
            return type(self._given).model_validate({**given, **self.values})
        except ValidationError as error:
            for item in error.errors(include_url=False):
                name = str(item["loc"][0]) if item["loc"] else ""
                self.problems.setdefault(name, _problem(self._fields.get(name), cast(Any, item)))
            return None

    def show(self, **values: Any) -> None:
        """Put other values into rows, as if they had been given."""
        for row in self.rows:
            if row.field in values:
                row.given = values[row.field]
                row.on_mount()

    def tell(self, *, all: bool = False) -> str:
        """Mark rows that are wrong and were touched, or `all`, and say what is wrong with them."""
        told = {row.field for row in self.rows if all or row.touched} | {""}
        for row in self.rows:
            row.set_class(row.field in self.problems and row.field in told, "-wrong")
        return "\n".join(said for name, said in self.problems.items() if name in told)

    def go_to(self, field: str) -> bool:
        """Put the cursor into a row, or the first one; whether there is any."""
        shown = [row for row in self.rows if row.display]
        for row in [row for row in shown if row.field == field] or shown[:1]:
            row.go()
        return bool(shown)

    @on(FormRow.Edited)
    def _edited(self, event: Message) -> None:
        event.stop()
        values = self.values
        for row in self.rows:
            row.follow(values)
        self.post_message(self.Changed())


def _problem(field: FieldInfo | None, item: dict[str, Any]) -> str:
    """A validation error in a sentence that names the field."""
    if item["type"] == "too_short" and field is not None and field.title:
        return _("{field}: choose at least one, please.").format(field=_(field.title))
    reason = reason_of(item["type"], item["msg"], item.get("ctx", {}), item["input"])
    if field is None or not field.title or item["type"] == "value_error":
        return reason
    bounds = {name: each for m in field.metadata for name in ("ge", "le") if (each := getattr(m, name, None)) is not None}  # fmt: skip
    if len(bounds) == 2:
        said = _("{field}: a number from {least} to {most}, please.")
        return said.format(field=_(field.title), least=bounds["ge"], most=bounds["le"])
    return headed(_(field.title), reason)


class AnswerDialog(CuecardDialog[Answer | None], Generic[ModelT, Answer]):
    """A form that is left with what `answer` makes of its model, or None.

    `^s`, the button, and Enter in a line confirm; Escape cancels. What is wrong is said below the rows as one
    types, of all rows once it was to be confirmed.
    """

    DEFAULT_CSS = """
    AnswerDialog { align: center middle; }
    AnswerDialog {
        .ask { margin-bottom: 1; }
        #wrong { color: $error; }
        #summary { color: $muted; margin-top: 1; }
        #found { height: 1fr; min-height: 4; margin-top: 1; border: round $foreground 20%; padding: 0 1; }
        #found:focus { border: round $primary; }
    }
    """
    BINDINGS = keys(
        Key("form.accept", Means.SAVE, "accept", N_("OK"), N_("Take what is written here"), priority=True),
    )  # fmt: skip
    AUTO_FOCUS = ""
    REMEMBERS = ""
    """The name under which fields with `remember` are kept; "" for none."""

    BEGINS_AT: str = ""
    """The field where the cursor is first; "" for the first one, "accept" for the button."""

    def __init__(
        self,
        title: str,
        model: ModelT,
        *,
        button: str = "",
        ask: str = "",
        options: Mapping[str, Any] | None = None,
        tips: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._title, self._given, self._ask = title, model, ask
        self._offered, self._tips = options or {}, tips
        self._button = button or _("OK")
        self._tried = False

    async def answer(self, model: ModelT) -> Answer | None:
        """What a valid model comes to; None to stay open. May raise `CuecardError`."""
        raise NotImplementedError

    def problem(self, model: ModelT) -> str:
        """What speaks against a model that is valid in itself; "" for nothing."""
        return ""

    async def summary(self, model: ModelT) -> str | Sequence[Entry]:
        """What would happen; worked out in the background."""
        return ""

    def more(self) -> Iterator[Widget]:
        """Buttons before the one that confirms."""
        yield from ()

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            if self._ask:
                yield PlainText(self._ask, classes="ask")
            yield FormPane(self._recalled(), self._offered, self._tips)
            yield PlainText(id="wrong")
            yield PlainText(id="summary")
            yield EntryList(id="found")
            with Horizontal(classes="buttons"):
                yield from self.more()
                yield Button(self._button, variant="primary", id="accept", compact=True)
        yield KeyBar()

    @property
    def pane(self) -> FormPane[ModelT]:
        return cast("FormPane[ModelT]", self.query_one(FormPane))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The key that confirms is called as the button is."""
        return {
            key: active._replace(binding=replace(active.binding, description=self._button))
            if active.binding.id == "form.accept"
            else active
            for key, active in super().active_bindings.items()
        }

    def on_mount(self) -> None:
        for id in ("#wrong", "#summary", "#found"):
            self.query_one(id).display = False
        if self.BEGINS_AT == "accept" or not self.pane.go_to(self.BEGINS_AT):
            self.query_one("#accept").focus()
        self.summarize(0)

    @on(FormPane.Changed)
    def changed(self) -> None:
        self._judge()
        self.summarize(PAUSE)

    @on(FormRow.Entered)
    @on(Button.Pressed, "#accept")
    def action_accept(self) -> None:
        # The key comes here at once, what was typed before it may still wait for the field.
        (self.focused or self).call_later(self.accept)

    @guarded("accept")
    async def accept(self) -> None:
        if not self.is_current:
            return
        self._tried = True
        model = self._judge()
        if model is None:
            if field := next(iter(self.pane.problems), ""):
                self.pane.go_to(field)
            return
        answer = await self.answer(model)
        if answer is not None:
            self._remember(model)
            self.dismiss(answer)

    @guarded("summary", background=True)
    async def summarize(self, pause: float) -> None:
        """Say what would happen, once nothing is typed any more."""
        if type(self).summary is AnswerDialog.summary:
            return
        await asyncio.sleep(pause)
        model = self.pane.read()
        try:
            said = await self.summary(model) if model is not None else ""
        except CuecardError as error:
            said = error.message
        text, found = self.query_one("#summary", PlainText), self.query_one("#found", EntryList)
        text.display, found.display = (
            isinstance(said, str) and said != "",
            not isinstance(said, str),
        )
        text.load(said) if isinstance(said, str) else found.load(said)

    def call_it(self, button: str) -> None:
        """Call confirming something else."""
        self._button = button
        self.query_one("#accept", Button).label = button
        self.refresh_bindings()

    def say(self, text: str, entries: Sequence[Entry] | None = None) -> None:
        """Show a text, and entries below it if they are given."""
        self.query_one("#summary", PlainText).load(text)
        self.query_one("#summary").display = bool(text)
        if entries is not None:
            self.query_one("#found", EntryList).load(entries)
            self.query_one("#found").display = bool(entries)

    def _judge(self) -> ModelT | None:
        """The model, or None where something is wrong; says what."""
        pane = self.pane
        model = pane.read()
        if model is not None and (problem := self.problem(model)):
            model, pane.problems = None, {"": problem}
        wrong = self.query_one("#wrong", PlainText)
        told = pane.tell(all=self._tried)
        wrong.load("\n".join(f"✗ {line}" for line in told.splitlines()))
        wrong.display = bool(told)
        return model

    def _kept(self) -> set[str]:
        fields = type(self._given).model_fields
        return {
            name
            for name, field in fields.items()
            if any(isinstance(item, Row) and item.remember for item in field.metadata)
        }

    def _recalled(self) -> ModelT:
        """The model to begin with, with what was chosen last time as far as it is offered still."""
        kept = self.cue_app.preferences.forms.get(self.REMEMBERS, {}) if self.REMEMBERS else {}
        model = self._given
        for name in self._kept() & kept.keys():
            value, offered = kept[name], self._offered.get(name)
            many = isinstance(value, list)
            if isinstance(offered, Sequence):
                known = [each for _label, each in cast(Options, offered)]
                value = (
                    [each for each in cast(list[Any], value) if each in known] if many else value
                )
                if (many and not value) or (not many and value not in known):
                    continue
            given = {field: getattr(model, field) for field in type(model).model_fields}
            try:
                model = type(model).model_validate({**given, name: value})
            except ValidationError:
                continue
        return model

    def _remember(self, model: ModelT) -> None:
        if self.REMEMBERS and (kept := self._kept()):
            preferences = self.cue_app.preferences
            preferences.forms[self.REMEMBERS] = model.model_dump(mode="json", include=kept)
            preferences.save()


class FormDialog(AnswerDialog[ModelT, ModelT]):
    """A form that is left with its model, or None."""

    async def answer(self, model: ModelT) -> ModelT | None:
        return model
