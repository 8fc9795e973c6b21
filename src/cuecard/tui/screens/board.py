"""The board: tasks by state, age and person; statistics of reviews; and the review rounds behind a number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cuecard.annotate.review.board import dimension_labels, load_board, seen_by
from cuecard.annotate.review.figures import DecidedRound, figures_of
from cuecard.annotate.review.protocol import protocol_of
from cuecard.core.contributions import TaskState
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import Grid, GridCell, ListSource
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column
from cuecard.tui.kit.live import LiveScreen
from cuecard.tui.present.board import PEOPLE_COLUMNS, TASK_COLUMNS, BoardView
from cuecard.tui.present.review_figures import FiguresView
from cuecard.tui.widgets.lists import FigureTable, ListTable
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Paragraphs

if TYPE_CHECKING:
    from cuecard.annotate.review.board import BoardTask
    from cuecard.tui.present.entries import Paragraph


View = Literal["tasks", "people", "figures"]


class BoardScreen(LiveScreen):
    """Three views of the same work: its tasks, its people, its figures."""

    CSS_PATH = "board.tcss"
    BINDINGS = keys(
        Key("board.open", "enter", "open", N_("Open"), N_("Open this task, the tasks of this person, or what this figure counts")),
        Key("board.back", "escape", "back", N_("Back"), N_("Show all tasks again, then back")),
        Key("board.state", "s", "next_state", N_("State"), N_("Only one state; again for the next")),
        Key("board.statistic", "k", "next_statistic", N_("Statistic"), N_("Percent agreement, kappa or AC1")),
        Key("board.tasks", "t", "turn('tasks')", N_("Tasks"), N_("Where every task stands, and whom it waits for")),
        Key("board.people", "p", "turn('people')", N_("People"), N_("Who has how much open")),
        Key("board.figures", "f", "turn('figures')", N_("Figures"), N_("How far reviewers agree, how long they take, what they return")),
        Key("board.refresh", "r", "reload", N_("Refresh"), N_("Look again")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._view: View = "tasks"
        self._board: BoardView | None = None
        self._figures: FiguresView | None = None

    def compose(self) -> ComposeResult:
        yield Static(_("Board"), id="title", markup=False)
        yield Static("", id="heading", markup=False)
        yield ListTable(TASK_COLUMNS, id="tasks")
        yield ListTable(PEOPLE_COLUMNS, id="people")
        yield FigureTable((), cursor="cell", fixed=1, id="figures")
        with VerticalScroll(id="about"):
            yield Paragraphs()
        yield EmptyState(
            _("No tasks yet"),
            _("The board shows every task by state, how long it has been there and who is next."),
            ("2", _("Tasks: begin one, import some, or add the sample tasks")),
            id="no-tasks",
        )
        yield EmptyState(
            _("No review is decided yet"),
            _(
                "Figures come when all reviews of a revision are in: how far reviewers agree, on the"
                " decision and on each dimension, how long they take, and what they return."
            ),
            ("t", _("Tasks: whom the open reviews wait for")),
            id="no-figures",
        )
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#heading, ListTable, FigureTable, #about, EmptyState"):
            widget.display = False

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("board")
    async def load(self) -> None:
        """Read the board again; the figures too, when they are shown."""
        person, now = self.person, datetime.now(UTC)
        protocol = protocol_of(await self.services.config())
        chosen = protocol.coordinators
        async with self.reading():
            board = await self.services.ask(lambda ws: load_board(ws, person, chosen, now))
        old = self._board
        state, name = (old.state, old.person) if old else (None, "")
        self._board = BoardView(board, now, state, name)
        if self._view == "figures":
            if self._figures is None:
                self.query_one("#title", Static).update(_("Counting…"))
            labels = dimension_labels(protocol)
            report = await self.services.ask(
                lambda ws: figures_of(seen_by(ws, person, chosen), dimensions=tuple(labels))
            )
            statistic = self._figures.statistic if self._figures else "percent"
            self._figures = FiguresView(report, labels, statistic)
        self._show()

    @on(Grid.CursorMoved)
    def _moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._tell()

    @on(Grid.Chosen)
    def _chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "turn":
            return parameters != (self._view,)
        if action == "next_state":
            return self._view == "tasks" and self._table.display
        if action == "next_statistic":
            return self._view == "figures" and self._has_figures
        return self._table.display and self._table.count > 0 if action == "open" else True

    def action_turn(self, view: View) -> None:
        self._view = view
        if view == "figures" and self._figures is None:
            self.load()
        elif self._board is not None:
            self._show()

    def action_next_state(self) -> None:
        if self._board is not None:
            self._board = self._board.next_state()
            self._show(cursor=0)

    def action_next_statistic(self) -> None:
        if self._figures is not None:
            self._figures.next_statistic()
            self._show()

    def action_reload(self) -> None:
        self.load()

    def action_back(self) -> None:
        if self._view == "tasks" and self._board is not None and self._board.narrowed:
            self._board = self._board.whole()
            self._show(cursor=0)
        else:
            self.dismiss()

    def action_open(self) -> None:
        row = self._table.cursor_row
        if self._view == "figures":
            self._open_rounds()
        elif self._board is None:
            return
        elif self._view == "people" and row < len(self._board.board.people):
            self._board = self._board.of_person(self._board.board.people[row].name)
            self._view = "tasks"
            self._show(cursor=0)
        elif self._view == "tasks" and row < len(self._board.tasks):
            self._open_task(self._board.tasks[row])

    def _open_task(self, task: BoardTask) -> None:
        """Open the task; people who did not write it see a task in review as reviewers do."""
        if task.state is TaskState.IN_REVIEW and task.mine != "wrote":
            from cuecard.tui.screens.review.screen import ReviewTaskScreen

            self.app.push_screen(ReviewTaskScreen(task.task.id))
        else:
            from cuecard.tui.screens.task.screen import TaskScreen

            self.app.push_screen(TaskScreen(task.task.id))

    def _open_rounds(self) -> None:

        table, figures, board = self._table, self._figures, self._board
        if figures is None or board is None:
            return
        row, column = table.cursor_row, table.cursor_column
        rounds = figures.rounds(row, column)
        if not rounds:
            self.cue_app.tell(_("This figure counts no review."))
            return
        titles = {task.task.id: task.task.title for task in board.board.tasks}
        self.app.push_screen(
            RoundsScreen(
                figures, figures.measures[column], rounds, titles, figures.head(row, column)
            )
        )

    @property
    def _table(self) -> Grid:
        return self.query_one(f"#{self._view}", Grid)

    @property
    def _has_figures(self) -> bool:
        return self._figures is not None and bool(self._figures.report.rounds)

    def _show(self, cursor: int | None = None) -> None:
        board = self._board
        if board is None:
            return
        if self._view == "figures":
            there = self._has_figures
            self._fill_figures()
        else:
            there = bool(board.board.tasks)
            table = self.query_one(f"#{self._view}", ListTable)
            cells = (
                board.task_cells(self.app.theme_variables)
                if self._view == "tasks"
                else board.people_cells()
            )
            table.fill(cells, cursor=cursor)
        for view in ("tasks", "people", "figures"):
            self.query_one(f"#{view}").display = there and view == self._view
        self.query_one("#about").display = there
        self.query_one("#no-tasks").display = not there and self._view != "figures"
        self.query_one("#no-figures").display = not there and self._view == "figures"
        self._show_heading(board)
        if there:
            self._table.focus()
        self._tell()
        self.refresh_bindings()

    def _show_heading(self, board: BoardView) -> None:
        if self._view == "figures":
            title, heading = (
                _("Figures"),
                Text(self._figures.title if self._has_figures and self._figures else ""),
            )
        elif self._view == "people":
            title = _("Board: who has how much open")
            heading = Text(
                ""
                if board.board.complete
                else _("As far as you may know: who reviews what is hidden.")
            )
        else:
            title, heading = _("Board"), board.heading(self.app.theme_variables)
        self.query_one("#title", Static).update(title)
        widget = self.query_one("#heading", Static)
        widget.update(heading)
        widget.display = bool(heading.plain) and self._table.display

    def _fill_figures(self) -> None:
        if self._figures is None:
            return
        table = self.query_one("#figures", FigureTable)
        if [c.label for c in table.columns] != [c.label for c in self._figures.columns]:
            table.set_columns(self._figures.columns)
        table.load(ListSource(self._figures.cells()))

    def _tell(self) -> None:
        """What is under the cursor, in full, below the list."""
        self.query_one(Paragraphs).load(self._about())

    def _about(self) -> Sequence[Paragraph]:
        table, board = self._table, self._board
        row = table.cursor_row
        if self._view == "figures":
            return self._figures.about(row, table.cursor_column) if self._figures else ()
        if board is None:
            return ()
        if self._view == "people":
            people = board.board.people
            return board.about_person(people[row]) if row < len(people) else ()
        return board.about_task(board.tasks[row]) if row < len(board.tasks) else ()


class RoundsScreen(ListScreen[DecidedRound]):
    """Disagreements come first, with a mark; Enter reads the reviews of the task."""

    LIVE = False
    BINDINGS = keys(
        Key("rounds.open", "enter", "open", N_("Read"), N_("Read the reviews of this task")),
        Key("rounds.back", "escape", "leave", N_("Back"), N_("Back to the figures")),
    )

    def __init__(
        self,
        figures: FiguresView,
        measure: str,
        rounds: Sequence[DecidedRound],
        titles: Mapping[str, str],
        head: str,
    ) -> None:
        super().__init__()
        self._figures, self._measure, self._head = figures, measure, head
        self._rounds, self._titles = rounds, titles

    def columns(self) -> Sequence[Column[DecidedRound]]:
        return (
            Column("", lambda each: GridCell("≠" if self._differs(each) else "", "warn")),
            Column(N_("Task"), lambda each: self._titles.get(each.task_id, each.task_id), grow=2),
            Column(N_("Rev"), lambda each: str(each.revision), right=True),
            Column(N_("Reviews"), self._said, grow=3, least=30),
        )

    def key(self, row: DecidedRound) -> Hashable:
        return row.task_id, row.revision

    async def read(self) -> Sequence[DecidedRound]:
        return self._rounds

    def empty(self) -> EmptyState:
        return EmptyState(_("No review is decided yet"), "", ("esc", _("Back to the figures")))

    def title_words(self) -> str:
        told = _("{n} revisions, {differ} with disagreement (≠)")
        differ = sum(map(self._differs, self._rounds))
        return f"{one_line(self._head)} · {told.format(n=len(self._rounds), differ=differ)}"

    def action_open(self) -> None:
        from cuecard.tui.screens.review.screen import ReviewTaskScreen

        if self.row is not None:
            self.app.push_screen(ReviewTaskScreen(self.row.task_id))

    def _differs(self, round_: DecidedRound) -> bool:
        return self._figures.differ(round_, self._measure)

    def _said(self, round_: DecidedRound) -> str:
        return " · ".join(
            f"{given.reviewer} {self._figures.said(given, self._measure)}"
            for given in round_.reviews
        )
