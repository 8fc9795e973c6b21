"""What authors, reviewers and evaluators know of several families alike: gold that is one answer."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cuecard.annotate.families.registry import Answers, Decided, GoldAnswer, GoldElement
from cuecard.annotate.labelling.effect_rescoring import replaced
from cuecard.annotate.results.trial_against_gold import AnswerAgainst, FactResult, unusable
from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.predictions import Prediction, answer_of
from cuecard.core.tasks.gold import Gold
from cuecard.core.verdicts import Decision, Decisions, Item, ItemKind, Judgement

ANSWER = Item(kind=ItemKind.ANSWER)


def answer_terms(gold: Gold, _item: Item, prediction: Prediction) -> tuple[str, ...]:
    """The gold's answers, then the one that was given."""
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


def answer_element(field: str) -> Callable[[Gold, Item], GoldElement | None]:
    """The one item of gold whose final answer stands in this field."""

    def element(_gold: Gold, item: Item) -> GoldElement | None:
        return None if item.key != ANSWER.key else GoldElement(("gold", field))

    return element


def answer_told(
    _gold: Gold, predictions: Iterable[Prediction], _keys: Collection[str]
) -> Iterator[dict[str, tuple[str, ...]]]:
    """The answer that was given, at the place of the only one."""
    for given in map(answer_of, predictions):
        yield {ANSWER.key: (given,)} if given else {}


def final_answer(gold: Gold, field: str, asked: str) -> GoldAnswer:
    """What gold says in the field of its final answer."""
    return GoldAnswer(ANSWER.key, ("gold", field), asked, gold.answers)


NO_ANSWERS: Answers[Any] = Answers(
    lambda gold: (), lambda gold, predictions, keys: ({} for _one in predictions)
)
"""Of gold that is not one right value at each place: only people's doubts and the judge's decisions tell something of it."""


def answer_decided(_gold: Gold, events: Sequence[Event], _judgement: Judgement) -> Decided:
    """The answer, and how the agent's turns were read."""
    found: dict[str, Decision | CheckpointStatus | None] = {ANSWER.key: None}
    for event in events:
        body = event.body
        if isinstance(body, UserSpoke) and body.reply.status is not None:
            found[Item(kind=ItemKind.STATUS, index=body.turn).key] = body.reply.status
    return found


def as_replaced(_gold: Gold, judgement: Judgement, said: Mapping[str, Decision]) -> Judgement:
    """Nothing else follows from what people say of an item."""
    return replaced(judgement, said)


def no_strata(_gold: Gold, _at: int) -> None:
    """Of such gold, a sample is spread over the whole."""
