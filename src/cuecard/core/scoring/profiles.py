"""How agents meet ambiguous checkpoints: guess or ask, searching or not (FORMATS: discobench)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from cuecard.core.i18n import _
from cuecard.core.scoring.measures import Measure, share
from cuecard.core.scoring.steps import StepRecord

FALLBACK_K = 3.0


class Profile(StrEnum):
    DIRECT_GUESS = "DirectGuess"
    SEARCH_HEAVY_GUESS = "SearchHeavyGuess"
    DIRECT_ASK = "DirectAsk"
    SEARCH_THEN_ASK = "SearchThenAsk"


@dataclass(frozen=True)
class ProfileCount:
    """Reached ambiguous checkpoints with one profile: how many, their share, and how many passed."""

    profile: Profile
    count: int
    share: Measure
    pass_rate: Measure


def typical_searches(steps: Sequence[StepRecord]) -> float:
    """K: the median searches of ambiguous checkpoints that were advanced without an ask; 3, the
    paper's value, when there are none.
    """
    counts = [s.searches for s in steps if s.ambiguous and s.advanced and not s.asks]
    return float(median(counts)) if counts else FALLBACK_K


def profile_of(step: StepRecord, k: float) -> Profile:
    """DirectGuess (no ask, searches <= K), SearchHeavyGuess (no ask, > K), DirectAsk (ask before any
    search), SearchThenAsk. Any ask counts, rightly put or not.
    """
    if step.searches_before_ask is None:
        return Profile.DIRECT_GUESS if step.searches <= k else Profile.SEARCH_HEAVY_GUESS
    return Profile.SEARCH_THEN_ASK if step.searches_before_ask else Profile.DIRECT_ASK


def behaviour_profiles(
    steps: Sequence[StepRecord], k: float | None = None
) -> tuple[ProfileCount, ...]:
    """All four profiles over the ambiguous checkpoints of any number of trials, with pass rates.

    A checkpoint passes when it is advanced. Without `k`, K comes from the same steps.
    """
    limit = typical_searches(steps) if k is None else k
    ambiguous = [step for step in steps if step.ambiguous]
    found: list[ProfileCount] = []
    for profile in Profile:
        members = [step for step in ambiguous if profile_of(step, limit) is profile]
        passed = sum(1 for step in members if step.advanced)
        found.append(
            ProfileCount(
                profile,
                len(members),
                share("share", len(members), len(ambiguous), _("no ambiguity was reached")),
                share("pass_rate", passed, len(members), _("no checkpoint has this profile")),
            )
        )
    return tuple(found)
