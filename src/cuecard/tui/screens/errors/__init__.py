"""Why trials failed, and how agents behaved, down to the trials."""

from cuecard.tui.screens.errors.screen import ErrorsScreen

__all__ = ["ErrorsScreen"]
