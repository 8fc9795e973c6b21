"""Widgets for text: coloured lines, paragraphs, Markdown, and plain text from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import content
from textual.content import Content
from textual.document import _wrapped_document as document
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.theme import Theme
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Named
from cuecard.tui.drawing import VerticalScroll
from cuecard.tui.grid.cells import cut
from cuecard.tui.grid.lines import with_selection
from cuecard.tui.present.entries import (
    Line,
    Paragraph,
    Piece,
    Tone,
    breaks,
    ink,
    markdown_lines,
    wrap,
)


def _in_editors(text: str, width: int, tab_size: int, *rest: Any, **more: Any) -> list[int]:
    if text.isascii() or "\t" in text:
        return _textual_breaks(text, width, tab_size, *rest, **more)
    return breaks(text, width, blanks=True)


# Textual takes a run of Han characters for one word, and has no other place to say where lines break.
_textual_breaks = document.compute_wrap_offsets  # pyright: ignore[reportPrivateImportUsage]
document.compute_wrap_offsets = _in_editors  # pyright: ignore[reportPrivateImportUsage]
content.divide_line = breaks  # pyright: ignore[reportPrivateImportUsage]


_VARIABLE: dict[Tone, str] = {
    "user": "secondary",
    "agent": "primary",
    "muted": "muted",
    "good": "success",
    "bad": "error",
    "stage": "primary",
    "code": "accent",
    "link": "primary",
    "gone": "muted",
}
_MANNER: dict[Tone, str] = {
    "strong": "bold",
    "user": "bold",
    "agent": "bold",
    "emph": "italic",
    "link": "underline",
    "gone": "strike",
}


def as_text(pieces: Sequence[Piece], variables: Mapping[str, str]) -> Text:
    """Pieces as one rich text in the theme's colours."""
    text = Text()
    for piece in pieces:
        start = len(text)
        text.append(_kept_blanks(piece.text), style_of(piece.tone, variables))
        if piece.click:
            text.apply_meta({"@click": piece.click}, start)
    return text


def style_of(tone: Tone, variables: Mapping[str, str]) -> str:
    """A tone as a rich style in the theme's colours."""
    colour = variables.get(_VARIABLE.get(tone, ""), "")
    return f"{_MANNER.get(tone, '')} {colour if colour[:1] == '#' else ''}".strip()


_STEP = " › "


def breadcrumb_text(way: Sequence[str], room: int) -> str:
    """The way to a screen in `room` cells, cut from the left; where its last step has no room, the one before, to which Esc leads."""
    for first in range(len(way)):
        told = f"{f'…{_STEP}' if first else ''}{_STEP.join(way[first:])}"
        if cell_len(told) <= room:
            return told
    if len(way) < 2 or room < 2 * _LEAST:
        return ""
    return f"{cut(way[-2], room - 4)}{_STEP}…"


_PART = 16
"""Cells to which the longest part of a title may be cut."""


def fitted(title: str, room: int) -> str:
    """A title whose parts stand between dots, in `room` cells: its longest parts are cut first, which are names."""
    parts = title.split(" · ")
    while (over := cell_len(" · ".join(parts)) - room) > 0:
        longest = max(range(len(parts)), key=lambda at: cell_len(parts[at]))
        wide = cell_len(parts[longest])
        if wide <= _PART:
            break
        parts[longest] = cut(parts[longest], max(_PART, wide - over))
    return cut(" · ".join(parts), room)


def _kept_blanks(text: str) -> str:
    """`one_line`, with the blanks that part a piece from its neighbours."""
    flat = one_line(text)
    start, end = text[:1].isspace(), text[-1:].isspace() and bool(flat)
    lead = text[: len(text) - len(text.lstrip(" "))] or " "
    return f"{lead if start else ''}{flat}{' ' if end else ''}"


class Pane(VerticalScroll, can_focus=False):
    """Scrolls what is told of what is under the cursor."""

    DEFAULT_CLASSES = "zooms"


class Tinted(Static):
    """A text in colours of the theme, in those of another one as soon as that is chosen."""

    auto_links = Reactive(False)  # what is clicked keeps its colours
    _drawing: Callable[[Mapping[str, str]], Text] | None = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._draw_again)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Where the room does not depend on what is said, the screen is not laid out again for it."""
        super().update(content, layout=layout and self.styles.auto_dimensions)

    def draw(self, drawing: Callable[[Mapping[str, str]], Text]) -> None:
        """Show what `drawing` makes of the theme's variables, now and with each theme."""
        self._drawing = drawing
        self._show(drawing(self.app.theme_variables))

    def _draw_again(self, _theme: Theme) -> None:
        if self._drawing is not None:
            self._show(self._drawing(self.app.theme_variables))

    def _show(self, text: str | Text, *, layout: bool = True) -> None:
        # Drawing lays out the whole screen: not while the same is said.
        if text != self.content:
            self.update(text, layout=layout)


