"""Tables of statistics by section for the screen: as rows of a grid, as drawn intervals, and one cell in full."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Generic, NamedTuple, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from cuecard.core.i18n import _, headed
from cuecard.core.tables.table import Cell, Statistic, Table
from cuecard.core.tables.texts import apart_word
from cuecard.core.text import one_line
from cuecard.tui.grid.cells import PADDING, GridCell, GridColumn, Tone, cut
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.keyboard import Means, key_name

LEAST = 12
_SMALL, _LARGE = 0.05, 10


@dataclass(frozen=True)
class Axis:
    """From `low` to `high` over `width` cells; shares told in `percent`."""

    low: float
    high: float
    width: int
    percent: bool = False

    def place(self, value: float) -> int:
        share = (value - self.low) / (self.high - self.low)
        return max(0, min(self.width - 1, round(share * (self.width - 1))))

    @property
    def head(self) -> str:
        """Both ends, and zero or else the middle where there is room."""
        left, right = self._told(self.low), self._told(self.high)
        inner = 0 if self.low < 0 < self.high else round((self.low + self.high) / 2, 3)
        middle = self._told(inner)
        line = ["─"] * self.width
        spots = [(0, left), (self.width - len(right), right)]
        at = self.place(inner) - len(middle) // 2
        if len(left) + 2 < at < self.width - len(right) - len(middle) - 2:
            spots.append((at, middle))
        for at, text in spots:
            line[at : at + len(text)] = text
        return "".join(line)

    def _told(self, value: float) -> str:
        return f"{100 * value:g}%" if self.percent else f"{value:g}"


def axis_for(statistics: Iterable[Statistic], width: int, *, percent: bool = False) -> Axis:
    """Wide enough for every value and interval; its ends at tenths, of figures that are no shares at round
    numbers.
    """
    ends: list[float] = []
    for statistic in statistics:
        ends += [x for x in (statistic.value, statistic.low, statistic.high) if x is not None]
    least, most = min(ends, default=0), max(ends, default=1)
    step = _step(most - least)
    low = floor(least / step + 1e-9) * step
    high = ceil(most / step - 1e-9) * step
    if high <= low:
        low, high = low - step, high + step
    digits = max(1, -floor(log10(step)))
    return Axis(round(low, digits), round(high, digits), max(LEAST, width), percent)


def _step(span: float) -> float:
    if span <= 0 or _SMALL <= span <= _LARGE:
        return 0.1
    return 10.0 ** floor(log10(span))


def drawn(statistic: Statistic, axis: Axis) -> str:
    """`├──●──┤`; the value alone where there is no interval. Where the axis crosses zero it is marked `┊`, and `┼` in
    an interval that holds it.
    """
    line = [" "] * axis.width
    zero = axis.place(0) if axis.low < 0 < axis.high else -1
    if zero >= 0:
        line[zero] = "┊"
    if statistic.value is None:
        return "".join(line)
    if statistic.interval is not None:
        low, high = (axis.place(end) for end in statistic.interval)
        line[low : high + 1] = "─" * (high + 1 - low)
        if low < zero < high:
            line[zero] = "┼"
        line[low], line[high] = "├", "┤"
    line[axis.place(statistic.value)] = "●"
    return "".join(line)


@dataclass(frozen=True)
class Bar:
    """A line of the plot. `cell` is what the table has for it."""

    what: str
    who: str
    cell: Cell
    statistic: Statistic


def bars(table: Table) -> list[Bar]:
    """Every figure of a table that has a value, line by line. Lines of one name are told apart by their other words."""
    alike = len({line[0].text for line in table.lines}) < len(table.lines)
    words = [at for at in range(len(table.headings)) if not at or (alike and table.is_of_words(at))]
    return [
        Bar(" · ".join(line[at].text for at in words), heading, cell, cell.statistic)
        for line in table.lines
        for heading, cell in zip(table.headings, line, strict=True)
        if cell.statistic is not None and cell.statistic.value is not None
    ]


def cell_at(table: Table | None, row: int, column: int, *, plotted: bool) -> Cell | None:
    """The cell under the cursor of a table, or the one that the plot's line draws."""
    if table is None:
        return None
    if plotted:
        lines = bars(table)
        return lines[row].cell if row < len(lines) else None
    if row >= len(table.lines) or not 0 <= column < len(table.lines[row]):
        return None
    return table.lines[row][column]


