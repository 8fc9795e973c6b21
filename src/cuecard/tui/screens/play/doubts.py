"""What Play asks about words that are about to be sent: do they still say the line, do they leak?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cuecard.core.i18n import N_, _
from cuecard.core.text import for_display, one_line
from cuecard.core.users.faults import Fault
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.play.dialogs import ChoiceDialog
from cuecard.tui.state.play import Decision, Doubt
from cuecard.tui.state.play_faults import fault_label

_DECISIONS: Final[dict[str, Decision]] = {
    "same": Decision("kept", counts=True),
    "other": Decision("changed", counts=True),
    "not_said": Decision("changed", counts=False),
}
SHOWN = 240
"""As much of the line and of the person's words as is shown side by side, in characters."""


def decision_of(answer: str | None, doubt: Doubt) -> Decision | None:
    """What an answer of a `MeaningDialog` means; None: the person goes on editing."""
    if answer == "not_said" and doubt == "unsaid":
        return Decision("", counts=False)
    return _DECISIONS.get(answer or "")


class MeaningDialog(ChoiceDialog):
    """Whether edited words still say the card's line; `decision_of` tells what the
    answer means.
    """

    BINDINGS = keys(
        Key("meaning.same", "s", "choose('same')", N_("Same"), N_("They say the same as the line")),
        Key("meaning.other", "o", "choose('other')", N_("Else"), N_("They say something else")),
        Key("meaning.not_said", "n", "choose('not_said')", N_("Not said"), N_("They do not count as the line")),
        Key("meaning.edit", "e", "choose('edit')", N_("Edit"), N_("Go on editing")),
    )  # fmt: skip

    def __init__(self, doubt: Doubt, line: str, text: str, stage: int | None) -> None:
        """`text`: the person's words; `stage`: whose line it is, if it is a stage's."""
        options = _options(doubt, stage)
        title = (
            _("Do your words still say the line?")
            if doubt == "edited"
            else _("The line is due, but your words do not seem to say it")
        )
        said = _("Line: {line}").format(line=one_line(line, SHOWN))
        yours = _("You: {text}").format(text=one_line(text, SHOWN))
        super().__init__(title, f"{said}\n{yours}", options, low=True)


def _options(doubt: Doubt, stage: int | None) -> list[tuple[str, str, str]]:
    edit = ("edit", "e", _("go on editing"))
    same = ("same", "s", _("they say the same, in other words"))
    if doubt == "unsaid":
        return [same, ("not_said", "n", _("they do not: the line is still to come")), edit]
    if stage is None:
        return [same, ("other", "o", _("they say something else")), edit]
    counts = _("they say something else; stage {n} counts as said").format(n=stage)
    not_said = _("they say something else; stage {n} is still to come").format(n=stage)
    return [same, ("other", "o", counts), ("not_said", "n", not_said), edit]


class FaultsDialog(ConfirmDialog):
    """What should not be sent as it is, with the words that show it; True sends it anyway."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        lines = "\n".join(f"⚠ {for_display(fault_label(fault))}" for fault in faults)
        text = f"{lines}\n\n" + _("No goes on editing.")
        super().__init__(_("This should not be said as it is"), text, _("Send it anyway"))
