"""`?`: the keys that work on the screen below, grouped by where they belong."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from cuecard.core.i18n import _
from cuecard.tui.base import CuecardDialog


class HelpDialog(CuecardDialog[None]):
    """Takes the active bindings of the screen it was called from."""

    DEFAULT_CSS = """
    HelpDialog {
        align: center middle;
        #help { width: 76; max-width: 96%; height: auto; max-height: 90%; padding: 1 2;
                border: round $primary; background: $surface; border-title-color: $primary; }
    }
    """

    def __init__(self, bindings: list[ActiveBinding]) -> None:
        super().__init__()
        self._shown = bindings

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = _("Keys that work here")
            yield Static(self._table())
        yield Footer(show_command_palette=False)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for active in self._shown:
            binding = active.binding
            if binding.id is None or not binding.description:
                continue
            key = Text(self.app.get_key_display(binding), style="bold")
            tip = Text("" if active.tooltip == binding.description else active.tooltip, style="dim")
            table.add_row(key, Text(binding.description), tip)
        return table