def cell_in_full(name: str, cell: Cell | None) -> list[str]:
    """A figure with its interval and n, or the cell's words, and what there is to remark."""
    if cell is None:
        return []
    found: list[str] = []
    if cell.statistic is not None:
        n = _("n {n}").format(n=f"{cell.statistic.n:,}")
        found.append(f"{name}{_(': ')}{cell.text} · {n}")
    elif name == cell.text:
        found.append(name)
    elif name:
        found.append(headed(name, cell.text))
    return [*found, *why_missing(cell), *([apart_word()] if cell.apart else [])]


def why_missing(cell: Cell) -> list[str]:
    """Why a cell has no value or no interval, a sentence."""
    statistic = cell.statistic
    if statistic is None or statistic.reason or not statistic.no_interval:
        return [cell.remark] if cell.remark else []
    return [_("No interval: {reason}.").format(reason=statistic.no_interval)]


def name_at(table: Table | None, row: int, column: int, *, plotted: bool) -> str:
    """What that cell is called: its line and its column."""
    if table is None:
        return ""
    if plotted:
        lines = bars(table)
        return f"{lines[row].what} · {lines[row].who}" if row < len(lines) else ""
    if row >= len(table.lines) or column >= len(table.headings):
        return ""
    parts = (table.lines[row][0].text, table.headings[column] if column else "")
    return " · ".join(filter(None, parts))


def plot_of(table: Table, width: int) -> tuple[Axis, list[tuple[Bar, str]]]:
    """The axis of a table's figures, and each drawn on it."""
    lines = bars(table)
    cells = [bar.cell for bar in lines]
    percent = bool(cells) and all(cell.shows_percent for cell in cells)
    axis = axis_for([bar.statistic for bar in lines], width, percent=percent)
    return axis, [(bar, drawn(bar.statistic, axis)) for bar in lines]


_INTERVAL = re.compile(r"\[([^\[\]]+)\]")
_RATE = re.compile(r"[+-]?[\d.]+ \[[+-]?[\d.]+, [+-]?[\d.]+\]")
"""A figure that is told in words of its own, as so many in 100."""
_SHARE = re.compile(r"^([+-]?)(\d\.\d{3})$")
_PERCENT = re.compile(r"^[+-]?\d+\.\d$")
Rows = Sequence[Sequence[str | GridCell | Text]]
WIDE = 100
_HEADING, _HEADING_WIDE, _MOST = 12, 16, 24
_FIRST, _FIRST_WIDE = 28, 40
_DIGITS = 3
_LEAD = 3
"""Cells before the first column, and of the scroll bar."""


