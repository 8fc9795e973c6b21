"""The Play screen: its keys, the start dialog for the other players, and resuming a trial."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Label, OptionList, Select, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from cuecard.core.engine.events import Concluded
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.present.drafts import UnsentFile, restore
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Insertion
from cuecard.tui.present.play_panes import PlayFigures
from cuecard.tui.present.play_status import why_not, works_now
from cuecard.tui.present.players import Choice, Start, StartChoices, context_of, start_choices
from cuecard.tui.present.transcript import TranscriptState
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
from cuecard.tui.screens.play.turns import Turning
from cuecard.tui.widgets.lists import TickList
from cuecard.tui.widgets.text import Lines
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.core.config import Config


# In the order in which the footer shows them: what every turn needs comes first.
PLAY_KEYS = keys(
    Key("play.interrupt", "f8", "interrupt", N_("Interrupt"), N_("Stop the agent; what it has said by then stands"), shown_as="F8"),
    Key("play.retry", "f9", "retry", N_("Retry"), N_("Have the agent take its last turn again"), shown_as="F9"),
    Key("play.undo", "f10", "undo", N_("Take back"), N_("Take your last words back into the input"), shown_as="F10"),
    Key("play.mark", "ctrl+t", "mark", N_("Mark"), N_("Cue met or not; for checkpoints, how you read the turn"), shown_as="^t"),
    Key("play.line", "ctrl+l", "insert('line')", N_("Line"), N_("Insert the card's line or clue"), shown_as="^l"),
    Key("play.push", "ctrl+n", "insert('push')", N_("Push"), N_("Insert what to say while the cue is not met"), shown_as="^n"),
    Key("play.phrases", "f6", "phrases", N_("Phrases"), N_("Pick what to say while the cue is not met"), shown_as="F6", priority=True),
    Key("play.answers", "f4", "answers", N_("Questions"), N_("Answer the agent's questions one by one, in one message"), shown_as="F4"),
    Key("play.never_mind", "ctrl+d", "insert('never_mind')", N_("Don't care"), N_("Insert that it does not matter to you"), shown_as="^d", priority=True),
    Key("play.end", "ctrl+g", "end", NP_("verb", "End"), N_("End the dialogue"), shown_as="^g"),
    Key("play.pause", "escape", "pause", N_("Pause"), N_("Leave and come back later")),
    Key("play.note", "f7", "note", NP_("verb", "Note"), N_("Note a problem of the agent or of the task"), shown_as="F7", priority=True),
    Key("play.evidence", "f5", "evidence", N_("Evidence"), N_("Choose the words of the reply that your mark rests on"), shown_as="F5"),
    Key("play.figures", "f2", "figures", N_("Figures"), N_("Show or hide turns, time, tokens, cost and notes"), shown_as="F2"),
    Key("play.sources", "f3", "sources", N_("Sources"), N_("The pages that the agent found and opened"), shown_as="F3"),
    Key("play.calls", "ctrl+o", "calls", N_("Calls"), N_("Open the newest tool calls"), show=False, shown_as="^o"),
    Key("play.persona", "ctrl+r", "persona", N_("Who I am"), N_("Show or hide the persona's identity"), show=False, shown_as="^r"),
    Key("play.up", "pageup", "scroll_page(-1)", N_("Back"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
    Key("play.down", "pagedown", "scroll_page(1)", N_("On"), N_("Scroll the dialogue, or the card when you are in it"), show=False, priority=True),
    Key("play.help", "f1", "app.explain", N_("Help"), N_("Keys of this screen"), shown_as="F1"),
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


class _Shadows(TickList[str]):
    """Space ticks; Enter is the dialog's, as everywhere in it."""

    BINDINGS = keys(
        Key("start.shadows", "enter", "screen.begin", NP_("verb", "Start"), N_("Begin the session"), show=False),
    )  # fmt: skip


