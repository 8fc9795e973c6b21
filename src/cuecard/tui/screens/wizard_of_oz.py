"""The window of a person who plays the agent: its keys, dialogs, and the list of waiting sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Input, TextArea

from cuecard.core.engine.messages import Act, ToolSpec
from cuecard.core.evaluation.wizard_of_oz import Briefing, WaitingTrial, waiting_trials
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Horizontal, Vertical, VerticalScroll
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL
from cuecard.tui.present.runs import when
from cuecard.tui.present.wizard_of_oz import NotACall, call_from, model_prompt, read_hand_in
from cuecard.tui.screens.dialogs import ChoiceDialog, ConfirmDialog
from cuecard.tui.screens.wizard_of_oz_panes import HandInPane, Looking, Notes, SearchLine, Words
from cuecard.tui.widgets.text import HeadLines, Lines, PlainText
from cuecard.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


WIZARD_OF_OZ_KEYS = keys(
    Key("wizard.hand_in", Means.SUBMIT, "hand_in", N_("Hand in"), N_("Hand in what you found; the session is over then"), priority=True),
    Key("wizard.search", Means.SEARCH, "look_up", N_("Search"), N_("To the search line"), priority=True),
    Key("wizard.reply", Means.EDIT, "reply", N_("Reply"), N_("To your reply"), priority=True),
    Key("wizard.tool", Means.VIEW, "next_tool", N_("Tool"), N_("Another of the world's tools"), priority=True),
    Key("wizard.notes", Means.COMMENT, "notes", N_("Notes"), N_("Your own notes; nobody else sees them"), priority=True),
    Key("wizard.from_notes", Means.SUGGEST, "from_notes", N_("Notes in"), N_("Put your notes into what you hand in"), priority=True),
    Key("wizard.calls", Means.DETAILS, "calls", N_("Calls"), N_("Open or fold the newest searches"), show=False, priority=True),
    Key("wizard.up", Means.PAGE_UP, "scroll_dialogue(-1)", N_("Back"), N_("Scroll the dialogue"), show=False, priority=True),
    Key("wizard.down", Means.PAGE_DOWN, "scroll_dialogue(1)", N_("On"), N_("Scroll the dialogue"), show=False, priority=True),
    Key("wizard.brief", Means.COMMAND, "brief", NP_("what is asked", "Brief"), N_("What is asked of you, and what a model is told"), priority=True, letter="b"),
    Key("wizard.leave", Means.UP_ONE, "leave", N_("Leave"), N_("Leave and come back later; all that you typed stays")),
)  # fmt: skip


class ActDialog(ChoiceDialog):
    """Whether a turn is an answer or a question."""

    CSS_PATH = "play/dialogs.tcss"
    BINDINGS = keys(
        Key("act.answer", Means.CHOICE, f"choose('{Act.ANSWER.value}')", NP_("verb", "Answer"), N_("It answers the user's question"), show=False, letter="a"),
        Key("act.ask", Means.CHOICE, f"choose('{Act.ASK.value}')", N_("Ask"), N_("It asks the user something"), show=False, letter="q"),
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        super().__init__(
            _("Is this an answer or a question?"),
            one_line(text, 300),
            (
                (Act.ANSWER.value, "a", _("I answer the user's question")),
                (Act.ASK.value, "q", _("I ask back before I answer")),
            ),
        )


class BriefDialog(CuecardDialog[None]):
    """What is asked of the person, and all that a model would be told."""

    DEFAULT_CSS = """
    BriefDialog { align: center middle; }
    BriefDialog VerticalScroll { height: auto; max-height: 80%; }
    """
    BINDINGS = keys()

    def __init__(self, briefing: Briefing) -> None:
        super().__init__()
        self._briefing = briefing

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("What is asked of you"))
            with VerticalScroll():
                yield PlainText(model_prompt(self._briefing))
        yield KeyBar()


class WaitingDialog(ChoiceDialog):
    """The sessions that wait for somebody to play their agent."""

    CSS_PATH = "play/dialogs.tcss"

    def __init__(self, trials: Sequence[WaitingTrial]) -> None:
        super().__init__(
            _("Play the agent"),
            _("These sessions wait for somebody to play the agent."),
            [(str(trial.trial_id), "", waiting_label(trial)) for trial in trials],
        )


def waiting_label(trial: WaitingTrial) -> str:
    glyph, _variable, family = FAMILY[trial.family]
    yours = " · " + _("yours") if trial.mine else ""
    user = one_line(trial.user, 40)
    return f"{user} · {glyph} {_(family)} · {LANGUAGE_LABEL[trial.language]} · {when(trial.since)}{yours}"


async def play_an_agent(app: CuecardApp) -> None:
    """Ask which session's agent to play, and open its window. Call it from a worker."""
    person = app.person
    trials = await app.services.ask(lambda ws: waiting_trials(ws, person))
    if not trials:
        told = _(
            "No session waits for you to play its agent. Sessions of tasks that you know are left out."
        )
        app.tell(told)
        return
    chosen: str | None = str(trials[0].trial_id)
    if len(trials) > 1:
        chosen = await app.push_screen_wait(WaitingDialog(trials))
    if chosen is not None:
        app.push_screen(WizardOfOzScreen(int(chosen)))


