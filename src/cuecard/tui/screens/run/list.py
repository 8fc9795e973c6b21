"""The Runs screen: every run and play session of the workspace, newest first."""

import asyncio
import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cuecard.annotate.task_feedback import disputed_runs
from cuecard.core.evaluation.runs import create_run
from cuecard.core.i18n import N_, _
from cuecard.core.records import RunRecord, RunState, TaskSummary
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.grid import Grid
from cuecard.tui.present.players import player_choices
from cuecard.tui.present.runs import DISPUTED, disputed_legend, when
from cuecard.tui.widgets.lists import FittedColumn, FittedTable
from cuecard.tui.widgets.nav import EmptyState, NavBar

REFRESH = 1.5
"""Seconds between looks at runs that go on."""

COLUMNS = (
    FittedColumn(N_("Run"), 12, grow=3),
    FittedColumn(N_("Kind"), 5),
    FittedColumn(N_("State"), 13),
    FittedColumn(N_("Trials"), 9, right=True),
    FittedColumn(N_("By"), 6, grow=1),
    FittedColumn(N_("When"), 11),
)
_OF_RUNS = ("open", "compare", "errors", "plots", "report", "fidelity")
_KIND = {"grid": N_("run"), "play": N_("play"), "probe": N_("probe")}


class RunsSnapshot(Frozen):
    """What the screen shows."""

    runs: tuple[RunRecord, ...]
    tasks: int
    disputed: dict[int, int]


