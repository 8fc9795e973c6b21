"""From the words after `cuecard run` to a run that is entered and can be played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.errors import FileProblem, FileProblems, NotFound
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.lab.plans import RunSettings
    from cuecard.store.records import RunRecord
    from cuecard.store.workspace import Workspace

_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")


def plan_run(
    workspace: Workspace,
    targets: Sequence[str],
    *,
    agents: Sequence[str],
    samples: int,
    max_turns: int,
    seed: int,
    name: str,
    person: str,
    config: Config,
    settings: RunSettings,
) -> RunRecord:
    """Enter the run; files among the targets are imported first. Raises `NotFound`, `ConfigError`, and
    `FileProblems` when anything is wrong with a file: nothing is played then.
    """
    from cuecard.core.events import Limits
    from cuecard.lab.plans import RunPlan, create_run

    tasks = [task for target in targets for task in _tasks_of(workspace, target, person)]
    if not targets:
        tasks = [summary.id for summary in workspace.tasks.summaries()]
    if not tasks:
        raise NotFound(
            _("There are no tasks to run"),
            workspace.public_url,
            _("`cuecard import` brings tasks in, `cuecard init` the sample tasks"),
        )
    plan = RunPlan(
        name=name,
        tasks=tuple(tasks),
        agents=tuple(agents),
        samples=samples,
        limits=Limits(max_turns=max_turns),
        seed=seed,
        settings=settings,
    )
    return create_run(workspace, plan, by=person, config=config)


def _tasks_of(workspace: Workspace, target: str, person: str) -> list[str]:
    from cuecard.lab.importing import import_path

    path = Path(target)
    known = {summary.id for summary in workspace.tasks.summaries(include_retired=True)}
    if target in known:
        return [target]
    if not (path.exists() or path.suffix.lower() in _SUFFIXES or len(path.parts) > 1):
        raise NotFound(
            _("There is no such task"),
            target,
            _("give the id of a task in the workspace, or a file to import"),
        )
    report = import_path(workspace, path, by=person)
    if report.problems:
        raise FileProblems(
            _("These tasks cannot be run"),
            [FileProblem(p.file, p.place, p.reason, p.line) for p in report.problems],
            _("Nothing was run."),
        )
    return [task.task_id for task in report.tasks]
