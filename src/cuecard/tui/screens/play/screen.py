"""The Play screen: its keys, the start dialog for the other players, and resuming a trial."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding

from cuecard.core.engine.events import Concluded
from cuecard.core.i18n import N_, NP_, _, pgettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.present.drafts import UnsentFile, restore
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Insertion
from cuecard.tui.present.play_panes import PlayFigures
from cuecard.tui.present.play_status import why_not, works_now
from cuecard.tui.present.players import Choice, Start, StartChoices, context_of, start_choices
from cuecard.tui.present.transcript import TranscriptState
from cuecard.tui.screens.dialogs import ChoiceDialog
from cuecard.tui.screens.play.card import CardPane, FiguresPane
from cuecard.tui.screens.play.ending import AfterPane, Finishing
from cuecard.tui.screens.play.link import (
    Ended,
    Ground,
    Happened,
    PhaseChanged,
    SessionLink,
    Streamed,
    Wanted,
    prepare,
)
from cuecard.tui.screens.play.session import Composer
from cuecard.tui.screens.play.sources import Looking
from cuecard.tui.screens.play.turns import TurnChanges
from cuecard.tui.widgets.text import HeadLines, Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.config import Config


# In the order in which the footer shows them: what every turn needs comes first.
PLAY_KEYS = keys(
    Key("play.interrupt", Means.STOP, "interrupt", N_("Interrupt"), N_("Stop the agent; what it has said by then stands")),
    Key("play.retry", Means.REPEAT, "retry", N_("Retry"), N_("Have the agent take its last turn again")),
    Key("play.undo", Means.UNDO, "undo", N_("Take back"), N_("Take your last words back into the input")),
    Key("play.mark", Means.DECIDE, "mark", N_("Mark"), N_("Cue met or not; for checkpoints, how you read the turn")),
    Key("play.line", Means.SUGGEST, "insert('line')", N_("Line"), N_("Insert the card's line or clue")),
    Key("play.push", Means.COMMAND, "insert('push')", N_("Push"), N_("Insert words that give nothing away, while the agent is not there yet"), letter="n"),
    Key("play.phrases", Means.COMMAND, "phrases", N_("Phrases"), N_("Pick words that give nothing away, your own from before among them"), priority=True, letter="p"),
    Key("play.answers", Means.COMMAND, "answers", N_("Questions"), N_("Answer the agent's questions one by one, in one message"), letter="a"),
    Key("play.never_mind", Means.COMMAND, "insert('never_mind')", N_("Don't care"), N_("Insert that it does not matter to you"), priority=True, letter="d"),
    Key("play.end", Means.SUBMIT, "end", NP_("verb", "End"), N_("End the dialogue")),
    Key("play.pause", Means.UP_ONE, "pause", N_("Pause"), N_("Leave and come back later")),
    Key("play.note", Means.COMMENT, "note", NP_("verb", "Note"), N_("Note a problem of the agent or of the task"), priority=True),
    Key("play.evidence", Means.COMMAND, "evidence", N_("Evidence"), N_("Choose the words of the reply that your mark rests on"), letter="e"),
    Key("play.figures", Means.VIEW, "figures", N_("Figures"), N_("Show or hide turns, time, tokens, cost and notes")),
    Key("play.sources", Means.DETAILS, "sources", N_("Sources"), N_("The pages that the agent found and opened")),
    Key("play.calls", Means.COMMAND, "calls", N_("Calls"), N_("Open the newest tool calls"), show=False, letter="c"),
    Key("play.persona", Means.COMMAND, "persona", N_("Who I am"), N_("Show or hide the persona's identity"), show=False, letter="w"),
    Key("play.up", Means.PAGE_UP, "scroll_page(-1)", N_("Back"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
    Key("play.down", Means.PAGE_DOWN, "scroll_page(1)", N_("On"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
)  # fmt: skip

ORDER = {
    binding.id: place
    for place, binding in enumerate(b for b in PLAY_KEYS if isinstance(b, Binding))
    if binding.id
}
"""The places of these keys in the footer."""
TURN_KEYS = frozenset({"play.interrupt", "play.retry", "play.undo"})
"""First in the footer while the agent is at work or was stopped; else of no haste."""
ONLY_WIDE = frozenset({"play.never_mind", "play.note", "play.figures", "play.sources"})
ONLY_BROAD = frozenset({"play.evidence", "play.sources"})
"""Keys for which the footer of a narrower screen has no room; the help page lists them."""


class _Start(Frozen):
    agent: Annotated[str, Field(title=N_("Agent"))]
    world: Annotated[str, Field(title=N_("World"))]
    judge: Annotated[str, Field(title=N_("Judge"))]
    shadows: Annotated[tuple[str, ...], Field(title=N_("Simulators that listen (space ticks)"))]


class StartDialog(AnswerDialog[_Start, Start]):
    """Asks for the other players; None if it was left. Enter alone takes those of last time. Known obstacles are shown
    before anything begins.
    """

    BEGINS_AT = "accept"

    def __init__(self, choices: StartChoices) -> None:
        self._choices = choices
        super().__init__(
            _("Whom do you want to talk to?"),
            _Start.model_validate(asdict(choices.chosen)),
            ask=_("You play the user. cuecard.yaml names more players; Enter starts."),
            button=pgettext("verb", "Start"),
            options={
                "agent": _offered(choices.agents),
                "world": _offered(choices.worlds),
                "judge": _offered(choices.judges),
                "shadows": _offered(choices.shadows),
            },
        )

    def problem(self, model: _Start) -> str:
        return "\n".join(self._choices.problems(Start(**model.model_dump())))

    async def answer(self, model: _Start) -> Start:
        return Start(**model.model_dump())


def _offered(parts: Sequence[Choice]) -> list[tuple[str, str]]:
    return [
        (f"{one_line(part.label, 64)}{'  ✗' if part.problem else ''}", part.name) for part in parts
    ]


SECOND = 1.0


class PlayScreen(TurnChanges, Looking, Finishing):
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
        hidden = set[str]()
        if not self.has_class("-broad"):
            hidden |= ONLY_BROAD | ({"play.retry"} if routine else set())
        if self.has_class("-narrow"):
            hidden |= ONLY_WIDE | set()
        shown = {key: _without(active, hidden) for key, active in bindings.items()}
        if state is not None and state.phase == "ended" and (leave := shown.get("escape")):
            binding = replace(leave.binding, description=_("Leave"))
            shown["escape"] = leave._replace(binding=binding)
        return dict(sorted(shown.items(), key=lambda item: _place(item[1], routine=routine)))

    def crumbs(self) -> Sequence[str]:
        return [_("Play")]  # its head begins with the turn

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        with Horizontal(id="body"):
            yield CardPane("play.persona")
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                yield Lines(id="status")
                yield Composer(self._said)
                yield AfterPane()
            yield FiguresPane()
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(FiguresPane).display = False
        self.query_one(AfterPane).display = False
        self.query_one("#body").visible = False  # nothing stands there yet
        self.set_interval(SECOND, self._show_figures)
        self.begin()

    def on_unmount(self) -> None:
        self._keep_now()
        if self._link:
            self._link.close()

    @guarded("begin")
    async def begin(self) -> None:
        with self.or_leave():
            config = await self.services.config()
            wanted = self._wanted
            if wanted.trial_id is None and not self._choose:
                wanted = await self._open_one(wanted)
            if wanted is not None and wanted.trial_id is None:
                start = await self._start(config)
                wanted = replace(wanted, start=start) if start else None
            if wanted is None:
                self.dismiss()
                return
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

    async def _open_one(self, wanted: Wanted) -> Wanted | None:
        """The person's session of the task that is open, if they want to go on with it; None to leave."""
        person, task_id = self.person, wanted.task_id
        trials = await self.services.ask(
            lambda ws: ws.runs.open_trials(created_by=person, kind="play")
        )
        mine = max((trial.id for trial in trials if trial.task_id == task_id), default=None)
        if mine is None:
            return wanted
        question = _("Your session of this task is open.")
        options = (
            ("on", "g", _("Go on where it stands")),
            ("new", "n", _("Begin another one; this one stays on Home")),
        )
        answer = await self.app.push_screen_wait(ChoiceDialog(_("Play"), question, options))
        return replace(wanted, trial_id=mine) if answer == "on" else wanted if answer else None

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
        self.query_one("#body").visible = True
        self.composer.focus()
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
