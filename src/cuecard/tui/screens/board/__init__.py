"""The board: tasks by state, age and person, and the figures of their reviews."""

from cuecard.tui.screens.board.screen import BoardScreen

__all__ = ["BoardScreen"]
