"""Scores of a checkpoint task (FORMATS: discobench)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.events import Event
from cuecard.core.i18n import _
from cuecard.core.scoring.answer import score_answer
from cuecard.core.scoring.log import user_turns
from cuecard.core.scoring.measures import Measure, count, share
from cuecard.core.scoring.steps import StepRecord, steps_of
from cuecard.core.tasks import CheckpointChain
from cuecard.core.verdicts import Judgement

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
