"""Inputs: a line and a text that take only what can be shown, a path with completion by Tab, and a tick box."""

from __future__ import annotations

import asyncio

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Checkbox, Input, Static, TextArea

from cuecard.core.i18n import N_
from cuecard.core.text import for_display, one_line, storable
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import guarded
from cuecard.tui.present.files import Completion, complete

_MOST = 40

OUTSIDE = Key(
    "field.outside",
    "ctrl+g",
    "outside",
    N_("$EDITOR"),
    N_("Edit this text in your own editor, $VISUAL or $EDITOR"),
    shown_as="^g",
)


class LineEditor(Input):
    """A short text. What is pasted loses what a terminal could act on."""

    BINDINGS = keys(OUTSIDE)

    def on_paste(self, event: events.Paste) -> None:
        event.text = for_display(event.text)

    def action_outside(self) -> None:
        _edit_outside(self)


class TextEditor(TextArea):
    """A long text; grows with it. What is pasted loses what a terminal could act on."""

    BINDINGS = keys(OUTSIDE)

    def on_paste(self, event: events.Paste) -> None:
        event.text = for_display(event.text)

    def action_outside(self) -> None:
        _edit_outside(self)

    def show(self, text: str) -> None:
        """Load `text`, with the cursor where it first differs from what stood there."""
        old, same = self.text, 0
        while same < min(len(old), len(text)) and old[same] == text[same]:
            same += 1
        self.load_text(text)
        before = text[:same]
        if old:
            self.move_cursor((before.count("\n"), same - (before.rfind("\n") + 1)))


def _edit_outside(field: Input | TextArea) -> None:
    from cuecard.tui.screens.task.outside import edit_field

    edit_field(field)


def tick(on: bool) -> str:
    """A box that can be told from an empty one in text, without its colour."""
    return "[x]" if on else "[ ]"


class Tick(Checkbox):
    """A yes or no; the box is text."""

    @property
    def _button(self) -> Content:
        return Content.assemble((tick(self.value), self.get_visual_style("toggle--label")))


class PathInput(Vertical):
    """`value` is what was typed. Tab completes as a shell does; where there is nothing to complete it
    goes to the next field.
    """

    DEFAULT_CSS = """
    PathInput { height: 2; width: 1fr; }
    PathInput > Static { height: 1; color: $muted; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("path.complete", "tab", "complete", N_("Complete"), N_("Go on with the path as far as it is clear")),
    )  # fmt: skip

    class Changed(Message):
        """Another path stands there."""

        def __init__(self, path_input: PathInput) -> None:
            super().__init__()
            self.path_input = path_input

        @property
        def control(self) -> PathInput:
            return self.path_input

    class Submitted(Changed):
        """Enter was pressed."""

    def __init__(
        self,
        value: str = "",
        *,
        folders: bool = False,
        placeholder: str = "",
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._start, self._folders, self._placeholder = value, folders, placeholder
        self._found = Completion(value)

    def compose(self) -> ComposeResult:
        yield LineEditor(
            self._start, placeholder=self._placeholder, compact=True, select_on_focus=False
        )
        yield Static("", markup=False)

    @property
    def value(self) -> str:
        return self.query_one(Input).value

    @value.setter
    def value(self, value: str) -> None:
        self.query_one(Input).value = value

    @guarded("look", background=True)
    async def load(self) -> None:
        """Show what could come next; the folder is read in a thread."""
        text = self.value
        self._found = await asyncio.to_thread(complete, text, folders=self._folders)
        shown = Text()
        for name in self._found.names[:_MOST]:
            shown.append(one_line(storable(name)), "bold" if name.endswith("/") else "").append(
                "  "
            )
        self.query_one(Static).update(shown)

    def on_mount(self) -> None:
        self.load()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.load()
        self.post_message(self.Changed(self))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self))

    @guarded("complete")
    async def action_complete(self) -> None:
        await self.load().wait()
        found, typed = self._found, self.query_one(Input)
        if len(found.text) > len(typed.value) and found.text.startswith(typed.value):
            typed.value = found.text
            typed.cursor_position = len(found.text)
        else:
            self.screen.focus_next()
