"""One trial, read: transcript, timeline, verdicts, measures."""

from cuecard.tui.screens.trial.screen import TrialScreen

__all__ = ["TrialScreen"]
