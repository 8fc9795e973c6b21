"""One glyph and colour per state and family, used everywhere alike, and never colour alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.text import Text

from cuecard.core.i18n import N_, _, ngettext

_HEX = re.compile("#[0-9a-fA-F]{6}")

# value -> (glyph, theme variable, label)
FAMILY: dict[str, tuple[str, str, str]] = {
    "graph": ("◆", "family-graph", N_("graph")),
    "table": ("▦", "family-table", N_("table")),
    "checkpoints": ("≡", "family-checkpoints", N_("checkpoints")),
    "facts": ("◎", "family-facts", N_("facts")),
}
TASK_STATE: dict[str, tuple[str, str, str]] = {
    "draft": ("○", "muted", N_("draft")),
    "in_review": ("◐", "secondary", N_("in review")),
    "returned": ("↺", "warning", N_("returned")),
    "approved": ("●", "success", N_("approved")),
    "retired": ("×", "muted", N_("archived")),
}
DECISION: dict[str, tuple[str, str, str]] = {
    "yes": ("✓", "success", N_("covered")),
    "no": ("✗", "error", N_("not covered")),
    "unjudged": ("?", "warning", N_("unjudged")),
    "unsure": ("~", "warning", N_("cannot tell")),
}
RATING: dict[str, tuple[str, str, str]] = {
    "pass": ("✓", "success", N_("pass")),
    "fail": ("✗", "error", N_("fail")),
    "cannot_judge": ("?", "warning", N_("cannot judge")),
    "": ("○", "muted", N_("not rated")),
}
VOTE: dict[str, tuple[str, str, str]] = {
    "approve": ("✓", "success", N_("approve")),
    "return": ("↺", "warning", N_("return")),
}
CHECK: dict[str, tuple[str, str, str]] = {
    "right": ("✓", "success", N_("right")),
    "wrong": ("✗", "error", N_("wrong")),
    "unsure": ("~", "warning", N_("unsure")),
    "": ("◇", "primary", N_("to check")),
}
TERMINATION: dict[str, tuple[str, str, str]] = {
    "user_done": ("●", "success", N_("user done")),
    "answered": ("●", "success", N_("answered")),
    "max_turns": ("◑", "warning", N_("turn limit")),
    "context_overflow": ("✗", "error", N_("context overflow")),
    "error_loop": ("✗", "error", N_("error loop")),
    "empty_response": ("✗", "error", N_("empty reply")),
    "api_error": ("✗", "error", N_("API error")),
    "internal_error": ("✗", "error", N_("internal error")),
    "cancelled": ("–", "muted", N_("cancelled")),
    "": ("▸", "secondary", N_("open")),
}
LANGUAGE_LABEL: dict[str, str] = {"en": "EN", "zh": "中"}


def ink(variables: Mapping[str, str], name: str) -> str:
    """The theme's colour `name` as a Rich style; themes of a terminal's own 16 colours name theirs."""
    colour = variables.get(name, "")
    if colour.startswith("ansi_"):
        return "default" if colour == "ansi_default" else colour.removeprefix("ansi_")
    return colour if _HEX.fullmatch(colour) else ""


def badge(
    table: Mapping[str, tuple[str, str, str]], value: str, variables: Mapping[str, str]
) -> Text:
    """Glyph and translated label of `value`, coloured from the theme's `variables`."""
    glyph, variable, label = table.get(value, ("·", "muted", value))
    return Text(f"{glyph} {_(label)}", style=ink(variables, variable))


FORK = "⋔"
"""Marks a task of which newest revisions stand side by side."""


def fork_mark(forks: int, variables: Mapping[str, str]) -> Text:
    """Says that revisions stand beside the newest of a task."""
    text = ngettext("{n} beside it", "{n} beside it", forks).format(n=forks)
    return Text(f"{FORK} {text}", style=ink(variables, "warning"))
