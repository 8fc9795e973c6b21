"""Dialogs of the fidelity screens: simulators and runs, sample size for a correlation, and a file's path."""

from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label, Static
from textual.widgets.selection_list import Selection

from cuecard.annotate.fidelity.inputs import Scope
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.present.fidelity import sizes_lines
from cuecard.tui.widgets.inputs import PathInput
from cuecard.tui.widgets.lists import TickList
from cuecard.tui.widgets.text import PlainText


class ScopeDialog(CuecardDialog[Scope | None]):
    """Simulators and people by name, runs by number and name; nothing ticked means all."""

    DEFAULT_CSS = """
    ScopeDialog TickList { height: auto; max-height: 6; padding: 0; margin-bottom: 1; }
    ScopeDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("fidelity_scope.accept", "ctrl+s", "accept", N_("Show"), N_("Count again with these"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(
        self,
        scope: Scope,
        simulators: Sequence[str],
        people: Sequence[str],
        runs: Sequence[tuple[int, str]],
    ) -> None:
        super().__init__()
        self._scope = scope
        self._simulators, self._people, self._runs = tuple(simulators), tuple(people), tuple(runs)

    def compose(self) -> ComposeResult:
        scope = self._scope
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("What the report is about"))
            yield Static(
                _("Space ticks; nothing ticked in a list means all of it."), classes="muted"
            )
            yield from self._list("simulators", _("Simulators"), self._simulators, scope.simulators)
            yield from self._list("people", _("People"), self._people, scope.people)
            runs = TickList[int](
                *(
                    Selection(Text(one_line(name, 56)), id, id in scope.runs)
                    for id, name in self._runs
                ),
                id="runs",
                compact=True,
            )
            runs.display = bool(self._runs)
            yield Static(_("Runs"), classes="title")
            yield runs
        yield KeyBar()

    def action_accept(self) -> None:
        runs = cast("TickList[int]", self.query_one("#runs", TickList))
        self.dismiss(
            self._scope.model_copy(
                update={
                    "simulators": self._ticked("#simulators"),
                    "people": self._ticked("#people"),
                    "runs": tuple(sorted(runs.selected)),
                }
            )
        )

    def _list(
        self, id: str, title: str, names: Sequence[str], chosen: Sequence[str]
    ) -> ComposeResult:
        if names:
            yield Static(title, classes="title")
        found = TickList[str](
            *(Selection(Text(one_line(name, 56)), name, name in chosen) for name in names),
            id=id,
            compact=True,
        )
        found.display = bool(names)
        yield found

    def _ticked(self, selector: str) -> tuple[str, ...]:
        ticked = cast("TickList[str]", self.query_one(selector, TickList))
        return tuple(sorted(ticked.selected))


class SizesDialog(CuecardDialog[None]):
    """How many sessions it takes; typed numbers count at once. `sessions` there are now, whose variance is
    `effect` times that of independent ones (None: not known).
    """

    DEFAULT_CSS = """
    SizesDialog Horizontal { height: 1; }
    SizesDialog Label { width: 24; }
    SizesDialog Input { width: 1fr; }
    SizesDialog #said { margin-top: 1; }
    """

    def __init__(self, sessions: int, effect: float | None) -> None:
        super().__init__()
        self._sessions, self._effect = sessions, effect

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("How many sessions does it take?"))
            for field, label, value in (
                ("size", _("Correlation to find"), "0.3"),
                ("power", _("Chance to find it"), "0.8"),
                ("alpha", _("Chance of a false alarm"), "0.05"),
            ):
                with Horizontal():
                    yield Label(label)
                    yield Input(value, id=field, compact=True)
            yield PlainText(id="said")
        yield KeyBar()

    def on_mount(self) -> None:
        self._count()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._count()

    def _count(self) -> None:
        size, power, alpha = (
            self.query_one(f"#{field}", Input).value for field in ("size", "power", "alpha")
        )
        lines = sizes_lines(size, power, alpha, self._sessions, self._effect)
        self.query_one("#said", PlainText).load("\n".join(lines))


class PathDialog(CuecardDialog[str | None]):
    """Where to write a file; dismissed with the path."""

    DEFAULT_CSS = """
    PathDialog Static.said { height: auto; margin-bottom: 1; }
    """
    BINDINGS = keys(
        Key("path_dialog.accept", "ctrl+s", "accept", N_("Write"), N_("Write this file"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, title: str, text: str, path: str) -> None:
        super().__init__()
        self._title, self._text, self._path = title, text, path

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(one_line(self._title))
            yield Static(self._text, classes="said", markup=False)
            yield PathInput(self._path, placeholder=_("a file"), id="path")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(PathInput).focus_input()

    def on_path_input_submitted(self, event: PathInput.Submitted) -> None:
        event.stop()
        self.action_accept()

    def action_accept(self) -> None:
        if path := self.query_one(PathInput).value.strip():
            self.dismiss(path)