def table_rows(table: Table, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """The first column names the line; figures stand with their intervals."""
    digits = _DIGITS if room >= WIDE else _DIGITS - 1
    first, *others = table.headings
    names = {line[0].text for line in table.lines}
    longest = max(map(cell_len, names), default=0)
    rows = [
        [
            GridCell(line[0].text, "strong"),
            *(GridCell(_told(c, digits), _tone(c)) for c in line[1:]),
        ]
        for line in table.lines
    ]
    most = _FIRST_WIDE if room >= WIDE else _FIRST
    # Lines are told apart, where that takes no more than half of a narrow screen.
    least = min(18, max(14, longest))
    apart = (
        w for w in range(least, _FIRST_WIDE + 1) if len({cut(n, w) for n in names}) == len(names)
    )
    least = next(apart, least)
    columns = [
        GridColumn(first, least, raw=True, most=max(least, min(most, max(20, longest))), grow=1)
    ]
    roomy = _HEADING_WIDE if room >= WIDE else _HEADING
    # A figure is never cut; a heading may be, where not all of them have room.
    needed = [
        max((cell_len(row[at].text) for row in rows if at < len(row)), default=0)
        for at in range(1, len(table.headings))
    ]
    left = room - 2 * PADDING * len(table.headings) - _LEAD
    whole = [max(n, cell_len(h)) for n, h in zip(needed, others, strict=True)]
    if columns[0].most + sum(whole) > left:
        needed = [min(_MOST, n) for n in needed]
        whole = [max(n, min(_MOST, w)) for n, w in zip(needed, whole, strict=True)]
    if columns[0].width + sum(whole) > left:
        whole = [max(n, min(roomy, w)) for n, w in zip(needed, whole, strict=True)]
    columns += [
        GridColumn(one_line(h), least, raw=True, right=not table.is_of_words(at), most=_MOST)
        for at, (h, least) in enumerate(zip(others, whole, strict=True), 1)
    ]
    return columns, rows


def plot_rows(table: Table, room: int) -> tuple[Sequence[GridColumn], Rows]:
    """A line for each figure that has a value, its interval drawn on one axis."""
    width = max(16, room - 20 - 14 - 7 - 10)
    axis, lines = plot_of(table, width)
    columns = (
        GridColumn(table.headings[0], 20, raw=True),
        GridColumn("", 14, raw=True),
        GridColumn(axis.head, width, raw=True),
        GridColumn(_("value"), 7, raw=True, right=True),
    )
    rows: list[Sequence[str | GridCell | Text]] = []
    before = ""
    for bar, drawn in lines:
        what = GridCell(bar.what if bar.what != before else "", "strong")
        before = bar.what
        value = format(bar.statistic.value, ".1%" if bar.cell.shows_percent else ".3f")
        rows.append((what, GridCell(bar.who, "muted"), Text(drawn, no_wrap=True), value))
    return columns, rows


def plot_lines(table: Table, room: int, most: int) -> list[str]:
    """The same as text below an axis, as many lines as there is room for: beside a table that tells the values."""
    shown_bars = bars(table)
    alone = len({bar.who for bar in shown_bars}) == 1
    widest = max(_FIRST_WIDE, room // 2 - 5)
    names = [
        cut(bar.what, widest)
        if alone
        # The column is read to its end: of the line's name the beginning tells enough.
        else f"{cut(bar.what, max(_FIRST // 2, widest - 3 - cell_len(bar.who)))} · {bar.who}"
        for bar in shown_bars[:most]
    ]
    wide = max(map(cell_len, names), default=0)
    axis, lines = plot_of(table, max(16, room - wide - 6))
    shown = [
        f"{set_cell_size(name, wide)}  {line}"
        for name, (_bar, line) in zip(names, lines, strict=False)
    ]
    return [f"{' ' * wide}  {axis.head}", *shown]


def text_lines(table: Table, room: int) -> list[str]:
    """A table as text below its headings, the first column cut to the room that the others leave."""
    rows = [table.headings, *([one_line(cell.text) for cell in line] for line in table.lines)]
    numbers = [not table.is_of_words(at) for at in range(len(rows[0]))]
    widths = [min(_MOST, max(map(cell_len, column))) for column in zip(*rows, strict=True)]
    longest = max(cell_len(row[0]) for row in rows)
    widths[0] = max(LEAST, min(longest, room - sum(widths[1:]) - 2 * len(widths)))

    def fitted(text: str, width: int, number: bool) -> str:
        shown = cut(text, width)
        return " " * (width - cell_len(shown)) + shown if number else set_cell_size(shown, width)

    return ["  ".join(map(fitted, row, widths, numbers)) for row in rows]


def _tone(cell: Cell) -> Tone:
    """A star tells a difference whose interval does not hold zero; where there is colour, that does too."""
    if cell.apart:
        return "accent"
    return "muted" if cell.remark or cell.difference else "plain"


def _told(cell: Cell, digits: int) -> str:
    """A figure's interval with as many digits as there is room for."""
    if not cell.is_figure and not _RATE.fullmatch(cell.text):
        return cell.text
    return _INTERVAL.sub(lambda found: _closer(found, digits), cell.text)


def _closer(interval: re.Match[str], digits: int) -> str:
    """`[0.771, 0.850]` as `[.771 .850]`, or with fewer digits; `[12.3, 45.6]` as `[12 46]` with fewer."""
    return f"[{' '.join(_end(end, digits) for end in interval[1].split(', '))}]"


def _end(text: str, digits: int) -> str:
    if share := _SHARE.match(text):
        value = f"{float(share[2]):.{digits}f}"
        return share[1] + (value[1:] if value.startswith("0.") else value)
    if digits < _DIGITS and _PERCENT.match(text):
        sign = "+" if text.startswith("+") else ""
        return f"{sign}{float(text):.0f}"
    return text


def view_tabs(views: Iterable[tuple[bool, str, str]]) -> list[Piece]:
    """Views by the key that comes before their letters, each whether it is shown, its letter and name; the one that is
    shown stands in brackets, so that it is told without colour.
    """
    pieces = [Piece(f"{key_name(Means.VIEW.keys[0])} ", "muted")]
    for shown, letter, name in views:
        told, tone = (f"[{letter} {name}]", "strong") if shown else (f" {letter} {name} ", "muted")
        pieces += [Piece(told, tone, f"app.view('{letter}')"), Piece(" ")]
    return pieces


_FAR = 20

SectionT = TypeVar("SectionT", bound=str)


class Tab(NamedTuple):
    """A section: the id of what shows it, its letter, and untranslated its name and what it tells."""

    id: str
    letter: str
    name: str
    tip: str


class TablesView(Generic[SectionT]):
    """Which section is shown and which of its tables; each section keeps its place. `plotted`: the table's
    intervals are drawn.
    """

    section: SectionT
    plotted: bool
    _at: dict[SectionT, int]

    def of(self, section: SectionT) -> Sequence[Table]:
        raise NotImplementedError

    @property
    def named(self) -> Mapping[SectionT, Tab]:
        """The sections that there are."""
        raise NotImplementedError

    @property
    def anything(self) -> bool:
        """Whether there are figures at all."""
        raise NotImplementedError

    def circumstances(self) -> Sequence[str]:
        """What to know of every table, a sentence each."""
        return ()

    def why_empty(self) -> str:
        """Why the section has no table, and how to get data for it."""
        raise NotImplementedError

    def opens(self, row: int, column: int) -> bool:
        """Whether something lies behind the cell."""
        raise NotImplementedError

    @property
    def every(self) -> list[Table]:
        """The tables of all sections."""
        return [table for section in self.named for table in self.of(section)]

    def show(self, section: SectionT) -> None:
        self.section, self.plotted = section, False

    def keep_place_of(self, before: Any) -> None:
        """Show what another view of the same things showed."""
        self.section, self._at = before.section, dict(before._at)

    def step(self, by: int) -> None:
        """To the next table of the section, round and round."""
        if count := len(self.of(self.section)):
            self._at[self.section] = (self.index + by) % count

    @property
    def index(self) -> int:
        return min(self._at.get(self.section, 0), max(0, len(self.of(self.section)) - 1))

    @property
    def table(self) -> Table | None:
        tables = self.of(self.section)
        return tables[self.index] if tables else None

    @property
    def drawn(self) -> Table | None:
        """The table whose intervals are drawn: the one that is shown, or what of it belongs on one axis."""
        return self.table

    def beside(self, row: int, most: int) -> Table | None:
        """A table of at most so many lines about the line under the cursor, shown with it where there is room."""
        return None

    @property
    def first_column(self) -> int:
        """Where the cursor stands in a table that has just been opened."""
        return 0 if self.plotted else 1

    @property
    def plottable(self) -> bool:
        return self.drawn is not None and on_one_scale(self.drawn)

    @property
    def heading(self) -> str:
        """`Cues 1/4 · Simulators against people`."""
        tables, name = self.of(self.section), _(self.named[self.section].name)
        if self.table is None:
            return name
        place = f" {self.index + 1}/{len(tables)}" if len(tables) > 1 else ""
        return f"{name}{place} · {one_line(self.table.title)}"

    @property
    def tabs(self) -> list[Piece]:
        """The sections with their keys; the one that is shown stands in brackets, so that it is told without
        colour.
        """
        return view_tabs(
            (name == self.section, tab.letter, _(tab.name)) for name, tab in self.named.items()
        )

    @property
    def plot_tab(self) -> list[Piece]:
        """The key that draws intervals, where there are any."""
        if not self.plottable:
            return []
        if self.plotted:
            return [Piece(" "), Piece(f"[i {_('Intervals')}]", "strong")]
        return [Piece(" "), Piece(f" i {_('Intervals')} ", "muted")]

    def tab_lines(self, width: int) -> list[list[Piece]]:
        """The sections on as many lines as they need, none of them broken."""
        lines: list[list[Piece]] = [[]]
        for piece in (*self.tabs, *self.plot_tab):
            taken = sum(cell_len(each.text) for each in lines[-1])
            if taken and taken + cell_len(piece.text.rstrip()) > width:
                lines.append([])
            if lines[-1] or piece.text.strip():
                lines[-1].append(piece)
        return lines

    def cell(self, row: int, column: int) -> Cell | None:
        return cell_at(self._looked_at, row, column, plotted=self.plotted)

    def name_of(self, row: int, column: int) -> str:
        return name_at(self._looked_at, row, column, plotted=self.plotted)

    @property
    def _looked_at(self) -> Table | None:
        return self.drawn if self.plotted else self.table

    def details(self, row: int, column: int) -> list[str]:
        """The figure under the cursor in full, why it is missing, then what to know of the table."""
        table = self.table
        if table is None:
            return [_("There is nothing to show here yet: {why}").format(why=self.why_empty())]
        found = cell_in_full(self.name_of(row, column), self.cell(row, column))
        return [*found, *table.notes, *self.circumstances()]


def on_one_scale(table: Table) -> bool:
    """Whether there are figures, and an axis can hold them: shares, or numbers not too far from each other."""
    values = [abs(bar.statistic.value or 0) for bar in bars(table)]
    if not values or max(values) <= 1:
        return bool(values)
    return max(values) <= _FAR * min((value for value in values if value), default=1)
