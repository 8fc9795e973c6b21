"""The dimensions of a review: a list whose rows are rated by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.glyphs import RATING, ink
from cuecard.tui.state.wrapping import wrap

if TYPE_CHECKING:
    from cuecard.annotate.review import Dimension
    from cuecard.store.records import Rating


_HANG = 4


class DimensionList(Widget, can_focus=True):
    """`load` dimensions and ratings; posts `Rated` when the person decides. `hints` stand behind a
    dimension, `wants` below it: what is still to be done about it.
    """

    DEFAULT_CSS = """
    DimensionList { height: auto; width: 1fr; }
    """
    BINDINGS = keys(
        Key("dimensions.pass", "p", "rate('pass')", N_("Pass"), N_("This dimension passes")),
        Key("dimensions.fail", "f", "rate('fail')", N_("Fail"), N_("This dimension fails; say why")),
        Key("dimensions.unsure", "x", "rate('cannot_judge')", N_("Unsure"), N_("I cannot judge this dimension")),
        Key("dimensions.up", "up", "walk(-1)", N_("Up"), N_("To the dimension before"), show=False),
        Key("dimensions.down", "down", "walk(1)", N_("Down"), N_("To the next dimension"), show=False),
    )  # fmt: skip
    cursor = reactive(0)

    class Rated(Message):
        """The person rated the dimension `key`."""

        def __init__(self, key: str, rating: Rating) -> None:
            super().__init__()
            self.key = key
            self.rating: Rating = rating

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._dimensions: Sequence[Dimension] = ()
        self._ratings: Mapping[str, Rating] = {}
        self._hints: Mapping[str, str] = {}
        self._wants: Mapping[str, str] = {}
        self._locked = False

    def load(
        self,
        dimensions: Sequence[Dimension],
        ratings: Mapping[str, Rating],
        *,
        hints: Mapping[str, str] | None = None,
        wants: Mapping[str, str] | None = None,
        locked: bool = False,
    ) -> None:
        """`locked`: to be read only."""
        self._dimensions = dimensions
        self._ratings = dict(ratings)
        self._hints, self._wants = dict(hints or {}), dict(wants or {})
        if locked != self._locked:
            self._locked = locked
            self.refresh_bindings()
        self.refresh(layout=True)

    def go_to(self, key: str) -> None:
        """Put the cursor on a dimension."""
        for index, dimension in enumerate(self._dimensions):
            if dimension.key == key:
                self.cursor = index

    @property
    def current(self) -> str:
        """The key of the dimension under the cursor."""
        return self._dimensions[self.cursor].key if self._dimensions else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self._locked if action == "rate" else True

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        told = self._dimensions[self.cursor : self.cursor + 1]
        extra = sum(len(wrap(_(dimension.help), width - _HANG)) for dimension in told)
        return len(self._dimensions) + extra + len(self._wants)

    def render(self) -> Text:
        colours = self.app.theme_variables
        lines: list[Text] = []
        for index, dimension in enumerate(self._dimensions):
            glyph, variable, label = RATING[self._ratings.get(dimension.key, "")]
            here = index == self.cursor and self.has_focus
            rated = f"  {_(label)}" if dimension.key in self._ratings else ""
            hint = self._hints.get(dimension.key, "")
            line = Text.assemble(
                ("▸ " if here else "  ", "bold"),
                (f"{glyph} ", ink(colours, variable)),
                (_(dimension.label), "bold" if here else ""),
                (rated, "dim"),
                (f"  {hint}" if hint else "", f"italic {ink(colours, 'muted')}".strip()),
            )
            line.truncate(self.content_size.width, overflow="ellipsis")
            lines.append(line)
            if want := self._wants.get(dimension.key):
                lines.append(Text(f"{' ' * _HANG}! {want}", ink(colours, "warning")))
            if index == self.cursor:
                told = wrap(_(dimension.help), self.content_size.width - _HANG)
                lines += [Text(" " * _HANG + part, "dim") for part in told]
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

    def watch_cursor(self) -> None:
        self.refresh(layout=True)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_walk(self, step: int) -> None:
        self.cursor = max(0, min(len(self._dimensions) - 1, self.cursor + step))

    def action_rate(self, rating: Rating) -> None:
        if not self._dimensions:
            return
        self.post_message(self.Rated(self._dimensions[self.cursor].key, rating))
        self.action_walk(1)
