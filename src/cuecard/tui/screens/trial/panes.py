"""The panes beside a trial's transcript, and the line with their names and keys."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import ClassVar, Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Resize
from textual.message import Message
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display
from cuecard.core.verdicts import Measure
from cuecard.tui.actions import Key, Means, Named, keys
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid import Grid, GridCell, GridColumn, ListSource
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.keyboard import key_name
from cuecard.tui.present.trial_gold import GoldCell, TableView
from cuecard.tui.present.trial_panes import PaneLine, PaneText, work_entry
from cuecard.tui.present.trial_summary import measure_rows
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import FittedColumn, FittedTable
from cuecard.tui.widgets.text import Lines, Tinted, as_text


class LineList(EntryList, inherit_bindings=False):
    """Enter goes where a line came from; space opens what is folded."""

    BINDINGS = [
        *(b for b in EntryList.BINDINGS if isinstance(b, Binding) and b.id != "entries.open"),
        *keys(
            Key("lines.go", Means.OPEN, "go", N_("Go"), N_("To the place in the dialogue that this line is about")),
            Key("lines.open", Means.MARK, "open", N_("Open/fold"), N_("Show or hide what is folded under the cursor")),
        )
    ]  # fmt: skip

    def action_go(self) -> None:
        if self.entries:
            self.post_message(self.Chosen(self, self.cursor))

    def action_open(self) -> None:
        if self.entries:
            self.toggle(self.cursor)


class SidePane(Vertical):
    """A note above, and what is walked through below."""

    ALLOW_MAXIMIZE = True
    WALKED: ClassVar[type[EntryList | Grid]] = Grid

    @property
    def walked(self) -> EntryList | Grid:
        return self.query_one(self.WALKED)

    def say(self, note: str) -> None:
        """The note; "" for none."""
        line = self.query_one(".note", Static)
        line.update(for_display(note))
        line.display = bool(note)

    def move_to(self, index: int) -> None:
        self.walked.move_to(index)

    def take_focus(self) -> None:
        self.walked.focus()


class LinesPane(SidePane):
    """Lines that tell of places in the dialogue."""

    WALKED = LineList

    class Went(Message):
        """Enter was pressed on a line."""

        def __init__(self, line: PaneLine) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = PaneText("")

    def compose(self) -> ComposeResult:
        yield Static("", classes="note", markup=False)
        yield LineList()

    @property
    def line(self) -> PaneLine | None:
        """The line under the cursor."""
        lines, at = self._text.lines, self.query_one(LineList).cursor
        return lines[at] if at < len(lines) else None

    @property
    def cursor(self) -> int:
        return self.query_one(LineList).cursor

    def load(self, text: PaneText) -> None:
        self._text = text
        self.say(text.note)
        self.query_one(LineList).load([line.entry for line in text.lines])

    def line_at(self, seq: int) -> int | None:
        """The last line that is about event `seq` or one before it; None where no line is about an event."""
        found = (
            n for n, line in enumerate(self._text.lines) if line.seq is not None and line.seq <= seq
        )
        return max(found, default=None)

    def on_entry_list_chosen(self, message: EntryList.Chosen) -> None:
        message.stop()
        if self.line is not None:
            self.post_message(self.Went(self.line))


class TablePane(SidePane):
    """A predicted table laid beside the gold one, with both sides of the cell under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = TableView("", (), ())

    def compose(self) -> ComposeResult:
        yield Static("", classes="note", markup=False)
        yield Grid((), cursor="cell", fixed=1, id="cells")
        yield Lines(classes="detail")

    @property
    def line(self) -> PaneLine | None:
        """The cell under the cursor, as a line."""
        cell = self._cell
        if cell is None:
            return None
        pieces = [piece for line in cell.detail for piece in line]
        place = f"verdict/{cell.item.key}" if cell.item else ""
        return PaneLine(work_entry(pieces), item=cell.item, place=place)

    @property
    def cursor(self) -> int:
        return self.query_one(Grid).cursor_row

    def load(self, view: TableView) -> None:
        self._view = view
        self.say(view.note)
        grid = self.query_one(Grid)
        grid.set_columns([GridColumn(name, 6, raw=True, most=24) for name in view.columns])
        grid.load(
            ListSource([[GridCell(cell.text, cell.tone) for cell in row] for row in view.rows])
        )
        self._show()

    def on_grid_cursor_moved(self, message: Grid.CursorMoved) -> None:
        message.stop()
        self._show()

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        message.stop()
        if self.line is not None:
            self.post_message(LinesPane.Went(self.line))

    def _show(self) -> None:
        cell = self._cell
        self.query_one(".detail", Lines).load(cell.detail if cell else ())

    @property
    def _cell(self) -> GoldCell | None:
        grid = self.query_one(Grid)
        row, column = grid.cursor_row, grid.cursor_column
        rows = self._view.rows
        return rows[row][column] if row < len(rows) and column < len(rows[row]) else None