class RunsScreen(CuecardScreen[None]):
    """Lists runs; `n` starts one, Enter opens one."""

    CSS_PATH = "list.tcss"
    BINDINGS = keys(
        Key("runs.open", "enter", "open", N_("Open"), N_("Open the run"), show=False),
        Key("runs.new", "n", "new", N_("New run"), N_("Play many tasks with one or more agents")),
        Key(
            "runs.wizard",
            "w",
            "play_an_agent",
            N_("Play agent"),
            N_("Play the agent in a session that waits for a person"),
            show=False,
        ),
        Key(
            "runs.compare",
            "x",
            "compare",
            N_("Compare"),
            N_("The agents of this run, or of the marked runs"),
        ),
        Key(
            "runs.errors",
            "e",
            "errors",
            N_("Errors"),
            N_("What went wrong in this run, or in the marked ones"),
        ),
        Key(
            "runs.plots",
            "g",
            "plots",
            N_("Plots"),
            N_("This run, or the marked ones, drawn"),
            show=False,
        ),
        Key(
            "runs.report",
            "y",
            "report",
            N_("Report"),
            N_("A file on this run, or on the marked ones"),
        ),
        Key(
            "runs.fidelity",
            "f",
            "fidelity",
            N_("Fidelity"),
            N_("The user part of this run held against people; re-play it"),
        ),
        Key("runs.refresh", "r", "reload", N_("Refresh"), N_("Look again"), show=False),
    )

    def __init__(self) -> None:
        super().__init__()
        self._snapshot: RunsSnapshot | None = None
        self._warm = False

    def compose(self) -> ComposeResult:
        yield NavBar("runs")
        with Vertical(id="body"):
            yield FittedTable(COLUMNS, marking=True, id="runs")
            yield Static("", id="disputed", classes="muted", markup=False)
            yield EmptyState(
                _("No runs yet"),
                _(
                    "A run plays tasks with agents, judges the outcome and scores it. A dialogue that"
                    " you play yourself is listed here too."
                ),
                ("n", _("Start a run; the offline agent needs no model and no network")),
                ("2", _("Tasks: p plays one, with you as the user")),
                id="none",
            )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#none").display = self.query_one("#disputed").display = False
        self.query_one(FittedTable).focus()
        self.set_interval(REFRESH, self._look_again)

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.public_url)
        self.load()

    @guarded("runs")
    async def load(self) -> None:
        seen = self.services.live_runs.seen
        snapshot = await self.services.ask(
            lambda ws: RunsSnapshot(
                runs=tuple(map(seen, ws.runs.all())),
                tasks=ws.tasks.count(),
                disputed=disputed_runs(ws),
            )
        )
        if snapshot == self._snapshot:
            return
        before, marked = self._under_cursor(), {run.id for run in self._marked()}
        self._snapshot = snapshot
        at = next((i for i, run in enumerate(snapshot.runs) if run.id == before), None)
        self.query_one(FittedTable).fill([self._row(run) for run in snapshot.runs], cursor=at)
        self.query_one(FittedTable).mark(
            at for at, run in enumerate(snapshot.runs) if run.id in marked
        )
        self.query_one(FittedTable).display = bool(snapshot.runs)
        self.query_one("#none").display = not snapshot.runs
        self.refresh_bindings()
        told = self.query_one("#disputed", Static)
        told.display = bool(snapshot.disputed)
        told.update(disputed_legend())
        if snapshot.runs and not self._warm:
            self._warm = True
            self.warm(snapshot.runs[0].id)

    @guarded("warm", background=True)
    async def warm(self, run_id: int) -> None:
        """Import and read what a run opens with while nothing else is done."""
        await asyncio.to_thread(_import_run_screen)
        from cuecard.tui.present.runs import warm_up

        await self.services.ask(lambda ws: warm_up(ws, run_id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _OF_RUNS:
            return bool(self._snapshot and self._snapshot.runs)
        return super().check_action(action, parameters)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if self._snapshot and event.row < len(self._snapshot.runs):
            self.open_run(self._snapshot.runs[event.row])

    @guarded("open")
    async def open_run(self, run: RunRecord) -> None:
        """A run opens with its trials, a play session with its one trial."""
        if run.kind == "play":
            trials = await self.services.ask(lambda ws: ws.runs.trials(run.id))
            if len(trials) == 1:
                from cuecard.tui.screens.trial.screen import TrialScreen

                self.app.push_screen(TrialScreen(trials[0].id))
                return
        from cuecard.tui.screens.run.screen import RunScreen

        over = run.state is RunState.DONE
        self.app.push_screen(RunScreen(run.id, over=over))

    @guarded("new")
    async def action_new(self) -> None:
        from cuecard.tui.screens.run.start import RunStartDialog

        config = await self.services.config()
        tasks: list[TaskSummary] = await self.services.ask(lambda ws: ws.tasks.summaries())
        if not tasks:
            self.cue_app.tell(_("There is no task to play yet: 2 goes to Tasks."))
            return
        plan = await self.app.push_screen_wait(RunStartDialog(tasks, player_choices(config)))
        if plan is None:
            return
        person = self.person
        run = await self.services.ask(lambda ws: create_run(ws, plan, by=person, config=config))
        workspace = await self.services.ask(lambda ws: ws)
        self.services.live_runs.play(
            self.services.engine, workspace, run.id, config, plan.concurrency, by=person
        )
        self.open_run(run)

    def action_open(self) -> None:
        run = self._run_under_cursor()
        if run:
            self.open_run(run)

    def action_play_an_agent(self) -> None:
        self.cue_app.play_an_agent()

    def action_fidelity(self) -> None:
        from cuecard.tui.screens.fidelity.screen import FidelityScreen

        if runs := self._chosen():
            self.app.push_screen(FidelityScreen(*_named(runs)))

    def action_compare(self) -> None:
        from cuecard.tui.screens.results.compare import CompareScreen

        if runs := self._chosen():
            self.app.push_screen(CompareScreen(*_named(runs)))

    def action_errors(self) -> None:
        from cuecard.tui.screens.results.errors import ErrorsScreen

        if runs := self._chosen():
            self.app.push_screen(ErrorsScreen(*_named(runs)))

    def action_plots(self) -> None:
        from cuecard.tui.screens.results.plots import PlotsScreen

        if runs := self._chosen():
            self.app.push_screen(PlotsScreen(*_named(runs)))

    @guarded("report")
    async def action_report(self) -> None:
        from cuecard.tui.screens.results.figures import write_report

        if runs := self._chosen():
            await write_report(self, *_named(runs))

    def action_reload(self) -> None:
        self._snapshot = None
        self.load()

    def _row(self, run: RunRecord) -> list[str]:
        wrong = self._snapshot.disputed.get(run.id, 0) if self._snapshot else 0
        return [
            f"{DISPUTED} {wrong} {run.name}" if wrong else run.name,
            _(_KIND[run.kind]),
            run.state.told,
            f"{run.finished}/{run.trials}",
            run.created_by,
            when(run.created_at),
        ]

    def _run_under_cursor(self) -> RunRecord | None:
        row = self.query_one(FittedTable).cursor_row
        runs = self._snapshot.runs if self._snapshot else ()
        return runs[row] if 0 <= row < len(runs) else None

    def _marked(self) -> list[RunRecord]:
        marked = self.query_one(FittedTable).marked
        return [
            run
            for at, run in enumerate(self._snapshot.runs if self._snapshot else ())
            if at in marked
        ]

    def _chosen(self) -> list[RunRecord]:
        """The marked runs, oldest first; without any, the one under the cursor."""
        run = self._run_under_cursor()
        return self._marked()[::-1] or ([run] if run else [])

    def _under_cursor(self) -> int | None:
        run = self._run_under_cursor()
        return run.id if run else None

    def _look_again(self) -> None:
        going_on = self._snapshot and any(
            run.state is RunState.RUNNING for run in self._snapshot.runs
        )
        if going_on and self.is_current:
            self.cue_app.in_background(self.load())


def _named(runs: Sequence[RunRecord]) -> tuple[tuple[int, ...], str]:
    """The runs' ids, and what they are called together."""
    return tuple(run.id for run in runs), " · ".join(one_line(run.name, 30) for run in runs)


def _import_run_screen() -> None:
    modules = ("numpy", "cuecard.tui.screens.run", "cuecard.tui.screens.trial")
    if all(module in sys.modules for module in modules):
        return
    for module in modules:
        import_module(module)
    # They stay: a collection while scores are read must not look at them.
    gc.collect()
    gc.freeze()
