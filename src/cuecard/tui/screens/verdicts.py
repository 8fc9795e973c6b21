"""Verdicts: which runs have verdicts to check, how far I am, and how far judge and people agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.widgets.empty import EmptyState
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.store.records import RunLabels

COLUMNS = (
    FittedColumn(N_("Run"), 12, grow=3),
    FittedColumn(N_("Judge"), 10, grow=1, hidden_below=48),
    FittedColumn(N_("Verdicts"), 9, right=True),
    FittedColumn(N_("My labels"), 10, right=True),
    FittedColumn(N_("All labels"), 10, right=True, hidden_below=64),
)


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
            yield ListTable(COLUMNS, id="runs")
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
        for widget in self.query("#body > *"):
            widget.display = False

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
        table, heading = self._table, self.query_one("#heading", Static)
        table.display = heading.display = bool(self._runs)
        self.query_one(EmptyState).display = not self._runs
        heading.update(_("Check the judge: label its verdicts without seeing them"))
        table.fill(
            [
                (
                    run.name,
                    ", ".join(run.judges),
                    *(f"{n:,}" for n in (run.verdicts, run.mine, run.labels)),
                )
                for run in self._runs
            ]
        )
        if self._runs:
            table.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._runs) if action in ("label", "agreement") else True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
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
