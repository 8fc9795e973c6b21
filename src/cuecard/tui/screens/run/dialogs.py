"""What lines are grouped by, which trials count, and which measures are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static
from textual.widgets.selection_list import Selection

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.results.pool import Dimension
from cuecard.results.words import dimension_word, value_word
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.state.score_view import ONLY_WORDS, Cut, Only, ScoreView
from cuecard.tui.widgets.ticks import TickList


class GroupDialog(CuecardDialog[Cut | None]):
    """The dimensions of a line, from those in which the trials differ."""

    DEFAULT_CSS = """
    GroupDialog TickList { height: auto; max-height: 12; padding: 0; }
    """
    BINDINGS = keys(
        Key("run_group.accept", "ctrl+s", "accept", N_("Show"), N_("Count again with these"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, view: ScoreView) -> None:
        super().__init__()
        self._cut = view.cut
        several: list[Dimension] = [d for d in view.choices() if d != "family"]
        self._offered = list(dict.fromkeys((*view.cut.by, "agent", *several)))

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("What a line is"))
            yield Static(
                _("Space ticks. Families always stand apart: they have measures of their own."),
                classes="muted",
                markup=False,
            )
            yield TickList[str](
                *(Selection(Text(dimension_word(d)), d, d in self._cut.by) for d in self._offered),
                compact=True,
            )
        yield Footer(show_command_palette=False)

    def action_accept(self) -> None:
        ticked = _ticked(self, "TickList")
        by: list[Dimension] = [d for d in self._offered if d in ticked]
        self.dismiss(
            Cut(tuple(by) or ("agent",), self._cut.where, self._cut.only, self._cut.measure)
        )


class NarrowDialog(CuecardDialog[Cut | None]):
    """Which trials count: failed ones or not, and the values of dimensions."""

    DEFAULT_CSS = """
    NarrowDialog TickList { height: auto; max-height: 8; padding: 0; margin-bottom: 1; }
    NarrowDialog Static { height: auto; }
    """
    BINDINGS = keys(
        Key("run_narrow.accept", "ctrl+s", "accept", N_("Show"), N_("Count again with these"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, view: ScoreView) -> None:
        super().__init__()
        self._cut = view.cut
        self._choices = view.choices()
        self._names = view.tables[0].names if view.tables else {}

    def compose(self) -> ComposeResult:
        cut, chosen = self._cut, dict(self._cut.where)
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("Which trials count"))
            yield Static(
                _("Space ticks; nothing ticked in a list means all of it."), classes="muted"
            )
            yield TickList[str](
                *(
                    Selection(Text(_(words)), only.value, only is cut.only)
                    for only, words in ONLY_WORDS.items()
                    if only is not Only.ALL
                ),
                id="only",
                compact=True,
            )
            for dimension, values in self._choices.items():
                yield Static(dimension_word(dimension), classes="title", markup=False)
                yield TickList[str](
                    *self._selections(dimension, values, chosen.get(dimension, ())),
                    id=f"of-{dimension}",
                    compact=True,
                )
        yield Footer(show_command_palette=False)

    def on_selection_list_selection_toggled(self, event: TickList.SelectionToggled[str]) -> None:
        """Of the kinds of trials at most one."""
        event.stop()
        mine = cast("TickList[str]", event.selection_list)
        if mine.id == "only":
            value = event.selection.value
            for other in mine.selected:
                if other != value:
                    mine.deselect(other)

    def action_accept(self) -> None:
        only = _ticked(self, "#only")
        where: list[tuple[Dimension, tuple[str, ...]]] = []
        for dimension, values in self._choices.items():
            if ticked := _ticked(self, f"#of-{dimension}"):
                where.append((dimension, tuple(value for value in values if value in ticked)))
        kind = Only(next(iter(only))) if only else Only.ALL
        self.dismiss(Cut(self._cut.by, tuple(where), kind, self._cut.measure))

    def _selections(
        self, dimension: Dimension, values: Sequence[str], chosen: Sequence[str]
    ) -> list[Selection[str]]:
        return [
            Selection(
                Text(one_line(value_word(dimension, value, self._names), 56)),
                value,
                value in chosen,
            )
            for value in values
        ]


def _ticked(dialog: CuecardDialog[Cut | None], selector: str) -> frozenset[str]:
    return frozenset(cast("TickList[str]", dialog.query_one(selector, TickList)).selected)
