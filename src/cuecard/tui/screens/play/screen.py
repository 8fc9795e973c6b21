"""The Play screen: a person is the user of one trial, live."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, Vertical
from textual.widgets import Footer

from cuecard.core.events import Concluded
from cuecard.core.i18n import _
from cuecard.tui.base import guarded
from cuecard.tui.screens.play.after import AfterPane
from cuecard.tui.screens.play.bindings import ONLY_BROAD, ONLY_WIDE, ORDER, PLAY_KEYS, TURN_KEYS
from cuecard.tui.screens.play.card import CardPane
from cuecard.tui.screens.play.composer import Composer
from cuecard.tui.screens.play.figures import FiguresPane
from cuecard.tui.screens.play.finishing import Finishing
from cuecard.tui.screens.play.link import (
    Ended,
    Ground,
    Happened,
    PhaseChanged,
    SessionLink,
    Wanted,
    prepare,
)
from cuecard.tui.screens.play.looking import Looking
from cuecard.tui.screens.play.start import StartDialog
from cuecard.tui.screens.play.stream import Streamed
from cuecard.tui.screens.play.turning import Turning
from cuecard.tui.state.play import Insertion, PlayState
from cuecard.tui.state.play_figures import PlayFigures
from cuecard.tui.state.play_keys import why_not, works_now
from cuecard.tui.state.play_start import Start, start_choices
from cuecard.tui.state.players import context_of
from cuecard.tui.state.transcript_state import TranscriptState
from cuecard.tui.state.unsent import UnsentFile, restore
from cuecard.tui.widgets.pieces import Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.config import Config

SECOND = 1.0


class PlayScreen(Turning, Looking, Finishing):
    """Plays a task's revision (the newest one by default) with `agent`, or goes on with `trial_id`.
    `choose`: who takes the other parts is asked also where there is little to choose.
    """

    CSS_PATH = "play.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (150, "-broad")]
    BINDINGS = PLAY_KEYS

    def __init__(
        self,
        task_id: str = "",
        revision: int | None = None,
        agent: str | None = None,
        trial_id: int | None = None,
        *,
        choose: bool = False,
    ) -> None:
        super().__init__()
        self._wanted = Wanted(task_id, revision, trial_id=trial_id)
        self._agent = agent
        self._choose = choose

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        bindings = super().active_bindings
        state = self._state
        routine = state is not None and state.phase == "yours" and not state.interrupted
        hidden = {"screen.help"}  # F1 is the same, also while one types.
        if not self.has_class("-broad"):
            hidden |= ONLY_BROAD | ({"play.retry"} if routine else set())
        if self.has_class("-narrow"):
            hidden |= ONLY_WIDE | (set() if routine else {"play.phrases"})
        shown = {key: _without(active, hidden) for key, active in bindings.items()}
        if state is not None and state.phase == "ended" and (leave := shown.get("escape")):
            binding = replace(leave.binding, description=_("Leave"))
            shown["escape"] = leave._replace(binding=binding)
        return dict(sorted(shown.items(), key=lambda item: _place(item[1], routine=routine)))

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        with Horizontal(id="body"):
            yield CardPane()
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                yield Lines(id="status")
                yield Composer(self._said)
                yield AfterPane()
            yield FiguresPane()
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(FiguresPane).display = False
        self.query_one(AfterPane).display = False
        self.composer.focus()
        self.set_interval(SECOND, self._show_figures)
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
            if wanted.trial_id is None:
                start = await self._start(config)
                if start is None:
                    self.dismiss()
                    return
                wanted = replace(wanted, start=start)
            ground = await self.services.ask(lambda ws: prepare(ws, wanted, config))
            workspace = await self.services.ask(lambda ws: ws)
            self._configure(config)
            self._reads = context_of(config, ground.agent.name)
            self._link = SessionLink(
                self.services.engine, workspace, config, self.person, self.post_message
            )
            if ground.trial_id is not None:
                past = await self._link.resume(ground.trial_id)
                ground = replace(ground, past=past)
            self._take(ground)
        except Exception:
            self.dismiss()
            raise

    async def _start(self, config: Config) -> Start | None:
        """Who takes the other parts; None to leave."""
        if self._agent:
            play = config.play
            return Start(self._agent, play.world, play.judge, play.shadows)
        preferences = self.cue_app.preferences
        choices = start_choices(config, preferences.starts.get(self.person))
        if choices.skippable and not self._choose:
            return choices.chosen
        start = await self.app.push_screen_wait(StartDialog(choices))
        if start is not None:
            preferences.starts[self.person] = start.kept()
            preferences.save()
        return start

    def _take(self, ground: Ground) -> None:
        """Show what the log holds and what was typed last time."""
        state = PlayState(ground.task)
        self._talk, self._figures = TranscriptState(ground.task), PlayFigures()
        self._state, self._ground = state, ground
        for event in ground.past:
            self._follow(event)
        # A resumed session may have told of new events before its log came back.
        last = ground.past[-1].seq if ground.past else -1
        for event in self._early:
            if event.seq > last:
                self._follow(event)
        place = f"trial {ground.trial_id}" if ground.trial_id else f"task {ground.task.id}"
        self._file = UnsentFile(self.services.url, place)
        unsent = self._file.load()
        text = restore(state, unsent)
        if not text and state.opening:
            text = state.insert(Insertion.LINE)
        if not self.composer.text:
            self.composer.take(text)
        if unsent and text != unsent.draft:
            self._said.restore(unsent.draft)
        self._show()

    def on_happened(self, message: Happened) -> None:
        if self._state is None:
            self._early.append(message.event)
            return
        self._follow(message.event)
        self._show()
        if isinstance(message.event.body, Concluded):
            self.ask_form()

    def on_phase_changed(self, message: PhaseChanged) -> None:
        self._phase = message.phase
        if self._state is not None:
            self._state.phase = message.phase
            self._show()

    def on_streamed(self, message: Streamed) -> None:
        self._talk.write(message.turn, message.text)
        self._frames.ask()

    def on_ended(self, message: Ended) -> None:
        self.show_ending(message.outcome)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._state is None or works_now(self._state, action)

    def why_not(self, action: str) -> str:
        """Why a key does nothing now; see `CuecardApp`."""
        return why_not(self._state, action) if self._state is not None else ""


def _place(active: ActiveBinding, *, routine: bool) -> int:
    """Where a key stands in the footer: keys of what has the focus first, then ours in their order."""
    name = active.binding.id or ""
    late = len(ORDER) - 2 if routine and name in TURN_KEYS else 0
    return ORDER.get(name, -1) + late


def _without(active: ActiveBinding, hidden: Collection[str]) -> ActiveBinding:
    if active.binding.id not in hidden:
        return active
    return active._replace(binding=replace(active.binding, show=False))
