"""Words for what the engine counts and the store records."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.core.events import Termination
from cuecard.core.i18n import N_, _
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.labels import COUNTS
from cuecard.core.tasks import Family
from cuecard.core.text import one_line
from cuecard.core.words import ENDING_WORDS

FAMILY: dict[Family, str] = {
    "graph": N_("Graph tasks"),
    "table": N_("Table tasks"),
    "checkpoints": N_("Checkpoint tasks"),
    "facts": N_("Fact tasks"),
}


def termination_label(termination: Termination | None) -> str:
    return _(ENDING_WORDS[termination]) if termination else _("open")


def player_label(ref: PlayerRef) -> str:
    """The name, and whether this is an offline baseline: nobody may take it for a model."""
    name = one_line(ref.name, 40)
    return _("{name} (offline baseline)").format(name=name) if ref.baseline else name


def baselines_line(players: Iterable[tuple[str, PlayerRef]]) -> str:
    """`Offline baselines, not results of models: agent offline, judge lexical.`, from pairs of the part's
    translated name and its player; "" if none of them is a baseline.
    """
    found = dict.fromkeys(f"{part} {one_line(p.name, 40)}" for part, p in players if p.baseline)
    if not found:
        return ""
    return _("Offline baselines, not results of models: {players}.").format(
        players=", ".join(found)
    )


def number(name: str, value: float | None) -> str:
    """A measure's value: shares with three decimals, counts with one where they are means."""
    if value is None:
        return "–"
    if name not in COUNTS:
        return f"{value:.3f}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
