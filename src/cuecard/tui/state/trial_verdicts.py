"""A judge's verdicts beside a transcript, with what they rest on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.core.verdicts import Decision, Item
from cuecard.lab.trial_view import VerdictView
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.trial_lines import DECISION, PaneLine, work_entry

Shown = Literal["all", "no", "yes", "unjudged"]
SHOWN: tuple[Shown, ...] = ("all", "no", "yes", "unjudged")
SHOWN_LABEL: dict[Shown, str] = {
    "all": N_("all"),
    "no": N_("only ✗"),
    "yes": N_("only ✓"),
    "unjudged": N_("only ?"),
}

SHORT = 80
"""Characters of context that stand beside a gold item; longer context folds."""


def verdict_lines(
    verdicts: Sequence[VerdictView], shown: Shown = "all", only: Collection[Item] | None = None
) -> list[PaneLine]:
    """The decisions on the gold items, or on those in `only`; evidence and rationale fold."""
    return [
        _verdict_line(view)
        for view in verdicts
        if (shown == "all" or view.verdict.decision.value == shown)
        and (only is None or view.verdict.item in only)
    ]


def _verdict_line(view: VerdictView) -> PaneLine:
    verdict, gold = view.verdict, view.gold
    mark, tone = DECISION[verdict.decision]
    head = [Piece(f"{mark} ", tone), Piece(f"{verdict.item.index + 1}. {one_line(gold.text, 400)}")]
    context = " · ".join(one_line(part) for part in gold.context)
    fold: list[Paragraph] = []
    if len(context) > SHORT:
        fold.append(Paragraph(context, "muted", 4))
    elif context:
        head.append(Piece(f" · {context}", "muted"))
    if gold.also:
        fold += [
            Paragraph(_("Also accepted: {names}").format(names=", ".join(gold.also)), indent=4)
        ]
    for item in view.supporting:
        text = item.cell or item.text
        fold.append(Paragraph(f"← {item.index + 1}. {text}", "work", 4))
    missing = [i for i in verdict.supporting if i not in {item.index for item in view.supporting}]
    if missing:
        numbers = ", ".join(str(index + 1) for index in missing)
        fold.append(Paragraph(_("names items that do not exist: {n}").format(n=numbers), "bad", 4))
    if verdict.rationale:
        fold.append(Paragraph(verdict.rationale, "muted", 4))
    if not fold:
        fold.append(Paragraph(_("nothing supports it, and no reason was given"), "muted", 4))
    item = verdict.item
    return PaneLine(work_entry(head, *fold), item=item, place=f"verdict/{item.key}")


def verdict_counts(verdicts: Sequence[VerdictView]) -> str:
    """`✓ 12 · ✗ 3 of 15`, and how many are not judged."""
    n = {d: sum(view.verdict.decision is d for view in verdicts) for d in Decision}
    counts = _("✓ {yes} · ✗ {no} of {n}").format(
        yes=n[Decision.YES], no=n[Decision.NO], n=len(verdicts)
    )
    if n[Decision.UNJUDGED]:
        counts += " · " + _("? {n} not judged").format(n=n[Decision.UNJUDGED])
    return counts
