"""Scores of a facts task (Mind-ParaWorld)."""

from collections.abc import Sequence
from enum import StrEnum

from cuecard.core.engine.events import Concluded, Event
from cuecard.core.engine.trial_log import agent_tool_answers
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.i18n import _
from cuecard.core.verdicts import Judgement, Measure, score_answer, share

_EASY_MOST = 5
_MID_MOST = 10


class Tier(StrEnum):
    """Difficulty by the number of facts."""

    EASY = "easy"
    MID = "mid"
    HARD = "hard"


def tier_of_count(facts: int) -> Tier:
    """The tier of a world (Mind-ParaWorld): easy with 1-5 facts, mid with 6-10, hard with 11 and more."""
    return Tier.EASY if facts <= _EASY_MOST else Tier.MID if facts <= _MID_MOST else Tier.HARD


def score_facts(
    world: FactWorld, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    """`pass_at_1`, `fcr`, `hit_rate`, `premature_stop` and `unjudged`.

    After Mind-ParaWorld: FCR (fact coverage rate) = distinct facts that the agent's queries matched / all facts; hit
    rate = hits / tool calls. Both are averaged over all instances including zeros, so a trial without tool calls scores
    0 (with n = 0) rather than being left out. Premature stop (its error analysis): 1 if the agent handed in an answer
    while facts were still unfound.
    """
    hits = [answered.answer.hit for answered in agent_tool_answers(events)]
    known = {fact.key for fact in world.facts}
    matched = {key for hit in hits if hit for key in hit.matched_fact_keys} & known
    passed, unjudged = score_answer("pass_at_1", judgement)
    return (
        passed,
        share("fcr", len(matched), len(known), ""),
        share(
            "hit_rate",
            sum(1 for hit in hits if hit and hit.hit),
            len(hits),
            _("no tool was called"),
            zero=True,
        ),
        _premature(events, len(matched), len(known)),
        unjudged,
    )


def _premature(events: Sequence[Event], found: int, known: int) -> Measure:
    if not any(isinstance(event.body, Concluded) for event in events):
        return Measure("premature_stop", None, 0, _("the agent handed nothing in"))
    return Measure("premature_stop", float(found < known), 1)
