"""What a quality probe found out, in the form in which it is shown and weighed."""

from __future__ import annotations

from typing import Literal, get_args

from cuecard.core.tasks.base import Frozen

ProbeName = Literal["closed_book", "open_book", "ambiguity", "laws", "with_facts"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)


class ProbeResult(Frozen):
    """One attempt at a task, one examination of it, or the reason why there was none.

    `run_id`, `trial_id`: where it is recorded, None where nothing was played. `model`: the name in the
    configuration, "" for rules. `baseline`: by an embedded player or by rule alone; what a baseline
    hands in is no evidence about models. `score`: from 0 to 1. `right`: an attempt that reached the
    bar; for an examination whether the task has what is looked for (see the probe). `findings`: what
    was found, for people. `skipped`: why there is no result. `cost`: None where the model has no price.
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
    cost: float | None = None


class ProbeOutcome(Frozen):
    """What `run_probe` did: its run, None where there was nothing to play, and the results by task.

    `left_open`: trials that wait to be resumed. `halt`: why the run stopped before its end.
    """

    probe: ProbeName
    run_id: int | None = None
    results: dict[str, tuple[ProbeResult, ...]] = {}
    left_open: int = 0
    halt: str = ""
