"""The re-play screen: a recorded dialogue turn by turn, where a person decides before seeing the recorded decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_turns import DifferingTurn, ReplaySummary, ReplayView
from cuecard.core.engine.events import Event
from cuecard.core.families.registry import chain_of
from cuecard.core.i18n import N_, _
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import ItemKind
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.drawing import Horizontal, Vertical, VerticalScroll
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.kit.walks import WalkScreen
from cuecard.tui.present import replay as present
from cuecard.tui.present.drafts import FileDrafts
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labelling import STATUS_KEYS, value_label
from cuecard.tui.present.play_panes import Later
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.screens import fidelity_replay_choice as works
from cuecard.tui.screens.dialogs import TextDialog
from cuecard.tui.screens.fidelity_replay_choice import Step, Work, step_of
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLines, Lines, Paragraphs
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class ReplayScreen(WalkScreen[ReplaySession, Step]):
    """Re-plays a trial as its user. `seen`: the person has just read it, so their decisions are not blind."""

    CSS_PATH = "fidelity_replay.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-broad")]
    AUTO_FOCUS = ""
    BINDINGS = keys(
        Key("replay.on", (Means.OPEN, Means.MARK), "on", N_("Next"), N_("On to the next turn")),
        Key("replay.met", Means.YES, "decide('yes')", N_("Met"), N_("The agent's reply meets the cue")),
        Key("replay.not_met", Means.NO, "decide('no')", N_("Not met"), N_("The agent's reply does not meet the cue")),
        Key("replay.next", Means.FURTHER, "next", N_("Next"), N_("On to the next turn"), show=False),
        *(
            Key(f"replay.status_{status.value}", Means.CHOICE, f"status('{key}')", N_("Status"), N_("The status that stands beside this letter"), show=False, letter=key)
            for key, status in STATUS_KEYS.items()
        ),
        Key("replay.unsure", Means.UNSURE, "decide('unsure')", N_("Unsure"), N_("I cannot tell")),
        Key("replay.read", Means.OPEN, "read", N_("Read"), N_("The turn under the cursor")),
        Key("replay.comment", Means.COMMENT, "comment", N_("Comment"), N_("Say why; goes with my decision")),
        Key("replay.back", Means.BEFORE, "back", N_("Back"), N_("Look at the turn before; what is decided stays")),
        Key("replay.summary", Means.COMMAND, "go_on", N_("Go on"), N_("To the first turn that I have not decided, or to the end"), letter="s"),
        Key("replay.trial", Means.DETAILS, "trial", N_("Trial"), N_("The whole dialogue and its scores")),
        Key("replay.persona", Means.VIEW, "persona", N_("Who I am"), N_("Show or hide who is played"), show=False),
        Key("replay.up", (Means.UP, Means.PAGE_UP), "scroll(-1)", N_("Up"), N_("Scroll the dialogue up"), show=False),
        Key("replay.down", (Means.DOWN, Means.PAGE_DOWN), "scroll(1)", N_("Down"), N_("Scroll the dialogue down"), show=False),
        Key("replay.leave", Means.UP_ONE, "leave", N_("Leave"), N_("Leave; every decision is saved, and you go on where you were")),
    )  # fmt: skip

    def __init__(self, trial_id: int, *, seen: bool = False) -> None:
        super().__init__()
        self._trial_id, self._seen = trial_id, seen
        self._later: Later = "titles"
        self._reading = False
        self._kind = ItemKind.CUE
        columns = (
            Column[DifferingTurn](N_("Turn"), lambda each: str(each.turn + 1), right=True),
            Column[DifferingTurn](N_("You"), lambda each: value_label(self._kind, each.mine.value), grow=1),
            Column[DifferingTurn](N_("Recorded"), lambda each: value_label(self._kind, each.theirs.value), grow=1),
        )  # fmt: skip
        self.differing = ListView(columns, lambda each: each.turn, id="differing")

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        yield Static("", id="progress", markup=False)
        with Horizontal(id="body"):
            yield CardPane("replay.persona")
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                with VerticalScroll(id="told", can_focus=False):
                    yield Paragraphs(id="told-text")
        yield Static("", id="question", markup=False)
        with Vertical(id="end"):
            yield Paragraphs(id="summary")
            yield self.differing
        yield EmptyState(
            _("Nothing to decide in this dialogue"),
            _("A turn can be re-played where the record says whether a cue was met, or a status."),
            ("esc", _("Back to where you came from")),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(Transcript).can_focus = False
        for widget in self.query("#body, #end, EmptyState"):
            widget.display = False

    def on_key(self, event: events.Key) -> None:
        # Whoever scrolls is reading, not idle.
        if self.session is not None:
            self.session.touch()

    def on_resize(self) -> None:
        if self.step is not None:
            self.call_after_refresh(self.show, self.step)

    async def begin(self) -> ReplaySession:
        with self.or_leave():
            self._later = (await self.services.config()).play.later
            return await self.services.ask(self._open)

    def step_of(self, session: ReplaySession, work: Work) -> Step:
        return step_of(session, work)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        step, ahead = self.step, self.pending
        view = step.view if step else None
        told = view is not None and view.mine is not None
        match action:
            case "on" | "next":
                return told or ahead
            case "decide":
                value = LabelValue(str(parameters[0]))
                return view is not None and (ahead or (not told and value in view.choices))
            case "status":
                value = STATUS_KEYS.get(str(parameters[0]))
                return view is not None and (ahead or (not told and value in view.choices))
            case "comment" | "scroll" | "persona":
                return view is not None
            case "go_on":
                return step is not None and view is not None and view.number < step.decided
            case "back":
                return bool(step and step.total) and (view is None or view.number > 1)
            case "read":
                return bool(step and step.summary and step.summary.differing)
            case "trial":
                return bool(step and step.view is None)
            case _:
                return True

    def action_decide(self, value: str) -> None:
        # Pressed ahead, it is met as the turn is by then: once decided, n goes on.
        self.press(self._no if value == "no" else works.deciding(LabelValue(value)))

    def action_status(self, key: str) -> None:
        self.press(works.deciding(STATUS_KEYS[key]))

    def action_on(self) -> None:
        self.press(self._on)

    def action_next(self) -> None:
        self.press(self._no)

    def action_go_on(self) -> None:
        self.press(works.go_on)

    def action_back(self) -> None:
        self.press(works.back)

    def action_comment(self) -> None:
        self.press("comment")

    def action_read(self) -> None:
        if self.differing.row is not None:
            self._reading = True
            self.press(works.going_to(self.differing.row.turn))

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        self.app.push_screen(TrialScreen(self._trial_id))

    def action_persona(self) -> None:
        self.query_one(CardPane).fold_persona()

    def action_scroll(self, direction: int) -> None:
        self.query_one(Transcript).page(direction)

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.action_read()

    def _open(self, workspace: Workspace) -> ReplaySession:
        drafts = FileDrafts(self.services.url, self.person)
        return ReplaySession(workspace, self.person, self._trial_id, drafts=drafts, seen=self._seen)

    def _on(self, session: ReplaySession) -> None:
        # What was opened from the list at the end goes back there.
        (works.go_on if self._reading else works.on)(session)

    def _no(self, session: ReplaySession) -> None:
        view = session.current
        if view is not None and view.mine is not None:
            self._on(session)
        else:
            works.deciding(LabelValue.NO)(session)

    async def aside(self, session: ReplaySession, what: str) -> None:
        view = self.step.view if self.step else None
        if view is None:
            return
        before = view.mine.comment if view.mine else view.draft.comment
        text = await self.app.push_screen_wait(TextDialog(_("Comment on this turn"), before))
        if text is not None:
            self.show(await self.work_off(session, works.commenting(text)))
        session.touch()

    def show(self, step: Step) -> None:
        session = self.session
        if session is None:
            return
        self.step = step
        view = step.view
        self._reading = self._reading and view is not None
        self.query_one("#body").display = self.query_one("#question").display = view is not None
        self.query_one("#end").display = view is None and bool(step.total)
        self.query_one(EmptyState).display = not step.total
        room = self.size.width - 2
        self.query_one("#head", Lines).load([present.heading(session.task.title, session.by, room)])
        told = present.progress(view, step.total, step.decided)
        said = [told, present.passed_line(view.passed) if view else ""]
        self.query_one("#progress", Static).update(" · ".join(filter(None, said)))
        if view is not None:
            self._show_turn(session, view)
        elif step.summary is not None:
            self._show_end(session, step.summary)

    def _show_turn(self, session: ReplaySession, view: ReplayView) -> None:
        self.query_one(CardPane).load(present.play_state(session.task, view.events), self._later)
        shown: list[Event] = list(view.events)
        pane = self.query_one("#told")
        pane.display = view.original is not None
        if view.original is not None:
            last = shown[-1]
            shown.append(
                last.model_copy(update={"seq": last.seq + 1, "body": view.original.spoken})
            )
            lines = present.original_paragraphs(view, view.original)
            self.query_one("#told-text", Paragraphs).load(lines)
            asked = [
                hint(
                    _("⏎ goes on to the next turn · {COMMENT} adds a comment · {BEFORE} looks back")
                )
            ]
            if self._reading:
                asked = [_("⏎ goes back to the list")]
        else:
            asked = present.question_lines(view, max(20, self.size.width - 4))
            if view.draft.comment:
                asked.append(_("Goes with your decision: {text}").format(text=view.draft.comment))
        self.query_one("#question", Static).update("\n".join(asked))
        transcript = self.query_one(Transcript)
        transcript.load(entries_of(shown, session.task))
        self.call_after_refresh(transcript.move_to, len(shown) - 1)

    def _show_end(self, session: ReplaySession, summary: ReplaySummary) -> None:
        self.query_one("#summary", Paragraphs).load(present.summary_lines(summary, session.by))
        self._kind = ItemKind.STATUS if chain_of(session.task) else ItemKind.CUE
        self.differing.display = bool(summary.differing)
        self.differing.load(summary.differing)
        if summary.differing:
            self.differing.focus()
