"""What a labeller sees of one verdict, as paragraphs; nothing of the judge's before `reveal`."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.labelling import LabelView, Revealed
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.core.verdicts import ItemKind
from cuecard.lab.items import PredictedItem
from cuecard.tui.glyphs import DECISION
from cuecard.tui.state.labels import player_label
from cuecard.tui.state.transcript import Paragraph, Tone


def gold_paragraphs(view: LabelView) -> list[Paragraph]:
    """The gold item, its other names, where it belongs, and the question."""
    gold = view.gold
    lines = [Paragraph(gold.text, "strong")]
    if gold.also:
        lines.append(Paragraph(_("also: {names}").format(names=", ".join(gold.also)), "muted"))
    if gold.context and gold.item.kind is not ItemKind.ANSWER:
        lines.append(Paragraph(" · ".join(gold.context), "stage"))
    lines += [Paragraph(url, "muted") for url in gold.sources]
    lines.append(Paragraph(_("asked: {query}").format(query=one_line(view.query, 240)), "muted"))
    return lines


def evidence_paragraphs(view: LabelView) -> list[Paragraph]:
    """What the agent handed in that looks most like the gold item."""
    if view.unusable:
        return [
            Paragraph(_("Nothing usable was handed in: {why}").format(why=view.unusable), "bad")
        ]
    if not view.closest:
        return [Paragraph(_("The agent handed in nothing."), "muted")]
    lines = [_predicted(item) for item in view.closest]
    rest = view.predicted - len(view.closest)
    if rest > 0:
        text = ngettext("… and {n} more (m shows all)", "… and {n} more (m shows all)", rest)
        lines.append(Paragraph(text.format(n=rest), "muted"))
    return lines


def every_paragraph(items: Sequence[PredictedItem]) -> list[Paragraph]:
    """All that the agent handed in, in its order."""
    return [_predicted(item) for item in items]


def mine_paragraphs(view: LabelView) -> list[Paragraph]:
    if view.mine is None:
        return []
    glyph, _colour, label = DECISION[view.mine.value.value]
    lines = [Paragraph(_("You said: {label}").format(label=f"{glyph} {_(label)}"), "strong")]
    if view.mine.comment:
        lines.append(Paragraph(view.mine.comment, indent=2))
    return lines


def revealed_paragraphs(revealed: Revealed) -> list[Paragraph]:
    """The judge's decision, what it rests on, and whether it is the labeller's."""
    glyph, _colour, label = DECISION[revealed.decision.value]
    tone: Tone = "good" if revealed.agrees else "bad" if revealed.agrees is False else "plain"
    said = _("{judge}: {label}").format(
        judge=player_label(revealed.judge), label=f"{glyph} {_(label)}"
    )
    lines = [Paragraph(said, tone)]
    if revealed.rationale:
        lines.append(Paragraph(revealed.rationale, "muted", indent=2))
    lines += [_predicted(item) for item in revealed.supporting]
    return lines


def _predicted(item: PredictedItem) -> Paragraph:
    text = f"{item.cell}   ({item.text})" if item.cell else item.text
    return Paragraph(f"{item.index + 1}. {text}", indent=2)
