"""The Run screen: trials while they are played, and scores of those that are judged."""

from cuecard.tui.screens.run.screen import RunScreen

__all__ = ["RunScreen"]
