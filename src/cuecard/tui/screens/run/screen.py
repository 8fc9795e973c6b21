"""The Run screen: a run's trials while they are played, and scores of judged ones."""

import asyncio
import time
from collections.abc import Mapping
from typing import Literal

from textual.app import ComposeResult

from cuecard.annotate.labelling.corrections import Corrections
from cuecard.annotate.results.corrected import corrections_in
from cuecard.annotate.results.pool import Pool
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.records import RunState
from cuecard.core.verdicts import Measures
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import KeyBar
from cuecard.tui.app import guarded
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.run_snapshot import RunSnapshot, head_lines, run_snapshot, tab_line
from cuecard.tui.present.scores import Cut, ScoreView, Tables, count_both, scores_by_trial
from cuecard.tui.screens.run.actions import SCREEN_KEYS, Keys, RunActions, refresh_keys
from cuecard.tui.screens.run.scores import ScoresPane
from cuecard.tui.screens.run.start import open_run
from cuecard.tui.screens.run.trials import TrialsPane
from cuecard.tui.widgets.text import HeadLines, Lines

REFRESH = 0.5
"""Seconds between frames of a run that goes on here; they read no database."""
LOOK_HERE, LOOK_ELSEWHERE = 15.0, 5.0
"""Seconds between looks at the workspace, at least, while a run goes on."""
SHARE = 10
"""Reading and scoring may take at most this fraction of the time: one part in ten."""

_CHANGING = ("rescore", "pause", "cancel", "concurrency", "resume", "budget", "replay", "compare")
PaneName = Literal["trials", "scores"]


class _Left(Exception):
    """Raised in the thread of a computation that nobody waits for any more."""


