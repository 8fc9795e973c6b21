"""What the first trial that is opened would otherwise have to wait for."""

from __future__ import annotations

from cuecard.results.trial.opening import open_trial
from cuecard.store.workspace import Workspace
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.state.markdown import warm_up

__all__ = ["TrialScreen", "prepare"]


def prepare(workspace: Workspace, trial_id: int) -> None:
    """Import and build what opening a trial needs, in a thread; nothing is shown or recorded. Importing this
    module is most of it.
    """
    open_trial(workspace, trial_id, "nobody", 1)
    warm_up()
