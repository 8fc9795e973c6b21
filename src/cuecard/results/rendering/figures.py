"""What a cell of a Sheet says as data, the same for every format."""

from __future__ import annotations

import re
from typing import NamedTuple

from cuecard.annotate.labelling.comparison.sheets import Cell
from cuecard.core.text import for_display, one_line, storable
from cuecard.results.cells import ResultCell

_INTERVAL = re.compile(r"(?P<value>[^\[\]]+?) (?P<interval>\[[^\[\]]+\])(?P<rest>[^\[\]]*)")


class CellFigure(NamedTuple):
    """`text` as it is read, of which `shown` is the part before the interval, `interval` that with its brackets, ""
    where the text has none, and `rest` what comes after. `value` unrounded, with its interval and n; None: there is none, or the
    cell says no number. `key` as in `ResultCell`; `remark`: why the number or its interval is missing.
    """

    text: str
    shown: str
    interval: str
    rest: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    key: str
    remark: str

    @property
    def is_figure(self) -> bool:
        """Whether the cell is there for a number, known or not."""
        return self.value is not None or bool(self.key)


def figure_of(cell: Cell) -> CellFigure:
    """What stands in the cell; texts are one line without control characters."""
    text = plain(cell.text)
    statistic = cell.statistic
    parts = _INTERVAL.fullmatch(text) if statistic and statistic.interval else None
    return CellFigure(
        text=text,
        shown=parts["value"] if parts else text,
        interval=parts["interval"] if parts else "",
        rest=parts["rest"] if parts else "",
        value=cell.number if isinstance(cell, ResultCell) else statistic and statistic.value,
        low=statistic.low if statistic else None,
        high=statistic.high if statistic else None,
        n=statistic.n if statistic else None,
        key=for_display(storable(cell.key)) if isinstance(cell, ResultCell) else "",
        remark=plain(cell.remark),
    )


def plain(text: str) -> str:
    """One line that any file can hold."""
    return one_line(storable(text))


def number(value: float | None) -> str:
    """The shortest text that reads back as the same number, as JSON writes it; "" for none."""
    return "" if value is None else repr(value)
