"""A trial that was opened from a list, from which the others of the list can be reached."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.trial import TrialScreen


class ListedTrialScreen(TrialScreen):
    """A trial of a list: `+` and `-` go to the one after and before."""

    CSS_PATH = "trial/trial.tcss"
    BINDINGS = keys(
        Key("listed_trial.next", "plus", "go(1)", N_("Next trial"), N_("The next trial of the list"), shown_as="+"),
        Key("listed_trial.before", "minus", "go(-1)", N_("Trial before"), N_("The trial before in the list"), shown_as="-", show=False),
    )  # fmt: skip

    def __init__(self, trials: Sequence[int], at: int) -> None:
        super().__init__(trials[at])
        self._listed, self._listed_at = tuple(trials), at

    def action_go(self, by: int) -> None:
        at = self._listed_at + by
        if 0 <= at < len(self._listed):
            self.app.switch_screen(ListedTrialScreen(self._listed, at))
        else:
            self.cue_app.tell(_("There are no more trials in the list."))
