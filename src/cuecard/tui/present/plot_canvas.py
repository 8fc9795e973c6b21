"""The canvas for plots in characters: cells with braille dots, axes, and the plot's cursor."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from cuecard.annotate.results.plots.model import Axis, Plot, Point, Series, tick_labels, ticks
from cuecard.core.text import one_line

Ink = Literal["plain", "strong", "muted", "cursor", "s0", "s1", "s2", "s3", "s4"]
"""`s0` … are colours of series, which differ in their glyphs too; `cursor` is shown in reverse."""
SERIES: tuple[Ink, ...] = ("s0", "s1", "s2", "s3", "s4")
GLYPHS = ("●", "■", "▲", "◆", "○", "□", "△", "×", "▼", "◇", "+", "◎")
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_BESIDE = ""
"""Stands in the second cell of a wide character."""


class Segment(NamedTuple):
    text: str
    ink: Ink = "plain"


Line = tuple[Segment, ...]


def glyph(mark: int) -> str:
    return GLYPHS[mark % len(GLYPHS)]


def ink_of(mark: int) -> Ink:
    return SERIES[mark % len(SERIES)]


def cut(text: str, room: int) -> str:
    """One line of at most `room` cells, with an ellipsis where something is left out."""
    flat = one_line(text)
    if room <= 0:
        return ""
    if cell_len(flat) <= room:
        return flat
    return f"{set_cell_size(flat, room - 1).rstrip()}…"


def padded(text: str, room: int) -> str:
    """`cut` and filled with blanks to exactly `room` cells."""
    kept = cut(text, room)
    return kept + " " * max(0, room - cell_len(kept))


class Canvas:
    """`width` x `height` cells; whatever lies outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = max(0, width), max(0, height)
        self._cells: list[list[tuple[str, Ink]]] = []
        self._dots: dict[tuple[int, int], tuple[int, Ink]] = {}
        self.wipe()

    def wipe(self) -> None:
        """All blank again."""
        self._cells = [[(" ", "plain")] * self.width for _row in range(self.height)]
        self._dots = {}

    def put(self, column: int, row: int, text: str, ink: Ink = "plain") -> None:
        """Text from a cell on; wide characters take two cells and are left out where one is missing."""
        if not 0 <= row < self.height:
            return
        for char in text if text.isprintable() else one_line(text):
            wide = cell_len(char)
            if wide == 0:
                continue
            if column >= 0 and column + wide <= self.width:
                self._clear(column, row)
                self._cells[row][column] = (char, ink)
                if wide > 1:
                    self._clear(column + 1, row)
                    self._cells[row][column + 1] = (_BESIDE, ink)
            column += wide

    def free(self, column: int, row: int, width: int) -> bool:
        """Whether so many cells lie on the page and are blank."""
        return (
            0 <= row < self.height
            and column >= 0
            and column + width <= self.width
            and all(self._cells[row][at][0] == " " for at in range(column, column + width))
            and not any((at, row) in self._dots for at in range(column, column + width))
        )

    def dot(self, x: int, y: int, ink: Ink) -> None:
        """A dot, of which a cell has two across and four down; the later ink is seen."""
        column, row = x // 2, y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            before = self._dots.get((column, row), (0, ink))[0]
            self._dots[column, row] = (before | _BITS[y % 4][x % 2], ink)

    def stroke(
        self, start: tuple[int, int], end: tuple[int, int], ink: Ink, *, every: int = 1
    ) -> None:
        """Dots from one to another; `every` second or third of them for a thinner line."""
        (x1, y1), (x2, y2) = start, end
        steps = max(abs(x2 - x1), abs(y2 - y1), 1)
        for step in range(0, steps + 1, every):
            self.dot(
                round(x1 + (x2 - x1) * step / steps), round(y1 + (y2 - y1) * step / steps), ink
            )

    def lines(self) -> tuple[Line, ...]:
        return tuple(self._line(row) for row in range(self.height))

    def _clear(self, column: int, row: int) -> None:
        """Half of a wide character does not stay."""
        cells = self._cells[row]
        if cells[column][0] == _BESIDE and column > 0:
            cells[column - 1] = (" ", "plain")
        if column + 1 < self.width and cells[column + 1][0] == _BESIDE:
            cells[column + 1] = (" ", "plain")

    def _line(self, row: int) -> Line:
        found: list[Segment] = []
        for column, (char, ink) in enumerate(self._cells[row]):
            if char == " " and (column, row) in self._dots:
                bits, ink = self._dots[column, row]
                char = chr(_BRAILLE + bits)
            if found and found[-1].ink == ink:
                found[-1] = Segment(found[-1].text + char, ink)
            else:
                found.append(Segment(char, ink))
        return tuple(found)


