"""Scores of a checkpoint task (DiscoBench): what an agent did at each checkpoint, and how it meets ambiguous ones."""

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

    `asks`: turns that the responder read as asking; `right_asks`: those about this ambiguity.
    `searches_before_ask`: None without an ask. `advanced`: at any turn, before an ask or after it.
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
        """At least one turn was read as asking, rightly or not; several asks at a checkpoint are one."""
        return self.asks > 0

    @property
    def asked_rightly(self) -> bool:
        """At least one ask was about its ambiguity."""
        return self.right_asks > 0


def steps_of(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepRecord, ...]:
    """The reached checkpoints in order: those that a responder's reading names.

    The user's words of turn t carry the reading of the agent's turn t - 1, and its searches are that
    turn's. A completed task without a checkpoint means the last one.
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
    """The checkpoint of `steps` that a user turn read the agent at; None where it did not say."""
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
    # .get: a defaultdict would grow while it is read.
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


DETECTION_MEASURES = (
    "det_accuracy",
    "det_precision",
    "det_recall",
    "det_f1",
    "ce_a",
    "ce_b",
)
"""Ratios of counts of checkpoints. Those of an agent are of the sums over all of its trials
(`core.scoring.aggregate`), so each has what is below the line as its n."""
CHECKPOINT_MEASURES = ("acc", "cp", *DETECTION_MEASURES, "asks")


@dataclass(frozen=True)
class Confusion:
    """Reached checkpoints by whether they are ambiguous and whether the agent asked.

    TP ambiguous and asked rightly, FN ambiguous and not, FP unambiguous and asked, TN unambiguous
    and not.
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
    """All of FORMATS, discobench, for one trial, and `unjudged`.

    `acc`: the final answer is equivalent; `cp`: advanced / all checkpoints. Both are in [0, 1]; `asks`
    counts turns. An answer that comes without a dialogue has nothing but `acc`.
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

    Accuracy, precision, recall and F1 of `Confusion`; CE-A = checkpoints asked rightly / checkpoints
    asked at; CE-B = asked rightly and advanced / asked at. A ratio of nothing is undefined; F1 is
    2 TP / (2 TP + FP + FN), so it is 0 where ambiguities were reached and none asked. n is what is below
    the line.
    """
    table = Confusion.of(steps)
    asked = sum(step.asked for step in steps)
    never = _("nothing was asked")
    return (
        share("det_accuracy", table.tp + table.tn, table.total, _("no checkpoint was reached")),
        share("det_precision", table.tp, table.tp + table.fp, never),
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
