"""Play: be the user, live."""

from cuecard.tui.screens.play.screen import PlayScreen

__all__ = ["PlayScreen"]
