"""What a quality probe found out, in the form in which it is shown and weighed."""

from __future__ import annotations

from typing import Literal, get_args

from cuecard.core.tasks.base import Frozen

ProbeName = Literal["closed_book", "open_book", "ambiguity", "laws", "with_facts"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)
ATTEMPTS: tuple[ProbeName, ...] = ("closed_book", "open_book", "with_facts")
"""Probes in which a model tries the task and is judged; in the others an examiner looks at the task."""

_GOOD_WHEN_RIGHT: tuple[ProbeName, ...] = ("laws", "with_facts")

Why = Literal["", "not_applicable", "no_model", "open", "failed", "unusable", "unjudged"]
"""Why there is no result: the probe says nothing about such tasks; no model can be called; the trial has
not ended; a call failed; the examiner gave no usable answer; the judge has not decided.
"""


class ProbeResult(Frozen):
    """One attempt at a task, one examination of it, or the reason why there was none.

    `run_id`, `trial_id`: where it is recorded, None where nothing was played. `model`: the name in the
    configuration, "" for our own rules. `baseline`: an embedded player tried, or the world was one that
    answers from the gold; that is no evidence about models.

    `right` is about what each probe asks. closed_book, open_book, with_facts: `score` (0 to 1) reached
    the bar. ambiguity: it can be seen through without retrieval; `score` is the share of candidates or
    stages that were named unseen. laws: the facts agree with each other and are plausible. None
    together with a reason in `skipped` and `why`.

    `findings`: what was found, for people. `cost`: None where the model has no price.
    """

    probe: ProbeName
    run_id: int | None = None
    trial_id: int | None = None
    model: str = ""
    baseline: bool = False
    sample: int = 0
    score: float | None = None
    right: bool | None = None
    findings: tuple[str, ...] = ()
    skipped: str = ""
    why: Why = ""
    cost: float | None = None

    @property
    def flagged(self) -> bool | None:
        """Whether this result speaks against the task; None if it says nothing."""
        if self.right is None:
            return None
        return self.right is not (self.probe in _GOOD_WHEN_RIGHT)


class ProbeOutcome(Frozen):
    """What `run_probe` did: its run, None where there was nothing to play, and the results by task.

    `left_open`: trials that wait to be resumed. `halt`: why the run stopped before its end. `problems`:
    what went wrong with players or judges, each once.
    """

    probe: ProbeName
    run_id: int | None = None
    results: dict[str, tuple[ProbeResult, ...]] = {}
    left_open: int = 0
    halt: str = ""
    problems: tuple[str, ...] = ()
