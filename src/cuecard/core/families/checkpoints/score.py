"""Scores of checkpoint tasks (DiscoBench): what an agent did at each checkpoint, detection, and behaviour profiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.engine.trial_log import agent_tool_answers, is_search, user_turns
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.i18n import _
from cuecard.core.verdicts import Judgement, Measure, count, score_answer, share

ASKED = frozenset((CheckpointStatus.AMBIGUITY_DETECTED, CheckpointStatus.WRONG_AMBIGUITY_DETECTED))
ADVANCED = frozenset(
    (
        CheckpointStatus.CORRECT_ANSWER,
        CheckpointStatus.MISSED_AMBIGUITY_CORRECT,
        CheckpointStatus.TASK_COMPLETED,
    )
)


@dataclass(frozen=True)
class StepRecord:
    """One reached checkpoint of one trial.

    `asks`: turns that the responder classified as asking; `right_asks`: those about this ambiguity.
    `searches_before_ask`: searches before the first ask, None without one. `advanced`: at any turn of this checkpoint.
    """

    checkpoint: int
    ambiguous: bool
    searches: int
    asks: int
    right_asks: int
    searches_before_ask: int | None
    advanced: bool

    @property
    def asked(self) -> bool:
        """Whether at least one turn was classified as asking, rightly or not."""
        return self.asks > 0

    @property
    def asked_rightly(self) -> bool:
        """Whether at least one ask was about the checkpoint's ambiguity."""
        return self.right_asks > 0


def steps_of(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepRecord, ...]:
    """The reached checkpoints in order: those to which the responder assigned a turn.

    The user's event of turn t holds the status of the agent's turn t - 1, whose searches count for that checkpoint. A
    completed task without a checkpoint means the last one.
    """
    searches: dict[int, int] = defaultdict(int)
    for answered in agent_tool_answers(events):
        if is_search(answered):
            searches[answered.turn] += 1
    readings: dict[int, list[UserSpoke]] = defaultdict(list)
    for spoke in user_turns(events):
        index = checkpoint_of(spoke, len(chain.steps))
        if spoke.turn > 0 and index is not None:
            readings[index].append(spoke)
    return tuple(_record(chain, i, readings[i], searches) for i in sorted(readings))


def checkpoint_of(spoke: UserSpoke, steps: int) -> int | None:
    """The checkpoint (from 0, below `steps`) to which a user turn assigned the agent's turn; None if to none."""
    index = spoke.reply.checkpoint
    if index is None and spoke.reply.status is CheckpointStatus.TASK_COMPLETED:
        return steps - 1
    return index if index is not None and 0 <= index < steps else None


def _record(
    chain: CheckpointChain, index: int, spoken: Sequence[UserSpoke], searches: dict[int, int]
) -> StepRecord:
    ambiguous = chain.steps[index].ambiguity is not None
    asked_at = [n for n, spoke in enumerate(spoken) if spoke.reply.status in ASKED]
    right_at = [
        n
        for n in asked_at
        if ambiguous and spoken[n].reply.status is CheckpointStatus.AMBIGUITY_DETECTED
    ]
    # `.get`, since indexing would add keys to a defaultdict.
    counts = [searches.get(spoke.turn - 1, 0) for spoke in spoken]
    return StepRecord(
        checkpoint=index,
        ambiguous=ambiguous,
        searches=sum(counts),
        asks=len(asked_at),
        right_asks=len(right_at),
        searches_before_ask=sum(counts[: asked_at[0] + 1]) if asked_at else None,
        advanced=any(spoke.reply.status in ADVANCED for spoke in spoken),
    )


DETECTION_MEASURES = ("det_accuracy", "det_precision", "det_recall", "det_f1", "ce_a", "ce_b")
"""Ratios of counts of checkpoints. An agent's are ratios of the sums over all its trials (`core.scoring.aggregate`), so
each has its denominator as its n."""
CHECKPOINT_MEASURES = ("acc", "cp", *DETECTION_MEASURES, "asks")


@dataclass(frozen=True)
class Confusion:
    """Reached checkpoints by whether they are ambiguous and whether the agent asked.

    TP: ambiguous and asked rightly; FN: ambiguous and not asked rightly; FP: unambiguous and asked; TN: unambiguous and
    not asked (DiscoBench).
    """

    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0

    @classmethod
    def of(cls, steps: Sequence[StepRecord]) -> Confusion:
        ambiguous = [step for step in steps if step.ambiguous]
        plain = [step for step in steps if not step.ambiguous]
        tp = sum(step.asked_rightly for step in ambiguous)
        fp = sum(step.asked for step in plain)
        return cls(tp=tp, fn=len(ambiguous) - tp, fp=fp, tn=len(plain) - fp)

    @property
    def total(self) -> int:
        return self.tp + self.fn + self.fp + self.tn


