"""The Trial screen, and the same for one trial of a list."""

from collections.abc import Sequence
from typing import cast

from textual.app import ComposeResult

from cuecard.annotate.results.trial_against_gold import GraphAgainst
from cuecard.annotate.results.trial_record import note_seen, open_trial
from cuecard.core.i18n import N_, _, ngettext
from cuecard.store.workspace import Workspace
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.present.entries import warm_up
from cuecard.tui.present.trial_view import PaneName, TrialState
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.trial.actions import Noting
from cuecard.tui.screens.trial.panes import PaneBar
from cuecard.tui.screens.trial.reading import ACTIONS, AT_ONCE, TRIAL_KEYS
from cuecard.tui.widgets.text import HeadLines
from cuecard.tui.widgets.transcript import Transcript

FIRST = 40
"""Events that are read before everything else."""


class TrialScreen(Noting):
    """Takes a trial's id, and the `turn` or the event (`seq`) at which the dialogue opens, or the `pane` beside it. A trial that is
    still being played is looked at again and again.
    """

    CSS_PATH = "trial.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = TRIAL_KEYS

    def __init__(
        self,
        trial_id: int,
        turn: int | None = None,
        pane: PaneName | None = None,
        seq: int | None = None,
    ) -> None:
        super().__init__(trial_id)
        self._turn, self._seq = turn, seq
        self._first: PaneName | None = pane

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        yield PaneBar()
        with Horizontal(id="body"):
            yield Transcript(id="transcript")
            yield Vertical(id="side")
        yield KeyBar()

    def on_mount(self) -> None:
        self._transcript.focus()

    def on_screen_resume(self) -> None:
        state = self._state
        if state and state.opened.whole and state.opened.trial.termination is not None:
            self.load_opinions()
        else:
            self.load()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_head)
        self.call_after_refresh(self._show_bar)

    @guarded("trial")
    async def load(self) -> None:
        async with self.reading():
            await self._read()

    async def _read(self) -> None:
        trial_id, person = self._trial_id, self.person
        first = self._state is None
        self._effective = None
        if first:
            # The beginning is on the screen before the rest of a long trial is read.
            opened = await self.services.ask(lambda ws: open_trial(ws, trial_id, person, FIRST))
            self._state = TrialState(opened, person)
            self.called_here = {"trial.stages": N_("Steps")} if self._state.chain else {}
            self._show_head()
            self._show_transcript()
            trial = opened.trial
            title = f"{trial.title} · {trial.agent.name}"
            self.cue_app.opened("transcript", title, trial_id=trial_id)
        if self._state and not (first and self._state.opened.whole):
            self._state.reopen(await self.services.ask(lambda ws: open_trial(ws, trial_id, person)))
        if first and self._first is not None:
            self.show_pane(self._first)
        self._show_all()
        if first and self._turn is not None:
            self._transcript.show_turn(self._turn)
        if first and self._seq is not None:
            self.call_after_refresh(self._transcript.show_event, self._seq)
        self.load_opinions()
        self.complete()

    @guarded("whole", background=True)
    async def complete(self) -> None:
        """Read the large texts of what is opened, and only of that."""
        trial_id, most = self._trial_id, AT_ONCE
        while (state := self._state) and (missing := self._transcript.left_out(most)):
            most *= 2
            found = await self.services.ask(lambda ws, seqs=missing: ws.runs.whole(trial_id, *seqs))
            state.complete(found)
            self._show_transcript()
            self._transcript.show_spot()

    @guarded("sources")
    async def show_sources(self) -> None:
        from cuecard.tui.present.tool_calls import sources_of
        from cuecard.tui.screens.play.sources import SourcesDialog

        trial_id = self._trial_id
        sources = await self.services.ask(lambda ws: sources_of(ws.runs.events(trial_id)))
        self.app.push_screen(SourcesDialog(sources))

    def on_entry_list_unfolded(self) -> None:
        self.complete()

    def on_entry_list_cursor_moved(self) -> None:
        if self._pane == "notes":
            self._refresh_keys()

    @guarded("judge", background=True)
    async def judge(self) -> None:
        from cuecard.core.evaluation.judging import judge_trial

        workspace = await self.services.ask(lambda ws: ws)
        await self.services.engine.perform(judge_trial(workspace, self._trial_id))
        self.cue_app.tell(_("Judged."))
        self.load_opinions()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self._state
        if state is None or not state.opened.whole:
            # Keys come into the footer all at once: to lay it out takes longer than to read a trial.
            return action not in ACTIONS
        trial, pane = state.opened.trial, self._pane
        in_pane = self._side.display
        match action:
            case "resume":
                failed = trial.termination is not None and trial.termination.is_failure
                goes_on = trial.termination is None or failed
                run = state.opened.run
                return goes_on and run.kind == "play" and run.created_by == self.person
            case "judge":
                return trial.termination is not None
            case "replay":
                return (trial.user.kind, trial.user.name) != ("human", self.person)
            case "filter":
                return in_pane and pane in ("gold", "verdicts") and not state.covers(pane)
            case "group":
                mine = in_pane and pane == "gold" and not state.covers("gold")
                return mine and isinstance(state.against, GraphAgainst)
            case "uncover":
                return state.covers(pane) or state.hides_decisions
            case "other_judge" | "judges":
                return len(state.judges) > 1 and not state.covers("verdicts")
            case "verdicts_here":
                return bool(state.judges) and not state.covers("verdicts")
            case "step_mode":
                return state.stepping is None
            case "return":
                return len(self._jumps) > 0
            case "untake":
                return self._note is not None and self._note.person == self.person
            case "walk_notes":
                return bool(self._notes)
            case "step" | "step_said" | "step_to" | "leave_steps":
                return state.stepping is not None
            case _:
                return True

    def action_show(self, pane: str) -> None:
        self.show_pane(pane)

    def show_pane(self, pane: PaneName | str) -> None:
        self.set_class(bool(pane), "-beside")
        if pane:
            self._pane = cast(PaneName, pane)
            self._wants_focus = self._shown is None
            self._follows = True
            self._fill()
            if self._shown:
                self._shown.take_focus()
        else:
            if self._narrow_beside or self._transcript.region.width == 0:
                # What was gone to while the transcript had no room.
                self.call_after_refresh(self._transcript.show_spot)
            self._transcript.focus()
        self._show_bar()
        self._refresh_keys()

    def action_filter(self) -> None:
        if self._state:
            self._state.next_filter(self._pane)
            self._fill()

    def action_group(self) -> None:
        if self._state:
            self._state.next_grouping()
            self._fill()

    def action_other_judge(self) -> None:
        if self._state:
            self._state.next_judge()
            self._show_all()

    def action_judges(self) -> None:
        from cuecard.tui.screens.trial.pair import PairScreen

        self.app.push_screen(PairScreen(self._trial_id, self._trial_id))

    def action_calls(self) -> None:
        from cuecard.tui.screens.trial.calls import CallsScreen

        state = self._state
        judgement = state.judgement if state and not state.covers("verdicts") else None
        of_judge = self._beside and self._pane == "verdicts" and judgement
        judge = judgement.judge.name if of_judge and judgement else ""
        self.app.push_screen(CallsScreen(self._trial_id, judge, self._event_here()))

    @guarded("uncover")
    async def action_uncover(self) -> None:
        state = self._state
        if state is None:
            return
        n = len(state.opened.waiting)
        text = ngettext(
            "You are still to label {n} item of this trial. Once you have seen what was decided on it, your label"
            " counts as given with the decision in view and does not enter agreement.",
            "You are still to label {n} items of this trial. Once you have seen what was decided on them, your"
            " labels count as given with the decision in view and do not enter agreement.",
            n,
        ).format(n=n)
        if not await self.app.push_screen_wait(
            ConfirmDialog(_("Look without labelling?"), text, _("Show all"))
        ):
            return
        trial_id, person = self._trial_id, self.person
        await self.services.ask(lambda ws: note_seen(ws, trial_id, state.opened.waiting, person))
        state.uncover()
        self._wants_focus = self._beside
        await self._side.remove_children()
        self._show_all()

    def action_sources(self) -> None:
        self.show_sources()

    def action_judge(self) -> None:
        self.judge()

    def action_resume(self) -> None:
        from cuecard.tui.screens.play.screen import PlayScreen

        self.app.switch_screen(PlayScreen(trial_id=self._trial_id))

    @guarded("replay")
    async def action_replay(self) -> None:
        from cuecard.tui.screens.fidelity_replay import ReplayScreen

        # Who has the dialogue open is not blind any more.
        text = _(
            "You have what was decided in front of you, so what you decide counts as not blind. Runs and"
            " Fidelity open a re-play without showing the dialogue first."
        )
        if await self.app.push_screen_wait(ConfirmDialog(_("Re-play?"), text, _("Re-play"))):
            self.app.push_screen(ReplayScreen(self._trial_id, seen=True))

    def _look(self) -> None:
        state = self._state
        if state and (state.opened.trial.termination is None or not state.judges):
            super()._look()


class ListedTrialScreen(TrialScreen):
    """A trial of a list: `+` and `-` go to the one after and before."""

    CSS_PATH = "trial.tcss"
    BINDINGS = keys(
        Key("listed_trial.next", Means.FURTHER, "go(1)", N_("Next trial"), N_("The next trial of the list")),
        Key("listed_trial.before", Means.NEARER, "go(-1)", N_("Trial before"), N_("The trial before in the list"), show=False),
    )  # fmt: skip

    def __init__(self, trials: Sequence[int], at: int) -> None:
        super().__init__(trials[at])
        self._listed, self._listed_at = tuple(trials), at

    def action_go(self, by: int) -> None:
        at = self._listed_at + by
        if 0 <= at < len(self._listed):
            self.app.switch_screen(ListedTrialScreen(self._listed, at))
        else:
            self.cue_app.tell(_("There are no more trials in the list."))


def prepare(workspace: Workspace, trial_id: int) -> None:
    """Import and build what opening a trial needs, in a thread; nothing is shown or recorded. Importing this
    module is most of it.
    """
    open_trial(workspace, trial_id, "nobody", 1)
    warm_up()
