"""What is done to the marked tasks of any list of tasks: assigned, tagged, exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.review.queue_rows import Candidate
from cuecard.annotate.review.workflow import protocol_of
from cuecard.core.i18n import N_, _, joined, plural, time_left
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.drawing import Vertical
from cuecard.tui.kit.bulk import ask_tags, to_each
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.screens.dialogs import AskLine

if TYPE_CHECKING:
    from cuecard.tui.screens.tasks_transfer import Exportable

Row = TypeVar("Row")


class MarkedTasks(LiveScreen):
    """A list of tasks, of which the marked ones, or the one under the cursor, are given to reviewers, tagged and exported."""

    @property
    def task_rows(self) -> ListView[Any]:
        return cast("ListView[Any]", self.query_one(ListView))

    def task_of(self, row: Any) -> Exportable:
        return row.task

    @guarded("assign")
    async def action_assign(self) -> None:
        rows = self.task_rows.chosen
        if rows and await _assign(self, rows, self.task_of):
            self.load()

    @guarded("tags")
    async def action_tags(self) -> None:
        rows, of = self.task_rows.chosen, self.task_of
        if await ask_tags(self, "task", rows, lambda row: of(row).id, lambda row: of(row).title):
            self.load()

    @guarded("export")
    async def action_export(self) -> None:
        from cuecard.tui.screens.tasks_transfer import HERE, MARKED, SHOWN, export_tasks_of

        view = self.task_rows
        here = [] if view.row is None else [view.row]
        groups = {MARKED: view.marked, HERE: here, SHOWN: view.rows}
        await export_tasks_of(self, {k: list(map(self.task_of, v)) for k, v in groups.items()})


async def _assign(
    screen: LiveScreen, rows: Sequence[Row], task: Callable[[Row], Exportable]
) -> bool:
    """Ask whom to give these tasks, and do so; who has a single one may lose it. Gives whether that was tried. Raises
    `CuecardError`.
    """
    from cuecard.annotate.review.assignment import assign as give
    from cuecard.annotate.review.assignment import unassign
    from cuecard.annotate.review.queue_rows import candidates

    protocol = protocol_of(await screen.services.config())
    now, by, ids = datetime.now(UTC), screen.person, [task(row).id for row in rows]
    found = await screen.services.ask(lambda ws: candidates(ws, ids, by, protocol, now))

    def title(row: Row) -> str:
        return task(row).title

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
            lambda ws, row: give(ws, task(row).id, name, by, protocol, anew=False),
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
            lambda ws, row: unassign(ws, task(row).id, name, by, reason, protocol),
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
