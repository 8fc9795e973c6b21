"""One run: its trials as they are played, and the scores of those that are judged."""

from __future__ import annotations

import time
from dataclasses import dataclass

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Footer, Static, TabbedContent, TabPane

from cuecard.annotate.adjudication.gold import disputed_runs
from cuecard.core.i18n import N_, _
from cuecard.lab.scores import RunScores, score_as_judged
from cuecard.store.records import RunRecord, RunState, TrialRecord, UsageRecord
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.state.gold_disputes import disputed_lines
from cuecard.tui.state.runs import (
    TrialRow,
    counts,
    heading,
    mosaic,
    pause_reason,
    progress,
    score_rows,
    spending,
    trial_row,
)
from cuecard.tui.state.transcript import Piece
from cuecard.tui.widgets.fitted_table import FittedColumn, FittedTable
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.pieces import Lines, as_text

REFRESH = 1.0
"""Seconds between looks at a run that goes on."""
SCORING_SHARE = 10
"""Scoring reads every log: it may take at most one part in so many of the time."""
CONCURRENCY = 4

TRIAL_COLUMNS = (
    FittedColumn(N_("Task"), 14, grow=3),
    FittedColumn(N_("Agent"), 8, grow=1),
    FittedColumn(N_("Sample"), 6, right=True),
    FittedColumn(N_("State"), 13),
    FittedColumn(N_("Turns"), 5, right=True),
    FittedColumn(N_("Score"), 16, grow=1),
)
SCORE_COLUMNS = (
    FittedColumn(N_("Measure"), 20, grow=1),
    FittedColumn(N_("Value"), 8, right=True),
    FittedColumn(N_("Tasks"), 6, right=True),
    FittedColumn(N_("Samples"), 8, right=True),
)


@dataclass(frozen=True)
class Look:
    """What a look at the workspace found."""

    run: RunRecord
    trials: list[TrialRecord]
    usage: list[UsageRecord]
    disputed: int = 0