class RunScreen(RunActions):
    """Shows the run with this id; one known to be over begins with its scores. A running one is updated live. In place of a judge's exam its
    probes are shown.
    """

    CSS_PATH = "run.tcss"
    AUTO_FOCUS = ""
    VERTICAL_BREAKPOINTS = [(0, "-short"), (34, "-tall")]
    BINDINGS = SCREEN_KEYS

    def __init__(self, run_id: int, *, over: bool = False) -> None:
        super().__init__(run_id)
        self._over = over
        self._pane: PaneName = "scores" if over else "trials"
        self._cut = Cut()
        self._view: ScoreView | None = None
        self._corrections: Corrections | None = None
        self._scores: Mapping[int, Measures] = {}
        self._scored_at = -1
        self._scored_once = asyncio.Event()
        self._next_scoring = self._next_look = 0.0
        self._was_on = False
        self._counted: tuple[int, int] | None = None
        self._currency = self._refused = ""
        self._keys: Keys = ()

    @property
    def shown_view(self) -> str:
        return f"show('{self._pane}')"

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        yield Lines(id="tabs")
        yield TrialsPane(id="trials")
        yield ScoresPane(id="scores")
        yield KeyBar()

    def on_mount(self) -> None:
        self._show_pane(self._pane)
        if self._over:
            self.score()
        self.set_interval(REFRESH, self._tick)
        self.set_interval(0.25, self._tell_counting)

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("run")
    async def load(self) -> None:
        run_id, live, began = self._run_id, self.live, time.monotonic()
        opened = self._snapshot is None
        first = opened and not self._over
        snapshot = await self.services.ask(lambda ws: run_snapshot(ws, run_id, live, head=opened))
        if opened and snapshot.run.is_exam:
            from cuecard.tui.screens.exam import ExamScreen

            self.app.switch_screen(ExamScreen(run_id))
            return
        if not snapshot.whole:
            self._show_head(snapshot)
            if self._over:
                await self._scored_once.wait()  # Both at once would leave the keys no time.
            pool = self._view.pool if self._view else None
            snapshot = await self.services.ask(lambda ws: run_snapshot(ws, run_id, live, pool=pool))
        self._snapshot = snapshot
        if opened:
            self.cue_app.opened("run", snapshot.run.name, run_id=run_id)
        now = time.monotonic()
        least = LOOK_HERE if self.going_on else LOOK_ELSEWHERE
        self._next_look = now + max(least, SHARE * (now - began))
        self._was_on = self.going_on
        if self._over and self._scored_at < 0:
            self._scored_at = snapshot.run.finished  # it was begun with the screen
        if first and snapshot.run.state is RunState.DONE and not self.going_on:
            self._show_pane("scores")
        self._show()
        self._tell_the_end()
        if self._scoring_due:
            self.score()
        if opened and snapshot.trials:
            # When the scores are on the screen: it would hold them up.
            trial = snapshot.trials[0].id
            self.set_timer(1.0, lambda: self.prepare(trial))
        if not self._currency and (snapshot.budget is not None or snapshot.spent.cost is not None):
            self._currency = (await self.services.config()).currency
            self._show()

    @guarded("prepare", background=True)
    async def prepare(self, trial_id: int) -> None:
        """Import what opening a trial needs, so that the first opens as fast as the others."""

        def work(workspace: Workspace) -> None:
            from cuecard.tui.screens.trial.screen import prepare

            prepare(workspace, trial_id)

        await self.services.ask(work)

    @guarded("score", background=True)
    async def score(self) -> None:
        """Score what is judged by now."""
        run_id, began, cut = self._run_id, time.monotonic(), self._cut
        if self._snapshot is not None:
            self._scored_at = self._snapshot.since(self.live).run.finished
        self._counted, self._refused = (0, 0), ""

        def told(done: int, of: int) -> None:
            if not self.is_running:
                raise _Left
            self._counted = (done, of)

        def work(workspace: Workspace) -> tuple[Pool, Corrections, Tables, dict[int, Measures]]:
            pool = self.services.pool(workspace, (run_id,), on_count=told)
            corrections = corrections_in(workspace, pool)
            tables = count_both(pool, cut, corrections)
            return pool, corrections, tables, scores_by_trial(pool)

        try:
            pool, self._corrections, tables, self._scores = await self.services.ask(work)
        except NotAllowed as error:
            self._refused = str(error)
            raise
        finally:
            self._counted = None  # not told here: the screen may have been left
            self._scored_once.set()
        self._tell_counting()
        now = time.monotonic()
        self._next_scoring = now + SHARE * (now - began)
        self._show_scores(pool, cut, tables)
        self._show()
        if cut != self._cut:
            self.recount()

    @guarded("recount", background=True)
    async def recount(self) -> None:
        """Count the same trials in another way."""
        view, cut, told = self._view, self._cut, self._corrections
        if view is not None:
            pool = view.pool
            tables = await self.services.ask(lambda _ws: count_both(pool, cut, told))
            self._show_scores(pool, cut, tables)

    def on_trials_pane_opened(self, event: TrialsPane.Opened) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        event.stop()
        self.app.push_screen(TrialScreen(event.trial_id))

    def on_trials_pane_again_wanted(self, event: TrialsPane.AgainWanted) -> None:
        event.stop()
        self.play_again(event.trials)

    def on_scores_pane_behind_wanted(self, event: ScoresPane.BehindWanted) -> None:
        event.stop()
        self._show_trials()
        self._trials.list_behind(event.behind)
        self._show_pane("trials")

    def on_scores_pane_cut_wanted(self, event: ScoresPane.CutWanted) -> None:
        event.stop()
        self._cut = event.cut
        self.recount()

    def action_back(self) -> None:
        """From the trials behind a figure to the figure; then a filter is taken off; then the screen is left."""
        if self._pane == "trials" and self._trials.narrowed:
            to_scores = self._trials.behind is not None
            self._trials.list_all()
            if to_scores:
                self._show_pane("scores")
        else:
            self.dismiss()

    def action_compare(self) -> None:
        """Two marked trials with each other; else the run's agents."""
        if self._pane == "trials" and len(self._trials.table.marked) == 2:
            self._trials.action_pair()
        else:
            super().action_compare()

    def action_show(self, pane: PaneName) -> None:
        self._show_pane(pane)

    @property
    def trial_under_cursor(self) -> int | None:
        entry = self._trials.entry if self._snapshot and self._pane == "trials" else None
        return entry.trial.id if entry else None

    @property
    def _trials(self) -> TrialsPane:
        return self.query_one(TrialsPane)

    @property
    def _scoring_due(self) -> bool:
        snapshot = self._snapshot.since(self.live) if self._snapshot else None
        if (
            snapshot is None
            or snapshot.run.finished == self._scored_at
            or self._counted is not None
        ):
            return False
        return time.monotonic() >= self._next_scoring or not self.going_on

    def _tick(self) -> None:
        snapshot = self._snapshot
        if snapshot is None or not self.is_current:
            return
        now, on = time.monotonic(), self.going_on
        self._watch_rescoring()
        over = self._was_on and not on
        if over or ((on or snapshot.run.state is not RunState.DONE) and now >= self._next_look):
            self.cue_app.in_background(self.load())
        elif on:
            self._show()
        if on and self._scoring_due:
            self.score()

    def _watch_rescoring(self) -> None:
        """Show how far it is, and what comes of it once it is over."""
        live, self._rescored = self._rescored, self.rescoring
        if self._rescored is not None and self._snapshot is not None:
            self._show_head(self._snapshot)
        elif live is not None:
            self._show()
            if (stopped := live.stopped_by()) is not None:
                self.report(stopped)
            for why in live.failures[:3]:
                self.cue_app.tell(_("Some trials were not judged: {why}").format(why=why))
            if live.run is not None and live.run.state is RunState.DONE:
                open_run(self, live.run)

    def _tell_counting(self) -> None:
        said = self._refused
        if self._counted is not None:
            done, of = self._counted
            said = (
                _("Counting {done}/{all} trials …").format(done=done, all=of)
                if of
                else _("Counting …")
            )
        self.query_one(ScoresPane).counting(said)

    def _show_pane(self, pane: PaneName) -> None:
        self._pane = pane
        if pane == "trials":
            self._show_trials()
        panes = {"trials": self._trials, "scores": self.query_one(ScoresPane)}
        for name, widget in panes.items():
            widget.display = name == pane
        panes[pane].table.focus()
        self.query_one("#tabs", Lines).load([tab_line(pane)])
        self.refresh_bindings()

    def _show(self) -> None:
        if self._snapshot is None:
            return
        self._show_head(self._snapshot.since(self.live))
        if self._pane == "trials":
            self._show_trials()
        self._keys = refresh_keys(self, _CHANGING, self._keys)

    def _show_head(self, snapshot: RunSnapshot) -> None:
        lines = head_lines(snapshot, self.live, self._currency, self.size.width)
        if (one := self._rescored) is not None:
            told = _("Judging with {judge}: {done} of {total}, {calls} calls").format(
                judge=one.judge, done=one.done, total=one.total, calls=one.calls
            )
            lines.append([Piece(told, "stage")])
        self.query_one("#head", Lines).load(lines)

    def _show_trials(self) -> None:
        if self._snapshot is not None:
            live = self.live
            playing, problems = (live.playing, live.problems) if live else ({}, {})
            trials = self._snapshot.since(live).trials
            self._trials.load(trials, playing, self._scores, problems, self._snapshot.tags)

    def _show_scores(self, pool: Pool, cut: Cut, tables: Tables) -> None:
        view = self._view or ScoreView(pool)
        view.load(pool, cut, *tables)
        self._view = view
        self.query_one(ScoresPane).load(view)

    def _tell_the_end(self) -> None:
        """Once: why the run stopped, or what went wrong in it."""
        live = self.live
        if live is None or live.going_on or self._told:
            return
        self._told = True
        trouble = live.trouble() or live.halt()
        if trouble:
            self.report(trouble)
        elif live.problems:
            first = next(iter(live.problems.values()))
            text = _("Trials with a problem: {n}. The first: {reason}")
            self.cue_app.tell(text.format(n=f"{len(live.problems):,}", reason=first))
