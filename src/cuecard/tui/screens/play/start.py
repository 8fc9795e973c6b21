"""Who takes the other parts of a session: asked before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer, Label, OptionList, Select, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.play_start import Part, Start, StartChoices
from cuecard.tui.widgets.ticks import TickList


class _Shadows(TickList[str]):
    """Space ticks; Enter is the dialog's, as everywhere in it."""

    BINDINGS = keys(
        Key("start.shadows", "enter", "screen.begin", NP_("verb", "Start"), N_("Begin the session"), show=False),
    )  # fmt: skip


class StartDialog(CuecardDialog[Start | None]):
    """Answers who plays; None when left. Enter alone starts with what was chosen last time. What is
    known to speak against a player is told here, before anything has begun.
    """

    DEFAULT_CSS = """
    StartDialog {
        align: center middle;
        .dialog { width: 76; padding: 0 2; }
        #about { height: auto; color: $muted; }
        OptionList, SelectionList {
            height: auto; border: round $foreground 20%; background: $surface; padding: 0;
        }
        OptionList:focus, SelectionList:focus { border: round $primary; }
        #agents { max-height: 8; }
        #shadows { max-height: 5; }
        .field { height: 1; margin: 0 1; }
        .field Label { width: 9; color: $muted; }
        .field Select { width: 1fr; }
        #problems { height: auto; color: $error; padding: 0 1; }
    }
    """
    BINDINGS = keys(
        Key("start.begin", "ctrl+s", "begin", NP_("verb", "Start"), N_("Begin the session"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, choices: StartChoices) -> None:
        super().__init__()
        self._choices = choices

    def compose(self) -> ComposeResult:
        chosen = self._choices.chosen
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Whom do you want to talk to?"))
            told = _("You play the user. cuecard.yaml names more players; Enter starts.")
            yield Static(told, id="about", markup=False)
            agents = OptionList(*map(_option, self._choices.agents), id="agents", markup=False)
            agents.border_title = Text(_("Agent"))
            yield agents
            with Horizontal(classes="field"):
                yield Label(_("World"))
                yield _select("world", self._choices.worlds, chosen.world)
            with Horizontal(classes="field"):
                yield Label(_("Judge"))
                yield _select("judge", self._choices.judges, chosen.judge)
            shadows = _Shadows(
                *(
                    Selection(_text(part), part.name, part.name in chosen.shadows)
                    for part in self._choices.shadows
                ),
                id="shadows",
            )
            shadows.border_title = Text(_("Simulators that listen (space ticks)"))
            yield shadows
            yield Static("", id="problems", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        agents = self.query_one("#agents", OptionList)
        names = [part.name for part in self._choices.agents]
        agents.highlighted = names.index(self._choices.chosen.agent)
        agents.focus()
        self._check()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "agents":
            self._check()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "agents":
            self.action_begin()

    def on_selection_list_selected_changed(self) -> None:
        self._check()

    def on_select_changed(self) -> None:
        self._check()

    def action_begin(self) -> None:
        start = self._start()
        if self._choices.problems(start):
            self.notify(_("This cannot be played yet."), severity="warning", markup=False)
        else:
            self.dismiss(start)

    def _start(self) -> Start:
        index = self.query_one("#agents", OptionList).highlighted or 0
        ticked = set(cast(SelectionList[str], self.query_one("#shadows")).selected)
        return Start(
            agent=self._choices.agents[index].name,
            world=self._selected("world"),
            judge=self._selected("judge"),
            shadows=tuple(part.name for part in self._choices.shadows if part.name in ticked),
        )

    def _selected(self, field: str) -> str:
        return str(cast(Select[str], self.query_one(f"#{field}", Select)).value)

    def _check(self) -> None:
        problems = self._choices.problems(self._start())
        shown = self.query_one("#problems", Static)
        shown.update(for_display("\n".join(f"✗ {problem}" for problem in problems)))
        shown.display = bool(problems)


def _text(part: Part) -> Text:
    text = Text(one_line(part.label, 64))
    return text.append("  ✗", "bold") if part.problem else text


def _option(part: Part) -> Option:
    return Option(_text(part), id=part.name)


def _select(field: str, parts: Sequence[Part], chosen: str) -> Select[str]:
    options = [(_text(part), part.name) for part in parts]
    return Select[str](options, allow_blank=False, value=chosen, id=field, compact=True)
