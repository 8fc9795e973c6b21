"""The Play screen: a person is the user of one trial, live."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widgets import Footer, TextArea

from cuecard.core.events import Event, ToolAnswered
from cuecard.core.i18n import _
from cuecard.lab.trial_view import trial_view
from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.play.bindings import PLAY_KEYS
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.composer import Composer
from cuecard.tui.screens.play.dialogs import (
    AgentDialog,
    MarkDialog,
    ReadingDialog,
)
from cuecard.tui.screens.play.ending import Ending
from cuecard.tui.screens.play.link import (
    Ended,
    Ground,
    Happened,
    SessionLink,
    Wanted,
    prepare,
)
from cuecard.tui.screens.play.stream import Frames, Streamed
from cuecard.tui.state.play import Insertion, Mark, PlayState, Reading
from cuecard.tui.state.play_status import heading, status_pieces
from cuecard.tui.state.players import agent_choices
from cuecard.tui.state.transcript_state import TranscriptState
from cuecard.tui.state.unsent import UnsentFile, restore, unsent_of
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.config import Config

KEEP = 0.5
"""Seconds after a keystroke until what was typed is on the disk."""


class PlayScreen(CuecardScreen[None]):
    """Plays a task's revision (the newest one by default) with `agent`, or goes on with `trial_id`."""

    CSS_PATH = "play.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-broad")]
    BINDINGS = PLAY_KEYS

    def __init__(
        self,
        task_id: str = "",
        revision: int | None = None,
        agent: str | None = None,
        trial_id: int | None = None,
    ) -> None:
        super().__init__()
        self._wanted = Wanted(task_id, revision, agent or "", trial_id)
        self._link: SessionLink | None = None
        self._ground: Ground | None = None
        self._state: PlayState | None = None
        self._events: list[Event] = []
        self._talk = TranscriptState()
        self._frames = Frames(self, self._show_dialogue)
        self._typed = ""
        self._sending = False
        self._file: UnsentFile | None = None
        self._keep_timer: Timer | None = None

    @property
    def play(self) -> PlayState | None:
        """The state of play; None until it is known what is played."""
        return self._state

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        with Horizontal(id="body"):
            yield CardPane()
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                yield Lines(id="status")
                yield Composer()
                yield Ending()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(Ending).display = False
        self.query_one(Composer).focus()
        self.begin()

    def on_unmount(self) -> None:
        self._keep_now()
        if self._link:
            self._link.close()

    @guarded("begin")
    async def begin(self) -> None:
        try:
            config = await self.services.config()
            wanted = self._wanted
            if wanted.trial_id is None and not wanted.agent:
                agent = await self._choose_agent(config)
                if agent is None:
                    self.app.pop_screen()
                    return
                wanted = replace(wanted, agent=agent)
            ground = await self.services.ask(lambda ws: prepare(ws, wanted, config))
            workspace = await self.services.ask(lambda ws: ws)
            self._link = SessionLink(
                self.services.engine, workspace, config, self.person, self.post_message
            )
            if ground.trial_id is not None:
                past = await self._link.resume(ground.trial_id)
                ground = replace(ground, past=past)
            self._take(ground)
        except Exception:
            self.app.pop_screen()
            raise

    async def _choose_agent(self, config: Config) -> str | None:
        choices = agent_choices(config)
        if len(choices) == 1:
            return choices[0][0]
        return await self.app.push_screen_wait(AgentDialog(choices))

    def _take(self, ground: Ground) -> None:
        """Show what the log holds and what was typed last time."""
        # A resumed session may have told of new events before its log came back.
        by_seq = {event.seq: event for event in (*ground.past, *self._events)}
        self._events = [by_seq[seq] for seq in sorted(by_seq)]
        self._ground = ground
        state = PlayState(ground.task)
        self._talk = TranscriptState(ground.task)
        for event in self._events:
            state.follow(event)
            self._talk.follow(event)
        self._state = state
        place = f"trial {ground.trial_id}" if ground.trial_id else f"task {ground.task.id}"
        self._file = UnsentFile(self.services.url, place)
        text = restore(state, self._file.load())
        if not text and state.opening:
            text = state.insert(Insertion.LINE)
        composer = self.query_one(Composer)
        if not composer.text:
            composer.take(text)
        self._show()

    def on_happened(self, message: Happened) -> None:
        self._events.append(message.event)
        if self._state is None:
            return
        self._state.follow(message.event)
        self._talk.follow(message.event)
        self._show()

    def on_streamed(self, message: Streamed) -> None:
        self._talk.write(message.turn, message.text)
        self._frames.ask()

    @guarded("ended")
    async def on_ended(self, message: Ended) -> None:
        outcome = message.outcome
        view = await self.services.ask(lambda ws: trial_view(ws, outcome.trial_id))
        ending = self.query_one(Ending)
        ending.load(outcome, view.measures, view.judge)
        self.query_one(Composer).display = False
        ending.display = True
        ending.focus()
        if outcome.termination is not None and self._file:
            self._file.discard()

    def on_ending_read(self) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        trial_id = self._link.trial_id if self._link else None
        if trial_id is not None:
            self.app.switch_screen(TrialScreen(trial_id))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._typed = self.query_one(Composer).text
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self._keep_now)
        self._show_status()

    def on_composer_submitted(self) -> None:
        if not self._sending:
            self.send()

    @guarded("send")
    async def send(self, *, done: bool = False) -> None:
        state, composer = self._state, self.query_one(Composer)
        if state is None or self._link is None or self._ground is None:
            return
        if state.phase != "yours":
            self.cue_app.tell(_("The agent has not answered yet; what you typed stays."))
            return
        if state.mark_wanted or state.reading_wanted:
            if not await self._ask_mark() and not done:
                return
            if not composer.text.strip() and not done and not self._completes(state):
                composer.take(state.suggestion())
                self._show_status()
                return
        text = composer.text
        if not text.strip() and not done and not self._completes(state):
            self.cue_app.tell(_("Say something first: ^l inserts the line, ^n pushes."))
            return
        forbidden = state.forbidden_in(text)
        if forbidden and not await self._sure(
            _("This says what the user must not say"), ", ".join(forbidden), _("Send it anyway")
        ):
            return
        reply = state.reply(text, done=done)
        self._sending = True
        try:
            await self._link.submit(self._ground, reply)
        finally:
            self._sending = False
        if composer.text == text:
            composer.take("")
        if self._file:
            self._file.discard()
            self._file = UnsentFile(self.services.url, f"trial {self._link.trial_id}")

    async def _ask_mark(self) -> bool:
        """Have the person mark the agent's last turn; False if they would rather not now."""
        state = self._state
        if state is None:
            return False
        if state.chain and state.step and state.step_number is not None:
            last = state.step_number == len(state.chain.steps) - 1
            ambiguous = state.step.ambiguity is not None
            read = await self.app.push_screen_wait(
                ReadingDialog(state.step.question, ambiguous=ambiguous, last=last)
            )
            state.reading = Reading(read) if read else state.reading
            answered = read is not None
        elif state.stage:
            mark = await self.app.push_screen_wait(MarkDialog(state.stage.cue.text))
            state.mark = Mark(mark) if mark else state.mark
            answered = mark is not None
        else:
            return True
        self._show_status()
        self._keep_now()
        return answered

    async def _sure(self, title: str, question: str, yes: str) -> bool:
        return await self.app.push_screen_wait(ConfirmDialog(title, question, yes)) is True

    @staticmethod
    def _completes(state: PlayState) -> bool:
        status = state.status()
        return status is not None and status.value == "task_completed"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        ended = self._state is not None and self._state.phase == "ended"
        return not (ended and action in ("insert", "mark", "end"))

    def action_insert(self, what: str) -> None:
        state = self._state
        if state is None:
            return
        text = state.insert(Insertion(what))
        if text:
            self.query_one(Composer).put(text)
        else:
            self.cue_app.tell(_("This card has no line to say."))

    @guarded("mark")
    async def action_mark(self) -> None:
        state = self._state
        if state is None or state.phase != "yours" or state.dialogue.last("agent") is None:
            self.cue_app.tell(_("There is no reply to mark yet."))
            return
        composer = self.query_one(Composer)
        if await self._ask_mark() and not composer.text.strip():
            composer.take(state.suggestion())

    @guarded("end")
    async def action_end(self) -> None:
        state = self._state
        if state is None or state.phase != "yours" or state.opening:
            self.cue_app.tell(_("You can end when it is your turn; Escape pauses."))
            return
        if await self._sure(
            _("End the dialogue?"),
            _("The agent then hands in what it found, and that is judged."),
            _("End it"),
        ):
            self.send(done=True)

    def action_pause(self) -> None:
        if self._state and self._state.phase != "ended" and not self._state.opening:
            self.cue_app.tell(_("Paused. Home and Runs bring you back here."))
        self.app.pop_screen()

    def action_calls(self) -> None:
        self.query_one(Transcript).open_last_work()

    def action_persona(self) -> None:
        self.query_one(CardPane).fold_persona()

    def action_scroll_dialogue(self, direction: int) -> None:
        transcript = self.query_one(Transcript)
        if direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    def _show(self) -> None:
        """Everything that follows from the log."""
        state, ground = self._state, self._ground
        if state is None or ground is None:
            return
        self.query_one("#head", Lines).load([heading(state, ground.agent)])
        self.query_one(CardPane).load(state)
        self._frames.ask()
        self._show_status()
        self.refresh_bindings()

    def _show_dialogue(self) -> None:
        self.query_one(Transcript).load(self._talk.entries, follow=True)

    def _show_status(self) -> None:
        if self._state is None:
            return
        text = self.query_one(Composer).text
        self.query_one("#status", Lines).load([status_pieces(self._state, text, self._calls())])

    def _calls(self) -> int:
        """Tool calls in the turn that the agent is working on."""
        turn = self._state.dialogue.turn if self._state else 0
        bodies = [event.body for event in self._events if isinstance(event.body, ToolAnswered)]
        return sum(body.turn == turn and body.part == "agent" for body in bodies)

    def _keep_now(self) -> None:
        self._keep_timer = None
        if self._file and self._state and self._state.phase != "ended":
            self._file.save(unsent_of(self._state, self._typed))
