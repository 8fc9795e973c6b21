"""Agreement of judges and people for the screen: its tables, and disputes with their sides and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.cells import cell_len, set_cell_size

from cuecard.annotate.labelling.adjudication import (
    CAUSES,
    UNDECIDED,
    AdjudicationView,
    Dispute,
    MachineSide,
    Reason,
    Why,
)
from cuecard.annotate.labelling.comparison import Place
from cuecard.annotate.labelling.comparison_inputs import ComparisonInputs, Subject
from cuecard.annotate.labelling.comparison_model import (
    GROUP_WORDS,
    Comparison,
    circumstances,
    label_word,
)
from cuecard.annotate.labelling.comparison_tables import side_word
from cuecard.annotate.labelling.views import FEW
from cuecard.annotate.labelling.workshop import ExamSummary
from cuecard.core.evaluation.items import PredictedItem
from cuecard.core.i18n import N_, _, headed, listed, ngettext
from cuecard.core.label_records import Adjudication, Label
from cuecard.core.tables.table import Table
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.labelling import evidence_paragraphs, predicted_paragraph, value_label
from cuecard.tui.present.labels import player_label
from cuecard.tui.present.runs import DISPUTED, when
from cuecard.tui.present.tables import Tab, TablesView

Shown = Literal["table", "matrix", "groups", "judges", "effect", "calibration", "workshop"]
SHOWN: dict[Shown, Tab] = {
    "table": Tab("agreement.table", "t", N_("Table"), N_("Every statistic of every judge")),
    "matrix": Tab("agreement.matrix", "m", N_("Matrix"), N_("Confusion matrices, and agreement by label")),
    "groups": Tab("agreement.groups", "g", N_("Groups"), N_("By family, language, relation and agent")),
    "judges": Tab("agreement.judges", "j", N_("Judges"), N_("Judges beside each other and beside people")),
    "effect": Tab("agreement.effect", "e", N_("Effect"), N_("Scores with people's labels, and the order of agents")),
    "calibration": Tab("agreement.calibration", "c", N_("Calibration"), N_("Shares of these runs, corrected by how the judge did on labels of other runs")),
    "workshop": Tab("agreement.workshop", "w", N_("Workshop"), N_("Versions of a judge on held-out labels, juries of several, and drift")),
}  # fmt: skip
_PLOTTED: tuple[Shown, ...] = ("table", "groups", "judges", "calibration")
ON_REQUEST: tuple[Shown, ...] = ("effect", "calibration", "workshop")
"""Sections that are computed when they are first looked at."""


@dataclass
class AgreementView(TablesView[Shown]):
    """`computed`: those sections `ON_REQUEST` that were."""

    inputs: ComparisonInputs
    comparison: Comparison
    tables: tuple[Table, ...]
    section: Shown = "table"
    plotted: bool = False
    computed: set[Shown] = field(default_factory=set["Shown"])
    _at: dict[Shown, int] = field(default_factory=dict["Shown", int])

    @property
    def anything(self) -> bool:
        # Labels from elsewhere correct what has none.
        return bool(self.comparison.people) or self.section == "calibration"

    @property
    def named(self) -> Mapping[Shown, Tab]:
        return SHOWN

    def of(self, section: Shown) -> list[Table]:
        return [table for table in self.tables if table.view == section]

    @property
    def plottable(self) -> bool:
        return self.section in _PLOTTED and super().plottable

    def circumstances(self) -> Sequence[str]:
        return circumstances(self.comparison) if self.comparison.people else ()

    def opens(self, row: int, column: int) -> bool:
        return self.place(row, column) is not None or self.exam(row, column) is not None

    def exam(self, row: int, column: int) -> int | None:
        """The run of the judge's exam that the cell tells of."""
        cell = self.cell(row, column)
        return cell.place.run if cell is not None and isinstance(cell.place, ExamSummary) else None

    def keep_place_of(self, before: AgreementView) -> None:
        """Show the same place as another view of these labels; what is computed on request has to be again."""
        self.section = before.section if before.section not in ON_REQUEST else "table"

    @property
    def next_subject(self) -> Subject | None:
        """What else was labelled, if anything."""
        names: list[Subject] = [subject for subject, _n in self.comparison.subjects]
        if len(names) < 2:
            return None
        return after(self.comparison.subject, names)

    def place(self, row: int, column: int) -> Place | None:
        """The items behind the cell; of a line's name, those of its first figure."""
        cell = self.cell(row, column)
        if cell is None or self.table is None:
            return None
        if cell.place is None and column == 0 and not self.plotted:
            places = (each.place for each in self.table.lines[row])
            return next((place for place in places if isinstance(place, Place)), None)
        return cell.place if isinstance(cell.place, Place) else None

    def why_empty(self) -> str:
        match self.section:
            case "judges":
                return _("it takes two judges or two people on the same items.")
            case "groups":
                return _("the labelled items are all of one kind.")
            case section if section in ON_REQUEST and section not in self.computed:
                return _("it is being computed.")
            case "workshop":
                return _("there are no labels on what judges decided.")
            case "effect":
                return _("scores need labels on what judges decided.")
            case "calibration":
                return _("nobody labelled on other runs what the same judge decided there.")
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
        parts.append(headed(_(GROUP_WORDS[place.by]), place.value or "–"))
    return one_line(" · ".join(parts))


