"""A plot in characters with a cursor that goes from point to point."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.widget import Widget

from cuecard.annotate.results.plots.model import Plot
from cuecard.core.i18n import N_
from cuecard.tui.actions import Key, keys
from cuecard.tui.present.labels import ink
from cuecard.tui.present.plot_canvas import START, At, Ink, Way, kept, moved
from cuecard.tui.present.plot_pictures import picture

_VARIABLES: dict[Ink, str] = {
    "muted": "muted",
    "s0": "secondary",
    "s1": "primary",
    "s2": "success",
    "s3": "family-table",
    "s4": "error",
}


class PlotView(Widget, can_focus=True):
    """`load` a plot. Enter is the screen's, as in `ListTable`."""

    BINDINGS = keys(
        Key("plot_view.left", "left", "go('left')", N_("Left"), N_("The point before"), show=False),
        Key("plot_view.right", "right", "go('right')", N_("Right"), N_("The next point"), show=False),
        Key("plot_view.up", "up", "go('up')", N_("Up"), N_("What is drawn above"), show=False),
        Key("plot_view.down", "down", "go('down')", N_("Down"), N_("What is drawn below"), show=False),
        Key("plot_view.first", "home", "go('first')", N_("First"), N_("The first point"), show=False),
        Key("plot_view.last", "end", "go('last')", N_("Last"), N_("The last point"), show=False),
    )  # fmt: skip
    DEFAULT_CSS = """
    PlotView { width: 1fr; height: 1fr; }
    """

    class Moved(Message):
        """The cursor is at another place."""

        def __init__(self, view: PlotView, at: At) -> None:
            super().__init__()
            self.view, self.at = view, at

        @property
        def control(self) -> PlotView:
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plot: Plot | None = None
        self._at = START

    @property
    def at(self) -> At:
        """Where the cursor is."""
        return self._at

    def load(self, plot: Plot, at: At = START) -> None:
        self._plot, self._at = plot, kept(plot, at)
        self.refresh()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh())

    def render(self) -> Text:
        if self._plot is None:
            return Text()
        variables = self.app.theme_variables
        text = Text(no_wrap=True, end="")
        for line in picture(self._plot, self.size.width, self.size.height, self._at):
            if text:
                text.append("\n")
            for segment in line:
                text.append(segment.text, self._style(segment.ink, variables))
        return text

    def action_go(self, way: Way) -> None:
        if self._plot is None:
            return
        at = moved(self._plot, self._at, way)
        if at != self._at:
            self._at = at
            self.refresh()
            self.post_message(self.Moved(self, at))

    @staticmethod
    def _style(name: Ink, variables: dict[str, str]) -> Style:
        if name == "cursor":
            return Style(reverse=True, bold=True)
        if name == "strong":
            return Style(bold=True)
        return (
            Style.parse(ink(variables, _VARIABLES[name]) or "none")
            if name in _VARIABLES
            else Style()
        )