class ChangingText(Tinted):
    """A text that changes with the cursor."""

    def tell(self, text: str | Text, *, layout: bool = True) -> None:
        """Show it, whatever the theme."""
        self._drawing = None
        self._show(text, layout=layout)


_LEAST, _WIDE = 10, 100
"""Cells in which it is worth while to tell the way, and those of a line in which a title makes room for it."""


if TYPE_CHECKING:
    _Shown = Static
else:
    # A query by type, and a rule of style, see the first of a widget's bases alone: that is to be what it widens.
    _Shown = object


class _WithWay(_Shown):
    """The head of a screen: what there is room for of the way to here stands at the end of a line."""

    DEFAULT_CLASSES = "way"

    def render_line(self, y: int) -> Strip:
        strip, way = super().render_line(y), Named.of(self.screen).way
        if len(way) < 2 or y != self._line_of(way):
            return strip
        width, said = self.content_size.width, cell_len(strip.text.rstrip())
        if width - said < _LEAST:
            return strip  # what a title says comes first
        # What stands beside it in the line is no step of the way.
        end = self.region.right
        apart = " " if any(other.region.x >= end for other in self.siblings) else ""
        if not (told := breadcrumb_text(way, width - said - 2 - len(apart))):
            return strip
        told += apart
        muted = Style.parse(f"not bold {ink(self.app.theme_variables, 'muted')}")
        room, style = width - cell_len(told), self.rich_style + muted
        line = strip.crop(0, room).adjust_cell_length(room, self.rich_style)
        *before, here = told.split(_STEP)
        ups = range(len(before), 0, -1)
        clicks = (Style(meta={"@click": f"app.up({n})"}) for n in ups)
        steps = (Segment(f"{step}{_STEP}", style + click) for step, click in zip(before, clicks, strict=True))  # fmt: skip
        return Strip([*line, *steps, Segment(here, style)])

    def _line_of(self, way: Sequence[str]) -> int:
        """The first line with room for all of it; else the one with most."""
        size, needed = self.content_size, cell_len(_STEP.join(way)) + 2
        lines = (super(_WithWay, self).render_line(y).text for y in range(size.height))
        free = [min(needed, size.width - cell_len(line.rstrip())) for line in lines]
        return free.index(max(free)) if free else 0


class HeadLine(_WithWay, Tinted):
    """A title. Where it has one line, what it says is cut to it, in a wide one with room for a last step that it does not say."""

    def render(self) -> VisualType:
        width, height = self.content_size
        said, way = str(self.content), Named.of(self.screen).way
        if width >= _WIDE and len(way) > 1 and not said.startswith(way[-1].rstrip("…")):
            width -= cell_len(f"  … › {way[-1]}")
        if height == 1 and isinstance(self.content, str) and cell_len(said) > width:
            return Content(fitted(said, width))
        return super().render()


