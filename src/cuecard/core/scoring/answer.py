"""The one verdict on a final answer."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.scoring.decisions import Decisions
from cuecard.core.scoring.measures import Measure, count
from cuecard.core.verdicts import Decision, ItemKind, Judgement


def score_answer(name: str, judgement: Judgement) -> tuple[Measure, Measure]:
    """1 if the final answer was judged equivalent, 0 if not, undefined if unjudged; and `unjudged`."""
    decision = Decisions.of(judgement.verdicts).decision(ItemKind.ANSWER)
    unjudged = decision is Decision.UNJUDGED
    value = (
        Measure(name, None, 0, _("the answer was not judged"))
        if unjudged
        else Measure(name, float(decision is Decision.YES), 1)
    )
    return value, count("unjudged", float(unjudged))
