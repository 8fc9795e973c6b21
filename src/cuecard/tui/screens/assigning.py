"""Whom a coordinator gives tasks to review, from any list of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.review.queue_rows import Candidate
from cuecard.annotate.review.workflow import protocol_of
from cuecard.core.i18n import N_, _, joined, plural, time_left
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.bulk import to_each
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.kit.lists import Column, ListView
from cuecard.tui.screens.dialogs import AskLine

Row = TypeVar("Row")


async def assign(
    screen: LiveScreen,
    rows: Sequence[Row],
    task: Callable[[Row], str],
    title: Callable[[Row], str],
) -> bool:
    """Ask whom to give these tasks, by their ids, and do so; who has a single one may lose it. Gives whether that was tried.
    Raises `CuecardError`.
    """
    from cuecard.annotate.review.assignment import assign as give
    from cuecard.annotate.review.assignment import unassign
    from cuecard.annotate.review.queue_rows import candidates

    protocol = protocol_of(await screen.services.config())
    now, by, ids = datetime.now(UTC), screen.person, list(map(task, rows))
    found = await screen.services.ask(lambda ws: candidates(ws, ids, by, protocol, now))
    what = title(rows[0]) if len(rows) == 1 else plural("Assign {n} task", "Assign {n} tasks", len(rows))  # fmt: skip
    chosen = await screen.app.push_screen_wait(AssignDialog(what, found, now))
    if chosen is None:
        return False
    name = chosen.name
    if chosen.has is None:
        await to_each(
            screen,
            rows,
            title,
            lambda ws, row: give(ws, task(row), name, by, protocol, anew=False),
            lambda n: plural("{name} has {n} more task now.", "{name} has {n} more tasks now.", n, name=name),
            back=_("Assign each again and choose the name: that takes the task away, with a reason."),
        )  # fmt: skip
        return True
    reason = await screen.app.push_screen_wait(
        AskLine(
            _("Take the task away?"),
            _("{name} will not be offered this revision again.").format(name=name),
            button=_("Take away"),
            placeholder=_("Why?"),
        )
    )
    if reason is not None:
        await to_each(
            screen,
            rows,
            title,
            lambda ws, row: unassign(ws, task(row), name, by, reason, protocol),
            lambda _n: _("{name} does not have the task any more.").format(name=name),
            back=_("Assign it again."),
        )
    return reason is not None


class AssignDialog(CuecardDialog["Candidate | None"]):
    """Dismissed with who was chosen: to give them the task, or if they have it to take it away."""

    DEFAULT_CSS = """
    AssignDialog { align: center middle; }
    AssignDialog ListView { height: auto; max-height: 16; margin-top: 1; }
    AssignDialog ListGrid { height: auto; min-height: 3; max-height: 14; }
    AssignDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("assign.choose", (Means.OPEN, Means.SAVE), "choose", N_("Choose"), N_("Give the task to this person, or take it away")),
    )  # fmt: skip

    def __init__(self, title: str, candidates: Sequence[Candidate], now: datetime) -> None:
        super().__init__()
        self._title, self._candidates, self._now = title, candidates, now
        columns = (
            Column[Candidate](N_("Name"), lambda person: person.name, grow=1, least=14),
            Column[Candidate](N_("Load"), lambda person: str(person.load), right=True),
            Column("", self._said, grow=2, least=30),
        )
        self._list = ListView[Candidate](columns, lambda person: person.name)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(one_line(self._title))  # a string would be parsed for markup
            load = _("Load: reviews of the last 30 days, and tasks at hand.")
            first = _("The least loaded come first.")
            if any(one.able for one in self._candidates):
                first = _("Those who can take most of them come first, then the least loaded.")
            yield Static(joined((load, first)), classes="muted", markup=False)
            yield self._list
        yield KeyBar()

    def on_mount(self) -> None:
        self._list.load(self._candidates)
        self._list.focus()

    def on_list_view_opened(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        candidate = self._list.row
        if candidate is None:
            return
        if candidate.has is None and candidate.obstacle:
            self.notify(candidate.obstacle, severity="warning", markup=False)
        else:
            self.dismiss(candidate)

    def _said(self, candidate: Candidate) -> str:
        if candidate.has is not None:
            text = _("has it, {time}; Enter takes it away")
            return text.format(time=time_left(candidate.has, self._now))
        if candidate.obstacle or candidate.able:
            return candidate.obstacle or candidate.able
        if candidate.skipped:
            return _("gave it back: {reason}").format(reason=one_line(candidate.skipped))
        return "" if candidate.fits else _("other skills")
