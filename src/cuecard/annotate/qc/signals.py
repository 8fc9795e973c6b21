"""What the stages say about one revision, in a closed vocabulary: all that the decision table reads."""

from __future__ import annotations

from typing import Literal, get_args

from cuecard.core.i18n import N_
from cuecard.core.tasks.base import Frozen

Sign = Literal["open", "off", "clear", "some", "most", "found"]
"""`open`: nobody has looked, or only baselines have. `off`: it does not apply to such a task. `clear`:
looked at, and nothing is wrong. `some`: seen in fewer than half of a model's attempts; `most`: in at
least half of them. `found`: seen, where there are no attempts to count.

Of several models the one counts that knows most: the one that is right most often.
"""

SignalName = Literal[
    "errors", "leaked", "solvable", "shallow", "lawless", "missed", "hurried", "disputed"
]
SIGNALS: tuple[SignalName, ...] = get_args(SignalName)

SIGNAL_LABEL: dict[SignalName, str] = {
    "errors": N_("errors of the linter"),
    "leaked": N_("right from memory"),
    "solvable": N_("right without asking"),
    "shallow": N_("ambiguity on the surface"),
    "lawless": N_("facts that clash or are not plausible"),
    "missed": N_("wrong with all facts given"),
    "hurried": N_("little effort"),
    "disputed": N_("judge and expert disagree"),
}
SIGN_LABEL: dict[Sign, str] = {
    "open": N_("not looked at"),
    "off": N_("does not apply"),
    "clear": N_("no"),
    "some": N_("in some attempts"),
    "most": N_("in most attempts"),
    "found": N_("yes"),
}


class Signals(Frozen):
    """One sign for each signal; which signs a signal can have is its type."""

    errors: Literal["clear", "found"]
    leaked: Literal["open", "clear", "some", "most"] = "open"
    solvable: Literal["open", "off", "clear", "some", "most"] = "open"
    shallow: Literal["open", "off", "clear", "found"] = "open"
    lawless: Literal["open", "off", "clear", "found"] = "open"
    missed: Literal["open", "off", "clear", "some", "most"] = "open"
    hurried: Literal["open", "clear", "found"] = "open"
    disputed: Literal["open", "clear", "found"] = "open"

    def sign(self, name: SignalName) -> Sign:
        return getattr(self, name)


def signs_of(name: SignalName) -> tuple[Sign, ...]:
    """The signs that a signal can have."""
    return get_args(Signals.model_fields[name].annotation)