Way = Literal["left", "right", "up", "down", "first", "last"]


class PlotCursor(NamedTuple):
    """The cursor: a point of a series, or a row and column of a heat map."""

    series: int = 0
    point: int = 0


START = PlotCursor()


def kept(plot: Plot, at: PlotCursor) -> PlotCursor:
    """The nearest place that the plot has."""
    if plot.kind == "heat":
        rows, columns = len(plot.y.names), len(plot.x.names)
        return PlotCursor(_within(at.series, rows), _within(at.point, columns))
    series = _within(at.series, len(plot.series))
    points = len(plot.series[series].points) if plot.series else 0
    return PlotCursor(series, _within(at.point, points))


def moved(plot: Plot, at: PlotCursor, way: Way) -> PlotCursor:
    """Left and right go along what is below, up and down to what is drawn above and below; nowhere at an end."""
    at = kept(plot, at)
    if not plot.cells and not plot.series:
        return at
    if plot.kind in ("heat", "bars"):
        return _in_table(plot, at, way)
    if plot.kind == "intervals":
        step = {"left": -1, "up": -1, "right": 1, "down": 1}.get(way)
        last = len(plot.series) - 1
        return kept(plot, PlotCursor(at.series + step if step else (0 if way == "first" else last)))
    if plot.kind == "lines" and way in ("left", "right", "first", "last"):
        last = len(plot.series[at.series].points) - 1
        to = {"left": at.point - 1, "right": at.point + 1, "first": 0, "last": last}[way]
        return PlotCursor(at.series, _within(to, last + 1))
    if plot.kind == "lines":
        return _other_line(plot, at, up=way == "up")
    return _other_spot(plot, at, way)


def trials_at(plot: Plot, at: PlotCursor) -> tuple[int, ...]:
    """Ids of the trials behind what is under the cursor."""
    at = kept(plot, at)
    if plot.kind == "heat":
        return next((c.trials for c in plot.cells if (c.row, c.column) == at), ())
    point = point_at(plot, at)
    return point.trials if point else ()


def point_at(plot: Plot, at: PlotCursor) -> Point | None:
    if not plot.series or not plot.series[at.series].points:
        return None
    return plot.series[at.series].points[at.point]


def _in_table(plot: Plot, at: PlotCursor, way: Way) -> PlotCursor:
    steps = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    if way in steps:
        down, across = steps[way]
        return kept(plot, PlotCursor(at.series + down, at.point + across))
    return kept(plot, PlotCursor(at.series, 0 if way == "first" else len(plot.x.names) - 1))


def _other_line(plot: Plot, at: PlotCursor, *, up: bool) -> PlotCursor:
    """The next higher or lower line at the same place, or at the nearest one it has."""
    here = plot.series[at.series].points[at.point]
    near: list[tuple[float, int, int]] = []
    for number, series in enumerate(plot.series):
        place = min(
            range(len(series.points)), key=lambda i, own=series.points: abs(own[i].x - here.x)
        )
        near.append((series.points[place].y, -number, place))
    near.sort()
    mine = next(i for i, (_y, number, _place) in enumerate(near) if -number == at.series)
    _y, number, place = near[_within(mine + (1 if up else -1), len(near))]
    return PlotCursor(-number, place)


def _other_spot(plot: Plot, at: PlotCursor, way: Way) -> PlotCursor:
    """Of points in a plane the next one in a direction."""
    spots = [
        (PlotCursor(i, j), point)
        for i, series in enumerate(plot.series)
        for j, point in enumerate(series.points)
    ]
    level = way in ("up", "down")
    ordered = _ordered(spots, level)
    mine = ordered.index(at)
    to = {"left": mine - 1, "down": mine - 1, "right": mine + 1, "up": mine + 1}
    last = len(ordered) - 1
    return ordered[_within(to.get(way, 0 if way == "first" else last), last + 1)]


def _ordered(spots: Iterable[tuple[PlotCursor, Point]], level: bool) -> list[PlotCursor]:
    def place(spot: tuple[PlotCursor, Point]) -> tuple[float, float, PlotCursor]:
        at, point = spot
        return (point.y, point.x, at) if level else (point.x, point.y, at)

    return [at for at, _point in sorted(spots, key=place)]


def _within(value: int, many: int) -> int:
    return max(0, min(many - 1, value))


_SPACE = 3


