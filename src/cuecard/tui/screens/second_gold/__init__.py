"""Gold built twice: building the second one from the brief, and deciding between the two."""

from cuecard.tui.screens.second_gold.opening import open_second_gold

__all__ = ["open_second_gold"]
