"""`?`: the keys that work on the screen below; those of the screen first, those of every screen last."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog

_EVERYWHERE = ("go.", "app.", "screen.")


class HelpDialog(CuecardDialog[None]):
    """Takes the active bindings of the screen it was called from."""

    DEFAULT_CSS = """
    HelpDialog .group { height: 1; color: $primary; text-style: bold; }
    HelpDialog .keys { height: auto; margin-bottom: 1; }
    """
    BINDINGS = keys(
        Key(
            "help.close", "escape,question_mark", "dismiss", N_("Close"), N_("Back"), shown_as="esc"
        ),
    )

    def __init__(self, bindings: list[ActiveBinding]) -> None:
        super().__init__()
        named = [shown for shown in bindings if shown.binding.id and shown.binding.description]
        general = [shown for shown in named if (shown.binding.id or "").startswith(_EVERYWHERE)]
        self._here = [shown for shown in named if shown not in general]
        self._general = sorted(
            general, key=lambda shown: not (shown.binding.id or "").startswith("go.")
        )

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog") as box:
            box.border_title = _("Keys that work here")
            if self._here:
                yield Static(_("On this screen"), classes="group")
                yield Static(self._table(self._here), classes="keys")
            yield Static(_("Everywhere"), classes="group")
            yield Static(self._table(self._general), classes="keys")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _table(self, bindings: list[ActiveBinding]) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True, min_width=5)
        table.add_column(no_wrap=True, min_width=12)
        table.add_column()
        for active in bindings:
            binding = active.binding
            key = Text(self.app.get_key_display(binding), style="bold")
            tip = Text("" if active.tooltip == binding.description else active.tooltip, style="dim")
            table.add_row(key, Text(binding.description), tip)
        return table
