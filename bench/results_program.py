"""The two programs that `results.py` measures: `python results_program.py stock|screens FILE`.

`screens` is Cuecard on its list of runs. `stock` answers to the same keys with stock widgets, which are given rows
and texts that were read and counted beforehand: Enter shows a table of scores, `t` one of trials, Enter there the
trial's texts, Escape the way back.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Markdown, Static

from cuecard import tui
from cuecard.annotate.results.pool import gather
from cuecard.core.engine.events import AgentSpoke, ToolAnswered, UserSpoke
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import DARK, Preferences
from cuecard.tui.present.run_trials import entries_of
from cuecard.tui.present.scores import Cut, ScoreView, count, scores_by_trial
from cuecard.tui.services import Services

PERSON = "Bo"
LONG, MANY = 1, 2


def ready() -> None:
    os.write(sys.__stdout__.fileno() if sys.__stdout__ else 1, b"\x1b]0;ready\x07")


class ScreensProgram(CuecardApp):
    CSS_PATH = Path(tui.__file__).parent / "styles" / "app.tcss"

    async def on_ready(self) -> None:
        self.action_go("runs")
        ready()


class Table(Screen[None]):
    BINDINGS = [Binding("escape", "app.pop_screen", "Back")]

    def __init__(self, rows: Sequence[Sequence[str]], headings: Sequence[str]) -> None:
        super().__init__()
        self.rows, self.headings = rows, headings

    def compose(self) -> ComposeResult:
        yield Static("A run", id="head")
        yield DataTable[Text](cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable[Text])
        table.add_columns(*(Text(heading) for heading in self.headings))
        for row in self.rows:
            table.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
        table.focus()


class Texts(Screen[None]):
    """Every entry a widget, agents' words as Markdown."""

    BINDINGS = [Binding("escape", "app.pop_screen", "Back")]

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.texts = texts

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            for kind, text in self.texts:
                yield Markdown(text) if kind == "agent" else Static(text, markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()


class StockProgram(App[None]):
    BINDINGS = [Binding("t", "trials", "Trials")]

    def __init__(self, file: str) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name
        with Workspace.open(file) as workspace:
            self.scores, self.trials = _tables(workspace, MANY), _trials(workspace, MANY)
            self.long = _trials(workspace, LONG)
            self.texts = _texts(workspace)
            self.runs = [[run.name, run.state.value] for run in workspace.runs.all()]
        self.depth = 0

    def compose(self) -> ComposeResult:
        yield DataTable[Text](cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable[Text])
        table.add_columns(Text("Run"), Text("State"))
        for row in self.runs:
            table.add_row(*map(Text, row))
        table.focus()
        ready()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if len(self.screen_stack) == 1:
            self.long_chosen = event.cursor_row == 1
            headings, rows = self.scores
            self.push_screen(Table(rows, headings))
        else:
            self.push_screen(Texts(self.texts))

    def action_trials(self) -> None:
        headings, rows = self.long if self.long_chosen else self.trials
        self.switch_screen(Table(rows, headings))


def _tables(workspace: Workspace, run: int) -> tuple[list[str], list[list[str]]]:
    pool = gather(workspace, (run,))
    view = ScoreView(pool)
    view.load(pool, Cut(), count(pool, Cut()))
    table = view.table
    return list(table.headings), [[cell.text for cell in line] for line in table.lines]


def _trials(workspace: Workspace, run: int) -> tuple[list[str], list[list[str]]]:
    scores = scores_by_trial(gather(workspace, (run,)))
    cells = [
        [
            entry.trial.task_id,
            entry.trial.agent.name,
            str(entry.trial.sample),
            entry.state.value,
            entry.turns,
            "" if entry.score is None else f"{entry.score:.3f}",
        ]
        for entry in entries_of(workspace.runs.trials(run), {}, scores, {})
    ]
    return ["Task", "Agent", "Sample", "State", "Turns", "Score"], cells


def _texts(workspace: Workspace) -> list[tuple[str, str]]:
    """What is read of the long trial: words of both sides, and a line for each tool call."""
    found: list[tuple[str, str]] = []
    for event in workspace.runs.events(workspace.runs.trials(LONG)[0].id):
        match event.body:
            case UserSpoke(reply=reply):
                found.append(("user", reply.text))
            case AgentSpoke(reply=reply):
                found.append(("agent", reply.text))
            case ToolAnswered(call=call):
                found.append(("tool", f"{call.name} {call.arguments}"))
            case _:
                pass
    return found


if __name__ == "__main__":
    kind, file = sys.argv[1:]
    # Opening writes nothing that matters, but a workspace is made ready when it is opened.
    copied = str(shutil.copy(file, Path(tempfile.mkdtemp(), "bench.db")))
    if kind == "stock":
        StockProgram(copied).run()
    else:
        ScreensProgram(Services(f"sqlite:///{copied}"), PERSON, Preferences()).run()