def said_words(subject: Subject, values: Sequence[tuple[str, str]]) -> str:
    """Who said what, those who agree together: `covered: Ana, Ben · not covered: Cy`."""
    by_label: dict[str, list[str]] = {}
    for who, value in values:
        by_label.setdefault(label_word(subject, value), []).append(who)
    return " · ".join(headed(label, listed(names)) for label, names in by_label.items())


REASON: dict[Reason, str] = {
    "people": N_("people differ"),
    "judge": N_("people and judge differ"),
    "gold": N_("gold held for wrong"),
}


@dataclass(frozen=True)
class Column:
    """A pane for one side, or several, of a dispute."""

    title: str
    paragraphs: list[Paragraph]


def progress(name: str, position: int, total: int, left: int, title: str = "") -> str:
    """Where the walk stands."""
    said = [one_line(name, 90)] if name else []
    said.append(
        _("dispute {n} of {all}").format(n=min(position + 1, total), all=total)
        if total
        else _("no disputes")
    )
    said.append(ngettext("{n} open", "{n} open", left).format(n=left))
    return " · ".join([*said, *([one_line(title, 40)] if title else [])])


def columns(view: AdjudicationView) -> tuple[Column, Column]:
    """The sides: covered and not covered; of a status what most say, and all else. Who takes no side
    stands on the right.
    """
    values = _values(view.dispute)
    return _column(view, values[:1]), _column(view, values[1:])


def gold_head(view: AdjudicationView) -> list[Paragraph]:
    """Why the item is disputed."""
    reasons = listed(_(REASON[reason]) for reason in view.dispute.reasons)
    lines = [Paragraph(reasons or _("not disputed any more"), "bad" if reasons else "muted")]
    if view.item is None:
        lines.append(
            Paragraph(
                _("This revision has no such item: {key}").format(key=view.dispute.item.key), "bad"
            )
        )
    return lines


def evidence(view: AdjudicationView) -> list[Paragraph]:
    """What judges rest on, then what lies beside the item: the likest that was handed in, or what was said."""
    lines: list[Paragraph] = []
    rests: dict[tuple[PredictedItem, ...], list[str]] = {}
    for side, items in zip(view.dispute.machines, view.supporting, strict=True):
        if items:
            rests.setdefault(items, []).append(one_line(side.by.name, 30))
    for items, names in rests.items():
        lines.append(Paragraph(_("{judge} rests on").format(judge=listed(names)), "stage"))
        lines += [predicted_paragraph(item) for item in items]
    item = view.item
    if item is None:
        return lines
    if not rests or item.said or item.gold.item.kind is ItemKind.PREDICTED:
        return [*lines, *evidence_paragraphs(item, FEW)]
    told = {each.index for items in rests for each in items}
    beside = [predicted_paragraph(each) for each in item.closest[:FEW] if each.index not in told]
    if beside:
        lines += [Paragraph(_("likest of the rest"), "stage"), *beside]
    return lines


