"""What the agreement screen shows: one table at a time, of one view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cuecard.annotate.labelling.comparison import Case, Comparison, Material, Place, Subject
from cuecard.annotate.labelling.comparison.sheets import Sheet, side_word
from cuecard.annotate.labelling.comparison.words import (
    GROUP_WORDS,
    circumstances,
    label_word,
)
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.state.sheet_view import SheetView

Shown = Literal["table", "matrix", "groups", "judges", "effect"]
SHOWN: dict[Shown, tuple[str, str]] = {
    "table": ("t", N_("Table")),
    "matrix": ("m", N_("Matrix")),
    "groups": ("g", N_("Groups")),
    "judges": ("j", N_("Judges")),
    "effect": ("e", N_("Effect")),
}
_PLOTTED: tuple[Shown, ...] = ("table", "groups", "judges")


@dataclass
class AgreementView(SheetView[Shown]):
    """`weighed`: the effect on scores was computed."""

    material: Material
    comparison: Comparison
    sheets: tuple[Sheet, ...]
    section: Shown = "table"
    plotted: bool = False
    weighed: bool = False
    _at: dict[Shown, int] = field(default_factory=dict["Shown", int])

    @property
    def anything(self) -> bool:
        return bool(self.comparison.people)

    @property
    def named(self) -> Mapping[Shown, tuple[str, str]]:
        return SHOWN

    def of(self, section: Shown) -> list[Sheet]:
        return [sheet for sheet in self.sheets if sheet.view == section]

    @property
    def plottable(self) -> bool:
        return self.section in _PLOTTED and super().plottable

    def circumstances(self) -> Sequence[str]:
        return circumstances(self.comparison)

    def opens(self, row: int, column: int) -> bool:
        return self.place(row, column) is not None

    def keep_place_of(self, before: AgreementView) -> None:
        """Show what another view of the same labels showed; the effect has to be computed again."""
        self.section = before.section if before.section != "effect" else "table"

    @property
    def next_subject(self) -> Subject | None:
        """What else was labelled, if anything."""
        names: list[Subject] = [subject for subject, _n in self.comparison.subjects]
        if len(names) < 2:
            return None
        at = names.index(self.comparison.subject) if self.comparison.subject in names else -1
        return names[(at + 1) % len(names)]

    def place(self, row: int, column: int) -> Place | None:
        """The items behind the cell; of a line's name, those of its first figure."""
        cell = self.cell(row, column)
        if cell is None or self.sheet is None:
            return None
        if cell.place is None and column == 0 and not self.plotted:
            line = self.sheet.lines[row]
            return next((each.place for each in line if each.place), None)
        return cell.place

    def why_empty(self) -> str:
        match self.section:
            case "judges":
                return _("it takes two judges or two people on the same items.")
            case "groups":
                return _("the labelled items are all of one kind.")
            case "effect" if not self.weighed:
                return _("it is being computed.")
            case "effect":
                return _("scores need labels on what judges decided.")
            case _:
                return _("no item has labels of two sides.")


def place_words(found: Comparison, place: Place) -> str:
    """What items a list holds."""
    left, right = side_word(found, place.left), side_word(found, place.right)
    parts = [f"{left} · {right}"]
    if place.row:
        word = label_word(found.subject, place.row)
        parts.append(_("{rater}: {label}").format(rater=left, label=word))
    if place.column:
        word = label_word(found.subject, place.column)
        parts.append(_("{rater}: {label}").format(rater=right, label=word))
    if place.either:
        parts.append(_("{label} by either").format(label=label_word(found.subject, place.either)))
    if place.by:
        parts.append(f"{_(GROUP_WORDS[place.by])}: {place.value or '–'}")
    return one_line(" · ".join(parts))


def said_words(subject: Subject, values: Sequence[tuple[str, str]]) -> str:
    """Who said what, those who agree together: `covered: Ana, Ben · not covered: Cy`."""
    by_label: dict[str, list[str]] = {}
    for who, value in values:
        by_label.setdefault(label_word(subject, value), []).append(who)
    return " · ".join(f"{label}: {', '.join(names)}" for label, names in by_label.items())


def item_words(case: Case) -> str:
    """`triple 18`, `cell 4 Year`: numbered as people count."""
    item = case.item
    return " ".join(filter(None, (item.kind.value, str(item.index + 1), item.column)))
