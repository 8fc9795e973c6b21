"""The sources (pages) behind a dialogue, and notes on problems, opened from Play."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from textual import on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input, Select, Static, TextArea

from cuecard.annotate.task_feedback import place_at_play
from cuecard.core.i18n import N_, _, headed, pgettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid.cells import GridColumn
from cuecard.tui.kit.forms import FormDialog, FormPane
from cuecard.tui.kit.rows import Row
from cuecard.tui.outside_programs import open_told
from cuecard.tui.present import tool_calls as present
from cuecard.tui.present.drafts import KeptJson
from cuecard.tui.present.play import PlayState
from cuecard.tui.screens.play.card import CardPane, FiguresPane
from cuecard.tui.screens.play.session import Playing
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import ListTable
from cuecard.tui.widgets.text import HeadLine, Lines
from cuecard.tui.widgets.transcript import Transcript

COLUMNS = (
    GridColumn(N_("State"), 14),
    GridColumn(N_("Title"), 20, grow=3),
    GridColumn(N_("Address"), 16, grow=3),
    GridColumn(N_("Turns"), 8),
)


class SourcesDialog(CuecardDialog[None]):
    """Takes what `sources_of(events)` gives. Typing filters, Enter shows the text that was seen, ^o opens
    the page in the browser.
    """

    DEFAULT_CSS = """
    SourcesDialog { align: center middle; }
    SourcesDialog Input { margin: 0 0 1 0; }
    SourcesDialog ListTable { height: 1fr; }
    SourcesDialog #nothing { height: 1fr; padding: 1 2; color: $muted; }
    SourcesDialog #detail { height: 3; margin: 1 0 0 0; }
    """
    AUTO_FOCUS = "Input"
    BINDINGS = keys(
        Key("sources.read", Means.OPEN, "read", N_("Read"), N_("The text that was seen"), priority=True),
        Key("sources.browse", Means.OUTSIDE, "browse", N_("Browser"), N_("Open the page in the browser"), priority=True),
        Key("sources.down", Means.DOWN, "walk(1)", N_("Down"), N_("To the next page"), show=False, priority=True),
        Key("sources.up", Means.UP, "walk(-1)", N_("Up"), N_("To the page before"), show=False, priority=True),
        Key("sources.page_down", Means.PAGE_DOWN, "walk(10)", N_("Page"), N_("Ten pages on"), show=False, priority=True),
        Key("sources.page_up", Means.PAGE_UP, "walk(-10)", N_("Page up"), N_("Ten pages back"), show=False, priority=True),
    )  # fmt: skip

    def __init__(self, sources: Sequence[present.Source]) -> None:
        super().__init__()
        self._sources = list(sources)
        self._shown = self._sources

    @property
    def current(self) -> present.Source | None:
        """The page under the cursor."""
        row = self.query_one(ListTable).cursor_row
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("Sources")
            box.styles.width, box.styles.height = "96%", "92%"
            yield Input(placeholder=_("type to search titles, addresses and queries"), compact=True)
            yield ListTable(COLUMNS)
            yield Static("", id="nothing", markup=False)
            yield Lines(id="detail")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(ListTable).can_focus = False
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._shown = present.matching(self._sources, event.value)
        self._show()

    def on_grid_cursor_moved(self) -> None:
        self._show_detail()

    def on_grid_chosen(self) -> None:
        self.action_read()

    def action_walk(self, by: int) -> None:
        table = self.query_one(ListTable)
        if self._shown:
            table.go_to(max(0, min(table.cursor_row + by, len(self._shown) - 1)))
            self._show_detail()

    def action_read(self) -> None:
        if self.current:
            self.app.push_screen(SourceScreen(self.current))

    @guarded("browser", background=True)
    async def action_browse(self) -> None:
        if self.current:
            self.cue_app.tell(await open_told(self.current.url))

    def _show(self) -> None:
        table, nothing = self.query_one(ListTable), self.query_one("#nothing", Static)
        table.fill([present.row_of(source) for source in self._shown], cursor=0)
        table.display = bool(self._shown)
        nothing.display = not self._shown
        nothing.update(
            _("No page holds all these words.")
            if self._sources
            else _("The agent has searched and visited nothing yet.")
        )
        count = _("{n} of {all}").format(n=len(self._shown), all=len(self._sources))
        self.query_one(".dialog", Vertical).border_subtitle = count
        self._show_detail()

    def _show_detail(self) -> None:
        self.query_one("#detail", Lines).load(
            present.detail_of(self.current) if self.current else []
        )


class SourceScreen(CuecardScreen[None]):
    """All that was seen of one page."""

    DEFAULT_CSS = """
    SourceScreen #title { height: 1; background: $panel; color: $muted; padding: 0 1; }
    """
    AUTO_FOCUS = "EntryList"
    BINDINGS = keys(
        Key("source.leave", Means.UP_ONE, "dismiss", N_("Back"), N_("Back to the sources")),
        Key("source.browse", Means.OUTSIDE, "browse", N_("Browser"), N_("Open the page in the browser"), priority=True),
    )  # fmt: skip

    def __init__(self, source: present.Source) -> None:
        super().__init__()
        self._source = source

    def compose(self) -> ComposeResult:
        title = one_line(self._source.title or self._source.url, 120)
        yield HeadLine(title, id="title", markup=False)
        yield EntryList(gap=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(EntryList).load([present.source_entry(self._source)])

    @guarded("browser", background=True)
    async def action_browse(self) -> None:
        self.cue_app.tell(await open_told(self._source.url))


About = Literal["agent", "task", "other"]
KEEP = 0.4
"""Seconds after a keystroke until what was typed is on the disk."""
_ABOUT: dict[About, str] = {
    "agent": N_("the agent"),
    "task": N_("the task"),
    "other": N_("something else"),
}


class NewNote(Frozen):
    """What a note is about, and its words."""

    about: Annotated[About, Field(title=N_("About")), Row(options=_ABOUT)]
    text: Annotated[str, Field(title=""), Row("text")] = ""


class NoteDialog(FormDialog[NewNote]):
    """Answers a note, or None. What was typed and not noted is in `kept`, and here again next time."""

    BINDINGS = keys(
        Key("note.agent", Means.CHOICE, "choose('agent')", N_("Agent"), N_("The note is about the agent"), letter="a"),
        Key("note.task", Means.CHOICE, "choose('task')", N_("Task"), N_("The note is about the task; its authors are told"), letter="t"),
        Key("note.other", Means.CHOICE, "choose('other')", N_("Other"), N_("The note is about something else"), letter="o"),
    )  # fmt: skip

    def __init__(
        self, where: str = "", about: About = "agent", kept: KeptJson | None = None
    ) -> None:
        """`where`: what a comment on the task would be pinned to, such as a stage's title."""
        before = kept.load() if kept else {}
        left: list[About] = [each for each in _ABOUT if each == before.get("about")]
        note = NewNote(about=(left or [about])[0], text=str(before.get("text", "")))
        super().__init__(_("A note: what is it about?"), note, button=pgettext("verb", "Note"))
        self.BEGINS_AT = "text" if note.text else "about"
        self._where, self._file = where, kept
        self._left: dict[str, Any] = {}
        self._timer: Timer | None = None

    def on_unmount(self) -> None:
        if self._timer is not None:
            self._keep_now()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "choose" or not isinstance(self.focused, TextArea)

    def action_choose(self, about: About) -> None:
        self.pane.query_one("#about", Select).value = about
        self.pane.go_to("text")

    @on(FormPane.Changed)
    def keep(self) -> None:
        self._left = self.pane.values
        if self._timer is None and self._file:
            self._timer = self.set_timer(KEEP, self._keep_now)

    def problem(self, model: NewNote) -> str:
        missing = self._tried and not model.text.strip()
        return _("Say in a few words what you noticed.") if missing else ""

    async def summary(self, model: NewNote) -> str:
        """Who reads it."""
        if model.about != "task":
            return _("It is kept with the session.")
        told = _("It is kept with the session, and the task's authors get it as a comment")
        return headed(told, self._where) if self._where else f"{told}{_('.')}"

    async def answer(self, model: NewNote) -> NewNote:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._file:
            self._file.discard()
        return NewNote(about=model.about, text=model.text.strip())

    def _keep_now(self) -> None:
        self._timer = None
        if self._file:
            self._file.save(self._left if self._left["text"].strip() else {})


