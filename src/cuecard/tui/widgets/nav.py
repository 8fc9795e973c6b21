"""The navigation bar at the top of a screen, a row of tabs, and the text of an empty screen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.present.entries import wrap
from cuecard.tui.present.keyboard import hint

PLACES: tuple[tuple[str, str], ...] = (
    ("home", N_("Home")),
    ("tasks", N_("Tasks")),
    ("runs", N_("Runs")),
    ("review", N_("Review")),
    ("verdicts", N_("Verdicts")),
    ("settings", N_("Settings")),
)


class NavBar(Widget):
    """Places with their number keys on the left, person and workspace on the right.

    One widget that draws one line: it is part of every first frame.
    """

    COMPONENT_CLASSES = {"nav--brand", "nav--number", "nav--here", "nav--who"}
    DEFAULT_CSS = """
    NavBar {
        height: 1; dock: top; background: $panel; color: $foreground;
        & > .nav--brand { color: $primary; text-style: bold; }
        & > .nav--number { color: $muted; }
        & > .nav--here { color: $primary; text-style: bold reverse; }
        & > .nav--who { color: $muted; }
    }
    """

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here
        self._who: list[str] = []

    def load(self, person: str, url: str) -> None:
        name = PurePosixPath(urlsplit(url).path).name or url
        who, where = one_line(person), one_line(name)
        # The person matters more than the workspace where there is no room for both.
        self._who = [f"{who} · {where}", who] if who else [where]
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        segments = [Segment(" ▍Cuecard ", self.get_component_rich_style("nav--brand"))]
        for number, (mode, label) in enumerate(PLACES, start=1):
            segments += self._place(number, mode, _(label))
        left = Strip(segments)
        room = max(0, width - left.cell_length - 2)
        who = next((text for text in self._who if cell_len(text) <= room), "")
        if not who and self._who and room > 1:
            who = f"{set_cell_size(self._who[-1], room - 1).rstrip()}…"
        gap = max(0, room + 1 - cell_len(who))
        who_style = self.get_component_rich_style("nav--who")
        return Strip(
            [*left, Segment(" " * gap, self.rich_style), Segment(who + " ", who_style)]
        ).adjust_cell_length(width, self.rich_style)

    def _place(self, number: int, mode: str, label: str) -> list[Segment]:
        click = Style(meta={"@click": f"app.go('{mode}')"})
        if mode == self._here:
            style = self.get_component_rich_style("nav--here") + click
            return [Segment(f" {number} {label} ", style)]
        return [
            Segment(f" {number} ", self.get_component_rich_style("nav--number") + click),
            Segment(f"{label} ", self.rich_style + click),
        ]


class TabRow(Widget, can_focus=True):
    """Labels of tabs over a line that marks the `active` one; posts `Chosen` when the person chooses another.

    One widget that draws two lines: another tab, or another label, is painted and not laid out.
    """

    COMPONENT_CLASSES = {"tabs--here", "tabs--line"}
    DEFAULT_CSS = """
    TabRow {
        height: 2; width: 1fr; color: $muted; pointer: pointer;
        & > .tabs--here { color: $foreground; }
        & > .tabs--line { color: $block-cursor-background; background: $foreground 10%; }
        &:ansi > .tabs--line { background: $border-blurred; }
        &:focus > .tabs--here {
            text-style: $block-cursor-text-style; color: $block-cursor-foreground;
            background: $block-cursor-background;
        }
        &:focus > .tabs--line { background: $foreground 30%; }
    }
    """
    BINDINGS = [
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]
    active = reactive("")

    class Chosen(Message):
        """The person wants to see this tab."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, labels: Mapping[str, str]) -> None:
        """`labels`: by tab, in their order."""
        super().__init__()
        self._labels = dict(labels)

    @property
    def labels(self) -> Mapping[str, str]:
        return self._labels

    def load(self, labels: Mapping[str, str]) -> None:
        """Show these tabs."""
        if list(labels.items()) != list(self._labels.items()):
            self._labels = dict(labels)
            self.refresh()

    def action_step(self, by: int) -> None:
        tabs = [*self._labels]
        at = tabs.index(self.active) if self.active in tabs else 0
        self.post_message(self.Chosen(tabs[(at + by) % len(tabs)]))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        at = event.x + self._scrolled()
        for tab, (start, end) in self._places().items():
            if start <= at < end:
                self.post_message(self.Chosen(tab))

    def render_line(self, y: int) -> Strip:
        width, places, plain = self.size.width, self._places(), self.rich_style
        scrolled, whole = self._scrolled(), max(width, *(last for _first, last in places.values()))
        if y:
            start, end = places.get(self.active, (0, 2))
            line = self.get_component_rich_style("tabs--line")
            mark, rest = (plain + Style(color=color) for color in (line.color, line.bgcolor))
            # Where colours are the terminal's own, the line would be as bright as the mark.
            bar, left, right = "   " if line.bgcolor and line.bgcolor.is_default else "━╸╺"
            segments = [
                Segment(f"{bar * start}{left}", rest),
                Segment("━" * max(0, end - start - 2), mark),
                Segment(f"{right}{bar * whole}", rest),
            ]
        else:
            here = self.get_component_rich_style("tabs--here")
            segments: list[Segment] = []
            for tab, label in self._labels.items():
                style = here if tab == self.active else plain
                blank = Segment(" ", Style(bgcolor=style.bgcolor))
                segments += [blank, Segment(label, style), blank]
        strip = Strip(segments).adjust_cell_length(whole, Style(bgcolor=plain.bgcolor))
        return strip.crop(scrolled, scrolled + width)

    def _places(self) -> dict[str, tuple[int, int]]:
        """The cells from which and up to which each tab goes."""
        places: dict[str, tuple[int, int]] = {}
        at = 0
        for tab, label in self._labels.items():
            places[tab] = at, (at := at + cell_len(label) + 2)
        return places

    def _scrolled(self) -> int:
        """Cells on the left that are not shown: the active tab is in the middle where there is no room for all."""
        places, width = self._places(), self.size.width
        start, end = places.get(self.active, (0, 0))
        whole = max((last for _first, last in places.values()), default=0)
        return max(0, min((start + end - width + 1) // 2, whole - width))


class EmptyState(Widget):
    """A heading, a sentence, and keys with what they do; a key is said by what it means, as `{ADD}`."""

    DEFAULT_CSS = """
    EmptyState { width: 1fr; height: auto; padding: 1 3; color: $foreground; }
    """

    def __init__(
        self, title: str, text: str, *keys: tuple[str, str], id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._said = title, text
        self._keys = [(hint(key) if "{" in key else key, what) for key, what in keys]
        self._longest = max((cell_len(key) for key, _what in self._keys), default=0)

    def say(self, other: EmptyState) -> None:
        """Say what that one says."""
        if (self._said, self._keys) != (other._said, other._keys):
            self._said, self._keys, self._longest = other._said, other._keys, other._longest
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._told(width).plain.count("\n") + 1

    def render(self) -> Text:
        return self._told(self.content_size.width)

    def _told(self, width: int) -> Text:
        """What a key does stands beside it, to its last line."""
        title, text = ("\n".join(wrap(said, width)) for said in self._said)
        told = Text.assemble((title, "bold"), "\n", text, no_wrap=True)
        indent = self._longest + 4
        for at, (key, what) in enumerate(self._keys):
            told.append("\n" if at else "\n\n")
            told.append(f" {key} ", style="reverse")
            lines = f"\n{' ' * indent}".join(wrap(what, width - indent))
            told.append(f"{' ' * (indent - cell_len(key) - 2)}{lines}")
        return told