class Lines(Tinted):
    """`load` lines of pieces."""

    DEFAULT_CSS = """
    Lines { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__("", markup=False, id=id, classes=classes)
        self._lines: list[list[Piece]] = []

    def load(self, lines: Sequence[Sequence[Piece]]) -> None:
        if (wanted := [list(line) for line in lines]) != self._lines:
            self._lines = wanted
            self.draw(
                lambda variables: Text("\n").join(as_text(line, variables) for line in wanted)
            )


class HeadLines(_WithWay, Lines):
    """A title in colours."""


_PARAGRAPHS_VARIABLE: dict[Tone, str] = {
    "user": "secondary",
    "agent": "primary",
    "stage": "primary",
    "good": "success",
    "bad": "error",
    "muted": "muted",
}


class Paragraphs(Widget):
    """`load` paragraphs; text from outside is shown as text, indented to its last line."""

    DEFAULT_CSS = """
    Paragraphs { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._paragraphs: list[Paragraph] = []

    def load(self, paragraphs: Sequence[Paragraph]) -> None:
        if (wanted := list(paragraphs)) != self._paragraphs:
            self._paragraphs = wanted
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(len(_lines(paragraph, width)) for paragraph in self._paragraphs)

    def render(self) -> Text:
        colours, width = self.app.theme_variables, self.content_size.width
        lines: list[Text] = []
        for paragraph in self._paragraphs:
            strong = paragraph.tone == "strong"
            style = "bold" if strong else ink(colours, _PARAGRAPHS_VARIABLE.get(paragraph.tone, ""))
            lines += [Text(line, style) for line in _lines(paragraph, width)]
        return Text("\n", no_wrap=True).join(lines)


def _lines(paragraph: Paragraph, width: int) -> list[str]:
    indent = min(paragraph.indent, width // 4)
    return [" " * indent + line for line in wrap(paragraph.text, width - indent)]


_UNBROKEN = 10_000
_markdown_lines = lru_cache(8)(markdown_lines)
"""The guidelines stand beside every task that is opened."""


class Prose(Widget):
    """`load` Markdown (see `tui.present.markdown`)."""

    DEFAULT_CSS = """
    Prose { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._markdown = ""
        self._laid_out: tuple[int, list[Line]] = (-1, [])

    def load(self, markdown: str) -> None:
        self._markdown = markdown
        self._laid_out = (-1, [])
        self.refresh(layout=True)

    @property
    def text(self) -> str:
        """What is said, without its layout."""
        lines = markdown_lines(self._markdown, _UNBROKEN)
        return "\n".join("".join(piece.text for piece in line) for line in lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Text:
        variables = self.app.theme_variables
        text = Text(no_wrap=True)
        for number, line in enumerate(self._lines(self.content_size.width)):
            if number:
                text.append("\n")
            for piece in line:
                text.append(piece.text, style_of(piece.tone, variables))
        return text

    def render_line(self, y: int) -> Strip:
        """A line that is in view: Textual would draw all of them first, as it does where a part is selected."""
        if self.text_selection is not None:
            return super().render_line(y)
        variables, plain = self.app.theme_variables, self.visual_style.rich_style
        segments = [
            Segment(piece.text, plain + Style.parse(style_of(piece.tone, variables)))
            for line in self._lines(self.content_size.width)[y : y + 1]
            for piece in line
        ]
        return Strip(segments).apply_offsets(0, y)

    def _lines(self, width: int) -> list[Line]:
        if self._laid_out[0] != width:
            self._laid_out = (width, _markdown_lines(self._markdown, width))
        return self._laid_out[1]


class PlainText(ChangingText):
    """Shows any string literally: no markup, no escape sequence, no reordering."""

    DEFAULT_CSS = """
    PlainText { height: auto; width: 1fr; }
    """

    def __init__(
        self, text: str = "", *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(for_display(text), markup=False, id=id, classes=classes)

    def load(self, text: str) -> None:
        self.tell(for_display(text))


MOST_DRAWN = 1_000
"""How many drawn lines are cached."""


class EntryPaint:
    """Draws and caches the lines of a widget; its component classes `entries--TONE` give the styles."""

    def __init__(self, widget: Widget) -> None:
        self.width = 0
        self._widget = widget
        self._inks: dict[tuple[Tone, bool], Style] = {}
        self._ground: tuple[Style, int, str] | None = None
        self._drawn: dict[int, tuple[Line, tuple[Piece, bool], Strip]] = {}

    def forget_styles(self) -> None:
        self._inks.clear()

    def begin(self, width: int) -> None:
        """A frame of this width is drawn: what was drawn otherwise is forgotten."""
        self.width = width
        ground = (self._widget.rich_style, width, self._widget.app.theme)
        if ground != self._ground or len(self._drawn) > MOST_DRAWN:
            self._ground = ground
            self._inks.clear()
            self._drawn.clear()

    def blank(self) -> Strip:
        return Strip.blank(self.width, self.ink("plain"))

    def strip(
        self,
        number: int,
        line: Line,
        gutter: Piece,
        *,
        cursor: bool,
        selected: tuple[int, int] | None,
    ) -> Strip:
        """Line `number`; `selected`: from and up to which cell of it, -1 for its end."""
        # A line that is drawn as it was is the same strip, of which Textual keeps what it made.
        drawn = self._drawn.get(number)
        if drawn and drawn[0] is line and drawn[1] == (gutter, cursor) and not selected:
            return drawn[2]
        segments = [Segment(p.text, self.ink(p.tone, cursor=cursor)) for p in (gutter, *line)]
        strip = Strip(segments).crop_extend(0, self.width, self.ink("plain", cursor=cursor))
        if selected:
            return with_selection(strip, selected, self._widget).apply_offsets(0, number)
        strip = strip.apply_offsets(0, number)
        self._drawn[number] = (line, (gutter, cursor), strip)
        return strip

    def ink(self, tone: Tone, *, cursor: bool = False) -> Style:
        """A tone as a style. Kept until styles change: looking it up takes longer than to draw a line."""
        style = self._inks.get((tone, cursor))
        if style is None:
            widget = self._widget
            if tone != "plain":
                style = self.ink("plain", cursor=cursor)
                style += widget.get_component_rich_style(f"entries--{tone}", partial=True)
            elif cursor:
                style = widget.get_component_rich_style("entries--cursor")
            else:
                style = widget.rich_style
            self._inks[tone, cursor] = style
        return style
