"""The filtered list of tasks with the task under the cursor beside it, and the dialog that begins a new one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Annotated, Any, cast

from pydantic import Field
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input, Static

from cuecard.annotate.authoring.task_data import blank_task
from cuecard.core.i18n import N_, _, listed, ngettext
from cuecard.core.tasks.base import Frozen, id_problem
from cuecard.core.tasks.models import DIFFICULTY_WORDS, FAMILIES, Family, Task, TaskLanguage
from cuecard.core.text import for_display, one_line, slug
from cuecard.tui.drawing import Horizontal, Vertical
from cuecard.tui.families import TUI
from cuecard.tui.grid import Grid
from cuecard.tui.kit.columns import Column, ListGrid
from cuecard.tui.kit.forms import AnswerDialog, FormPane
from cuecard.tui.kit.lists import ListView
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import ink
from cuecard.tui.present.keyboard import hint, shown_key
from cuecard.tui.present.labels import FAMILY, FORK, LANGUAGE_LABEL, TASK_STATE, badge
from cuecard.tui.present.tasks import TaskFilter, TaskLine, sections_of, shown
from cuecard.tui.screens.task.fields import LANGUAGE
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import ChangingText, Pane, Tinted


class TaskListing(Vertical):
    """`load` lines; `chosen` filters them, `line` is the one under the cursor."""

    class Moved(Message):
        """The cursor is on another line, or on none."""

    class Opened(Message):
        """The person wants to open this line."""

        def __init__(self, line: TaskLine) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__()
        self._lines: Sequence[TaskLine] = ()
        self.chosen = TaskFilter()

    def compose(self) -> ComposeResult:
        with Horizontal(id="filters"):
            yield LineEditor(placeholder=_("/ filter"), compact=True, id="filter")
            yield Tinted("", id="criteria")
        with Horizontal(id="body"):
            with Vertical(id="list"):
                columns = (
                    Column[TaskLine]("", self._family),
                    Column[TaskLine](N_("Title"), self._title, grow=3, least=16, sort=lambda line: line.title.casefold()),
                    Column[TaskLine](N_("Tags"), lambda line: listed(line.tags), grow=1, least=6, quiet=True),
                    Column[TaskLine](N_("Lang"), lambda line: LANGUAGE_LABEL.get(line.language, line.language), spare=2),
                    Column[TaskLine](N_("Level"), lambda line: _(DIFFICULTY_WORDS.get(line.difficulty, line.difficulty)), spare=3),
                    Column[TaskLine](N_("Rev"), lambda line: str(line.revision or _("new")), right=True),
                    Column[TaskLine](N_("State"), lambda line: badge(TASK_STATE, line.state, self.app.theme_variables)),
                    Column[TaskLine](N_("Author"), lambda line: line.author, grow=1, spare=1),
                )  # fmt: skip
                yield ListView(columns, lambda line: line.id, marking=True, filters=False)
                yield EmptyState(
                    _("No tasks yet"),
                    _("A task is a query, the persona who asks it, and the gold answer."),
                    ("{MENU} s", _("add the eight sample tasks")),
                    ("{ADD}", _("begin one of your own")),
                    ("{IMPORT}", _("import a file or a folder")),
                    id="none",
                )
                yield EmptyState(
                    _("No task matches"),
                    _("Some are there, but the filters hide them."),
                    ("{MENU} c", _("clear the filters")),
                    id="hidden",
                )
            with Pane(id="detail"):
                yield ChangingText(id="about", markup=False)

    def on_mount(self) -> None:
        for state in self.query(EmptyState):
            state.display = False
        self.view.focus()

    @property
    def view(self) -> ListView[TaskLine]:
        return cast("ListView[TaskLine]", self.query_one(ListView))

    @property
    def table(self) -> ListGrid:
        return self.view.grid

    @property
    def filter_input(self) -> Input:
        return self.query_one("#filter", Input)

    @property
    def line(self) -> TaskLine | None:
        """The line under the cursor."""
        return self.view.row

    def load(self, lines: Sequence[TaskLine], then: str = "") -> None:
        """Show these lines, with the cursor on the task `then` or where it was."""
        self._lines = lines
        self._show(then)

    def choose(self, chosen: TaskFilter) -> None:
        """Filter by something else."""
        self.chosen = chosen
        if self.filter_input.value != chosen.text:
            with self.prevent(Input.Changed):
                self.filter_input.value = chosen.text
        self._show()

    def narrowed_by(self) -> Mapping[str, Any]:
        return asdict(self.chosen)

    def narrow(self, by: Mapping[str, Any]) -> None:
        self.choose(TaskFilter(**{each.name: str(by.get(each.name) or "") for each in fields(TaskFilter)}))  # fmt: skip

    def describe(self, line: TaskLine, task: Task | None) -> None:
        """Fill the pane beside the list; `task` is None for one that was never saved."""
        about = self.query_one("#about", ChangingText)
        about.draw(lambda variables: _about(line, task, variables))
        self.query_one("#detail").scroll_home(animate=False)

    def _show(self, then: str = "") -> None:
        lines = shown(self._lines, self.chosen)
        self.view.load(lines, then or None)
        # A table without lines leaves the room to what says why; it keeps the focus.
        self.view.set_class(not lines, "-empty")
        self.query_one("#none").display = not self._lines
        self.query_one("#hidden").display = bool(self._lines) and not lines
        self.query_one("#detail").set_class(not lines, "-empty")
        self.query_one("#criteria", Static).update(self._criteria())

    def _criteria(self) -> Text:
        """The filters with their keys, and how many tasks they leave."""
        chosen, anything = self.chosen, _("any")
        family = _(FAMILY[chosen.family][2]) if chosen.family else anything
        state = _(TASK_STATE[chosen.state][2]) if chosen.state else anything
        language = LANGUAGE_LABEL.get(chosen.language, anything)
        count = len(self.view.rows)
        told = ngettext("{n} task", "{n} tasks", count).format(n=f"{count:,}")
        # What is left is told first: the filters may be cut.
        text = Text(f"{told}  ")
        words = {"family": _("family"), "language": _("language"), "state": _("state")}
        for name, value in (("family", family), ("language", language), ("state", state)):
            key = shown_key(f"tasks.{name}")
            told = Text.assemble((f"{key} ", "bold"), f"{words[name]}{_(': ')}{value}")
            told.apply_meta({"@click": f"app.do('tasks.{name}')"})
            text.append_text(told).append("  ")
        return text

    @on(Grid.MarksChanged)
    def marks_changed(self, event: Grid.MarksChanged) -> None:
        """What a key does may be about all of them."""
        event.stop()
        self.post_message(self.Moved())

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        self.post_message(self.Moved())

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        if self.line is not None:
            self.post_message(self.Opened(self.line))

    @on(Input.Changed, "#filter")
    def filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.chosen = replace(self.chosen, text=self.filter_input.value)
        self._show()

    @on(Input.Submitted, "#filter")
    def filter_done(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.focus()

    def _family(self, line: TaskLine) -> Text:
        family = badge(FAMILY, line.family, self.app.theme_variables)
        return Text(family.plain[:1], family.style)

    def _title(self, line: TaskLine) -> Text:
        """With what there is to know of it before: forks, comments, a draft."""
        warn = ink(self.app.theme_variables, "warning")
        marks = (
            (f"{FORK} " if line.forks else "", warn),
            (f"❝{line.comments} " if line.comments else "", warn),
            ("✎2 " if line.building else "", "bold"),
            ("✎ " if line.draft else "", "bold"),
        )
        return Text.assemble(*marks, one_line(line.title))


ABOUT = TUI.each(lambda family: family.about)


class _NewTask(Frozen):
    title: Annotated[str, Field(title=N_("Title"))] = ""
    id: Annotated[str, Field(title=N_("Id"), description=N_("from the title"))] = ""
    family: Annotated[Family, Field(title=N_("Family"))] = "graph"
    language: Annotated[TaskLanguage, Field(title=N_("Language")), Row(options=LANGUAGE)] = "en"

    @property
    def task_id(self) -> str:
        return self.id or slug(self.title)[:120]


class NewTaskDialog(AnswerDialog[_NewTask, dict[str, Any]]):
    """Answers with the data of a blank task. Without an id one is made from the title."""

    def __init__(self, language: TaskLanguage) -> None:
        families = [(f"{FAMILY[f][0]} {_(ABOUT[f])}", f) for f in FAMILIES]
        super().__init__(
            _("New task"),
            _NewTask(language=language),
            button=_("Begin"),
            options={"family": families},
        )

    @on(FormPane.Changed)
    def propose(self) -> None:
        title = self.query_one("#title", Input).value
        proposal = slug(title) if title.strip() else _("from the title")
        self.query_one("#id", Input).placeholder = proposal

    def problem(self, model: _NewTask) -> str:
        if not model.title:
            return _("Please give it a title.")
        told = _("The id {id} {reason}.")
        reason = id_problem(model.task_id)
        return told.format(id=model.task_id, reason=reason) if reason else ""

    async def answer(self, model: _NewTask) -> dict[str, Any]:
        return blank_task(model.task_id, model.title, model.family, model.language)


def _about(line: TaskLine, task: Task | None, variables: Mapping[str, str]) -> Text:
    """What the pane beside the list says."""
    text = Text.assemble((one_line(line.title), "bold"), "\n", (line.id, "dim"), "\n\n")
    text.append_text(badge(FAMILY, line.family, variables))
    if line.domain:
        text.append(f" · {one_line(line.domain)}", "dim")
    if line.draft:
        text.append("\n✎ ", "bold").append(_("You have a draft of it."))
    if line.building:
        text.append("\n✎2 ", "bold").append(
            hint(_("You are building its gold independently: {MENU} b goes on."))
        )
    if line.forks:
        text.append(f"\n{FORK} ", "bold").append(
            hint(
                _(
                    "Newest revisions stand side by side: open it, then {MENU} j brings them together."
                )
            )
        )
    for heading, body in sections_of(task) if task else []:
        text.append(f"\n\n{heading}\n", "bold").append(for_display(body))
    return text
