"""What the rooms of the Play screen share: the session, the state of play, and how both are shown."""

from __future__ import annotations

from textual.timer import Timer

from cuecard.core.events import Event, ToolAnswered, UserSpoke
from cuecard.core.parts import Dialogue
from cuecard.core.users.faults import Fault
from cuecard.tui.base import CuecardScreen
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.composer import Composer
from cuecard.tui.screens.play.link import Ground, SessionLink
from cuecard.tui.screens.play.stream import Frames
from cuecard.tui.state.play import Phase, PlayState
from cuecard.tui.state.play_faults import to_hint
from cuecard.tui.state.play_figures import PlayFigures
from cuecard.tui.state.play_history import InputHistory
from cuecard.tui.state.play_ladder import Later
from cuecard.tui.state.play_seat import agent_wanted
from cuecard.tui.state.play_status import heading, status_pieces
from cuecard.tui.state.transcript_state import TranscriptState
from cuecard.tui.state.unsent import UnsentFile, unsent_of
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

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
        self._said = InputHistory()
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
            self.query_one("#head", Lines).load([heading(state, ground.agent)])
            self.query_one(CardPane).load(state, self._later)
            self.refresh_bindings()

    def _show_dialogue(self) -> None:
        self.query_one(Transcript).load(self._talk.entries, follow=True)

    def _show_figures(self) -> None:
        """Nothing, unless a pane for them is open."""

    def _show_status(self) -> None:
        if self._state is None:
            return
        hints = to_hint(self._hints)
        waits_for = agent_wanted(self._ground.agent, self._state.course) if self._ground else ""
        pieces = status_pieces(self._state, self.composer.text, self._calls(), hints, waits_for)
        self.query_one("#status", Lines).load([pieces])

    def _calls(self) -> int:
        """Tool calls in the turn that the agent is working on."""
        state = self._state
        if state is None:
            return 0
        turn = state.dialogue.turn
        bodies = [event.body for event in state.course if isinstance(event.body, ToolAnswered)]
        return sum(body.turn == turn and body.part == "agent" for body in bodies)

    def _keep_soon(self) -> None:
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self._keep_now)

    def _keep_now(self) -> None:
        """What is typed and marked goes to the disk."""
        self._keep_timer = None
        if self._file and self._state and self._state.phase not in ("concluding", "ended"):
            self._file.save(unsent_of(self._state, self._typed, self._said.draft))
