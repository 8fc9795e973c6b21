"""What an action on triples asks: a name with those in use to choose from, or web addresses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Footer, Input

from cuecard.annotate.authoring.graph_ops import SourceMode
from cuecard.annotate.authoring.graph_paste import read_urls
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.screens.task.fields import LineEditor, TextEditor
from cuecard.tui.widgets.grid import Grid, GridColumn, ListSource
from cuecard.tui.widgets.grid.matching import Completer
from cuecard.tui.widgets.plain import PlainText

_OFFERED = 6


class AskName(CuecardDialog[str | None]):
    """One line with names to choose from below it (up and down), and what it would do, live.

    `effect` says that in a sentence; `empty` whether nothing is an answer.
    """

    BINDINGS = keys(
        Key("name.accept", "ctrl+s", "accept", N_("OK"), N_("Take this answer"), shown_as="^s"),
    )

    def __init__(
        self,
        title: str,
        text: str,
        *,
        button: str,
        value: str,
        completer: Completer,
        effect: Callable[[str], str],
        empty: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._button, self._value = title, text, button, value
        self._completer, self._effect, self._empty = completer, effect, empty
        self._offered: list[str] = []
        self._typed = value

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(self._title)
            yield PlainText(self._text)
            yield LineEditor(self._value, id="answer")
            names = Grid((GridColumn(N_("In use"), 10, grow=1),), classes="offered")
            names.can_focus = False
            yield names
            yield PlainText(id="effect", classes="muted")
            with Horizontal(classes="buttons"):
                yield Button(self._button, variant="primary", id="accept")
        yield Footer(show_command_palette=False)

    @property
    def answer(self) -> Input:
        return self.query_one("#answer", Input)

    def on_mount(self) -> None:
        self.answer.focus()
        self.answer.action_select_all()
        self._show(self._value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    def on_input_submitted(self) -> None:
        self.action_accept()

    def on_button_pressed(self) -> None:
        self.action_accept()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("up", "down") and self.answer.has_focus and self._offered:
            event.stop()
            grid = self.query_one(Grid)
            here = (
                self._offered.index(self.answer.value) if self.answer.value in self._offered else -1
            )
            to = max(-1, min(here + (1 if event.key == "down" else -1), len(self._offered) - 1))
            with self.answer.prevent(Input.Changed):
                self.answer.value = self._offered[to] if to >= 0 else self._typed
            self.answer.cursor_position = len(self.answer.value)
            grid.move_to(max(0, to))
            self._say(self.answer.value)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.row < len(self._offered):
            self.answer.value = self._offered[event.row]

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()

    def action_accept(self) -> None:
        answer = self.answer.value.strip()
        if answer or self._empty:
            self.dismiss(answer)
        else:
            self.notify(_("Please write something first."), severity="warning", markup=False)

    def _show(self, typed: str) -> None:
        self._typed = typed
        self._offered = self._completer.matching(typed, _OFFERED)
        grid = self.query_one(Grid)
        grid.display = bool(self._offered)
        grid.load(ListSource([(name,) for name in self._offered]), cursor=(0, 0))
        grid.styles.height = len(self._offered) + 1
        self._say(typed)

    def _say(self, text: str) -> None:
        self.query_one("#effect", PlainText).load(self._effect(text.strip()))


@dataclass(frozen=True)
class SourceChoice:
    mode: SourceMode
    urls: tuple[str, ...]


class AskSources(CuecardDialog[SourceChoice | None]):
    """Web addresses for several triples, and whether they come beside what is there."""

    BINDINGS = keys(
        Key("sources.add", "ctrl+s", "take('add')", N_("Add"), N_("Beside the sources that they have"), shown_as="^s"),
    )  # fmt: skip

    def __init__(self, text: str, urls: str) -> None:
        super().__init__()
        self._text, self._urls = text, urls

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("Sources"))
            yield PlainText(self._text)
            yield TextEditor(
                self._urls, placeholder=_("Web addresses, one a line"), compact=True, id="urls"
            )
            with Horizontal(classes="buttons"):
                yield Button(_("Take away"), id="remove")
                yield Button(_("Replace"), id="replace")
                yield Button(_("Add"), variant="primary", id="add")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#urls").focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "add":
                self.action_take("add")
            case "replace":
                self.action_take("replace")
            case _:
                self.action_take("remove")

    def action_take(self, mode: SourceMode) -> None:
        urls, bad = read_urls(self.query_one("#urls", TextEditor).text)
        if bad:
            text = _("“{text}” is no web address").format(text=bad[0][:60])
            self.notify(text, severity="warning", markup=False)
        elif urls or mode == "replace":
            self.dismiss(SourceChoice(mode, tuple(urls)))
        else:
            self.notify(_("Please write something first."), severity="warning", markup=False)
