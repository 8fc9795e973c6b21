"""The Trial screen: the dialogue as a person reads it, and beside it what was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Footer, TabbedContent, TabPane

from cuecard.core.events import Event
from cuecard.core.i18n import N_, _
from cuecard.core.tasks import CheckpointChain
from cuecard.lab.judging import judge_trial
from cuecard.lab.trial_view import TrialView, trial_view
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.trial.panes import MeasuresPane, StagesPane, VerdictsPane
from cuecard.tui.state.transcript import entries_of
from cuecard.tui.state.trial import heading
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

REFRESH = 1.5
"""Seconds between looks at a trial that is still being played."""
AT_ONCE = 8
"""Events from which on what was opened is shown before more of it is read."""


def look(workspace: Workspace, trial_id: int) -> TrialView:
    """The trial with the baseline's judgement, or else with whichever there is."""
    view = trial_view(workspace, trial_id)
    if view.judge is None and view.judges:
        return trial_view(workspace, trial_id, view.judges[0])
    return view


class TrialScreen(CuecardScreen[None]):
    """Takes a trial's id, and the `turn` at which the dialogue opens. A trial that is still being played is
    looked at again and again.
    """

    CSS_PATH = "trial.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("trial.back", "escape", "app.pop_screen", N_("Back"), N_("Back to where I came from")),
        Key("trial.transcript", "t", "show('')", N_("Transcript"), N_("Read the dialogue")),
        Key(
            "trial.stages",
            "s",
            "show('stages')",
            N_("Stages"),
            N_("Which stage or step came when; Enter goes to its turn"),
        ),
        Key(
            "trial.verdicts",
            "v",
            "show('verdicts')",
            N_("Verdicts"),
            N_("What the judge decided on each gold item"),
        ),
        Key("trial.measures", "m", "show('measures')", N_("Measures"), N_("The trial's numbers")),
        Key(
            "trial.filter",
            "f",
            "filter",
            N_("Filter"),
            N_("Verdicts: all, missing ones, covered ones, not judged ones"),
        ),
        Key(
            "trial.sources",
            "p",
            "sources",
            N_("Pages"),
            N_("The pages that the agent found and visited"),
        ),
        Key("trial.judge", "j", "judge", N_("Judge"), N_("Have this trial judged (again)")),
        Key(
            "trial.replay",
            "d",
            "replay",
            N_("Re-play"),
            N_("Decide the user part's cues myself, turn by turn"),
            show=False,
        ),
        Key(
            "trial.resume", "r", "resume", N_("Play on"), N_("Go on playing where this was paused")
        ),
    )

    def __init__(self, trial_id: int, turn: int | None = None) -> None:
        super().__init__()
        self._trial_id, self._turn = trial_id, turn
        self._view: TrialView | None = None
        self._whole: dict[int, Event] = {}

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        with Horizontal(id="body"):
            yield Transcript(id="transcript")
            with TabbedContent(id="side"):
                with TabPane(_("Stages"), id="stages"):
                    yield StagesPane()
                with TabPane(_("Verdicts"), id="verdicts"):
                    yield VerdictsPane()
                with TabPane(_("Measures"), id="measures-tab"):
                    yield MeasuresPane()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(Transcript).focus()
        self.set_interval(REFRESH, self._look_again)

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("trial")
    async def load(self) -> None:
        trial_id = self._trial_id
        view = await self.services.ask(lambda ws: look(ws, trial_id))
        first = self._view is None
        self._view = view
        self.query_one(Lines).load(heading(view))
        self._show_transcript(view)
        self.query_one(StagesPane).load(view)
        self.query_one(VerdictsPane).load(view)
        self.query_one(MeasuresPane).load(view)
        if first and isinstance(view.task.gold, CheckpointChain):
            self.query_one(TabbedContent).get_tab("stages").label = _("Steps")
        if first and self._turn is not None:
            self.query_one(Transcript).show_turn(self._turn)
        self.refresh_bindings()
        self.complete()

    @guarded("whole")
    async def complete(self) -> None:
        """Read the large texts of what is opened, and only of that."""
        trial_id = self._trial_id
        while self._view and (missing := self._missing()):
            found = await self.services.ask(lambda ws, seqs=missing: ws.runs.whole(trial_id, *seqs))
            self._whole |= {event.seq: event for event in found}
            self._show_transcript(self._view)

    @guarded("sources")
    async def show_sources(self) -> None:
        from cuecard.tui.screens.play.sources import SourcesDialog
        from cuecard.tui.state.sources import sources_of

        trial_id = self._trial_id
        sources = await self.services.ask(lambda ws: sources_of(ws.runs.events(trial_id)))
        self.app.push_screen(SourcesDialog(sources))

    def on_entry_list_unfolded(self) -> None:
        self.complete()

    @guarded("judge")
    async def judge(self) -> None:
        workspace = await self.services.ask(lambda ws: ws)
        await self.services.engine.perform(judge_trial(workspace, self._trial_id))
        self.cue_app.tell(_("Judged."))
        self.load()

    def on_entry_list_chosen(self, message: EntryList.Chosen) -> None:
        turn = message.entry_list.entries[message.index].turn
        if not isinstance(message.entry_list, Transcript) and turn >= 0:
            self.query_one(Transcript).show_turn(turn)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        trial = self._view.trial if self._view else None
        if action == "resume":
            mine = self._view is not None and self._view.run.created_by == self.person
            goes_on = trial is not None and (
                trial.termination is None or trial.termination.is_failure
            )
            return goes_on and self._is_play and mine
        if action == "judge":
            return trial is not None and trial.termination is not None
        if action == "replay":
            return trial is not None and (trial.user.kind, trial.user.name) != (
                "human",
                self.person,
            )
        if action == "filter":
            return self.query_one(TabbedContent).active == "verdicts"
        return True

    def action_show(self, pane: str) -> None:
        self.set_class(bool(pane), "-beside")
        if not pane:
            self.query_one(Transcript).focus()
            return
        tabs = self.query_one(TabbedContent)
        tabs.active = "measures-tab" if pane == "measures" else pane
        if tabs.active_pane:
            first = next(iter(tabs.active_pane.query("EntryList, Grid")), None)
            if first:
                first.focus()
        self.refresh_bindings()

    def action_filter(self) -> None:
        self.query_one(VerdictsPane).show_next()

    def action_sources(self) -> None:
        self.show_sources()

    def action_judge(self) -> None:
        self.judge()

    def action_resume(self) -> None:
        from cuecard.tui.screens.play import PlayScreen

        self.app.switch_screen(PlayScreen(trial_id=self._trial_id))

    @guarded("replay")
    async def action_replay(self) -> None:
        from cuecard.tui.screens.replay import ReplayScreen

        # Who has the dialogue open is not blind any more.
        text = _(
            "You have what was decided in front of you, so what you decide counts as not blind. Runs and"
            " Fidelity open a re-play without showing the dialogue first."
        )
        if await self.app.push_screen_wait(ConfirmDialog(_("Re-play?"), text, _("Re-play"))):
            self.app.push_screen(ReplayScreen(self._trial_id, seen=True))

    def _show_transcript(self, view: TrialView) -> None:
        events = [self._whole.get(event.seq, event) for event in view.events]
        entries = entries_of(events, view.task, view.left_out - self._whole.keys())
        self.query_one(Transcript).load(entries)

    def _missing(self) -> list[int]:
        transcript = self.query_one(Transcript)
        missing: list[int] = []
        for index in transcript.opened:
            missing += transcript.entries[index].left_out
            if len(missing) >= AT_ONCE:
                break
        return missing

    @property
    def _is_play(self) -> bool:
        return self._view is not None and self._view.run.kind == "play"

    def _look_again(self) -> None:
        if self._view and self._view.trial.termination is None and self.is_current:
            self.load()
