"""The board: tasks by state, age and person; statistics of reviews; and the review rounds behind a number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rich.text import Text
from textual.app import ComposeResult

from cuecard.annotate.review.board import (
    STATES,
    Board,
    BoardTask,
    PersonLoad,
    dimension_labels,
    load_board,
    seen_by,
)
from cuecard.annotate.review.figures import DecidedRound, FiguresReport, figures_of
from cuecard.annotate.review.workflow import protocol_of
from cuecard.core.contributions import TaskState
from cuecard.core.i18n import N_, NP_, _, age, listed, plural
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present import board as present
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.files import Report
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL, TASK_STATE, badge
from cuecard.tui.screens.figures import FiguresScreen, section_keys
from cuecard.tui.screens.marked_tasks import MarkedTasks
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import ChangingText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

View = Literal["tasks", "people", "figures"]
Row = TypeVar("Row")

# fmt: off

_OPEN = Key("board.open", Means.OPEN, "open", N_("Open"), N_("Open this task, the tasks of this person, or what this figure counts"))
_BACK = Key("board.back", Means.UP_ONE, "leave", N_("Back"), N_("Show all tasks again, then back"))
_TASKS = Key("board.tasks", Means.A_VIEW, "turn('tasks')", N_("Tasks"), N_("Where every task stands, and whom it waits for"), letter="t")
_PEOPLE = Key("board.people", Means.A_VIEW, "turn('people')", N_("People"), N_("Who has how much open"), letter="p")
_FIGURES = Key("board.figures", Means.A_VIEW, "turn('figures')", N_("Figures"), N_("How far reviewers agree, how long they take, what they return"), letter="f")
# fmt: on


def _turn(screen: BoardScreen | PeopleScreen | BoardFiguresScreen, view: View) -> None:
    """To another view of the same work; all but the board of all tasks are left for it."""
    if screen.shown_view == f"turn('{view}')":
        return
    if view == "tasks":
        screen.dismiss()
        return
    other = PeopleScreen() if view == "people" else BoardFiguresScreen()
    if isinstance(screen, BoardScreen) and not screen.board.person:
        screen.app.push_screen(other)
    else:
        screen.app.switch_screen(other)


class BoardList(ListScreen[Row]):
    """A list of what is on the board."""

    TELLS = False

    def __init__(self) -> None:
        super().__init__()
        nothing = Board(reader=self.person, complete=False, tasks=(), people=())
        self.board = present.BoardView(nothing, datetime.now(UTC))

    async def read_board(self) -> None:
        """Raises `CuecardError`."""
        person, now = self.person, datetime.now(UTC)
        chosen = protocol_of(await self.services.config()).coordinators
        board = await self.services.ask(lambda ws: load_board(ws, person, chosen, now))
        self.board = replace(self.board, board=board, now=now)

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No tasks yet"),
            _("The board shows every task by state, how long it has been there and who is next."),
            ("2", _("Tasks: begin one, import some, or add the sample tasks")),
        )

    action_turn = _turn


class BoardScreen(BoardList[BoardTask], MarkedTasks):
    """All tasks, or those of the person `name`."""

    DEFAULT_CSS = """
    BoardScreen #heading { height: auto; padding: 0 1; margin: 1 0; }
    """
    BINDINGS = keys(
        _OPEN,
        _BACK,
        _TASKS,
        _PEOPLE,
        _FIGURES,
        Key("board.assign", Means.COMMAND, "assign", N_("Assign"), N_("As a coordinator: say who reviews this task, or the marked ones"), show=False, letter="g"),
        Key("board.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this task, or of the marked ones"), show=False),
        Key("board.export", Means.EXPORT, "export", N_("Export"), N_("Write this task, or the marked ones, into files"), show=False),
        Key("board.state", Means.ONLY, "next_state", N_("State"), N_("Only one state; again for the next")),
    )  # fmt: skip
    MARKING = True
    NEED_ROW = ("open", "next_state", "assign", "tags", "export")

    @property
    def shown_view(self) -> str:
        return "" if self.board.person else "turn('tasks')"

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.board = self.board.of_person(name)

    def columns(self) -> Sequence[Column[BoardTask]]:
        return (
            Column(N_("Task"), lambda task: task.task.title, grow=3, least=16),
            Column(N_("State"), lambda task: self._badge(TASK_STATE, task.state.value), sort=lambda task: STATES.index(task.state)),
            Column(N_("Waits for"), lambda task: present.waits_cell(task, self.person), grow=2, least=30),
            Column(N_("Family"), lambda task: self._badge(FAMILY, task.task.family), spare=3),
            Column(N_("Lang"), lambda task: LANGUAGE_LABEL[task.task.language], spare=2),
            Column(N_("Author"), lambda task: listed(task.authors), grow=1, spare=1),
            Column(N_("Since"), lambda task: age(task.since, self.board.now), right=True, sort=lambda task: task.since),
        )  # fmt: skip

    def key(self, row: BoardTask) -> Hashable:
        return row.task.id

    async def read(self) -> Sequence[BoardTask]:
        await self.read_board()
        if not self.board.tasks:
            self.board = replace(self.board, state=None)
        return self.board.tasks

    def compose_list(self) -> ComposeResult:
        yield ChangingText(id="heading", markup=False)
        yield from super().compose_list()

    def title_words(self) -> str:
        return self.board.person or _("Board")

    def show(self, rows: Sequence[BoardTask], to: Hashable = None) -> None:
        super().show(rows, to)
        self._show_heading()
        self.query_one("#heading").display = bool(rows)

    def _show_heading(self) -> None:
        self.query_one("#heading", ChangingText).draw(self.board.heading)

    def detail(self, row: BoardTask) -> Sequence[Paragraph]:
        return self.board.about_task(row)

    def action_next_state(self) -> None:
        self._narrow(self.board.next_state())

    def action_leave(self) -> None:
        if self.board.state is not None:
            self._narrow(replace(self.board, state=None))
        else:
            self.dismiss()

    def action_open(self) -> None:
        """Open the task; people who did not write it see a task in review as reviewers do."""
        task = self.row
        if task is None:
            return
        if task.state is TaskState.IN_REVIEW and task.mine != "wrote":
            from cuecard.tui.screens.review import ReviewTaskScreen

            self.app.push_screen(ReviewTaskScreen(task.task.id))
        else:
            from cuecard.tui.screens.task.screen import open_task

            open_task(self.cue_app, task.task.id)

    def narrowed_by(self) -> Mapping[str, Any]:
        return {"state": self.board.state.value if self.board.state else ""}

    def narrow(self, by: Mapping[str, Any]) -> None:
        state = next((each for each in TaskState if each.value == by.get("state")), None)
        self._narrow(replace(self.board, state=state))

    def _narrow(self, board: present.BoardView) -> None:
        self.board = board
        self.show(board.tasks, self.key(board.tasks[0]) if board.tasks else None)

    def _badge(self, words: Mapping[str, tuple[str, str, str]], value: str) -> Text:
        return badge(words, value, self.app.theme_variables)


class PeopleScreen(BoardList[PersonLoad]):
    """Enter shows the tasks of the person under the cursor."""

    BINDINGS = keys(_OPEN, _BACK, _TASKS, _PEOPLE, _FIGURES)
    shown_view = "turn('people')"

    def columns(self) -> Sequence[Column[PersonLoad]]:
        def count(title: str, get: Callable[[PersonLoad], int]) -> Column[PersonLoad]:
            return Column(title, lambda load: present.number_cell(get(load)), right=True)

        return (
            Column(N_("Person"), lambda load: present.name_cell(load, self.person), grow=2),
            count(NP_("not finished", "Open"), lambda load: load.open),
            count(N_("Drafts"), lambda load: load.drafts),
            count(N_("Returned"), lambda load: load.returned),
            count(N_("To review"), lambda load: load.reviews),
            count(N_("With reviewers"), lambda load: load.with_reviewers),
            Column(N_("Oldest"), lambda load: age(load.oldest, self.board.now) if load.oldest else "", right=True, sort=lambda load: load.oldest),
        )  # fmt: skip

    def key(self, row: PersonLoad) -> Hashable:
        return row.name

    async def read(self) -> Sequence[PersonLoad]:
        await self.read_board()
        return self.board.board.people

    def title_words(self) -> str:
        return f"{_('People')} · {_('Who has how much open')}"

    def note(self) -> str:
        if self.board.board.complete:
            return ""
        return _("As far as you may know: who reviews what is hidden.")

    def detail(self, row: PersonLoad) -> Sequence[Paragraph]:
        return self.board.about_person(row)

    def action_open(self) -> None:
        if self.row is not None:
            self.app.switch_screen(BoardScreen(self.row.name))


class BoardFiguresScreen(FiguresScreen[present.FiguresView]):
    """Statistics of reviews; Enter shows the rounds that the figure under the cursor counts."""

    CSS = "BoardFiguresScreen.-short #details { height: 7; }"
    ALWAYS = ("reload", "leave", "turn")
    BINDINGS = keys(
        _OPEN,
        _TASKS,
        _PEOPLE,
        *section_keys(present.SHOWN),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._titles: Mapping[str, str] = {}

    @property
    def short_title(self) -> str:
        return _("Figures")

    def title_of(self, view: present.FiguresView) -> str:
        return self.short_title

    def empty(self) -> EmptyState:
        return EmptyState(
            _("No review is decided yet"),
            _(
                "Figures come when all reviews of a revision are in: how far reviewers agree, on the"
                " decision and on each dimension, how long they take, and what they return."
            ),
            ("{VIEW} t", _("Tasks: whom the open reviews wait for")),
        )

    @guarded("figures")
    async def load(self) -> None:
        person, protocol = self.person, protocol_of(await self.services.config())

        def work(ws: Workspace) -> tuple[FiguresReport, dict[str, str]]:
            logs = seen_by(ws, person, protocol.coordinators)
            tasks = ws.tasks.summaries(viewer=person, include_retired=True)
            return figures_of(logs, dimensions=tuple(dimension_labels(protocol))), {
                t.id: t.title for t in tasks
            }

        report, self._titles = await self.counted(_("counting"), work)
        labels = dimension_labels(protocol, report.dimensions)
        self.show_view(present.FiguresView(report, labels))

    def fill(self, cursor: tuple[int, int] | None = None) -> None:
        """The cursor stays: every statistic is of the same people and measures."""
        super().fill(cursor or self.place)

    def action_open(self) -> None:
        view, place = self._view, self.place
        if view is not None and (found := view.looked_up(*place)):
            rounds, head = view.rounds(*place), view.head(*found)
            self.app.push_screen(RoundsScreen(view, found[1], rounds, self._titles, head))

    action_turn = _turn

    async def written(self, view: present.FiguresView) -> Report:
        return Report("review-figures", self.title_of(view), view.every)


class RoundsScreen(ListScreen[DecidedRound]):
    """Disagreements come first, with a mark; Enter reads the reviews of the task."""

    LIVE = False
    BINDINGS = keys(
        Key("rounds.open", Means.OPEN, "open", N_("Read"), N_("Read the reviews of this task")),
        Key("rounds.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(
        self,
        figures: present.FiguresView,
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
        told = plural(
            "{n} revision, {differ} with disagreement (≠)",
            "{n} revisions, {differ} with disagreement (≠)",
            len(self._rounds),
            differ=sum(map(self._differs, self._rounds)),
        )
        return f"{one_line(self._head)} · {told}"

    def action_open(self) -> None:
        from cuecard.tui.screens.review import ReviewTaskScreen

        if self.row is not None:
            self.app.push_screen(ReviewTaskScreen(self.row.task_id))

    def _differs(self, round_: DecidedRound) -> bool:
        return self._figures.differ(round_, self._measure)

    def _said(self, round_: DecidedRound) -> str:
        return " · ".join(
            f"{given.reviewer} {self._figures.said(given, self._measure)}"
            for given in round_.reviews
        )
