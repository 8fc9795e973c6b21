"""A coordinator gives a task to a reviewer, or takes it away from one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Footer, Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.core.times import time_left
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog, CuecardScreen
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable

if TYPE_CHECKING:
    from cuecard.annotate.review.coordinating import Candidate
    from cuecard.annotate.review.protocol import Protocol

_COLUMNS = (
    FittedColumn(N_("Name"), 14, grow=1),
    FittedColumn(N_("Load"), 4, right=True),
    FittedColumn("", 30, grow=2),
)


class AssignDialog(CuecardDialog["Candidate | None"]):
    """Dismissed with who was chosen: to give them the task, or if they have it to take it away."""

    DEFAULT_CSS = """
    AssignDialog { align: center middle; }
    AssignDialog ListTable { height: auto; min-height: 3; max-height: 14; margin-top: 1; }
    AssignDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("assign.choose", "enter", "choose", N_("Choose"), N_("Give the task to this person, or take it away")),
    )  # fmt: skip

    def __init__(self, title: str, candidates: Sequence[Candidate], now: datetime) -> None:
        super().__init__()
        self._title, self._candidates, self._now = title, candidates, now

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            yield Static(
                _(
                    "Load: reviews of the last 30 days, and tasks at hand. The least loaded come first."
                ),
                classes="muted",
                markup=False,
            )
            yield ListTable(_COLUMNS)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        table = self.query_one(ListTable)
        table.fill([(c.name, str(c.load), self._said(c)) for c in self._candidates])
        table.focus()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        at = self.query_one(ListTable).cursor_row
        if at >= len(self._candidates):
            return
        candidate = self._candidates[at]
        if candidate.has is None and candidate.obstacle:
            self.notify(candidate.obstacle, severity="warning", markup=False)
        else:
            self.dismiss(candidate)

    def _said(self, candidate: Candidate) -> str:
        if candidate.has is not None:
            text = _("has it, {time}; Enter takes it away")
            return text.format(time=time_left(candidate.has, self._now))
        if candidate.obstacle:
            return candidate.obstacle
        if candidate.skipped:
            return _("gave it back: {reason}").format(reason=one_line(candidate.skipped))
        return "" if candidate.fits else _("other skills")


async def assign_reviewer(
    screen: CuecardScreen[Any], task_id: str, title: str, protocol: Protocol
) -> bool:
    """Ask who, and do it; whether anything was done. Raises `CuecardError`."""
    from cuecard.annotate.review.assignment import assign, unassign
    from cuecard.annotate.review.coordinating import candidates

    now, by = datetime.now(UTC), screen.person
    found = await screen.services.ask(lambda ws: candidates(ws, task_id, by, protocol, now))
    chosen = await screen.app.push_screen_wait(AssignDialog(title, found, now))
    if chosen is None:
        return False
    name = chosen.name
    if chosen.has is None:
        await screen.services.ask(lambda ws: assign(ws, task_id, name, by, protocol))
        screen.cue_app.tell(_("{name} has the task now.").format(name=name))
        return True
    reason = await screen.app.push_screen_wait(
        AskLine(
            _("Take the task away?"),
            _("{name} will not be offered this revision again.").format(name=name),
            button=_("Take away"),
            placeholder=_("Why?"),
        )
    )
    if reason is None:
        return False
    await screen.services.ask(lambda ws: unassign(ws, task_id, name, by, reason, protocol))
    return True
