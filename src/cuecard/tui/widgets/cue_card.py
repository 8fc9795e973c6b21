"""The signature of Cuecard: a stage as a card that reads CUE (when), LINE (say), IF NOT (else)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cuecard.core.i18n import _
from cuecard.core.text import for_display, one_line
from cuecard.tui.state.labels import CUE_KIND

if TYPE_CHECKING:
    from cuecard.core.tasks import Stage

CardState = Literal["now", "done", "later"]


class CueCard(VerticalScroll):
    """`load` a stage; the border tells its place and state."""

    DEFAULT_CSS = """
    CueCard {
        height: auto; max-height: 100%; padding: 0 1; border: round $primary;
        border-title-color: $primary; border-title-style: bold; border-subtitle-color: $muted;
        background: $surface;
        &.-done { border: round $success 60%; border-title-color: $success; }
        &.-later { border: round $muted 60%; border-title-color: $muted; }
        .label { width: auto; color: $primary; text-style: bold; height: 1; }
        .body { width: 1fr; height: auto; padding: 0 0 0 2; }
        .cue-line { text-style: bold; }
        .not-met { color: $muted; }
    }
    """
    can_focus = False

    def compose(self) -> ComposeResult:
        yield Static(_("CUE"), classes="label")
        yield Static("", classes="body", id="cue", markup=False)
        yield Static(_("LINE"), classes="label")
        yield Static("", classes="body cue-line", id="line", markup=False)
        yield Static(_("IF NOT"), classes="label")
        yield Static("", classes="body not-met", id="not-met", markup=False)

    def load(self, stage: Stage, number: int, total: int, state: CardState = "now") -> None:
        """`number` counts from 1."""
        self.set_class(state == "done", "-done")
        self.set_class(state == "later", "-later")
        mark = {"now": "▸", "done": "✓", "later": "·"}[state]
        # As text, never as a string: strings of borders are parsed for markup.
        self.border_title = Text(f"{mark} {number}/{total} {one_line(stage.title, 60)}")
        kind = _(CUE_KIND[stage.cue.kind.value])
        self.border_subtitle = kind
        self.query_one("#cue", Static).update(for_display(stage.cue.text))
        self.query_one("#line", Static).update(for_display(stage.line))
        otherwise = stage.not_met or _("Push in your own words, without giving anything away.")
        self.query_one("#not-met", Static).update(for_display(otherwise))
