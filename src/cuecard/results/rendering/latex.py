"""A Sheet as a LaTeX table with rules of booktabs."""

from __future__ import annotations

from cuecard.annotate.labelling.comparison.sheets import Sheet


def as_latex(sheet: Sheet, *, label: str = "") -> str:
    """A `table` environment with caption and label; `label` without its `tab:`."""
    raise NotImplementedError


def escaped(text: str) -> str:
    """`text` as LaTeX sets it letter by letter."""
    raise NotImplementedError
