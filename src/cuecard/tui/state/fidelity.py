"""What the fidelity screen shows: one table at a time, of one section, and what lies behind its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cuecard.annotate.fidelity.material import Material, Scope
from cuecard.annotate.fidelity.model import Correlation, Fidelity
from cuecard.annotate.fidelity.sheets import TurnCell
from cuecard.annotate.fidelity.turns import Turns
from cuecard.annotate.fidelity.words import circumstances
from cuecard.annotate.labelling.comparison.sheets import Cell, Sheet
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.store.play_records import SessionForm
from cuecard.tui.state.entries import Piece
from cuecard.tui.state.sheet_view import SheetView

Section = Literal["cues", "findings", "outcome", "meaning"]
SECTION_WORDS: dict[Section, str] = {
    "cues": N_("Cues"),
    "findings": N_("Findings"),
    "outcome": N_("Outcome"),
    "meaning": N_("Meaning"),
}
SECTION_KEYS: dict[Section | Literal["worst"], str] = {
    "cues": "c",
    "findings": "f",
    "worst": "w",
    "outcome": "o",
    "meaning": "m",
}
Behind = Turns | Correlation
"""Turns to read, or sessions to plot."""


@dataclass
class FidelityView(SheetView[Section]):
    """`scales`: the ends of the form's questions, by key."""

    material: Material
    found: Fidelity
    sheets: tuple[Sheet, ...]
    scales: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    section: Section = "cues"
    plotted: bool = False
    _at: dict[Section, int] = field(default_factory=dict["Section", int])

    @property
    def anything(self) -> bool:
        return bool(self.found.simulators or self.found.meaning)

    @property
    def named(self) -> Mapping[Section, tuple[str, str]]:
        return {section: (SECTION_KEYS[section], word) for section, word in SECTION_WORDS.items()}

    def of(self, section: Section) -> list[Sheet]:
        return [sheet for sheet in self.sheets if sheet.view == section]

    def keep_place_of(self, before: FidelityView) -> None:
        """Show what another view of the same things showed."""
        self.section, self._at = before.section, dict(before._at)

    @property
    def tabs(self) -> list[Piece]:
        """The worst turns are a list of their own between the sections."""
        pieces, at = super().tabs, 2 * list(SECTION_WORDS).index("outcome")
        worst = Piece(f" {SECTION_KEYS['worst']} {_('Worst turns')} ", "muted")
        return [*pieces[:at], worst, Piece(" "), *pieces[at:]]

    def circumstances(self) -> Sequence[str]:
        return circumstances(self.found)

    def opens(self, row: int, column: int) -> bool:
        return self.behind(row, column) is not None

    def behind(self, row: int, column: int) -> Behind | None:
        """What lies behind the cell; of a name or a count, behind its line's first figure."""
        cell = self.cell(row, column)
        if cell is None or self.sheet is None:
            return None
        if found := _of(cell):
            return found
        if self.plotted or cell.statistic is not None:
            return None
        return next((each for each in map(_of, self.sheet.lines[row]) if each), None)

    def why_empty(self) -> str:
        """How to get data for this section."""
        match self.section:
            case "cues":
                return _(
                    "no turn has both a person's and a simulator's decision. Re-play a dialogue (p), or"
                    " play one with simulators listening."
                )
            case "findings":
                return _("no simulator has spoken.")
            case "outcome":
                return _(
                    "no task was played by people and by a simulator with the same agent and world."
                )
            case "meaning":
                return _("nobody has answered the form after a session that was scored.")


def _of(cell: Cell) -> Behind | None:
    return (cell.turns or cell.correlation) if isinstance(cell, TurnCell) else None


def scales_of(forms: Iterable[SessionForm]) -> dict[str, tuple[int, int]]:
    """From the lowest to the highest number that a question was ever asked with."""
    found: dict[str, tuple[int, int]] = {}
    for form in forms:
        for each in form.questions:
            if each.kind == "scale":
                low, high = found.get(each.key, (each.lowest, each.highest))
                found[each.key] = (min(low, each.lowest), max(high, each.highest))
    return found


def title_words(view: FidelityView, name: str, scope: Scope) -> str:
    """What the report is about."""
    found = view.found
    parts = [one_line(name, 30) or _("Fidelity")]
    turns = ngettext("{n} turn", "{n} turns", found.turns)
    parts.append(turns.format(n=f"{found.turns:,}"))
    played = ngettext("{n} dialogue by people", "{n} dialogues by people", found.played)
    parts.append(played.format(n=f"{found.played:,}"))
    simulators = ngettext("{n} simulator", "{n} simulators", len(found.simulators))
    parts.append(simulators.format(n=len(found.simulators)))
    if scope.simulators or len(scope.runs) > 1:
        parts.append(_("chosen with s"))
    return " · ".join(parts)
