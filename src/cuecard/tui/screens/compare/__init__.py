"""Compare agents, runs, settings or judges on the same tasks."""

from cuecard.tui.screens.compare.screen import CompareScreen

__all__ = ["CompareScreen"]