class MeasuresPane(SidePane):
    """The trial's numbers, each with its n."""

    line: PaneLine | None = None
    cursor = 0

    def compose(self) -> ComposeResult:
        yield Static("", classes="note", markup=False)
        yield FittedTable(
            (
                FittedColumn(N_("Measure"), 10, grow=1),
                FittedColumn(N_("Value"), 8, right=True),
                FittedColumn("n", 6, right=True),
            ),
            id="measures-table",
        )

    def load(self, measures: Iterable[Measure], instead: str = "") -> None:
        """`instead`: what is said where nothing may be shown yet."""
        rows = measure_rows(measures)
        self.query_one(FittedTable).fill([(row.label, row.value, row.n) for row in rows])
        reasons = dict.fromkeys(row.reason for row in rows if row.reason)
        said = [_("– : {reason}").format(reason=reason) for reason in reasons]
        if instead or not rows:
            said = [instead or _("Numbers come with the judgement.")]
        self.say("\n".join(said))


NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "": ("t", N_("Transcript")),
    "stages": ("s", N_("Stages")),
    "gold": ("g", N_("Gold")),
    "verdicts": ("v", N_("Verdicts")),
    "hits": ("h", N_("Hits")),
    "context": ("c", N_("Context")),
    "notes": ("n", N_("Notes")),
    "measures": ("m", N_("Measures")),
}
"""By pane, "" for the transcript: its key and what it is called."""


class PaneBar(Tinted):
    """`load` which pane is shown, and what stands at the right: the moment, and in so much room as is left what
    happened then. Names are cut to keys where room is short.
    """

    DEFAULT_CSS = """
    PaneBar { height: 1; width: 1fr; padding: 0 1; background: $panel; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._active = ""
        self._moment = self._happened = ""

    def on_resize(self, event: Resize) -> None:
        self._draw()

    def load(self, active: str, moment: str = "", happened: str = "") -> None:
        self._active, self._moment, self._happened = active, moment, happened
        self._draw()

    def _draw(self) -> None:
        room = self.content_size.width
        short = f"▶ {self._moment}" if self._moment else ""
        long = f"{short} · {self._happened}" if self._happened else short
        left, pieces, moment = 1, list[Piece](), short
        for whole, blank, moment in (
            (True, "  ", long),
            (True, " ", short),
            (False, " ", long),
            (False, " ", short),
        ):
            pieces = self._pieces(whole, blank)
            left = room - sum(cell_len(piece.text) for piece in pieces) - cell_len(moment)
            if left >= bool(moment):
                break
        pieces = [*pieces, Piece(" " * max(left, 1)), Piece(moment, "stage")] if moment else pieces
        self.draw(partial(as_text, pieces))

    def _pieces(self, whole: bool, blank: str) -> list[Piece]:
        pieces = [Piece(key_name(Means.VIEW.keys[0]), "muted")]
        called = Named.of(self.screen).called_here
        for name, (key, label) in NAMES.items():
            shown = name == self._active
            label = called.get(f"trial.{name}", label)
            pieces.append(Piece(blank))
            click = f"app.view('{key}')"
            pieces.append(Piece(f"[{key}" if shown else key, "agent", click))
            if whole or shown:
                pieces.append(Piece(f" {_(label)}", "strong" if shown else "muted", click))
            if shown:
                pieces.append(Piece("]", "agent"))
        return pieces
