"""Agreement: of reviewers on decided rounds, of second golds with the authors'."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.annotate.datasheet.material import Material
from cuecard.annotate.datasheet.model import GoldFigures, PairLine
from cuecard.annotate.datasheet.people import Masks
from cuecard.annotate.review.figures import DECISION, FiguresReport
from cuecard.annotate.second_gold.agreement import pooled
from cuecard.annotate.second_gold.alignment import align


def pair_lines(report: FiguresReport, masks: Masks) -> tuple[PairLine, ...]:
    """Pairs of reviewers by the names that they have in the sheet."""
    order = {masks.name(name): at for at, name in enumerate(masks.order)}
    return tuple(sorted(_pairs(report, masks), key=lambda p: (order[p.left], order[p.right])))


def gold_figures(material: Material) -> GoldFigures:
    golds = [gold for task in material.tasks.values() for gold in task.golds]
    levels = pooled(align(gold.author, gold.second).levels for gold in golds).levels
    return GoldFigures(
        golds=len(golds),
        tasks=sum(bool(task.golds) for task in material.tasks.values()),
        levels=levels,
    )


def _pairs(report: FiguresReport, masks: Masks) -> Iterable[PairLine]:
    rank = {name: at for at, name in enumerate(masks.order)}
    for pair in report.pairs:
        decision = pair.on(DECISION)
        if decision is not None:
            left, right = sorted(pair.who, key=lambda name: rank[name])
            yield PairLine(left=masks.name(left), right=masks.name(right), decision=decision)
