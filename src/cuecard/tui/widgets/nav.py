"""The navigation bar at the top of a screen, and the text of an empty screen."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
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
