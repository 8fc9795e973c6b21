"""The list of tasks: find, open, begin, import, archive."""

from cuecard.tui.screens.tasks.screen import TasksScreen

__all__ = ["TasksScreen"]