def score_checkpoints(
    chain: CheckpointChain, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    """DiscoBench's measures of one trial, and `unjudged`.

    `acc`: 1 if the final answer is equivalent; `cp`: advanced / all checkpoints of the task; `asks`: number of asking
    turns; the others are those of `score_detection`. A prediction without a dialogue only has `acc`.
    """
    acc, unjudged = score_answer("acc", judgement)
    if not user_turns(events):
        reason = _("there is no dialogue to score")
        missing = (name for name in CHECKPOINT_MEASURES if name != "acc")
        return (acc, *(Measure(name, None, 0, reason) for name in missing), unjudged)
    steps = steps_of(chain, events)
    return (
        acc,
        share("cp", sum(step.advanced for step in steps), len(chain.steps), ""),
        *score_detection(steps),
        count("asks", sum(step.asks for step in steps)),
        unjudged,
    )


def score_detection(steps: Sequence[StepRecord]) -> tuple[Measure, ...]:
    """Detection, CE-A and CE-B over the reached checkpoints of one trial (DiscoBench, eq. 6-13).

    Accuracy = (TP + TN) / all, precision = TP / (TP + FP), recall = TP / (TP + FN), F1 = 2 TP / (2 TP + FP + FN), with
    the counts of `Confusion`. CE-A = checkpoints asked rightly / checkpoints asked at; CE-B = checkpoints asked rightly
    and advanced / checkpoints asked at. With a denominator of 0 a ratio is undefined. n is the denominator.
    """
    table = Confusion.of(steps)
    asked = sum(step.asked for step in steps)
    never = _("nothing was asked")
    return (
        share("det_accuracy", table.tp + table.tn, table.total, _("no checkpoint was reached")),
        share(
            "det_precision",
            table.tp,
            table.tp + table.fp,
            _("nothing was detected") if asked else never,  # all that was asked missed the point
        ),
        share("det_recall", table.tp, table.tp + table.fn, _("no ambiguity was reached")),
        share(
            "det_f1",
            2 * table.tp,
            2 * table.tp + table.fp + table.fn,
            _("no ambiguity was reached and nothing was asked"),
        ),
        share("ce_a", sum(step.asked_rightly for step in steps), asked, never),
        share("ce_b", sum(step.asked_rightly and step.advanced for step in steps), asked, never),
    )


FALLBACK_K = 3.0


class Profile(StrEnum):
    DIRECT_GUESS = "DirectGuess"
    SEARCH_HEAVY_GUESS = "SearchHeavyGuess"
    DIRECT_ASK = "DirectAsk"
    SEARCH_THEN_ASK = "SearchThenAsk"


@dataclass(frozen=True)
class ProfileCount:
    """The reached ambiguous checkpoints with one behaviour profile: their number, their share of all, and the share of
    them that passed.
    """

    profile: Profile
    count: int
    share: Measure
    pass_rate: Measure


def typical_searches(steps: Sequence[StepRecord]) -> float:
    """The threshold K: the median number of searches at ambiguous checkpoints that advanced without an ask; 3, the
    paper's value, if there are none (DiscoBench).
    """
    counts = [s.searches for s in steps if s.ambiguous and s.advanced and not s.asks]
    return float(median(counts)) if counts else FALLBACK_K


def profile_of(step: StepRecord, k: float) -> Profile:
    """The profile of a checkpoint (DiscoBench): DirectGuess (no ask, at most K searches), SearchHeavyGuess (no ask, more
    than K), DirectAsk (an ask before any search) or SearchThenAsk. Any ask counts, right or wrong.
    """
    if step.searches_before_ask is None:
        return Profile.DIRECT_GUESS if step.searches <= k else Profile.SEARCH_HEAVY_GUESS
    return Profile.SEARCH_THEN_ASK if step.searches_before_ask else Profile.DIRECT_ASK


def behaviour_profiles(
    steps: Sequence[StepRecord], k: float | None = None
) -> tuple[ProfileCount, ...]:
    """All four profiles over the ambiguous checkpoints of any number of trials, with pass rates.

    A checkpoint passes if it advanced. `k`: by default `typical_searches` of the same steps.
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
