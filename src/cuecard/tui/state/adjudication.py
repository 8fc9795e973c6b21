"""What an adjudicator sees of a dispute, as paragraphs: its sides beside each other, and what was decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cuecard.annotate.adjudication.deciding import CAUSES, Why
from cuecard.annotate.adjudication.disputes import UNDECIDED, Dispute, MachineSide, Reason
from cuecard.annotate.adjudication.session import AdjudicationView
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.lab.items import PredictedItem
from cuecard.store.label_records import Adjudication, Label
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.state.gold_disputes import DISPUTED
from cuecard.tui.state.labelling import evidence_paragraphs, predicted_paragraph, value_label
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.runs import when

REASON: dict[Reason, str] = {
    "people": N_("people differ"),
    "judge": N_("people and judge differ"),
    "gold": N_("gold held for wrong"),
}


@dataclass(frozen=True)
class Column:
    """A pane with one side, or several, of a dispute."""

    title: str
    paragraphs: list[Paragraph]


def progress(name: str, position: int, total: int, left: int, title: str = "") -> str:
    """Where the walk stands."""
    said = [one_line(name, 30)] if name else []
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
    reasons = ", ".join(_(REASON[reason]) for reason in view.dispute.reasons)
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
        lines.append(Paragraph(_("{judge} rests on").format(judge=", ".join(names)), "stage"))
        lines += [predicted_paragraph(item) for item in items]
    item = view.item
    if item is None:
        return lines
    if not rests or item.said or item.gold.item.kind is ItemKind.PREDICTED:
        return [*lines, *evidence_paragraphs(item)]
    told = {each.index for items in rests for each in items}
    beside = [predicted_paragraph(each) for each in item.closest if each.index not in told]
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
    """Letter, name and meaning of each cause, in order."""
    return [(letter, _(name), _(meaning)) for letter, name, meaning in CAUSES.values()]


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
        f"{when(each.at)} {one_line(each.by, 30)}: {value_label(view.dispute.item.kind, each.value.value)}",
        cause_label(each.cause),
        each.comment,
    ]
    return Paragraph(" · ".join(filter(None, parts)))
