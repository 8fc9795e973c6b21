"""The parts of the agent's window: watching the session, and inputs for tool calls, replies and the prediction."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static, TextArea

from cuecard.core.engine.messages import ToolSpec
from cuecard.core.errors import CuecardError
from cuecard.core.evaluation.wizard_of_oz import PlayerView, WizardPlayer
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.present import wizard_of_oz as present
from cuecard.tui.present.drafts import KeptJson
from cuecard.tui.present.entries import Piece
from cuecard.tui.widgets.text import Lines
from cuecard.tui.widgets.transcript import Transcript


class SearchLine(Horizontal):
    """One line for one of the world's tools; `next_tool` takes the next one."""

    DEFAULT_CSS = """
    SearchLine {
        height: 1;
        & > Static { width: auto; padding: 0 1; color: $primary; text-style: bold; }
        & > Input { width: 1fr; background: $surface; }
        & > Input:focus { background: $typing; }
    }
    """

    class Submitted(Message):
        """Enter was pressed: look `line` up with `tool`."""

        def __init__(self, tool: ToolSpec, line: str) -> None:
            super().__init__()
            self.tool = tool
            self.line = line

    def __init__(self) -> None:
        super().__init__()
        self._tools: tuple[ToolSpec, ...] = ()
        self._at = 0

    @property
    def text(self) -> str:
        return self.query_one(Input).value

    @property
    def tool(self) -> str:
        """The name of the tool in use, "" where there is none."""
        return self._tools[self._at].name if self._tools else ""

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)
        yield Input(compact=True)

    def load(self, tools: tuple[ToolSpec, ...], tool: str = "", text: str = "") -> None:
        self._tools = tools
        self._at = next((i for i, spec in enumerate(tools) if spec.name == tool), 0)
        self.query_one(Input).value = text
        self.display = bool(tools)
        self._show()

    def take(self, text: str) -> None:
        self.query_one(Input).value = text

    def next_tool(self) -> None:
        if self._tools:
            self._at = (self._at + 1) % len(self._tools)
            self._show()

    def focus(self, scroll_visible: bool = True) -> SearchLine:
        self.query_one(Input).focus(scroll_visible)
        return self

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self._tools:
            self.post_message(self.Submitted(self._tools[self._at], event.value))

    def _show(self) -> None:
        if self._tools:
            self.query_one(Static).update(f"{one_line(self.tool, 20)} ▸")
            self.query_one(Input).placeholder = present.hint_for(self._tools[self._at])


class Words(TextArea):
    """The reply: Enter sends, Ctrl+J makes a new line."""

    DEFAULT_CSS = """
    Words { height: auto; min-height: 3; max-height: 8; padding: 0 1; }
    """
    BINDINGS = keys(
        Key("wizard.send", Means.OPEN, "send", N_("Send"), N_("Say this to the user; your turn ends"), priority=True),
        Key("wizard.newline", Means.NEW_LINE, "newline", N_("New line"), N_("Begin a new line in the reply"), show=False, priority=True),
    )  # fmt: skip

    class Submitted(Message):
        """Enter was pressed."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def on_mount(self) -> None:
        self.placeholder = _("Your reply; Enter sends it")

    def take(self, text: str) -> None:
        """Replace everything by `text`, with the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        self.post_message(self.Submitted())

    def action_newline(self) -> None:
        self.insert("\n")


class HandInPane(Vertical):
    """What is to be handed in, and what it amounts to."""

    DEFAULT_CSS = """
    HandInPane {
        height: 50%; min-height: 7;
        &.-short { height: 7; }
        & > TextArea { height: 1fr; padding: 0 1; }
        & > Lines { max-height: 4; padding: 0 1; background: $panel; }
    }
    """

    def compose(self) -> ComposeResult:
        yield TextArea(soft_wrap=False, show_line_numbers=True, tab_behavior="indent")
        yield Lines(id="handed")

    @property
    def text(self) -> str:
        return self.query_one(TextArea).text

    def ask(self, hint: str, text: str, *, short: bool) -> None:
        """`hint`: what to type; `short`: a few words will do."""
        self.set_class(short, "-short")
        area = self.query_one(TextArea)
        area.show_line_numbers = not short
        area.soft_wrap = short
        area.placeholder = hint
        area.load_text(text)
        area.move_cursor(area.document.end)

    def add(self, text: str) -> None:
        """Put `text` at the end, on lines of its own."""
        area = self.query_one(TextArea)
        area.load_text("\n".join(filter(None, (area.text.rstrip("\n"), text.strip("\n")))))
        area.move_cursor(area.document.end)

    def load(self, read: present.HandIn) -> None:
        """Show what its text was read as."""
        lines = [[Piece(read.told, "muted" if read.empty else "good")]]
        lines += [[Piece(f"⚠ {problem}", "bad")] for problem in read.problems[:3]]
        self.query_one(Lines).load(lines)


