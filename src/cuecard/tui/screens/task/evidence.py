"""The tab of evidence: source URLs with what cites them, and the work that went into the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.facts_ops import CitedBy, Evidence, add_to_sources, evidence_of
from cuecard.annotate.authoring.task_data import Path, blank_source
from cuecard.core.i18n import N_, _, listed
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Container, Vertical, VerticalScroll
from cuecard.tui.grid import Grid, GridCell, GridColumn, ListSource
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.task_editor import effort_lines, log_lines
from cuecard.tui.screens.task.fields import Form
from cuecard.tui.screens.task.forms import SOURCE
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Lines, Paragraphs, PlainText

if TYPE_CHECKING:
    from cuecard.core.records import EffortEntry, EffortTotals

_ITEMS: dict[CitedBy, str] = {
    "triples": N_("Cited by triples {numbers}"),
    "steps": N_("Cited by steps {numbers}"),
    "facts": N_("Cited by facts {numbers}"),
}


class EvidencePane(TaskPane):
    """Listed addresses first, then those that only the gold cites, which one key takes into the list."""

    BINDINGS = keys(
        Key("evidence.add", Means.ADD, "add", N_("Add"), N_("Put another address on the list")),
        Key("evidence.take", Means.IMPORT, "take", N_("Take"), N_("Put this cited address on the list")),
        Key("evidence.take_all", Means.COMMAND, "take_all", N_("Take all"), N_("Put every cited address on the list"), show=False, letter="T"),
        Key("evidence.open", Means.OUTSIDE, "open", N_("Open"), N_("Open this page in the browser")),
        Key("evidence.delete", Means.DELETE, "remove", N_("Delete"), N_("Take this address off the list; {UNDO} brings it back")),
        Key("evidence.up", Means.MOVE_UP, "shift(-1)", N_("Move"), N_("Move this address up"), show=False),
        Key("evidence.down", Means.MOVE_DOWN, "shift(1)", N_("Move down"), N_("Move this address down"), show=False),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._evidence: list[Evidence] = []
        self._shown: tuple[str, int | None] | None = None

    def compose(self) -> ComposeResult:
        columns = (
            GridColumn(N_("Address"), 20, grow=5),
            GridColumn(N_("Note"), 12, grow=2, hidden_below=60),
            GridColumn(N_("Cited"), 6, right=True),
        )
        with Container(classes="evidence"):
            with Vertical(classes="list"):
                yield Grid(columns)
                yield EmptyState(
                    _("No sources yet"),
                    _(
                        "Pages that support the gold. What triples, steps and facts cite is shown here too."
                    ),
                    ("{ADD}", _("add the first one")),
                    ("{MENU} q", _("log a query that you issued")),
                    ("{MENU} p", _("log a page that you consulted")),
                )
            with VerticalScroll(classes="detail", can_focus=False):
                yield Form(SOURCE)
                yield PlainText(id="cited")
                yield Paragraphs(id="effort-log")
        yield Lines(id="effort")

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def current(self) -> Evidence | None:
        """The address under the cursor."""
        row = self.grid.cursor_row
        return self._evidence[row] if 0 <= row < len(self._evidence) else None

    def load(self, edit: TaskEdit) -> None:
        self._edit = edit
        self._fill(self.grid.cursor_row)

    def show_effort(
        self, mine: EffortTotals, everybody: EffortTotals, entries: Sequence[EffortEntry]
    ) -> None:
        """What is logged for the task so far."""
        self.query_one("#effort", Lines).load(effort_lines(mine, everybody))
        self.query_one("#effort-log", Paragraphs).load(log_lines(entries))

    def commit(self) -> None:
        self.form.commit()

    def noticed(self, path: Path) -> None:
        if self._edit is not None and path[:1] == ops.SOURCES and len(path) > 1:
            self._evidence = evidence_of(self._edit.data)
            self.grid.load(self._rows())
            self._describe()

    def locate(self, path: Path) -> None:
        if len(path) > 1 and isinstance(path[1], int):
            self._go(path[1])

    def reveal(self, path: Path) -> None:
        self.locate(path)
        if len(path) > 2 and self.current is not None:
            self.form.reveal(path[2:])
        else:
            self.grid.focus()

    def step_back(self) -> bool:
        if self.grid.has_focus:
            return False
        self.grid.focus()
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        here = self.current
        match action:
            case "add":
                return self.grid.has_focus
            case "open":
                return self.grid.has_focus and here is not None
            case "remove" | "shift":
                return self.grid.has_focus and here is not None and here.index is not None
            case "take":
                return self.grid.has_focus and here is not None and here.index is None
            case "take_all":
                return self.grid.has_focus and any(e.index is None for e in self._evidence)
            case _:
                return True

    @on(Grid.CursorMoved)
    def show_current(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._show()

    @on(Grid.Chosen)
    def edit_current(self, event: Grid.Chosen) -> None:
        event.stop()
        if self.current is not None and self.current.index is not None:
            self.form.reveal(())
        elif self.current is not None:
            self.action_take()

    def action_add(self) -> None:
        if self._edit is not None:
            self._settle()
            count = len(self._edit.items(ops.SOURCES))
            here = self.current.index if self.current else None
            at = count if here is None else here + 1
            ops.insert_item(self._edit, ops.SOURCES, at, blank_source())
            self._fill(at)
            self.form.reveal(())

    def action_take(self) -> None:
        if self._edit is not None and self.current is not None:
            url = self.current.url
            self._settle()
            add_to_sources(self._edit, url)
            self._fill(len(self._edit.items(ops.SOURCES)) - 1)

    def action_take_all(self) -> None:
        if self._edit is not None:
            self._settle()
            add_to_sources(self._edit, *(e.url for e in self._evidence if e.index is None))
            self._fill(0)

    def action_remove(self) -> None:
        if self._edit is not None and self.current and self.current.index is not None:
            index = self.current.index
            self._settle()
            ops.delete_item(self._edit, ops.SOURCES, index)
            self._fill(index)

    def action_shift(self, by: int) -> None:
        if self._edit is None or self.current is None or self.current.index is None:
            return
        to = self.current.index + by
        if 0 <= to < len(self._edit.items(ops.SOURCES)):
            index = self.current.index
            self._settle()
            ops.move_item(self._edit, ops.SOURCES, index, to)
            self._fill(to)

    def action_open(self) -> None:
        if self.current is not None:
            self.run_worker(self._open(self.current.url), group="browser", exclusive=True)

    async def _open(self, url: str) -> None:
        from cuecard.tui.outside_programs import open_told

        self.notify(await open_told(url), markup=False)

    def _settle(self) -> None:
        self.form.commit()
        self.form.unload()
        self._shown = None

    def _fill(self, row: int) -> None:
        if self._edit is None:
            return
        self._evidence = evidence_of(self._edit.data)
        self.set_class(not self._evidence, "-nothing")
        self._shown = None
        self.grid.load(self._rows(), cursor=(max(0, min(row, len(self._evidence) - 1)), 0))
        self._show()

    def _go(self, row: int) -> None:
        self.grid.move_to(row)
        self._show()

    def _rows(self) -> ListSource:
        rows: list[tuple[GridCell, ...]] = []
        marks: list[GridCell] = []
        for item in self._evidence:
            tone = "bad" if not item.sound else "plain" if item.index is not None else "muted"
            count = GridCell(str(item.count), "muted" if not item.count else "plain")
            note = item.note if item.index is not None else _("only cited")
            rows.append(
                (
                    GridCell(item.url.removeprefix("https://") or "–", tone),
                    GridCell(note, "muted"),
                    count,
                )
            )
            glyph = "✗" if not item.sound else "" if item.index is not None else "+"
            marks.append(GridCell(glyph, "bad" if glyph == "✗" else "accent"))
        return ListSource(rows, marks)

    def _show(self) -> None:
        """The form of a listed address; of one that is only cited, who cites it."""
        here = self.current
        key = (here.url, here.index) if here else None
        if key == self._shown or self._edit is None:
            return
        self._shown = key
        listed = here is not None and here.index is not None
        self.form.display = listed
        if here is not None and here.index is not None:
            self.form.load(self._edit, (*ops.SOURCES, here.index))
        else:
            self.form.unload()
        self._describe()
        self.refresh_bindings()

    def _describe(self) -> None:
        here = self.current
        lines: list[str] = []
        if here is not None:
            if here.index is None:
                lines += [here.url, hint(_("Not on the list yet: {IMPORT} takes it there."))]
            if here.url and not here.sound:
                lines.append(_("✗ This is no web address: it must begin with http:// or https://"))
            for kind, numbers in here.cited.items():
                shown = listed((str(number + 1) for number in numbers), 40)
                lines.append(_(_ITEMS[kind]).format(numbers=shown))
            if not here.cited:
                lines.append(_("No item of the gold cites this address; it may support the whole."))
        self.query_one("#cited", PlainText).load("\n".join(lines))