@dataclass(frozen=True)
class Plane:
    """Cells from `left` and `top`, `width` x `height` of them; the level axis is drawn in the rows below. `inset`:
    how many cells stay free on both sides of them.
    """

    x: Axis
    y: Axis
    left: int
    top: int
    width: int
    height: int
    inset: int = 0

    def column(self, value: float) -> int:
        return self.left + round(self._share(value, self.x) * (self.width - 1))

    def row(self, value: float) -> int:
        return self.top + round((1 - self._share(value, self.y)) * (self.height - 1))

    def dot(self, x: float, y: float) -> tuple[int, int]:
        """In dots of braille, in the middle of the cells that `column` and `row` give."""
        across = self._share(x, self.x) * (self.width - 1)
        down = (1 - self._share(y, self.y)) * (self.height - 1)
        return round((self.left + across) * 2 + 0.5), round((self.top + down) * 4 + 1.5)

    @staticmethod
    def _share(value: float, axis: Axis) -> float:
        return min(1.0, max(0.0, (value - axis.low) / (axis.span or 1.0)))


def gutter(axis: Axis, height: int) -> int:
    """How many cells the labels of an upright axis take, with its line."""
    labels = tick_labels(ticks(axis, _most(height)))
    return max((len(label) for label in labels), default=0) + 1


def draw_axes(canvas: Canvas, plane: Plane) -> None:
    """Lines with ticks; the name of the upright axis above it, that of the level one below."""
    edge, floor = plane.left - 1 - plane.inset, plane.top + plane.height
    for row in range(plane.top, floor):
        canvas.put(edge, row, "│", "muted")
    places = ticks(plane.y, _most(plane.height))
    for place, label in zip(places, tick_labels(places), strict=True):
        canvas.put(edge - len(label), plane.row(place), label, "muted")
        canvas.put(edge, plane.row(place), "┤", "muted")
    canvas.put(edge, floor, "└" + "─" * (plane.width + 2 * plane.inset), "muted")
    if plane.top > 0:
        canvas.put(0, plane.top - 1, cut(plane.y.label, canvas.width), "muted")
    _level(canvas, plane, floor)


def _level(canvas: Canvas, plane: Plane, floor: int) -> None:
    name = cut(plane.x.label, plane.width)
    end = plane.left + plane.width - cell_len(name)
    axis = plane.x
    if axis.names:
        each = max(1, (plane.width - 1) // max(1, len(axis.names) - 1) - 1)
        spots = [(float(at), cut(label, each)) for at, label in enumerate(axis.names)]
    else:
        places = _level_ticks(plane)
        spots = list(zip(places, tick_labels(places), strict=True))
    after = -1
    for place, label in spots:
        column = plane.column(place)
        wide = cell_len(label)
        begin = min(max(0, column - wide // 2), canvas.width - wide)
        canvas.put(column, floor, "┴", "muted")
        if begin > after:
            canvas.put(begin, floor + 1, label, "muted")
            after = begin + wide
    if floor + 2 < canvas.height:
        canvas.put(end, floor + 2, name, "muted")


def _level_ticks(plane: Plane) -> tuple[float, ...]:
    for most in (12, 10, 8, 6, 5, 4, 3, 2):
        places = ticks(plane.x, most)
        widest = max((len(label) for label in tick_labels(places)), default=1)
        if (widest + _SPACE) * len(places) <= plane.width:
            return places
    return (plane.x.low, plane.x.high)


def _most(height: int) -> int:
    return max(1, min(10, (height - 1) // 2))


def legend_rows(series: tuple[Series, ...], width: int, most: int) -> list[list[tuple[int, str]]]:
    """Marks and names in at most `most` rows; names are cut until all are in."""
    for longest in (40, 30, 20, 14, 10, 7, 4):
        rows: list[list[tuple[int, str]]] = [[]]
        used = 0
        for one in series:
            name = cut(one.name, longest)
            needed = 2 + cell_len(name) + 2
            if rows[-1] and used + needed - 2 > width:
                rows.append([])
                used = 0
            rows[-1].append((one.mark, name))
            used += needed
        if len(rows) <= most:
            return [row for row in rows if row]
    return rows[:most]


def draw_legend(canvas: Canvas, rows: list[list[tuple[int, str]]], top: int) -> None:
    for at, row in enumerate(rows):
        column = 0
        for mark, name in row:
            canvas.put(column, top + at, glyph(mark), ink_of(mark))
            canvas.put(column + 2, top + at, name)
            column += 2 + cell_len(name) + 2
