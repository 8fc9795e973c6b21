"""The two programs that `labelling.py` measures: `python labelling_program.py stock|list FILE`.

F5 shows the verdicts of the workspace in FILE. `list` is Cuecard with its list of verdicts; `stock` a
DataTable that is given the same rows, which it has read beforehand.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Static

from cuecard import tui
from cuecard.core.label_records import RunLabels
from cuecard.store.verdict_pages import VerdictFilter
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.grid.cells import plain
from cuecard.tui.preferences import DARK, Preferences
from cuecard.tui.present.labelling import verdicts_snapshot
from cuecard.tui.present.verdicts import VerdictReader
from cuecard.tui.services import Services

PERSON = "Bo"
WIDTHS = (4, 30, 11, 12, 10, 10, 13, 13)


class ListProgram(CuecardApp):
    listed: Sequence[RunLabels] = ()
    CSS_PATH = Path(tui.__file__).parent / "styles" / "app.tcss"

    async def on_ready(self) -> None:
        self.listed = (await self.services.ask(lambda ws: verdicts_snapshot(ws, PERSON))).runs
        os.write(sys.__stdout__.fileno() if sys.__stdout__ else 1, b"\x1b]0;ready\x07")

    async def key_f5(self) -> None:
        from cuecard.tui.screens.labelling.verdicts import VerdictListScreen

        self.push_screen(VerdictListScreen(self.listed))


class StockProgram(App[None]):
    def __init__(self, file: str) -> None:
        from cuecard.tui.screens.labelling.verdicts import COLUMNS

        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        with Workspace.open(file) as workspace:
            reader = VerdictReader(workspace, PERSON, VerdictFilter())
            self.rows: list[list[str]] = []
            for start in reader.pages().starts:
                for verdict in reader.page(start):
                    self.rows.append([plain(column.get(verdict)) for column in COLUMNS])

    def compose(self) -> ComposeResult:
        yield Static("ready")

    async def key_f5(self) -> None:
        table: DataTable[Text] = DataTable(cursor_type="row")
        for number, width in enumerate(WIDTHS):
            table.add_column(Text(f"Column {number}"), width=width)
        for row in self.rows:
            table.add_row(*(Text(text, no_wrap=True, overflow="ellipsis") for text in row))
        await self.mount(table)
        table.focus()


if __name__ == "__main__":
    kind, file = sys.argv[1:]
    if kind == "stock":
        StockProgram(file).run()
    else:
        ListProgram(Services(f"sqlite:///{file}"), PERSON, Preferences()).run()
