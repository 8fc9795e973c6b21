"""What is wrong with words that are about to be sent: which of it is asked about, and how it is put."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.core.users.faults import Fault, FaultKind

FAULTS: Final[dict[FaultKind, str]] = {
    FaultKind.LEAK: N_("names what nobody has said yet"),
    FaultKind.FORBIDDEN: N_("must never be said"),
    FaultKind.EARLY: N_("you marked not met; this says stage {found}"),
    FaultKind.AHEAD: N_("gives away what comes later"),
    FaultKind.SKIPPED: N_("skips a stage"),
    FaultKind.DOUBLED: N_("says a line again, or two at once"),
    FaultKind.MISSING_LINE: N_("the line itself is not said"),
    FaultKind.MARKDOWN: N_("is laid out, not spoken"),
    FaultKind.STRUCTURE: N_("asks for triples, tables and the like"),
    FaultKind.COACHED: N_("tells the agent what to ask"),
    FaultKind.IGNORED: N_("leaves a question unanswered"),
}
ASKED_ABOUT: Final = frozenset(
    {
        FaultKind.LEAK,
        FaultKind.FORBIDDEN,
        FaultKind.EARLY,
        FaultKind.AHEAD,
        FaultKind.DOUBLED,
        FaultKind.STRUCTURE,
        FaultKind.COACHED,
    }
)
_FOUND = 120


def fault_label(fault: Fault, limit: int = _FOUND) -> str:
    """`gives away what comes later: “and in which year”`."""
    label, found = _(FAULTS[fault.kind]), one_line(fault.found, limit)
    if fault.kind is FaultKind.EARLY:
        return label.format(found=found)
    # The line that is not said stands on the card.
    plain = fault.kind is FaultKind.MISSING_LINE or not found
    return label if plain else f"{label}: {found}"


def to_ask(faults: Iterable[Fault]) -> list[Fault]:
    """What the person is asked about before it is sent."""
    return [fault for fault in faults if fault.kind in ASKED_ABOUT]


def to_hint(faults: Iterable[Fault]) -> list[Fault]:
    """What is only mentioned."""
    return [fault for fault in faults if fault.kind not in ASKED_ABOUT]