class StartDialog(CuecardDialog[Start | None]):
    """Asks for the other players; None if it was left. Enter alone takes those of last time. Known obstacles are shown
    before anything begins.
    """

    DEFAULT_CSS = """
    StartDialog {
        align: center middle;
        .dialog { width: 76; padding: 0 2; }
        #about { height: auto; color: $muted; }
        OptionList, SelectionList {
            height: auto; border: round $foreground 20%; background: $surface; padding: 0;
        }
        OptionList:focus, SelectionList:focus { border: round $primary; }
        #agents { max-height: 8; }
        #shadows { max-height: 5; }
        .field { height: 1; margin: 0 1; }
        .field Label { width: 9; color: $muted; }
        .field Select { width: 1fr; }
        #problems { height: auto; color: $error; padding: 0 1; }
    }
    """
    BINDINGS = keys(
        Key("start.begin", "ctrl+s", "begin", NP_("verb", "Start"), N_("Begin the session"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, choices: StartChoices) -> None:
        super().__init__()
        self._choices = choices

    def compose(self) -> ComposeResult:
        chosen = self._choices.chosen
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Whom do you want to talk to?"))
            told = _("You play the user. cuecard.yaml names more players; Enter starts.")
            yield Static(told, id="about", markup=False)
            agents = OptionList(*map(_option, self._choices.agents), id="agents", markup=False)
            agents.border_title = Text(_("Agent"))
            yield agents
            with Horizontal(classes="field"):
                yield Label(_("World"))
                yield _select("world", self._choices.worlds, chosen.world)
            with Horizontal(classes="field"):
                yield Label(_("Judge"))
                yield _select("judge", self._choices.judges, chosen.judge)
            shadows = _Shadows(
                *(
                    Selection(_text(part), part.name, part.name in chosen.shadows)
                    for part in self._choices.shadows
                ),
                id="shadows",
            )
            shadows.border_title = Text(_("Simulators that listen (space ticks)"))
            yield shadows
            yield Static("", id="problems", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        agents = self.query_one("#agents", OptionList)
        names = [part.name for part in self._choices.agents]
        agents.highlighted = names.index(self._choices.chosen.agent)
        agents.focus()
        self._check()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "agents":
            self._check()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "agents":
            self.action_begin()

    def on_selection_list_selected_changed(self) -> None:
        self._check()

    def on_select_changed(self) -> None:
        self._check()

    def action_begin(self) -> None:
        start = self._start()
        if self._choices.problems(start):
            self.notify(_("This cannot be played yet."), severity="warning", markup=False)
        else:
            self.dismiss(start)

    def _start(self) -> Start:
        index = self.query_one("#agents", OptionList).highlighted or 0
        ticked = set(cast(SelectionList[str], self.query_one("#shadows")).selected)
        return Start(
            agent=self._choices.agents[index].name,
            world=self._selected("world"),
            judge=self._selected("judge"),
            shadows=tuple(part.name for part in self._choices.shadows if part.name in ticked),
        )

    def _selected(self, field: str) -> str:
        return str(cast(Select[str], self.query_one(f"#{field}", Select)).value)

    def _check(self) -> None:
        problems = self._choices.problems(self._start())
        shown = self.query_one("#problems", Static)
        shown.update(for_display("\n".join(f"✗ {problem}" for problem in problems)))
        shown.display = bool(problems)


def _text(part: Choice) -> Text:
    text = Text(one_line(part.label, 64))
    return text.append("  ✗", "bold") if part.problem else text


def _option(part: Choice) -> Option:
    return Option(_text(part), id=part.name)


def _select(field: str, parts: Sequence[Choice], chosen: str) -> Select[str]:
    options = [(_text(part), part.name) for part in parts]
    return Select[str](options, allow_blank=False, value=chosen, id=field, compact=True)


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
        yield KeyBar(compact=True)

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
        except Exception:  # whatever it was, there is nothing to show
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
