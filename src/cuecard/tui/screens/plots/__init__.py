"""Scores, costs and curves drawn, each with its numbers."""

from cuecard.tui.screens.plots.screen import PlotsScreen

__all__ = ["PlotsScreen"]
