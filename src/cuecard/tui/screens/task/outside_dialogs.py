"""What to do with YAML that cannot simply be taken over, or that was left behind."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Button, Footer

from cuecard.annotate.authoring.yaml_text import ReadBack, told
from cuecard.core.i18n import _, ngettext
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.task_list import moment
from cuecard.tui.widgets.plain import PlainText

_SHOWN = 50


class Outcome(StrEnum):
    """What becomes of a text with problems."""

    AGAIN = "again"
    TAKE = "take"
    KEEP = "keep"
    DROP = "drop"


class UntakenDialog(CuecardDialog[Outcome | None]):
    """The problems by line, and the ways on. Escape keeps the text in its file."""

    DEFAULT_CSS = """
    UntakenDialog .problems { height: auto; max-height: 9; margin-top: 1; border-left: outer $error; padding: 0 1; }
    """

    def __init__(self, read: ReadBack, path: Path) -> None:
        super().__init__()
        self._read, self._path = read, path

    def compose(self) -> ComposeResult:
        problems = self._read.problems
        count = ngettext("{n} problem in this YAML", "{n} problems in this YAML", len(problems))
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(count.format(n=len(problems)))
            yield PlainText(self._explained())
            with VerticalScroll(classes="problems", can_focus=False):
                yield PlainText("\n".join(told(problem) for problem in problems[:_SHOWN]))
            with VerticalScroll(classes="choices", can_focus=False):
                yield Button(
                    _("Edit again, with the problems at the top"), id="again", compact=True
                )
                if self._read.data is not None:
                    yield Button(_("Take it into my draft as it is"), id="take", compact=True)
                yield Button(_("Keep it in the file for later"), id="keep", compact=True)
                yield Button(_("Give up this text"), id="drop", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#again", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(Outcome(str(event.button.id)))

    def _explained(self) -> str:
        if self._read.data is None:
            text = _("This cannot be taken over as it stands. Your draft is untouched.")
        else:
            text = _("As a draft this can be taken over; a revision needs these mended first.")
        return f"{text}\n{_('The text is in {file}.').format(file=self._path)}"


class LeftBehind(StrEnum):
    """What becomes of a text from an earlier time."""

    GO_ON = "go_on"
    AFRESH = "afresh"


class LeftBehindDialog(CuecardDialog[LeftBehind | None]):
    """A text of this task was never taken over; Escape leaves everything as it is."""

    def __init__(self, at: datetime, path: Path) -> None:
        super().__init__()
        self._at, self._path = at, path

    def compose(self) -> ComposeResult:
        text = _("YAML of this task from {time} was never taken over. It is in {file}.")
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("A text was left behind"))
            yield PlainText(text.format(time=moment(self._at), file=self._path))
            with VerticalScroll(classes="choices", can_focus=False):
                yield Button(_("Go on with that text"), id="go_on", compact=True)
                yield Button(_("Begin from the task as it is now"), id="afresh", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#go_on", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(LeftBehind(str(event.button.id)))
