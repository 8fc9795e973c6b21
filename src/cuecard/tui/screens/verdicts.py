"""Verdicts: which runs have verdicts to check, how far I am, and how far judge and people agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import DataTable, Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.store.records import RunLabels


class VerdictsScreen(CuecardScreen[None]):
    """One line a run; Enter labels, `a` shows the agreement."""

    CSS_PATH = "verdicts.tcss"
    BINDINGS = keys(
        Key("verdicts.label", "enter", "label", N_("Label"), N_("Label this run's verdicts, blind")),
        Key("verdicts.agreement", "a", "agreement", N_("Agreement"), N_("How far judge and people agree")),
        Key("verdicts.refresh", "r", "look_again", N_("Refresh"), N_("Look again")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[RunLabels, ...] = ()

    def compose(self) -> ComposeResult:
        yield NavBar("verdicts")
        with Vertical(id="body"):
            yield Static("", id="heading", markup=False)
            yield ListTable(id="runs")
            yield EmptyState(
                _("No verdicts yet"),
                _(
                    "A judge decides about every gold item of a trial. Here you decide about the same"
                    " items without seeing its verdict, and learn how far it can be trusted."
                ),
                ("3", _("Runs: n plays tasks and judges them; their verdicts appear here")),
            )
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._table.add_columns(
            _("Run"), _("Judge"), _("Verdicts"), _("My labels"), _("All labels")
        )

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.look()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#runs", ListTable)

    @guarded("verdicts")
    async def look(self) -> None:
        person = self.person
        self._runs = tuple(await self.services.ask(lambda ws: ws.verdicts.progress(person)))
        table = self._table
        row = table.cursor_row
        table.clear()
        for run in self._runs:
            table.add_row(
                Text(one_line(run.name, 40)),
                Text(one_line(", ".join(run.judges), 24)),
                Text(f"{run.verdicts:,}", justify="right"),
                Text(f"{run.mine:,}", justify="right"),
                Text(f"{run.labels:,}", justify="right"),
            )
        table.move_cursor(row=min(row, max(len(self._runs) - 1, 0)))
        table.display = bool(self._runs)
        self.query_one(EmptyState).display = not self._runs
        heading = _("Check the judge: label its verdicts without seeing them")
        self.query_one("#heading", Static).update(heading if self._runs else "")
        if self._runs:
            table.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._runs) if action in ("label", "agreement") else True

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self.action_label()

    def action_label(self) -> None:
        from cuecard.tui.screens.label import LabelScreen

        if run := self._chosen():
            self.app.push_screen(LabelScreen(run.run_id, run.name))

    def action_agreement(self) -> None:
        from cuecard.tui.screens.agreement import AgreementScreen

        if run := self._chosen():
            self.app.push_screen(AgreementScreen(run.run_id, run.name))

    def action_look_again(self) -> None:
        self.look()

    def _chosen(self) -> RunLabels | None:
        row = self._table.cursor_row
        return self._runs[row] if row < len(self._runs) else None
