"""The line above the tabs: which task this is, and whether what was typed is safe."""

from __future__ import annotations

from datetime import datetime

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.tui.glyphs import FAMILY, TASK_STATE, badge, fork_mark
from cuecard.tui.state.task_drafts import DraftState


class TaskTitle(Horizontal):
    """`load` the task on the left; `tell` the state of the draft on the right."""

    forks = 0  # newest revisions besides the one that counts

    def compose(self) -> ComposeResult:
        yield Static("", id="which")
        yield Static("", id="safe")

    def load(self, edit: TaskEdit, state: str | None, label: str = "") -> None:
        variables = self.app.theme_variables
        glyph = badge(FAMILY, edit.family, variables)
        title = one_line(str(edit.get(("title",)) or edit.task_id))
        line = Text.assemble(" ", Text(glyph.plain[:1], glyph.style), " ")
        if label:
            line.append(f"{_(label)} · ")
        line.append(title, "bold")
        line.append(f"  {edit.task_id}", "dim")
        if state:
            line.append("  ").append_text(badge(TASK_STATE, state, variables))
        if self.forks:
            line.append("  ").append_text(fork_mark(self.forks, variables))
        line.no_wrap, line.overflow = True, "ellipsis"
        self.query_one("#which", Static).update(line)

    def tell(self, edit: TaskEdit, state: DraftState, at: datetime | None) -> None:
        revision = (
            _("revision {number}").format(number=edit.base) if edit.base else _("never saved")
        )
        match state:
            case DraftState.FAILED:
                text = _("✗ draft NOT on disk")
            case DraftState.WAITING:
                text = _("… writing draft")
            case _ if edit.changed:
                clock = at.astimezone().strftime("%H:%M:%S") if at else ""
                text = _("✓ draft on disk {time}").format(time=clock).strip()
            case _:
                text = _("✓ saved")
        safe = self.query_one("#safe", Static)
        safe.update(Text(f"{revision} · {text} "))
        safe.set_class(state is DraftState.FAILED, "-failed")
