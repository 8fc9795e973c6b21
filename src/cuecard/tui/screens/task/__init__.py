"""The editor of one task: a tab for each part of it, over one `TaskEdit`."""

from cuecard.tui.screens.task.screen import TaskScreen

__all__ = ["TaskScreen"]
