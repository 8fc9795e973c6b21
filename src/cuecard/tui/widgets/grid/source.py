"""Where a grid's cells come from. A grid asks for the rows that are in view and for no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from rich.text import Text

Tone = Literal["plain", "muted", "strong", "good", "warn", "bad", "accent"]
TONES: tuple[Tone, ...] = ("plain", "muted", "strong", "good", "warn", "bad", "accent")


class GridCell(NamedTuple):
    """`text` may be any text from anywhere; it is shown as one line of what it says."""

    text: str
    tone: Tone = "plain"


NOTHING = GridCell("")


class GridSource(Protocol):
    def __len__(self) -> int: ...

    def cells(self, row: int) -> Sequence[str | GridCell | Text]:
        """One cell per column, hidden ones included; missing ones are shown empty."""
        ...

    def gutter(self, row: int) -> GridCell:
        """A mark one cell wide, left of the row; `""` for none."""
        ...


class ListSource:
    """Rows that are at hand."""

    def __init__(
        self,
        rows: Sequence[Sequence[str | GridCell | Text]],
        gutters: Sequence[GridCell] | None = None,
    ) -> None:
        self._rows = rows
        self._gutters = gutters

    def __len__(self) -> int:
        return len(self._rows)

    def cells(self, row: int) -> Sequence[str | GridCell | Text]:
        return self._rows[row]

    def gutter(self, row: int) -> GridCell:
        return self._gutters[row] if self._gutters else NOTHING
