"""The Verdicts screen: runs with verdicts, labelling sets, progress, and ways into labelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.label_records import RunLabels
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.grid import Grid
from cuecard.tui.present.labelling import VerdictsSnapshot, run_cells, set_cells, verdicts_snapshot
from cuecard.tui.widgets.lists import FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState, NavBar

if TYPE_CHECKING:
    from cuecard.core.label_records import LabelSet, VerdictLine
    from cuecard.tui.screens.labelling.screen import LabelScreen


COLUMNS = (
    FittedColumn(N_("Run"), 12, grow=3),
    FittedColumn(N_("Judge"), 10, grow=1, hidden_below=48),
    FittedColumn(N_("Verdicts"), 9, right=True),
    FittedColumn(N_("My labels"), 10, right=True),
    FittedColumn(N_("All labels"), 10, right=True, hidden_below=64),
)
SET_COLUMNS = (
    FittedColumn(N_("Set"), 12, grow=3),
    FittedColumn(N_("By"), 6, grow=1, hidden_below=74),
    FittedColumn(N_("Items"), 6, right=True),
    FittedColumn(N_("Labels"), 11, right=True),
    FittedColumn(N_("Mine"), 6, right=True, hidden_below=52),
    FittedColumn(N_("For me"), 7, right=True),
    FittedColumn(N_("Pace"), 7, right=True, hidden_below=60),
)


class VerdictsScreen(CuecardScreen[None]):
    """Runs above, sets below; Enter labels what has the cursor."""

    CSS_PATH = "verdicts.tcss"
    BINDINGS = keys(
        Key("verdicts.label", "enter", "label", N_("Label"), N_("Label this run's verdicts or this set's items, blind")),
        Key("verdicts.draw", "d", "draw", N_("Draw"), N_("Draw a labelling set from the marked runs, or from this one")),
        Key("verdicts.list", "v", "list", N_("List"), N_("All verdicts of the marked runs, or of this one")),
        Key("verdicts.agreement", "a", "agreement", N_("Agreement"), N_("How far judge and people agree")),
        Key("verdicts.adjudicate", "j", "adjudicate", N_("Adjudicate"), N_("Decide where people, or people and judge, disagree")),
        Key("verdicts.fidelity", "f", "fidelity", N_("Fidelity"), N_("Whether simulators play the user as people do, and whether scores mean anything")),
        Key("verdicts.refresh", "r", "reload", N_("Refresh"), N_("Look again"), show=False),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = VerdictsSnapshot()

    def compose(self) -> ComposeResult:
        yield NavBar("verdicts")
        with Vertical(id="body"):
            yield Static("", id="heading", markup=False)
            yield ListTable(COLUMNS, marking=True, id="runs")
            yield Static("", id="sets-heading", markup=False)
            yield ListTable(SET_COLUMNS, id="sets")
            yield EmptyState(
                _("No verdicts yet"),
                _(
                    "A judge decides about every gold item of a trial. Here you decide about the same"
                    " items without seeing its verdict, and learn how far it can be trusted."
                ),
                ("3", _("Runs: n plays tasks and judges them; their verdicts appear here")),
                ("f", _("Fidelity: the simulated user held against people; re-play a dialogue")),
            )
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#body > *"):
            widget.display = False

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.load()

    @property
    def _table(self) -> ListTable:
        return self.query_one("#runs", ListTable)

    @property
    def _sets(self) -> ListTable:
        return self.query_one("#sets", ListTable)

    @guarded("verdicts")
    async def load(self) -> None:
        person = self.person
        snapshot = self._snapshot = await self.services.ask(
            lambda ws: verdicts_snapshot(ws, person)
        )
        for widget in (self._table, self.query_one("#heading"), self.query_one("#sets-heading")):
            widget.display = bool(snapshot.runs or snapshot.sets)
        self._sets.display = bool(snapshot.sets)
        self.query_one(EmptyState).display = not snapshot.runs and not snapshot.sets
        self.query_one("#heading", Static).update(
            _("Check the judge: label its verdicts without seeing them")
        )
        self.query_one("#sets-heading", Static).update(
            _("Labelling sets (Tab goes there)")
            if snapshot.sets
            else _("No labelling set yet: d draws one, by chance and in strata.")
        )
        self._table.fill([run_cells(r, probe=r.run_id in snapshot.probes) for r in snapshot.runs])
        self._sets.fill([set_cells(line) for line in snapshot.sets])
        if self.focused is None and (snapshot.runs or snapshot.sets):
            (self._table if snapshot.runs else self._sets).focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("label", "adjudicate", "agreement"):
            return bool(self._snapshot.runs or self._snapshot.sets)
        return bool(self._snapshot.runs) if action in ("draw", "list") else True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_label()

    def on_descendant_focus(self) -> None:
        self.refresh_bindings()

    def action_label(self) -> None:

        if self.focused is self._sets:
            row = self._sets.cursor_row
            if row < len(self._snapshot.sets):
                self.app.push_screen(over_set(self._snapshot.sets[row].set))
        elif run := self._run_here():
            self.app.push_screen(over_run(run))

    def action_list(self) -> None:
        from cuecard.tui.screens.labelling.verdict_list import VerdictListScreen

        if runs := self._snapshot.chosen(self._table.marked, self._table.cursor_row):
            self.app.push_screen(VerdictListScreen(runs))

    def action_draw(self) -> None:
        from cuecard.tui.screens.labelling.sample import SampleScreen

        if runs := self._snapshot.chosen(self._table.marked, self._table.cursor_row):
            self.app.push_screen(SampleScreen(runs, drawn=len(self._snapshot.sets)), self._drawn)

    def _drawn(self, made: bool | None) -> None:
        if made:
            self._sets.move_to(0)
            self.call_later(self._sets.focus)

    def action_agreement(self) -> None:
        from cuecard.tui.screens.agreement import AgreementScreen

        row = self._sets.cursor_row
        if self.focused is self._sets and row < len(self._snapshot.sets):
            drawn = self._snapshot.sets[row].set
            self.app.push_screen(AgreementScreen(None, drawn.name, set_id=drawn.id))
        elif run := self._run_here():
            self.app.push_screen(AgreementScreen(run.run_id, run.name))

    def action_adjudicate(self) -> None:
        from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen

        row = self._sets.cursor_row
        if self.focused is self._sets and row < len(self._snapshot.sets):
            drawn = self._snapshot.sets[row].set
            self.app.push_screen(AdjudicateScreen(drawn.name, set_id=drawn.id))
        elif run := self._run_here():
            self.app.push_screen(AdjudicateScreen(run.name, (run.run_id,)))

    def action_fidelity(self) -> None:
        from cuecard.tui.screens.fidelity.screen import FidelityScreen

        self.app.push_screen(FidelityScreen())

    def action_reload(self) -> None:
        self.load()

    def _run_here(self) -> RunLabels | None:
        row = self._table.cursor_row
        return self._snapshot.runs[row] if row < len(self._snapshot.runs) else None


def over_run(run: RunLabels) -> LabelScreen:
    """Label what I have not labelled of a run."""
    from cuecard.tui.screens.labelling.screen import LabelScreen

    return LabelScreen(run.run_id, run.name)


def over_set(label_set: LabelSet) -> LabelScreen:
    """Label what waits for me in a set."""
    from cuecard.tui.screens.labelling.screen import LabelScreen

    return LabelScreen(None, label_set.name, set_id=label_set.id)


def over_item(line: VerdictLine) -> LabelScreen:
    """Label one item, again if I did before."""
    from cuecard.annotate.labelling.views import Target
    from cuecard.tui.screens.labelling.screen import LabelScreen

    target = Target(trial_id=line.trial_id, item=line.item, verdict_id=line.verdict_id)
    return LabelScreen(line.run_id, line.task_id, targets=(target,))
