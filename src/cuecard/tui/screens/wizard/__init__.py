"""Play the agent of somebody else's session: Wizard of Oz."""

from cuecard.tui.screens.wizard.screen import WizardScreen

__all__ = ["WizardScreen"]
