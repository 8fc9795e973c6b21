"""Noting a problem, or anything else, while one plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static, TextArea

from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import for_display
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.kept_json import KeptJson

About = Literal["agent", "task", "other"]
ABOUT: dict[About, tuple[str, str]] = {
    "agent": ("a", N_("the agent")),
    "task": ("t", N_("the task")),
    "other": ("o", N_("something else")),
}
_EVERY: tuple[About, ...] = ("agent", "task", "other")
KEEP = 0.4
"""Seconds after a keystroke until what was typed is on the disk."""


@dataclass(frozen=True)
class NewNote:
    """What a note is about, and its words."""

    about: About
    text: str


class AboutLine(Widget, can_focus=True):
    """One of three, chosen by its letter or the arrows."""

    DEFAULT_CSS = """
    AboutLine { height: 1; width: 1fr; }
    """
    BINDINGS = keys(
        Key("note.agent", "a", "choose('agent')", N_("Agent"), N_("The note is about the agent")),
        Key("note.task", "t", "choose('task')", N_("Task"), N_("The note is about the task; its authors are told")),
        Key("note.other", "o", "choose('other')", N_("Other"), N_("The note is about something else")),
        Key("note.back", "left", "walk(-1)", N_("Left"), N_("What is before"), show=False),
        Key("note.on", "right", "walk(1)", N_("Right"), N_("What is next"), show=False),
        Key("note.write", "enter,down", "write", NP_("the words of a note", "Write"), N_("On to the words"), show=False),
    )  # fmt: skip
    about: reactive[About] = reactive[About]("agent")

    class Chosen(Message):
        """The person has said what the note is about, and goes on to its words."""

    def render(self) -> Text:
        line = Text()
        for about, (key, label) in ABOUT.items():
            chosen = about == self.about
            line.append("▸ " if chosen else "  ", "bold")
            line.append(f"{key} {_(label)}", "bold reverse" if chosen and self.has_focus else "")
            line.append("   ")
        return line

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_choose(self, about: About) -> None:
        self.about = about
        self.post_message(self.Chosen())

    def action_walk(self, step: int) -> None:
        every = _EVERY
        self.about = every[(every.index(self.about) + step) % len(every)]

    def action_write(self) -> None:
        self.post_message(self.Chosen())


class NoteDialog(CuecardDialog[NewNote | None]):
    """Answers a note, or None. What was typed and not noted is in `kept`, and here again next time."""

    DEFAULT_CSS = """
    NoteDialog { align: center middle; }
    NoteDialog TextArea { height: 6; margin-top: 1; }
    NoteDialog #told { height: auto; color: $muted; }
    """
    BINDINGS = keys(
        Key("note.save", "ctrl+s", "save", NP_("verb", "Note"), N_("Keep this note with the session"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(
        self, where: str = "", about: About = "agent", kept: KeptJson | None = None
    ) -> None:
        """`where`: what a comment on the task would be pinned to, such as a stage's title."""
        super().__init__()
        self._where = where
        self._kept = kept
        before = kept.load() if kept else {}
        left: About | None = next((a for a in _EVERY if a == before.get("about")), None)
        self._about: About = left or about
        self._text = str(before.get("text", ""))
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("A note: what is it about?"))
            yield AboutLine()
            yield TextArea(self._text, soft_wrap=True)
            yield Static(for_display(self._told(self._about)), id="told", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        line = self.query_one(AboutLine)
        line.about = self._about
        self.watch(line, "about", self._tell, init=False)
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        (area if self._text else line).focus()

    def on_unmount(self) -> None:
        if self._timer is not None:
            self._keep_now()

    def on_about_line_chosen(self) -> None:
        self.query_one(TextArea).focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._text = event.text_area.text
        if self._timer is None and self._kept:
            self._timer = self.set_timer(KEEP, self._keep_now)

    def action_save(self) -> None:
        # The key comes here at once, what was typed before it may still wait for the field.
        self.query_one(TextArea).call_later(self._save)

    def _save(self) -> None:
        if not self.is_current:
            return
        text = self.query_one(TextArea).text.strip()
        if not text:
            self.notify(_("Say in a few words what you noticed."), severity="warning", markup=False)
            return
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._kept:
            self._kept.discard()
        self.dismiss(NewNote(self._about, text))

    def _tell(self, about: About) -> None:
        self._about = about
        self.query_one("#told", Static).update(for_display(self._told(about)))

    def _told(self, about: About) -> str:
        if about != "task":
            return _("It is kept with the session.")
        told = _("It is kept with the session, and the task's authors get it as a comment")
        return f"{told}: {self._where}" if self._where else f"{told}."

    def _keep_now(self) -> None:
        self._timer = None
        if self._kept:
            told = {"about": self._about, "text": self._text}
            self._kept.save(told if self._text.strip() else {})
