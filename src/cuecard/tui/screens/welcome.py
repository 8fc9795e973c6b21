"""First start: who are you, which language, and shall the sample tasks be added."""

from __future__ import annotations

import getpass
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Checkbox, Footer, Input, Static

from cuecard.core.i18n import N_, _, current_language
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog


@dataclass(frozen=True)
class Introduction:
    """What the person answered."""

    name: str
    add_samples: bool


def login_name() -> str:
    """The account's name as a first proposal; empty where the system does not tell."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


class WelcomeDialog(CuecardDialog[Introduction | None]):
    """Asks for a name; with `offer_samples` also whether the sample tasks shall be added."""

    DEFAULT_CSS = """
    WelcomeDialog Static { height: auto; margin-bottom: 1; }
    WelcomeDialog Checkbox { border: none; margin-top: 1; background: $surface; }
    WelcomeDialog Checkbox:focus { border: none; }
    """
    BINDINGS = keys(
        Key(
            "welcome.begin",
            "ctrl+s",
            "begin",
            N_("Begin"),
            N_("Take this name and begin"),
            shown_as="^s",
            priority=True,
        ),
        Key(
            "welcome.language",
            "ctrl+l",
            "language",
            N_("中文 / English"),
            N_("Use the other language"),
            shown_as="^l",
            priority=True,
        ),
        Key("welcome.quit", "escape", "dismiss", N_("Quit"), N_("Leave without a name")),
    )

    def __init__(self, *, offer_samples: bool) -> None:
        super().__init__()
        self._offer_samples = offer_samples

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = _("Welcome to Cuecard")
            yield Static(
                _(
                    "Here you write benchmark tasks for search agents, play the user yourself, let a"
                    " simulator play it at scale, and check the judge. Your name goes with"
                    " everything you save in this workspace."
                ),
                markup=False,
            )
            yield Input(login_name(), placeholder=_("Your name"), id="name", max_length=80)
            if self._offer_samples:
                yield Checkbox(_("Add the eight sample tasks"), value=True, id="samples")
            with Horizontal(classes="buttons"):
                yield Button(_("Begin"), variant="primary", id="begin")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#name", Input).focus()

    def on_input_submitted(self) -> None:
        self.action_begin()

    def on_button_pressed(self) -> None:
        self.action_begin()

    def action_language(self) -> None:
        """Begin anew in the other of the two languages."""
        other = "en" if current_language() == "zh" else "zh"
        self.cue_app.speak(other)

    def action_begin(self) -> None:
        name = self.query_one("#name", Input).value.strip()
        if not name:
            self.notify(_("Please type a name."), severity="warning", markup=False)
            return
        samples = self._offer_samples and self.query_one("#samples", Checkbox).value
        self.dismiss(Introduction(name, samples))
