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

CHECKPOINT_MEASURES = (
    "acc",
    "cp",
    "detection_accuracy",
    "detection_precision",
    "detection_recall",
    "detection_f1",
    "ce_a",
    "ce_b",
    "asks",
)


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
        tp = sum(1 for step in ambiguous if step.right_asks)
        fp = sum(1 for step in plain if step.asks)
        return cls(tp=tp, fn=len(ambiguous) - tp, fp=fp, tn=len(plain) - fp)

    @property
    def total(self) -> int:
        return self.tp + self.fn + self.fp + self.tn


def score_checkpoints(
    chain: CheckpointChain, events: Sequence[Event], judgement: Judgement
) -> tuple[Measure, ...]:
    """All of FORMATS, discobench, for one trial, and `unjudged`.

    `acc`: the final answer is equivalent; `cp`: advanced / all checkpoints. Both are in [0, 1]; `asks`
    counts turns. CP and asks are undefined for an answer that comes without a dialogue.
    """
    steps = steps_of(chain, events)
    acc, unjudged = score_answer("acc", judgement)
    return (acc, *_progress(chain, events, steps), *score_detection(steps), unjudged)


def _progress(
    chain: CheckpointChain, events: Sequence[Event], steps: Sequence[StepRecord]
) -> tuple[Measure, Measure]:
    if not user_turns(events):
        reason = _("there is no dialogue to score")
        return Measure("cp", None, 0, reason), Measure("asks", None, 0, reason)
    advanced = sum(1 for step in steps if step.advanced)
    return (
        share("cp", advanced, len(chain.steps), ""),
        count("asks", sum(step.asks for step in steps)),
    )


def score_detection(steps: Sequence[StepRecord]) -> tuple[Measure, ...]:
    """Detection over reached checkpoints, CE-A and CE-B, of one trial or, pooled, of many.

    FORMATS, discobench: accuracy, precision, recall and F1 of `Confusion`; CE-A = asked rightly /
    asked; CE-B = asked rightly and then advanced / asked. An ask is a turn. A ratio of nothing is
    undefined; F1 is 2 TP / (2 TP + FP + FN), so it is 0 where ambiguities were reached and none asked.
    """
    table = Confusion.of(steps)
    asks = sum(step.asks for step in steps)
    never = _("the agent never asked")
    reached = _("no checkpoint was reached")
    return (
        share("detection_accuracy", table.tp + table.tn, table.total, reached),
        share("detection_precision", table.tp, table.tp + table.fp, never),
        share("detection_recall", table.tp, table.tp + table.fn, _("no ambiguity was reached")),
        _detection_f1(table),
        share("ce_a", sum(step.right_asks for step in steps), asks, never),
        share("ce_b", sum(step.fruitful_asks for step in steps), asks, never),
    )


def _detection_f1(table: Confusion) -> Measure:
    weight = 2 * table.tp + table.fp + table.fn
    if not weight:
        reason = _("no ambiguity was reached and the agent never asked")
        return Measure("detection_f1", None, table.total, reason)
    return Measure("detection_f1", 2 * table.tp / weight, table.total)