def decision(view: AdjudicationView) -> list[Paragraph]:
    """All decisions so far, the one that counts last, and what goes with the next one."""
    lines = [_decided(view, each) for each in view.history[-4:]]
    lines = [Paragraph(p.text, "strong" if p is lines[-1] else "muted") for p in lines]
    if view.party:
        lines.append(
            Paragraph(
                _("Your own label is a side of this. You may decide; your name stands with it."),
                "bad",
            )
        )
    if view.comment:
        lines.append(Paragraph(_("Goes with the decision: {text}").format(text=view.comment)))
    if not lines:
        lines.append(
            Paragraph(_("Decide, then say why it was wrong. Labels and verdicts stay."), "muted")
        )
    return lines


def cause_label(cause: Why) -> str:
    return _(CAUSES[cause][1])


def cause_choices() -> list[tuple[str, str, str]]:
    """Each cause with its letter, and its name with its meaning, in order."""
    room = max(cell_len(_(name)) for _letter, name, _meaning in CAUSES.values())
    return [
        (cause, letter, f"{set_cell_size(_(name), room)}  {_(meaning)}")
        for cause, (letter, name, meaning) in CAUSES.items()
    ]


def _values(dispute: Dispute) -> list[str]:
    given = [x.value.value for x in dispute.labels] + [m.value for m in dispute.machines]
    sides = Counter(value for value in given if value not in UNDECIDED)
    if dispute.item.kind is ItemKind.STATUS:
        ranked = [value for value, _n in sides.most_common()] or [""]
    else:
        ranked = ["yes", "no"]
    return [*ranked, *sorted({value for value in given if value in UNDECIDED})]


def _column(view: AdjudicationView, values: list[str]) -> Column:
    lines: list[Paragraph] = []
    kind = view.dispute.item.kind
    for value in values:
        own: list[Paragraph] = []
        for label in view.dispute.labels:
            own += _label(label) if label.value.value == value else []
        for side in view.dispute.machines:
            own += _machine(side) if side.value == value else []
        if own and value != values[0]:
            lines.append(Paragraph(value_label(kind, value), "stage"))
        lines += own
    title = value_label(kind, values[0]) if values and values[0] else _("Otherwise")
    return Column(title, lines or [Paragraph(_("Nobody."), "muted")])


def _label(label: Label) -> list[Paragraph]:
    about = [_("blind") if label.phase == "blind" else _("after the reveal")]
    if label.seconds:
        about.append(_("{n} s").format(n=f"{label.seconds:.0f}"))
    if label.source:
        about.append(one_line(label.source, 30))
    lines = [Paragraph(f"{one_line(label.person, 40)} · {' · '.join(about)}", "strong")]
    if label.comment:
        lines.append(Paragraph(label.comment, indent=2))
    if label.gold_wrong:
        lines.append(Paragraph(f"{DISPUTED} {_('holds the gold for wrong')}", "bad", indent=2))
    return lines


def _machine(side: MachineSide) -> list[Paragraph]:
    lines = [Paragraph(player_label(side.by), "agent")]
    if side.rationale:
        lines.append(Paragraph(side.rationale, "muted", indent=2))
    return lines


def _decided(view: AdjudicationView, each: Adjudication) -> Paragraph:
    parts = [
        headed(
            f"{when(each.at)} {one_line(each.by, 30)}",
            value_label(view.dispute.item.kind, each.value.value),
        ),
        cause_label(each.cause),
        each.comment,
    ]
    return Paragraph(" · ".join(filter(None, parts)))
