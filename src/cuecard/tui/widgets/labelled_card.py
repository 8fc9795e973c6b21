"""A card in the look of the cue card, with labels of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cuecard.core.text import for_display, one_line

Weight = Literal["plain", "strong", "muted", "bad"]
SLOTS = 4


@dataclass(frozen=True)
class Section:
    """A label and its text; `label` is translated already."""

    label: str
    text: str
    weight: Weight = "plain"


class LabelledCard(VerticalScroll):
    """`load` a title and at most four sections; without any it hides."""

    DEFAULT_CSS = """
    LabelledCard {
        height: auto; max-height: 100%; padding: 0 1; border: round $primary;
        border-title-color: $primary; border-title-style: bold; border-subtitle-color: $muted;
        background: $surface;
        .label { width: 1fr; height: auto; color: $primary; text-style: bold; }
        .body { width: 1fr; height: auto; padding: 0 0 0 2; }
        .-strong { text-style: bold; }
        .-muted { color: $muted; }
        .-bad { color: $error; }
    }
    """
    can_focus = False

    def compose(self) -> ComposeResult:
        for _slot in range(SLOTS):
            yield Static("", classes="label", markup=False)
            yield Static("", classes="body", markup=False)

    def load(self, title: str, sections: Sequence[Section], subtitle: str = "") -> None:
        self.display = bool(sections)
        # As text, never as a string: strings of borders are parsed for markup.
        self.border_title = Text(one_line(title, 80))
        self.border_subtitle = Text(one_line(subtitle, 60))
        labels = list(self.query(".label").results(Static))
        bodies = list(self.query(".body").results(Static))
        for slot in range(SLOTS):
            section = sections[slot] if slot < len(sections) else None
            labels[slot].display = bodies[slot].display = section is not None
            if section:
                labels[slot].update(section.label)
                bodies[slot].update(for_display(section.text))
                bodies[slot].set_classes(f"body -{section.weight}")
