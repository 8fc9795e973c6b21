"""One trial: what stands above it, and its measures as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.cells import cell_len

from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import PlayerRef
from cuecard.core.scoring.labels import COUNTS, measure_label
from cuecard.core.scoring.measures import Measure
from cuecard.core.tasks import Task
from cuecard.core.text import one_line
from cuecard.store.records import TrialRecord
from cuecard.tui.glyphs import TERMINATION
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.labels import player_name


@dataclass(frozen=True)
class MeasureRow:
    """A measure as text: what it is called, its value or a dash, its n, and why there is no value."""

    label: str
    value: str
    n: str
    reason: str


def heading(
    trial: TrialRecord, task: Task, events: int, judge: PlayerRef | None, room: int = 0
) -> list[list[Piece]]:
    """Two lines: what was played, and by whom. `judge`: whose verdicts are shown. In less than `room` cells the
    number of events is left out, if the first line then fits.
    """
    glyph, _variable, label = TERMINATION[trial.termination.value if trial.termination else ""]
    failed = trial.termination is not None and trial.termination.is_failure
    numbers = [
        _("revision {n}").format(n=trial.revision),
        _("sample {n}").format(n=trial.sample + 1),
        ngettext("{n} event", "{n} events", events).format(n=events),
    ]
    what = [
        Piece(one_line(task.title, 40), "strong"),
        Piece(f"  {glyph} {_(label)}", "bad" if failed else "good"),
    ]
    if room and cell_len("".join(p.text for p in what) + "  " + " · ".join(numbers)) > room:
        numbers.pop()
    what.append(Piece("  " + " · ".join(numbers), "muted"))
    players = [
        (_("agent"), trial.agent),
        (_("user"), trial.user),
        (_("world"), trial.world),
        (_("judge"), judge),
    ]
    who: list[Piece] = []
    for part, ref in players:
        who.append(Piece(("  " if who else "") + part + " ", "muted"))
        who.append(Piece(player_name(ref) + ("*" if ref.baseline else "") if ref else "–"))
    if any(ref.baseline for _part, ref in players if ref):
        who.append(Piece("  * " + _("baseline"), "muted"))
    return [what, who]


def measure_value(name: str, value: float | None) -> str:
    """A count as a whole number, a share with three decimals, a dash where there is none."""
    if value is None:
        return "–"
    if name in COUNTS:
        return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
    return f"{value:.3f}"


def measure_rows(measures: Iterable[Measure]) -> list[MeasureRow]:
    return [
        MeasureRow(
            label=measure_label(measure.name),
            value=measure_value(measure.name, measure.value),
            n=str(measure.n),
            reason=measure.reason if measure.value is None else "",
        )
        for measure in measures
    ]
