"""The list of tasks: find, open, begin, import, retire."""

from cuecard.tui.screens.tasks.screen import TasksScreen

__all__ = ["TasksScreen"]
