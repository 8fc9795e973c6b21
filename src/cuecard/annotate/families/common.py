"""What authors, reviewers and evaluators know of several families alike: gold that is one answer."""

from collections.abc import Sequence

from cuecard.annotate.results.trial_against_gold import AnswerAgainst, FactResult, unusable
from cuecard.core.tasks.gold import Gold
from cuecard.core.verdicts import (
    Decision,
    Decisions,
    Item,
    ItemKind,
    Judgement,
    Prediction,
    answer_of,
)


def answer_terms(gold: Gold, item: Item, prediction: Prediction) -> tuple[str, ...]:
    """The gold's answers, then the one that was given."""
    del item
    given = answer_of(prediction)
    return gold.answers if given is None else (*gold.answers, given)


def answer_against(
    gold: str,
    also: Sequence[str],
    prediction: Prediction,
    judgement: Judgement | None,
    facts: tuple[FactResult, ...] = (),
) -> AnswerAgainst:
    """One answer beside the gold's."""
    decisions = Decisions.of(judgement.verdicts if judgement else ())
    verdict = decisions.verdict(ItemKind.ANSWER)
    reason, raw = unusable(prediction)
    return AnswerAgainst(
        gold=gold,
        also=tuple(also),
        given=answer_of(prediction),
        decision=verdict.decision if verdict else Decision.UNJUDGED,
        rationale=verdict.rationale if verdict else "",
        reason=reason,
        raw=raw,
        facts=facts,
    )
