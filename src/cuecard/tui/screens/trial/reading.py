"""The base of the Trial screen: its keys, the trial's state, the transcript, and making the panes."""

from collections.abc import Sequence
from typing import cast

from textual.binding import Binding

from cuecard.annotate.results.trial_record import note_seen
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.verdicts import Item
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.present.trial_panes import PaneLine
from cuecard.tui.present.trial_places import margin
from cuecard.tui.present.trial_summary import heading
from cuecard.tui.present.trial_view import PaneName, TrialState
from cuecard.tui.screens.run.actions import Keys, refresh_keys
from cuecard.tui.screens.trial.panes import LinesPane, MeasuresPane, PaneBar, TablePane
from cuecard.tui.widgets.text import Lines
from cuecard.tui.widgets.transcript import Transcript

# In the order in which the footer shows them.
TRIAL_KEYS = keys(
    Key("trial.unstep", Means.UP_ONE, "leave_steps", N_("Leave stepping"), N_("Show the whole trial again")),
    Key("trial.back", Means.UP_ONE, "app.pop_screen", N_("Back"), N_("Back to where I came from")),
    Key("trial.uncover", Means.REVEAL, "uncover", N_("Show all"), N_("Show what was decided, though I have not labelled it")),
    Key("trial.return", Means.JUMP_BACK, "return", NP_("to where one was", "Return"), N_("Back to where I was before the jump")),
    Key("trial.filter", Means.ONLY, "filter", N_("Filter"), N_("Gold and verdicts: all, or only missed, covered, extra or not judged ones")),
    Key("trial.group", Means.COMMAND, "group", N_("Group"), N_("Gold by stage or by relation"), letter="x"),
    Key("trial.other_judge", Means.COMPARE, "other_judge", N_("Other judge"), N_("Show what another judge decided")),
    Key("trial.judges", Means.PAIR, "judges", N_("Side by side"), N_("Two judges of this trial side by side"), show=False),
    Key("trial.calls", Means.COMMAND, "calls", N_("Raw calls"), N_("Requests and replies of models: of the judge from the verdicts, else of the trial"), letter="R"),
    Key("trial.untake", Means.DELETE, "untake", N_("Delete note"), N_("Take my note back")),
    Key("trial.resume", Means.PLAY, "resume", N_("Play on"), N_("Go on playing where this was paused")),
    Key("trial.step", Means.PLAY, "step_mode", N_("Step"), N_("Go through the trial event by event, like a replay")),
    Key("trial.on", Means.RIGHT, "step(1)", N_("Event on"), N_("One event further"), priority=True),
    Key("trial.before", Means.LEFT, "step(-1)", N_("Event back"), N_("One event back"), priority=True),
    Key("trial.said_on", Means.MOVE_RIGHT, "step_said(1)", N_("Words on"), N_("To the next words that somebody says"), priority=True),
    Key("trial.said_before", Means.MOVE_LEFT, "step_said(-1)", N_("Words back"), N_("To the words before"), priority=True),
    Key("trial.step_first", Means.START, "step_to(0)", N_("Start"), N_("To the first event"), show=False, priority=True),
    Key("trial.step_last", Means.END, "step_to(-1)", N_("End"), N_("To the last event"), show=False, priority=True),
    Key("trial.verdicts_here", Means.DETAILS, "verdicts_here", N_("Verdicts here"), N_("The verdicts whose items this turn names")),
    Key("trial.bookmark", Means.TAGS, "bookmark", N_("Bookmark"), N_("Set a bookmark here, or take it back")),
    Key("trial.comment", Means.COMMENT, "comment", N_("Comment"), N_("Write a comment on this place of the trial")),
    Key("trial.tell", Means.COMMAND, "tell", N_("Tell authors"), N_("Turn what is under the cursor into a comment on the task"), letter="a"),
    Key("trial.blame", Means.COMMAND, "blame", N_("Whose fault"), N_("Say whose fault it is that this trial failed; what others say is shown afterwards"), show=False, letter="f"),
    Key("trial.next_note", Means.NEXT, "walk_notes(1)", N_("Next note"), N_("To the next place with a bookmark or comment"), show=False),
    Key("trial.note_before", Means.BEFORE, "walk_notes(-1)", N_("Note before"), N_("To the place with a bookmark or comment before"), show=False),
    Key("trial.transcript", Means.A_VIEW, "show('')", N_("Transcript"), N_("Read the dialogue"), show=False, letter="t"),
    Key("trial.stages", Means.A_VIEW, "show('stages')", N_("Stages"), N_("Which stage or step came when, and why; Enter goes to its turn"), show=False, letter="s"),
    Key("trial.gold", Means.A_VIEW, "show('gold')", N_("Gold"), N_("What was handed in beside the gold: covered, missed, extra"), show=False, letter="g"),
    Key("trial.verdicts", Means.A_VIEW, "show('verdicts')", N_("Verdicts"), N_("What the judge decided on each gold item, and why"), show=False, letter="v"),
    Key("trial.hits", Means.A_VIEW, "show('hits')", N_("Hits"), N_("What was asked of the world, and which facts that hit"), show=False, letter="h"),
    Key("trial.context", Means.A_VIEW, "show('context')", N_("Context"), N_("How much the model read with each call, and compactions"), show=False, letter="c"),
    Key("trial.notes", Means.A_VIEW, "show('notes')", N_("Notes"), N_("Bookmarks and comments on this trial, everybody's"), show=False, letter="n"),
    Key("trial.measures", Means.A_VIEW, "show('measures')", N_("Measures"), N_("The trial's numbers"), show=False, letter="m"),
    Key("trial.judge", Means.COMMAND, "judge", N_("Judge"), N_("Have this trial judged (again)"), show=False, letter="j"),
    Key("trial.sources", Means.OUTSIDE, "sources", N_("Pages"), N_("The pages that the agent found and visited")),
    Key("trial.replay", Means.COMMAND, "replay", N_("Re-play"), N_("Decide the user part's cues myself, turn by turn"), show=False, letter="d"),
)  # fmt: skip

