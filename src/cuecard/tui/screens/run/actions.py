"""The keys of the Run screen and their effects on the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from textual.screen import Screen
from textual.widget import Widget

from cuecard.core.config import Config
from cuecard.core.evaluation.offering import give_order
from cuecard.core.evaluation.runs import change_budget
from cuecard.core.i18n import N_, _, joined, ngettext
from cuecard.core.records import OrderKind, RunRecord, RunState
from cuecard.core.tasks.base import Frozen
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.live_runs import LiveRescoring, LiveRun
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.run_snapshot import UNSETTLED, RunSnapshot, left_words, rescoring_words
from cuecard.tui.present.runs import played_by
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog
from cuecard.tui.screens.run.start import WAIT, AboutRuns, offer_to_workers, open_run, why_alone

if TYPE_CHECKING:
    from cuecard.annotate.results.rescored import RescoreReport
    from cuecard.core.evaluation.rescoring import RescorePlan

CONCURRENCY = 4


class _Cost(Frozen):
    budget: Annotated[
        float | None, Field(title=N_("Budget"), description=N_("none"), gt=0, lt=1e9)
    ] = None


class _Concurrency(Frozen):
    trials: Annotated[int, Field(title=N_("Trials at a time"), ge=1, le=1024)] = CONCURRENCY


class RunActions(AboutRuns):
    """Base of screens about one run."""

    def __init__(self, run_id: int) -> None:
        super().__init__()
        self._run_id = run_id
        self._snapshot: RunSnapshot | None = None
        self._told = False
        self._rescored: LiveRescoring | None = None

    def load(self) -> object:
        """Look at the workspace again."""
        raise NotImplementedError

    @property
    def trial_under_cursor(self) -> int | None:
        raise NotImplementedError

    @property
    def live(self) -> LiveRun | None:
        """The run as it is or was played in this process."""
        return self.services.live_runs.get(self._run_id)

    @property
    def going_on(self) -> bool:
        return self.services.live_runs.going_on(self._run_id)

    @property
    def elsewhere(self) -> bool:
        """Whether another process plays the run, as far as is known."""
        run = self._snapshot.run if self._snapshot else None
        known = run is not None and run.state is RunState.RUNNING and run.lease is not None
        return known and not self.going_on

    @property
    def rescoring(self) -> LiveRescoring | None:
        """The judging of this run on corrected gold, while this process does it."""
        live = self.services.live_runs.rescorings.get(self._run_id)
        return live if live is not None and live.going_on else None

    @property
    def waiting(self) -> bool:
        """Whether its trials wait for workers, and none of them is playing any."""
        return self._snapshot is not None and self._snapshot.waiting

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        run, live = self._snapshot.run if self._snapshot else None, self.live
        match action:
            case "pause":
                if self.going_on:
                    return live is not None and not live.stopping
                return self.elsewhere
            case "cancel" | "concurrency":
                ends = action == "cancel" and (self.waiting or self.rescoring is not None)
                return self.going_on or self.elsewhere or ends
            case "rescore":
                mine = run is not None and run.kind == "grid" and run.finished > 0
                return mine and not self.going_on and self.rescoring is None
            case "resume":
                if run is None or self.going_on or run.kind == "play":
                    return False
                # All may have ended, and whoever played it have been killed before all were judged.
                return run.finished < run.trials or run.state in UNSETTLED
            case "budget":
                return run is not None and run.kind != "play"
            case "replay":
                return self.trial_under_cursor is not None
            case "workers":
                return self._snapshot is not None and self._snapshot.handout is not None
            case "compare" | "errors" | "suspects" | "plots" | "report":
                return run is not None and run.finished > 0
            case _:
                return True

    @guarded("order")
    async def action_pause(self) -> None:
        live = self.live
        if live is None or not self.going_on:
            await self._order("pause")
        else:
            live.pause()
            told = _("Pausing. The calls under way get {n} seconds; {PLAY} goes on with the run.")
            self.cue_app.tell(hint(told, n=f"{live.control.grace:g}"))

    def action_workers(self) -> None:
        from cuecard.tui.screens.run.trials import RunWorkersScreen

        self.app.push_screen(RunWorkersScreen(self._run_id))

    @guarded("rescore")
    async def action_rescore(self) -> None:
        """Tell what judging this run on corrected gold takes, and have it done."""
        from cuecard.annotate.results.rescored import report_on
        from cuecard.core.evaluation.ended_work import offer_rescoring
        from cuecard.core.evaluation.rescoring import plan_rescoring, rescored_already

        run_id, services, config = self._run_id, self.services, await self.services.config()

        def planned(ws: Workspace) -> tuple[RescorePlan, RunRecord | None, RescoreReport]:
            plan = plan_rescoring(ws, run_id)
            return plan, rescored_already(ws, plan), report_on(ws, plan, None)

        plan, done, report = await services.ask(planned)
        if not plan.changed:
            unchanged = _("No gold has changed since {run}.").format(run=plan.run.name)
            self.cue_app.tell("\n".join(left_words(report)) or unchanged)
            return
        if done is not None:
            told = _("The rescored trials are run {id}, “{name}”.")
            self.cue_app.tell(told.format(id=done.id, name=done.name))
            open_run(self, done)
            return
        usage, alone = await services.ask(lambda ws: (ws.runs.usage(run_id), why_alone(ws)))
        title = _("Rescore on the corrected gold?")
        text = rescoring_words(report, usage, config.currency)
        ways = [("here", "h", _("Judge here"))]
        if not alone:
            ways.append(("workers", "w", _("Workers judge it")))
        way = await self.app.push_screen_wait(ChoiceDialog(title, text, ways))
        workspace = await services.ask(lambda ws: ws)
        if way == "here":
            # Known here even where it is over before the screen looks again.
            self._rescored = services.live_runs.rescorings[run_id] = LiveRescoring(plan)
            self._rescored.start(services.engine, workspace, config, self.person)
            self.refresh_bindings()
        elif way == "workers":
            offer = offer_rescoring(workspace, plan, config, by=self.person)
            made = await services.engine.perform(offer)
            self.cue_app.tell(_(WAIT))
            open_run(self, made)

    @guarded("cancel")
    async def action_cancel(self) -> None:
        if (rescoring := self.rescoring) is not None:
            rescoring.control.drain()
            told = _("Stopping. The calls under way get {n} seconds.")
            self.cue_app.tell(told.format(n=f"{rescoring.control.grace:g}"))
            return
        live = self.live if self.going_on else None
        if live is not None and live.stopping:
            dialog = ConfirmDialog(
                _("Stop at once?"),
                _(
                    "Calls under way are given up, and what they cost is lost. The trials stay open."
                ),
                _("Stop at once"),
            )
        else:
            question = hint(_("Open trials stay as they are and can be resumed with {PLAY}."))
            dialog = ConfirmDialog(_("Stop this run?"), question, _("Stop it"))
        if await self.app.push_screen_wait(dialog):
            if live is None:
                await self._order("cancel")
                return
            live.stop()
            if live.control.cancelled:
                self.cue_app.tell(_("Stopping at once…"))
            else:
                told = _("Stopping. The calls under way get {n} seconds.")
                self.cue_app.tell(hint(told, n=f"{live.control.grace:g}"))

    @guarded("resume")
    async def action_resume(self) -> None:
        if self._played_elsewhere() or not await self._affordable():
            return
        if self._snapshot is not None and self._snapshot.handout is not None:
            if not self.waiting:
                await self._order("resume")
                return
            question = ConfirmDialog(
                _("Play it here, without workers?"),
                _("Its trials wait for workers: `cuecard worker` on any machine plays them."),
                _("Play here"),
            )
            if not await self.app.push_screen_wait(question):
                return
        await self._play(())

    @guarded("resume")
    async def play_again(self, trials: tuple[int, ...]) -> None:
        """Have these failed trials played again, after asking."""
        if self.going_on:
            self.cue_app.tell(_("The run goes on: play failed trials again when it is over."))
            return
        if self._played_elsewhere() or not await self._affordable():
            return
        text = ngettext(
            "{n} failed trial is played again: from where it stopped, or from its start if the same words would"
            " lead to the same end. What was recorded stays in its log.",
            "{n} failed trials are played again: from where they stopped, or from their start if the same"
            " words would lead to the same end. What was recorded stays in their logs.",
            len(trials),
        ).format(n=len(trials))
        title = _("Play failed trials again?")
        if self._snapshot is not None and self._snapshot.handout is not None:
            ways = ("workers", "w", _("Workers play them")), ("here", "h", _("Play here"))
            way = await self.app.push_screen_wait(ChoiceDialog(title, text, ways))
            if way == "workers":
                await offer_to_workers(self, self._run_id, "retry", trials)
                self.load()
            if way != "here":
                return
        elif not await self.app.push_screen_wait(ConfirmDialog(title, text, _("Play them again"))):
            return
        await self._play(trials)

    @guarded("budget")
    async def action_budget(self) -> None:
        await self._change_budget()

    async def _affordable(self) -> bool:
        """Whether some of the budget is left; if not, whether the person, told so, gave the run more than was spent."""
        if self._snapshot is None or not self._snapshot.has_spent(self._snapshot.budget):
            return True
        return await self._change_budget(
            _("Its budget is spent: with a larger one the run goes on.")
        )

    async def _change_budget(self, why: str = "") -> bool:
        """Ask for another budget; whether the run may spend more now than it has. `why`: what is told before."""
        if (snapshot := self._snapshot) is None:
            return False
        config = await self.services.config()
        live = self.live if self.going_on else None
        budget = live.budget.amount if live else snapshot.budget
        spent = "–" if snapshot.spent.cost is None else f"{snapshot.spent.cost:.4f}"
        text = _("Spent so far: {spent} {currency}. Nothing means: whatever it takes.").format(
            spent=spent, currency=config.currency
        )
        form = _Cost(budget=budget)
        title, button = _("What may the run cost?"), _("Set budget")
        given = await self.app.push_screen_wait(
            FormDialog(title, form, ask=joined([why, text]), button=button)
        )
        if given is None:
            return False
        amount = given.budget
        if amount is None:
            question = ConfirmDialog(
                _("No limit for this run?"),
                _("It then costs whatever it takes. Spent so far: {spent} {currency}.").format(
                    spent=spent, currency=config.currency
                ),
                _("No limit"),
            )
            if budget is None or not await self.app.push_screen_wait(question):
                return False
        if live is None:
            await self._order("budget", amount, config)
        else:
            run_id = self._run_id
            await self.services.ask(lambda ws: change_budget(ws, run_id, amount, config))
            live.budget.change(amount)
        self.load()
        if snapshot.has_spent(amount):
            pauses = _("So much is spent already: the run pauses.")
            stays = _("So much is spent already: the run stays paused.")
            self.cue_app.tell(pauses if self.going_on or self.elsewhere else stays)
        return not snapshot.has_spent(amount)

    @guarded("order")
    async def action_concurrency(self) -> None:
        title, ask = (
            _("How many trials at the same time?"),
            _("Those under way are played to their end."),
        )
        given = await self.app.push_screen_wait(FormDialog(title, _Concurrency(), ask=ask))
        if given is None:
            return
        if (live := self.live) is not None and self.going_on:
            live.control.resize(given.trials)
        else:
            await self._order("concurrency", float(given.trials))

    async def _order(
        self, kind: OrderKind, value: float | None = None, config: Config | None = None
    ) -> None:
        """Ask it of whoever plays the run."""
        run_id, person = self._run_id, self.person
        order = await self.services.ask(
            lambda ws: give_order(ws, run_id, kind, person, value, config=config)
        )
        if order is not None and not self.waiting:
            told = _("Asked for. Whoever plays run {run} obeys within two seconds.")
            self.cue_app.tell(_(WAIT) if kind == "resume" else told.format(run=run_id))
        self.load()

    def named_runs(self) -> tuple[tuple[int, ...], str] | None:
        return ((self._run_id,), self._snapshot.run.name) if self._snapshot else None

    def action_replay(self) -> None:
        from cuecard.tui.screens.fidelity_replay import ReplayScreen

        if (trial := self.trial_under_cursor) is not None:
            self.app.push_screen(ReplayScreen(trial))

    def _played_elsewhere(self) -> bool:
        """Whether another process plays the run, with a message. One that has only just begun is refused later."""
        run = self._snapshot.run if self._snapshot else None
        if run is None or run.lease is None or not self.elsewhere:
            return False
        self.cue_app.tell(played_by(run.lease), title=_("This run is being played"))
        return True

    async def _play(self, failed: tuple[int, ...]) -> None:
        config = await self.services.config()
        workspace = await self.services.ask(lambda ws: ws)
        self.services.live_runs.play(
            self.services.engine, workspace, self._run_id, config, CONCURRENCY, failed, self.person
        )
        self._told = False
        self.load()


Keys = tuple[bool | None, ...]
"""Which actions can be taken."""


def refresh_keys(node: Widget | Screen[None], actions: Iterable[str], before: Keys) -> Keys:
    """Have the footer drawn anew if other actions can be taken than `before`: that costs as much as a page of a
    list, so it is not done for every key or event of a run.
    """
    now = tuple(node.check_action(action, ()) for action in actions)
    if now != before:
        node.refresh_bindings()
    return now


SCREEN_KEYS = keys(
    Key("run.back", Means.UP_ONE, "back", N_("Back"), N_("Take a filter off, or go back; the run goes on")),
    Key("run.trials", Means.A_VIEW, "show('trials')", N_("Trials"), N_("The trials of the grid"), letter="t"),
    Key("run.scores", Means.A_VIEW, "show('scores')", N_("Scores"), N_("Scores of agents with intervals"), letter="s"),
    Key("run.pause", Means.PLAY, "pause", N_("Pause"), N_("Give the calls under way ten seconds, then wait to be resumed")),
    Key("run.resume", Means.PLAY, "resume", N_("Resume"), N_("Play the open trials on, each from its last event")),
    Key("run.cancel", Means.STOP, "cancel", N_("Stop"), N_("Stop here; open trials can be resumed where they stand")),
    Key("run.compare", Means.COMPARE, "compare", N_("Compare"), N_("Agents of this run on the same tasks; two marked trials stand side by side")),
    Key("run.errors", Means.COMMAND, "errors", N_("Errors"), N_("What went wrong, and how often"), letter="e"),
    Key("run.suspects", Means.COMMAND, "suspects", N_("Suspect gold"), N_("Gold that these trials speak against, ranked; figures of every item"), show=False, letter="s"),
    Key("run.plots", Means.COMMAND, "plots", N_("Plots"), N_("Scores, costs and curves drawn"), letter="g"),
    Key("run.plan", Means.COMMAND, "plan", N_("Plan"), N_("Which difference a study would see that has this run as its pilot, and what it costs"), show=False, letter="n"),
    Key("run.rescore", Means.COMMAND, "rescore", N_("Rescore"), N_("Judge it on corrected gold: only what changed, after telling what that takes"), show=False, letter="r"),
    Key("run.report", Means.EXPORT, "report", N_("Report"), N_("Write all of it to one file, to be sent")),
    Key("run.budget", Means.COMMAND, "budget", N_("Budget"), N_("What the run may cost, also while it goes on"), show=False, letter="b"),
    Key("run.concurrency", Means.COMMAND, "concurrency", N_("Concurrency"), N_("How many trials at the same time, while it goes on"), show=False, letter="k"),
    Key("run.replay", Means.COMMAND, "replay", N_("Re-play"), N_("Decide the trial's cues myself, turn by turn, before I am told"), show=False, letter="p"),
    Key("run.workers", Means.COMMAND, "workers", N_("Workers"), N_("Which workers play the run, and what was taken over from whom"), letter="w"),
    Key("run.fidelity", Means.COMMAND, "fidelity", N_("Fidelity"), N_("The user part of this run held against people"), show=False, letter="f"),
)  # fmt: skip
TRIALS_KEYS = keys(
    Key("run_trials.open", Means.OPEN, "open", N_("Open trial"), N_("Read the trial")),
    Key("run_trials.pair", Means.PAIR, "pair", N_("Side by side"), N_("The two marked trials side by side, or this one and the next of its task"), show=False),
    Key("run_trials.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this trial, or of the marked ones"), show=False),
    Key("run_trials.label", Means.DECIDE, "label", N_("Label"), N_("Label what this trial, or the marked ones, hold, blind"), show=False),
    Key("run_trials.name", Means.EDIT, "name", N_("Name"), N_("Give this trial a name"), show=False),
    Key("run_trials.export", Means.COMMAND, "export", N_("Export trials"), N_("Write this trial, or the marked ones, into a folder"), show=False, letter="x"),
    Key("run_trials.kind", Means.ONLY, "kind", N_("Which"), N_("All trials, or the failed, not judged, open ones")),
    Key("run_trials.again", Means.REPEAT, "again", N_("Play again"), N_("Play the failed trials of this list again"), show=False),
)  # fmt: skip
SCORES_KEYS = keys(
    Key("run_scores.open", Means.OPEN, "open", N_("Trials"), N_("The trials behind this figure")),
    Key("run_scores.next", Means.NEXT, "step(1)", N_("Next"), N_("The next family, or the overview")),
    Key("run_scores.before", Means.BEFORE, "step(-1)", N_("Before"), N_("The table before"), show=False),
    Key("run_scores.order", Means.SORT, "order", N_("Sort"), N_("By the column under the cursor; again: the other way; a third time: as it was")),
    Key("run_scores.by", Means.COMMAND, "by", N_("Group"), N_("What a line is: agents, languages, difficulty…"), show=False, letter="d"),
    Key("run_scores.filter", Means.FILTER, "narrow", N_("Filter"), N_("Which trials count"), show=False),
    Key("run_scores.across", Means.COMMAND, "across", N_("Across"), N_("Put agents, languages… side by side for the figure under the cursor"), show=False, letter="v"),
    Key("run_scores.measure", Means.COMMAND, "measure", N_("Measures"), N_("The main ones, all of them, or one"), show=False, letter="m"),
)  # fmt: skip
