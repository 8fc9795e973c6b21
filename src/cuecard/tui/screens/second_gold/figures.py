"""The figures above two golds: a line for each level."""

from __future__ import annotations

from rich.text import Text

from cuecard.core.i18n import _
from cuecard.tui.state.second_gold import GoldView

_NAME, _SHARE = 14, 13


def figures_text(view: GoldView) -> Text:
    """Precision, recall and F1 with their n, in columns; then why there is no kappa."""
    lines = [_line(["", _("precision (n)"), _("recall (n)"), _("F1 (n)"), ""], "dim")]
    lines += [_line(cells) for cells in view.figures()]
    lines.append(Text(f" {view.kappa()}", "dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


def _line(cells: list[str], style: str = "") -> Text:
    name, *shares, reason = cells
    line = Text(f" {_fitted(name, _NAME)}", style)
    for share in shares:
        line.append(f" {_fitted(share, _SHARE, right=True)}")
    if reason:
        line.append(f"  {reason}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _fitted(text: str, width: int, *, right: bool = False) -> str:
    from rich.cells import cell_len

    blanks = " " * max(width - cell_len(text), 0)
    return f"{blanks}{text}" if right else f"{text}{blanks}"
