"""The Runs screen: every run and play session of the workspace, newest first."""

import asyncio
import gc
import sys
from collections.abc import Hashable, Sequence
from importlib import import_module

from cuecard.annotate.task_feedback import disputed_runs
from cuecard.core.evaluation.runs import create_run
from cuecard.core.i18n import N_, _
from cuecard.core.records import RunRecord, RunState, TaskSummary
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column
from cuecard.tui.present.players import player_choices
from cuecard.tui.present.runs import DISPUTED, disputed_legend, when
from cuecard.tui.widgets.nav import EmptyState

_KIND = {"grid": N_("run"), "play": N_("play"), "probe": N_("probe")}


class RunsScreen(ListScreen[RunRecord]):
    """Lists runs; `n` starts one, Enter opens one."""

    PLACE = "runs"
    MARKING = True
    NEED_ROW = ("open", "compare", "errors", "plots", "report", "fidelity")
    BINDINGS = keys(
        Key("runs.open", "enter", "open", N_("Open"), N_("Open the run"), show=False),
        Key("runs.new", "n", "new", N_("New run"), N_("Play many tasks with one or more agents")),
        Key("runs.wizard", "w", "play_an_agent", N_("Play agent"), N_("Play the agent in a session that waits for a person"), show=False),
        Key("runs.compare", "x", "compare", N_("Compare"), N_("The agents of this run, or of the marked runs")),
        Key("runs.errors", "e", "errors", N_("Errors"), N_("What went wrong in this run, or in the marked ones")),
        Key("runs.plots", "g", "plots", N_("Plots"), N_("This run, or the marked ones, drawn"), show=False),
        Key("runs.report", "y", "report", N_("Report"), N_("A file on this run, or on the marked ones")),
        Key("runs.fidelity", "f", "fidelity", N_("Fidelity"), N_("The user part of this run held against people; re-play it")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._disputed: dict[int, int] = {}
        self._warm = False

    def columns(self) -> Sequence[Column[RunRecord]]:
        return (
            Column(N_("Run"), self._run_name, grow=3, least=12, sort=lambda run: run.name.casefold()),
            Column(N_("Kind"), lambda run: _(_KIND[run.kind])),
            Column(N_("State"), lambda run: run.state.told),
            Column(N_("Trials"), lambda run: f"{run.finished}/{run.trials}", right=True),
            Column(N_("By"), lambda run: run.created_by, grow=1, least=6),
            Column(N_("When"), lambda run: when(run.created_at), sort=lambda run: run.created_at),
        )  # fmt: skip

    def key(self, row: RunRecord) -> int:
        return row.id

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No runs yet"),
            _(
                "A run plays tasks with agents, judges the outcome and scores it. A dialogue that"
                " you play yourself is listed here too."
            ),
            ("n", _("Start a run; the offline agent needs no model and no network")),
            ("2", _("Tasks: p plays one, with you as the user")),
        )

    async def read(self) -> Sequence[RunRecord]:
        seen = self.services.live_runs.seen
        runs, self._disputed = await self.services.ask(
            lambda ws: (tuple(map(seen, ws.runs.all())), disputed_runs(ws))
        )
        return runs

    def show(self, rows: Sequence[RunRecord], to: Hashable = None) -> None:
        super().show(rows, to)
        if rows and not self._warm:
            self._warm = True
            self.warm(rows[0].id)

    def note(self) -> str:
        return disputed_legend() if self._disputed else ""

    @guarded("warm", background=True)
    async def warm(self, run_id: int) -> None:
        """Import and read what a run opens with while nothing else is done."""
        await asyncio.to_thread(_import_run_screen)
        from cuecard.tui.present.runs import warm_up

        await self.services.ask(lambda ws: warm_up(ws, run_id))

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
        if self.row:
            self.open_run(self.row)

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

    def _run_name(self, run: RunRecord) -> str:
        wrong = self._disputed.get(run.id, 0)
        return f"{DISPUTED} {wrong} {run.name}" if wrong else run.name

    def _chosen(self) -> list[RunRecord]:
        """The marked runs, oldest first; without any, the one under the cursor."""
        return sorted(self.view.chosen, key=lambda run: run.id)


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