class WizardOfOzScreen(Looking):
    """Plays the agent of the open trial `trial_id`: see `core.evaluation.wizard_of_oz`."""

    CSS_PATH = "wizard_of_oz.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = WIZARD_OF_OZ_KEYS

    def compose(self) -> ComposeResult:
        yield HeadLines(id="head")
        with Horizontal(id="body"):
            with Vertical(id="talk"):
                yield Transcript(id="transcript")
                yield Lines(id="status")
                yield SearchLine()
                yield Words()
                yield HandInPane()
            with Vertical(id="side"):
                yield Notes()
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(HandInPane).display = False
        self.query_one(SearchLine).display = False
        self.query_one(Words).focus()
        self.take_part()

    def on_search_line_submitted(self, message: SearchLine.Submitted) -> None:
        # One move after the other: a second Enter must not cancel what the first one does.
        if not self._moving:
            self.search(message.tool, message.line)

    @guarded("move")
    async def search(self, tool: ToolSpec, line: str) -> None:
        state, player = self._state, self._player
        if state is None or player is None or state.view is None:
            return
        try:
            call, seen = call_from(tool, line, self._last_request()), state.view
        except NotACall as wrong:
            self.cue_app.tell(str(wrong))
            return
        await self._move(lambda: player.search(call, seen))
        state.searched()
        field = self.query_one(SearchLine)
        if field.text == line:
            field.take("")
        self.keep_now()
        await self.load()

    def on_words_submitted(self) -> None:
        if not self._moving:
            self.say()

    @guarded("move")
    async def say(self) -> None:
        state, player, words = self._state, self._player, self.query_one(Words)
        if state is None or player is None or state.view is None:
            return
        text, seen = words.text, state.view
        if seen.phase != "yours":
            self.cue_app.tell(_("It is not your turn; what you typed stays."))
            return
        if not text.strip():
            self.cue_app.tell(_("Write your reply first."))
            return
        act = Act.REPLY
        if state.briefing.choose_act:
            chosen = await self.app.push_screen_wait(ActDialog(text))
            if chosen is None:
                return
            act = Act(chosen)
        await self._move(lambda: player.say(text, act, seen))
        state.sent(text.strip())
        if words.text == text:
            words.take("")
        self.keep_now()
        await self.load()

    def action_hand_in(self) -> None:
        if not self._moving:
            (self.focused or self).call_later(self.hand_in)

    @guarded("move")
    async def hand_in(self) -> None:
        state, player = self._state, self._player
        if state is None or player is None or state.view is None or state.view.phase != "hand_in":
            self.cue_app.tell(_("You hand in when the dialogue is over."))
            return
        task, text, seen = state.task, self.query_one(HandInPane).text, state.view
        read = await asyncio.to_thread(read_hand_in, task, text)
        title, question = _("Hand in?"), read.told
        if read.empty:
            title = _("Hand in nothing?")
            question = _("Nothing of it can be read as what was asked for.")
        if read.problems:
            question += "\n\n" + "\n".join(read.problems)
        if not await self.app.push_screen_wait(ConfirmDialog(title, question, _("Hand in"))):
            return
        await self._move(lambda: player.hand_in(read.prediction, seen))
        await self.load()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.keep_soon()
        if self.query_one(HandInPane).display:
            self.read_handed()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.keep_soon()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        phase = self._state.view.phase if self._state and self._state.view else "user"
        match action:
            case "hand_in" | "from_notes":
                return phase == "hand_in"
            case "look_up" | "reply":
                return phase not in ("hand_in", "over")
            case "next_tool":
                tools = self._player.briefing.tools if self._player else ()
                return len(tools) > 1 and phase not in ("hand_in", "over")
            case _:
                return True

    def action_look_up(self) -> None:
        self.query_one(SearchLine).focus()

    def action_reply(self) -> None:
        self.query_one(Words).focus()

    def action_next_tool(self) -> None:
        self.query_one(SearchLine).next_tool()
        self.keep_soon()

    def action_notes(self) -> None:
        side, notes = self.query_one("#side"), self.query_one(Notes)
        if notes.has_focus:
            side.remove_class("-shown")
            self.focus_field()
        else:
            side.add_class("-shown")
            notes.focus()

    def action_from_notes(self) -> None:
        self.query_one(HandInPane).add(self.query_one(Notes).text)

    def action_calls(self) -> None:
        self.query_one(Transcript).open_last_work()

    def action_brief(self) -> None:
        if self._player is not None:
            self.app.push_screen(BriefDialog(self._player.briefing))

    def action_leave(self) -> None:
        # The key comes here at once, what was typed before it may still wait for its field.
        (self.focused or self).call_later(self._leave)

    def action_scroll_dialogue(self, direction: int) -> None:
        self.query_one(Transcript).page(direction)

    def _leave(self) -> None:
        self.keep_now()
        self.dismiss()

    async def _move(self, make: Callable[[], None]) -> None:
        """Make a move; returns when it is on the disk. Raises what the player raises."""
        self._moving = True
        try:
            await asyncio.to_thread(make)
        finally:
            self._moving = False

    def _last_request(self) -> str:
        events = self._state.view.events if self._state and self._state.view else ()
        said = [e.body.reply.text for e in events if e.body.type == "user_spoke"]
        return said[-1] if said else ""
