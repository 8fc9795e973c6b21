"""Cuecard's own dark and light themes: one accent per family, one colour per state."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="cuecard-dark",
    primary="#d9a441",
    secondary="#6aa9c9",
    accent="#d9a441",
    warning="#e0b050",
    error="#e0705c",
    success="#7fb77e",
    foreground="#e6e1d6",
    background="#16181c",
    surface="#1d2025",
    panel="#262a31",
    dark=True,
    variables={
        "family-graph": "#6aa9c9",
        "family-table": "#b48ead",
        "family-checkpoints": "#d9a441",
        "family-facts": "#7fb77e",
        "muted": "#8d8f94",
        "footer-key-foreground": "#d9a441",
        "input-selection-background": "#d9a441 35%",
    },
)
LIGHT = Theme(
    name="cuecard-light",
    primary="#8a5a00",
    secondary="#1f6584",
    accent="#8a5a00",
    warning="#8f6300",
    error="#b03a26",
    success="#2f6b34",
    foreground="#22252a",
    background="#faf8f3",
    surface="#f2efe7",
    panel="#e7e2d6",
    dark=False,
    variables={
        "family-graph": "#1f6584",
        "family-table": "#7a4378",
        "family-checkpoints": "#8a5a00",
        "family-facts": "#2f6b34",
        "muted": "#6b6a66",
        "footer-key-foreground": "#8a5a00",
        "input-selection-background": "#8a5a00 25%",
    },
)