class Looking(Playing):
    """On a narrow screen the figures take the card's place."""

    def action_figures(self) -> None:
        pane = self.query_one(FiguresPane)
        pane.display = not pane.display
        self.set_class(pane.display, "-figures")
        self._show_figures()

    @guarded("sources")
    async def action_sources(self) -> None:
        if self._state is not None:
            await self.app.push_screen_wait(
                SourcesDialog(present.sources_of(self._state.effective))
            )

    @guarded("note")
    async def action_note(self) -> None:
        state, link = self._state, self._link
        if state is None or link is None or link.trial_id is None:
            self.cue_app.tell(_("Notes belong to a session, and it begins with your first words."))
            return
        kept = KeptJson(self.services.url, f"note of trial {link.trial_id}")
        note = await self.app.push_screen_wait(NoteDialog(_place_told(state), kept=kept))
        if note is not None:
            kept.save({"about": note.about, "text": note.text})
            await link.note(note.about, note.text)
            kept.discard()
            if note.about == "task":
                await self._tell_authors(link.trial_id, state, note)
            self.cue_app.tell(_("Noted."))

    def action_calls(self) -> None:
        self.query_one(Transcript).open_last_work()

    def action_persona(self) -> None:
        self.query_one(CardPane).fold_persona()

    def action_scroll_page(self, direction: int) -> None:
        card, transcript = self.query_one(CardPane), self.query_one(Transcript)
        if card.held:
            card.scroll_relative(y=direction * max(card.size.height - 2, 1), animate=False)
        elif direction > 0:
            transcript.action_page_down()
        else:
            transcript.action_page_up()

    def _show_figures(self) -> None:
        pane = self.query_one(FiguresPane)
        if pane.display:
            going = self._state is not None and self._state.phase != "ended"
            now = datetime.now(UTC) if going and self._figures.turns else None
            pane.load(
                self._figures,
                now=now,
                currency=self._currency,
                context=self._reads,
                listening=self._link.listening if self._link else None,
            )

    async def _tell_authors(self, trial_id: int, state: PlayState, note: NewNote) -> None:
        place = place_at_play(state.task, state.stage_number, state.step_number)
        await self.services.write(
            "tell_authors", trial_id=trial_id, by=self.person, text=note.text, place=place
        )


def _place_told(state: PlayState) -> str:
    """What a comment on the task would be pinned to."""
    if state.stage:
        return one_line(state.stage.title, 40)
    return one_line(state.step.question, 40) if state.step else ""