ACTIONS = frozenset(
    binding.action.partition("(")[0] for binding in TRIAL_KEYS if isinstance(binding, Binding)
) - {"app.pop_screen", "show"}
"""What can be done once the trial is read."""


Pane = LinesPane | TablePane | MeasuresPane
AT_ONCE = 8
"""Events from which on what was opened is shown before more of it is read."""


class Reading(LiveScreen):
    """Panes are made and filled when they are shown, and only the one that is shown."""

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._state: TrialState | None = None
        self._pane: PaneName = "stages"
        self._wants_focus = False
        self._keys: Keys = ()
        self._follows = False
        self._followed: dict[str, int] = {}

    @property
    def _transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def shown_view(self) -> str:
        transcript = self.has_class("-narrow") and not self.has_class("-beside")
        return f"show('{'' if transcript else self._pane}')"

    @property
    def _beside(self) -> bool:
        """Whether the focus is in the pane rather than in the transcript."""
        return self._narrow_beside or (
            self.focused is not None and self._side in self.focused.ancestors
        )

    @property
    def _narrow_beside(self) -> bool:
        return self.has_class("-narrow") and self.has_class("-beside")

    @property
    def _side(self) -> Vertical:
        return self.query_one("#side", Vertical)

    @property
    def _shown(self) -> Pane | None:
        """The pane that is made for what is chosen, once its parts are there."""
        pane = self._begun
        return pane if pane is not None and pane.children else None

    @property
    def _begun(self) -> Pane | None:
        found = self._side.query(f"#{self._pane}")
        return cast(Pane, found.first()) if found else None

    @property
    def _line(self) -> PaneLine | None:
        """What is under the cursor of the pane."""
        return self._shown.line if self._shown else None

    def _place(self) -> str:
        """Where a note would be pinned now."""
        state = self._state
        if state is None:
            return ""
        if self._beside:
            line = self._line
            return line.place if line else ""
        entries, cursor = self._transcript.entries, self._transcript.cursor
        return state.place_of(entries[cursor]) if cursor < len(entries) else ""

    def _show_all(self) -> None:
        """Everything that is in view, as the state has it now."""
        state = self._state
        if state is None:
            return
        self._show_head()
        self._show_transcript()
        self._show_bar()
        if self._side.display:
            self._fill()
        self._refresh_keys()

    def _refresh_keys(self) -> None:
        self._keys = refresh_keys(self, sorted(ACTIONS), self._keys)

    def _show_head(self) -> None:
        state = self._state
        if state is None:
            return
        opened, judgement = state.opened, state.judgement
        judge = judgement.judge if judgement and not state.covers("verdicts") else None
        events = len(opened.events) if opened.whole else opened.trial.events
        live, room = self.services.live_runs.get(opened.trial.run_id), self.size.width - 2
        playing = live.playing if live else None
        lines = heading(opened.trial, opened.task, events, judge, room, playing)
        self.query_one("#head", Lines).load(lines)

    def _show_transcript(self) -> None:
        state = self._state
        if state is None:
            return
        # Of a trial under way the end stays in view where it was.
        follow = state.opened.trial.termination is None and state.stepping is None
        self._transcript.load(state.shown_entries, follow=follow)
        self._transcript.mark(margin(state.notes, state.seq_of))

    def _show_bar(self) -> None:
        state = self._state
        if state is None:
            return
        step = state.stepping
        moment = _("step {n} of {all}").format(n=step.at + 1, all=step.total) if step else ""
        happened = state.words_of(f"event/{step.seq}") if step else ""
        hidden = self.has_class("-narrow") and not self.has_class("-beside")
        pane = "" if hidden else self._pane
        self.query_one(PaneBar).load(pane, moment, happened)

    def _fill(self) -> None:
        """The pane that is shown, from the state."""
        state, pane = self._state, self._shown
        if state is None:
            return
        if pane is None:
            if self._begun is None:
                self._make()
            return  # whoever makes it fills it
        for other in self._side.children:
            other.display = other is pane
        match pane:
            case TablePane():
                table = state.table
                if table is not None:
                    pane.load(table)
            case MeasuresPane():
                covered = state.text("measures").note if state.covers("measures") else ""
                pane.load(() if covered else state.measures, covered)
            case LinesPane():
                pane.load(state.text(self._pane))
                if self._follows:
                    self._follow(pane)
        self._note_seen()

    def _follow(self, pane: LinesPane) -> None:
        """Put the pane's cursor where the transcript's is, unless it followed there before."""
        self._follows = False
        seq = self._event_here()
        if seq is None or self._followed.get(self._pane) == seq:
            return
        self._followed[self._pane] = seq
        at = pane.line_at(seq)
        if at is not None:
            # A pane that was just made has no size yet.
            self.call_after_refresh(pane.move_to, at)

    def _event_here(self) -> int | None:
        """The event that the transcript's cursor is on."""
        transcript = self._transcript
        if transcript.spot_event is not None:
            return transcript.spot_event
        entries, cursor = transcript.entries, transcript.cursor
        events = entries[cursor].events if cursor < len(entries) else ()
        return events[0] if events else None

    @guarded("pane")
    async def _make(self) -> None:
        """Make the pane that is to be shown, then fill it."""
        state = self._state
        if state is None or self._begun is not None:
            return
        table = self._pane == "gold" and not state.covers("gold") and state.table is not None
        pane: Pane
        if table:
            pane = TablePane(id=self._pane)
        elif self._pane == "measures":
            pane = MeasuresPane(id=self._pane)
        else:
            pane = LinesPane(id=self._pane)
        await self._side.mount(pane)
        self._fill()
        if self._wants_focus:
            self._wants_focus = False
            pane.take_focus()

    def _note_seen(self) -> None:
        state = self._state
        if state is None or self._pane not in ("gold", "verdicts", "measures"):
            return
        judgement = state.judgement
        if judgement and not state.covers(self._pane) and state.sees(judgement):
            self.remember_seen([verdict.item for verdict in judgement.verdicts])

    @guarded("seen", background=True)
    async def remember_seen(self, items: Sequence[Item]) -> None:
        """Save that this person has seen the decisions."""
        trial_id, person = self._trial_id, self.person
        await self.services.ask(lambda ws: note_seen(ws, trial_id, items, person))
