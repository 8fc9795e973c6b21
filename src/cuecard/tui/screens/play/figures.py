"""The right of the Play screen: what the session has come to so far."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from cuecard.tui.state.play_figures import PlayFigures
from cuecard.tui.state.play_figures_view import figure_lines
from cuecard.tui.widgets.pieces import Lines

if TYPE_CHECKING:
    from cuecard.lab.listener import Listening


class FiguresPane(VerticalScroll):
    """`load` the figures; call it again when something happened, and every second or so for the time."""

    DEFAULT_CSS = """
    FiguresPane { width: 30; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def compose(self) -> ComposeResult:
        yield Lines(id="figures")

    def load(
        self,
        figures: PlayFigures,
        *,
        now: datetime | None = None,
        currency: str = "USD",
        context: int | None = None,
        listening: Listening | None = None,
    ) -> None:
        """`now`: up to when time counts, None for the last event; `context`: tokens that the agent's
        model can read, where that is known; `listening`: how many simulators there are and have
        answered in this turn.
        """
        told = figure_lines(
            figures, now=now, currency=currency, context=context, listening=listening
        )
        self.query_one("#figures", Lines).load(told)
