"""The sample tasks, and the demonstration, in which each is played, judged and scored offline."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.annotate.review.workflow import SAMPLES_AUTHOR, submit
from cuecard.core.contributions import TaskState
from cuecard.core.engine.events import Limits, RunEvent
from cuecard.core.errors import NotFound
from cuecard.core.evaluation.runs import RunPlan, start_run
from cuecard.core.evaluation.scores import GroupScores, RunScores, TrialScores, score_run
from cuecard.core.i18n import _
from cuecard.core.records import Revision
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import parse_task

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


FOLDER = "sample_tasks"


def sample_names() -> tuple[str, ...]:
    """The file names of the sample tasks, sorted."""
    folder = resources.files("cuecard") / FOLDER
    return tuple(sorted(f.name for f in folder.iterdir() if f.name.endswith((".yaml", ".yml"))))


@cache
def load_sample(name: str) -> Task:
    """The sample task in the packaged file `name`. Raises `FileProblems` if it is damaged."""
    text = (resources.files("cuecard") / FOLDER / name).read_text(encoding="utf-8")
    return parse_task(text, f"{FOLDER}/{name}")


def load_samples() -> tuple[Task, ...]:
    """All sample tasks, in the order of their files."""
    return tuple(load_sample(name) for name in sample_names())


def import_samples(workspace: Workspace, by: str = "") -> tuple[Revision, ...]:
    """Save the sample tasks in the workspace; those that are there, unchanged or edited, stay as they are. `by`: their
    author, by default nobody who works here; where roles prove who somebody is, whoever adds them.
    """
    by = by or workspace.roles.mine().person or SAMPLES_AUTHOR
    known = {summary.id for summary in workspace.tasks.summaries(include_retired=True)}
    return tuple(
        workspace.tasks.revision(task.id)
        if task.id in known
        else workspace.tasks.save(task, author=by, message="sample")
        for task in load_samples()
    )


def offer_sample(workspace: Workspace) -> str:
    """Submit a sample task that nobody has worked on, so that anybody can try a review alone; gives its id. Raises
    `NotFound` if there is none.
    """
    import_samples(workspace)
    for name in sample_names():
        task_id = load_sample(name).id
        untouched = workspace.tasks.authors(task_id) == frozenset((SAMPLES_AUTHOR,))
        if untouched and workspace.reviews.state(task_id) is TaskState.DRAFT:
            submit(workspace, task_id, SAMPLES_AUTHOR)
            return task_id
    raise NotFound(
        _("No sample task is left to review"),
        _("Every one has been worked on, or is in review."),
        _("Add the sample tasks to another workspace: cuecard --db try.db init"),
    )


PERSON = "demo"


class DemoReport(Frozen):
    """The result of the demonstration. `problems`: trials that ended by a failure or could not be judged. `db`: the
    workspace, None if it was temporary.
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
    """Play every sample task with the offline baselines, in a temporary workspace unless `out_db` names one to keep.
    Must not be called from a running event loop.
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
