"""A Sheet as an HTML table; what stands in it is data and never markup."""

from __future__ import annotations

from cuecard.annotate.labelling.comparison.sheets import Sheet


def as_html(sheet: Sheet, *, id: str = "") -> str:
    """A `figure` with caption, table and notes. Every figure's cell has `data-key`, `data-value`, `data-low`,
    `data-high`, `data-n` and the remark as its `title`.
    """
    raise NotImplementedError
