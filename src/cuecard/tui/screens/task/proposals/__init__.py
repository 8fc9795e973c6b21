"""Help from a model: what to draft, the draft under way, and the proposal to decide on."""

from cuecard.tui.screens.task.proposals.flow import assist

__all__ = ["assist"]
