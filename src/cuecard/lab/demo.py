"""The whole spine once, without a key or a network: every sample task played, judged and scored."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from cuecard.core.events import Limits
from cuecard.core.run import RunEvent
from cuecard.core.tasks.base import Frozen
from cuecard.lab.runs import RunPlan, start_run
from cuecard.lab.samples import import_samples
from cuecard.lab.scores import GroupScores, RunScores, TrialScores, score_run

PERSON = "demo"


class DemoReport(Frozen):
    """`scores` of the run; `problems`: trials that ended by a failure or could not be judged. `db`
    is the workspace that was kept, None if it was temporary.
    """

    db: Path | None
    scores: RunScores
    problems: tuple[str, ...]

    @property
    def trials(self) -> tuple[TrialScores, ...]:
        return self.scores.trials

    @property
    def groups(self) -> tuple[GroupScores, ...]:
        return self.scores.groups


def run_demo(
    out_db: Path | None = None, *, on_event: Callable[[RunEvent], None] | None = None
) -> DemoReport:
    """Play every sample task with the embedded players, in a temporary workspace unless `out_db`
    names one to keep. Not to be called from a running event loop.
    """
    with tempfile.TemporaryDirectory() if out_db is None else nullcontext() as folder:
        path = out_db or Path(str(folder)) / "demo.db"
        return asyncio.run(_demo(path, on_event)).model_copy(update={"db": out_db})


async def _demo(path: Path, on_event: Callable[[RunEvent], None] | None) -> DemoReport:
    from cuecard.store.workspace import Workspace

    with Workspace.open(path) as workspace:
        tasks = tuple(revision.task_id for revision in import_samples(workspace, PERSON))
        plan = RunPlan(name="demo", tasks=tasks, limits=Limits())
        outcome = await start_run(workspace, plan, by=PERSON, on_event=on_event)
        scores = score_run(workspace, outcome.run.id)
    problems = [f"#{failure.trial_id}: {failure.reason}" for failure in outcome.unjudged]
    for scored in scores.trials:
        end = scored.trial.termination
        if end is not None and end.is_failure:
            problems.append(f"{scored.trial.task_id}: {end.value} {scored.trial.detail}".strip())
    if outcome.run.finished < outcome.run.trials:
        problems.append(f"{outcome.run.finished}/{outcome.run.trials}")
    return DemoReport(db=None, scores=scores, problems=tuple(problems))