class RunScreen(CuecardScreen[None]):
    """Takes a run's id. While it goes on, the screen looks again and again."""

    CSS_PATH = "run.tcss"
    BINDINGS = keys(
        Key("run.back", "escape", "app.pop_screen", N_("Back"), N_("Back; the run goes on")),
        Key("run.open", "enter", "open", N_("Open trial"), N_("Read the trial"), show=False),
        Key("run.trials", "t", "show('trials-tab')", N_("Trials"), N_("The trials of the grid")),
        Key("run.scores", "s", "show('scores-tab')", N_("Scores"), N_("Measures per agent")),
        Key(
            "run.replay",
            "p",
            "replay",
            N_("Re-play"),
            N_("Decide the trial's cues myself, turn by turn, before I am told"),
        ),
        Key(
            "run.fidelity",
            "f",
            "fidelity",
            N_("Fidelity"),
            N_("The user part of this run held against people"),
        ),
        Key(
            "run.cancel",
            "c",
            "cancel",
            N_("Stop"),
            N_("Stop here; open trials can be resumed where they stand"),
        ),
        Key(
            "run.resume",
            "r",
            "resume",
            N_("Resume"),
            N_("Play the open trials on, each from its last event"),
        ),
    )

    def __init__(self, run_id: int) -> None:
        super().__init__()
        self._run_id = run_id
        self._look: Look | None = None
        self._rows: list[TrialRow] = []
        self._scores: RunScores | None = None
        self._scored_at = -1
        self._next_scoring = 0.0
        self._told = False

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        with TabbedContent():
            with TabPane(_("Trials"), id="trials-tab"):
                yield FittedTable(TRIAL_COLUMNS, id="trials")
            with TabPane(_("Scores"), id="scores-tab"):
                yield Static("", id="scores-note", markup=False)
                yield FittedTable(SCORE_COLUMNS, id="scores")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#trials", FittedTable).focus()
        self.set_interval(REFRESH, self._look_again)

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("run")
    async def load(self) -> None:
        run_id = self._run_id
        self._look = await self.services.ask(
            lambda ws: Look(
                run=ws.runs.get(run_id),
                trials=ws.runs.trials(run_id),
                usage=ws.runs.usage(run_id),
                disputed=disputed_runs(ws).get(run_id, 0),
            )
        )
        self._show()
        self._tell_the_end()
        if self._scoring_due:
            self.score()

    @guarded("score")
    async def score(self) -> None:
        """Score what is judged by now."""
        run_id, began = self._run_id, time.monotonic()
        self._scored_at = self._look.run.finished if self._look else 0
        self._scores = await self.services.ask(lambda ws: score_as_judged(ws, run_id))
        now = time.monotonic()
        self._next_scoring = now + SCORING_SHARE * (now - began)
        self._show_scores(self._scores)
        self._show()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        if event.grid.id == "trials":
            self.action_open()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        live = self.services.live_runs.going_on(self._run_id)
        if action == "cancel":
            return live
        if action == "resume":
            run = self._look.run if self._look else None
            return run is not None and not live and run.kind != "play" and run.finished < run.trials
        if action == "replay":
            return bool(self._rows)
        return True

    def action_open(self) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        row = self.query_one("#trials", FittedTable).cursor_row
        if 0 <= row < len(self._rows):
            self.app.push_screen(TrialScreen(self._rows[row].trial_id))

    def action_replay(self) -> None:
        from cuecard.tui.screens.replay import ReplayScreen

        row = self.query_one("#trials", FittedTable).cursor_row
        if 0 <= row < len(self._rows):
            self.app.push_screen(ReplayScreen(self._rows[row].trial_id))

    def action_fidelity(self) -> None:
        from cuecard.tui.screens.fidelity import FidelityScreen

        if self._look:
            self.app.push_screen(FidelityScreen((self._run_id,), self._look.run.name))

    def action_show(self, pane: str) -> None:
        self.query_one(TabbedContent).active = pane
        self.query_one(f"#{pane} Grid").focus()

    @guarded("cancel")
    async def action_cancel(self) -> None:
        live = self._live
        question = _("Open trials stay as they are and can be resumed with r.")
        dialog = ConfirmDialog(_("Stop this run?"), question, _("Stop it"))
        if live and await self.app.push_screen_wait(dialog):
            live.control.pause()
            self.cue_app.tell(_("Stopping when the calls under way are answered…"))

    @guarded("resume")
    async def action_resume(self) -> None:
        if self._look and self._look.run.state is RunState.RUNNING:
            question = _(
                "It was neither finished nor stopped. If it is being played in another window or on"
                " another machine, leave it alone; if that was killed, go on."
            )
            dialog = ConfirmDialog(_("Play this run on here?"), question, _("Play it on"))
            if not await self.app.push_screen_wait(dialog):
                return
        config = await self.services.config()
        workspace = await self.services.ask(lambda ws: ws)
        self.services.live_runs.play(
            self.services.engine, workspace, self._run_id, config, CONCURRENCY
        )
        self._told = False
        self.load()

    @property
    def _live(self) -> LiveRun | None:
        return self.services.live_runs.get(self._run_id)

    @property
    def _playing(self) -> dict[int, int]:
        return self._live.playing if self._live else {}

    @property
    def _scoring_due(self) -> bool:
        look = self._look
        if look is None or look.run.finished == self._scored_at:
            return False
        return time.monotonic() >= self._next_scoring or not self._going_on

    @property
    def _going_on(self) -> bool:
        return self.services.live_runs.going_on(self._run_id)

    def _look_again(self) -> None:
        running = self._look is not None and self._look.run.state is RunState.RUNNING
        if self.is_current and (self._going_on or running or self._scoring_due):
            self.load()

    def _show(self) -> None:
        look, playing = self._look, self._playing
        if look is None:
            return
        lines = [
            heading(look.run, here=self._going_on),
            [*progress(look.run), Piece("   "), *counts(look.trials, playing)],
            *spending(look.usage),
            *pause_reason(look.run, here=self._going_on),
            *disputed_lines(look.disputed),
        ]
        tiles = mosaic(look.trials, playing)
        self.query_one("#head", Lines).load([*lines, tiles] if tiles else lines)
        self._show_trials(look, playing)
        self.refresh_bindings()

    def _show_trials(self, look: Look, playing: dict[int, int]) -> None:
        scored = {s.trial.id: s.scores for s in self._scores.trials} if self._scores else {}
        rows = [trial_row(trial, playing, scored.get(trial.id)) for trial in look.trials]
        table = self.query_one("#trials", FittedTable)
        if len(rows) != len(self._rows):
            table.fill([self._cells(row) for row in rows])
        else:
            for index, (old, new) in enumerate(zip(self._rows, rows, strict=True)):
                if old != new:
                    table.update_row(index, self._cells(new))
        self._rows = rows

    def _cells(self, row: TrialRow) -> list[str | Text]:
        badge = as_text([row.badge], self.app.theme_variables)
        return [row.task, row.agent, row.sample, badge, row.turns, row.score]

    def _show_scores(self, scores: RunScores) -> None:
        variables = self.app.theme_variables
        rows = [
            (as_text([name], variables), value, n, samples)
            for name, value, n, samples in score_rows(scores)
        ]
        self.query_one("#scores", FittedTable).fill(rows)
        note = _("Judge: {judge}. Means over tasks; n is the number of tasks.")
        self.query_one("#scores-note", Static).update(note.format(judge=scores.judge))

    def _tell_the_end(self) -> None:
        """Once: why the run stopped, or what went wrong in it."""
        live = self._live
        if live is None or live.going_on or self._told:
            return
        self._told = True
        trouble = live.trouble() or live.halt()
        if trouble:
            self.report(trouble)
        elif live.problems:
            first = next(iter(live.problems.values()))
            text = _("Trials with a problem: {n}. The first: {reason}")
            self.cue_app.tell(text.format(n=len(live.problems), reason=first))