class Notes(TextArea):
    """The person's own notes."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")

    def on_mount(self) -> None:
        self.placeholder = _("Your own notes. Nobody else sees them.")


LOOK = 0.25
"""Seconds between looks at what has happened."""
PATIENCE = 3.0
"""Seconds until the workspace is asked again after it could not answer."""
KEEP = 0.4
"""Seconds after a keystroke until what was typed is on the disk."""


class Looking(CuecardScreen[None]):
    """Takes the agent's part in the trial `trial_id` and polls the session several times a second, in a thread."""

    def __init__(self, trial_id: int) -> None:
        super().__init__()
        self._trial_id = trial_id
        self._player: WizardPlayer | None = None
        self._state: present.WizardOfOzState | None = None
        self._file: KeptJson | None = None
        self._keep_timer: Timer | None = None
        self._moving = False
        self._looking = asyncio.Lock()
        self._status: list[Piece] = []

    @property
    def state(self) -> present.WizardOfOzState | None:
        """None until the part is taken."""
        return self._state

    def on_unmount(self) -> None:
        self.keep_now()

    @guarded("watch")
    async def take_part(self) -> None:
        """Take the part, then look on until the session is over."""
        person, trial_id, services = self.person, self._trial_id, self.services

        def put(move: Mapping[str, Any]) -> bool:
            return services.put("move", lambda: move)

        with self.or_leave():
            config = await services.config()
            player = await services.ask(
                lambda ws: WizardPlayer.take(ws, trial_id, person, config, put)
            )
        self._player = player
        self._file = KeptJson(self.services.url, f"wizard {trial_id} {person}")
        self._state = present.WizardOfOzState(player.briefing, present.Typed.of(self._file.load()))
        while True:
            try:
                await self.load()
            except CuecardError as error:
                self.report(error)
                await asyncio.sleep(PATIENCE)
            view = self._state.view
            if view is not None and view.phase == "over":
                return
            self.cue_app.goes_on()
            await asyncio.sleep(LOOK)

    @guarded("read", background=True)
    async def read_handed(self) -> None:
        """Say what the text amounts to, once the person stops typing for a moment."""
        if self._state is None:
            return
        await asyncio.sleep(LOOK)
        pane = self.query_one(HandInPane)
        pane.load(await asyncio.to_thread(present.read_hand_in, self._state.task, pane.text))

    async def load(self) -> None:
        """See how things stand, and show it: one look after the other, so that none comes late."""
        if self._player is None:
            return
        async with self._looking:
            view = await asyncio.to_thread(self._player.view)
            self._follow(view)

    def _follow(self, view: PlayerView) -> None:
        state = self._state
        # A look that ends while the screen is being taken down finds nothing to show it on.
        if state is None or not self.query("#status"):
            return
        before = state.view
        given_back = state.follow(view)
        if before is None:
            self._put_back(state)
        if given_back:
            self._give_back(given_back)
        if view != before:
            self.query_one("#head", Lines).load([state.heading])
            self.query_one(Transcript).load(state.entries, follow=True)
        if before is None or view.phase != before.phase:
            self._enter(view, state, before)
        status = state.status()
        if status != self._status:
            self._status = status
            self.query_one("#status", Lines).load([status])

    def _put_back(self, state: present.WizardOfOzState) -> None:
        """What was typed last time, and not sent."""
        typed = state.typed
        self.query_one(SearchLine).load(state.briefing.tools, typed.tool, typed.search)
        for field, text in ((Words, typed.reply), (Notes, typed.notes)):
            area = self.query_one(field)
            # Somebody may have typed while the part was being taken.
            if text:
                area.load_text("\n".join(filter(None, (text, area.text))))
                area.move_cursor(area.document.end)
        short = CORE[state.briefing.task.family].handed_in == "answer"
        self.query_one(HandInPane).ask(
            present.hand_in_hint(state.briefing), typed.hand_in, short=short
        )

    def _give_back(self, text: str) -> None:
        words = self.query_one(Words)
        if not words.text.strip():
            words.take(text)
            return
        notes = self.query_one(Notes)
        notes.load_text("\n\n".join(filter(None, (notes.text, text))))
        self.cue_app.tell(_("The reply that was taken back is in your notes."))

    def _enter(
        self, view: PlayerView, state: present.WizardOfOzState, before: PlayerView | None
    ) -> None:
        """Another phase: show what belongs to it."""
        handing, over = view.phase == "hand_in", view.phase == "over"
        handed = state.view is not None and state.view.place.startswith("conclusion")
        pane = self.query_one(HandInPane)
        pane.display = handing
        self.query_one(Words).display = not (handing or over or handed)
        self.query_one(SearchLine).display = not (handing or over or handed) and bool(
            state.briefing.tools
        )
        if handing:
            self.read_handed()
        words = self.query_one(Words)
        # Not after a search: whoever has gone on to the reply meanwhile is about to type there.
        begins = view.phase == "yours" and (before is None or before.phase == "user")
        idle = begins and words.has_focus and not words.text
        if self.focused is None or not self.focused.display or handing or idle:
            self.focus_field()
        if over and self._file and any(e.body.type == "concluded" for e in view.events):
            self._file.save({"notes": state.typed.notes} if state.typed.notes else {})
        self.refresh_bindings()

    def focus_field(self) -> None:
        pane, line = self.query_one(HandInPane), self.query_one(SearchLine)
        if pane.display:
            pane.query_one(TextArea).focus()
        elif line.display:
            line.focus()
        elif self.query_one(Words).display:
            self.query_one(Words).focus()
        else:
            self.query_one(Transcript).focus()

    def keep_soon(self) -> None:
        """Something was typed."""
        if self._keep_timer is None:
            self._keep_timer = self.set_timer(KEEP, self.keep_now)

    def keep_now(self) -> None:
        """What is typed goes to the disk."""
        self._keep_timer = None
        state = self._state
        if state is None or state.view is None or state.view.phase == "over":
            return
        self._read_typed(state)
        if self._file:
            self._file.save(state.typed.kept())

    def _read_typed(self, state: present.WizardOfOzState) -> None:
        if not self.query(Words):
            return  # The screen is being taken down.
        line = self.query_one(SearchLine)
        state.typed.reply = self.query_one(Words).text
        state.typed.search, state.typed.tool = line.text, line.tool
        state.typed.notes = self.query_one(Notes).text
        state.typed.hand_in = self.query_one(HandInPane).text
