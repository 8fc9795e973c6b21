"""What the parts of the Play screen share: the session, the state of play, and the message input."""

from textual import events
from textual.actions import SkipAction
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from cuecard.core.engine.events import Event, ToolAnswered, UserSpoke
from cuecard.core.engine.messages import Dialogue
from cuecard.core.i18n import N_
from cuecard.core.text import for_display
from cuecard.core.users.faults import Fault
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardScreen
from cuecard.tui.present import play_status as present
from cuecard.tui.present.drafts import UnsentFile, unsent_of
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Phase
from cuecard.tui.present.play_panes import Later, PlayFigures
from cuecard.tui.present.transcript import TranscriptState
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.link import Frames, Ground, SessionLink
from cuecard.tui.widgets.text import Lines
from cuecard.tui.widgets.transcript import Transcript

LONGEST_PASTE = 100_000
"""Characters; more than anybody says to an agent."""


class Composer(TextArea):
    """Typing is never blocked; what is typed while the agent works stays until it can be sent.

    Up on the first line and Down on the last walk through what was `said`; the unfinished draft is kept.
    """

    DEFAULT_CSS = """
    Composer { height: auto; min-height: 3; max-height: 10; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("play.send", Means.OPEN, "send", N_("Send"), N_("Say this to the agent"), priority=True ),
        # Ctrl+J is the one key for a new line that every terminal can send.
        Key("play.newline", Means.NEW_LINE, "newline", N_("New line"), N_("Begin a new line in the message"), show=False, priority=True),
    )  # fmt: skip

    class Submitted(Message):
        """Enter was pressed."""

    class Shortened(Message):
        """What was pasted was longer than `LONGEST_PASTE`."""

    def __init__(self, said: present.InputHistory) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self._said = said
        self._recalled: str | None = None

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(for_display(event.text[:LONGEST_PASTE]))
        self.call_after_refresh(self.scroll_cursor_visible)
        if len(event.text) > LONGEST_PASTE:
            self.post_message(self.Shortened())

    def action_undo(self) -> None:
        """Where nothing of what was typed is left to undo, the last words are taken back instead."""
        if not self.history.undo_stack:
            raise SkipAction
        super().action_undo()

    def action_send(self) -> None:
        self.post_message(self.Submitted())

    def action_newline(self) -> None:
        self.insert("\n")

    def action_cursor_up(self, select: bool = False) -> None:
        first = self.navigator.is_first_wrapped_line(self.cursor_location)
        if select or not (first or self._untouched) or not self._walk(-1):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if select or not (last or self._untouched) or not self._walk(1):
            super().action_cursor_down(select)

    def put(self, text: str) -> None:
        """Insert `text` at the cursor, parted from what stands there already."""
        before = self.document.get_line(self.cursor_location[0])[: self.cursor_location[1]]
        apart = " " if before and not before[-1:].isspace() and before.isascii() else ""
        self.insert(f"{apart}{text}")
        self.focus()

    def take(self, text: str) -> None:
        """Replace everything by `text`, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    @property
    def _untouched(self) -> bool:
        """Whether an earlier message stands here as it was said."""
        return self._said.browsing and self._recalled == self.text

    def _walk(self, step: int) -> bool:
        text = self._said.walk(step, self.text)
        if text is None:
            return False
        self.take(text)
        self._recalled = text
        return True


KEEP = 0.5
"""Seconds after a keystroke until what was typed is on the disk."""


class Playing(CuecardScreen[None]):
    """`_state` is None until it is known what is played; `_link` and `_ground` come with it."""

    def __init__(self) -> None:
        super().__init__()
        self._link: SessionLink | None = None
        self._ground: Ground | None = None
        self._state: PlayState | None = None
        self._phase: Phase | None = None
        self._talk = TranscriptState()
        self._figures = PlayFigures()
        self._shown: tuple[Dialogue, Phase] | None = None
        self._early: list[Event] = []
        self._later: Later = "titles"
        self._currency = "USD"
        self._reads: int | None = None  # tokens, the agent's model
        self._hints: tuple[Fault, ...] = ()
        self._frames = Frames(self, self._show_dialogue)
        self._status_frames = Frames(self, self._show_status)
        self._typed = ""
        self._said = present.InputHistory()
        self._file: UnsentFile | None = None
        self._keep_timer: Timer | None = None

    @property
    def play(self) -> PlayState | None:
        """The state of play; None until it is known what is played."""
        return self._state

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    def _follow(self, event: Event) -> None:
        """Take in what happened, in the order of the log."""
        if self._state is None:
            return
        self._state.follow(event)
        if self._phase is not None:
            # The session knows better: it tells when it concludes, and when it is stopped.
            self._state.phase = self._phase
        self._talk.follow(event)
        self._figures.follow(event)
        if isinstance(event.body, UserSpoke):
            self._said.said(event.body.reply.text)

    def _show(self) -> None:
        """Everything that follows from the log."""
        state, ground = self._state, self._ground
        if state is None or ground is None:
            return
        self._frames.ask()
        self._status_frames.ask()
        self._show_figures()
        # Tool calls and marks change neither the card nor what the keys can do.
        if (shown := (state.dialogue, state.phase)) != self._shown:
            self._shown = shown
            self.query_one("#head", Lines).load([present.heading(state, ground.agent)])
            self.query_one(CardPane).load(state, self._later)
            self.refresh_bindings()

    def _show_dialogue(self) -> None:
        self.query_one(Transcript).load(self._talk.entries, follow=True)

    def _show_figures(self) -> None:
        """Nothing, unless a pane for them is open."""

    def _show_status(self) -> None:
        if self._state is None:
            return
        hints = present.to_hint(self._hints)
        waits_for = (
            present.agent_wanted(self._ground.agent, self._state.effective) if self._ground else ""
        )
        pieces = present.status_pieces(
            self._state, self.composer.text, self._calls(), hints, waits_for
        )
        self.query_one("#status", Lines).load([pieces])

    def _calls(self) -> int:
        """Tool calls in the turn that the agent is working on."""
        state = self._state
        if state is None:
            return 0
        turn = state.dialogue.turn
        bodies = [event.body for event in state.effective if isinstance(event.body, ToolAnswered)]
        return sum(body.turn == turn and body.part == "agent" for body in bodies)

    def _keep_soon(self) -> None:
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self._keep_now)

    def _keep_now(self) -> None:
        """What is typed and marked goes to the disk."""
        self._keep_timer = None
        if self._file and self._state and self._state.phase not in ("concluding", "ended"):
            self._file.save(unsent_of(self._state, self._typed, self._said.draft))
