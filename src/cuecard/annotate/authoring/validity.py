"""Whether the data of an edit is a task yet, and what is wrong with it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cuecard.core.errors import FileProblems
from cuecard.core.tasks import Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.validation import validated


@dataclass(frozen=True)
class Problem:
    """`error`: cannot be saved or plays wrongly; `warning`: somebody ought to look. `code` is that of
    a rule, empty where the data is no task. `about` is what a silence names; `silenced` its reason.
    """

    severity: Literal["error", "warning"]
    place: str
    reason: str
    hint: str = ""
    code: str = ""
    about: str = ""
    silenced: str = ""


def as_task(data: Mapping[str, Any]) -> Task:
    """The data as a task. Raises `FileProblems` with everything that keeps it from being one."""
    return validated(Task, copy.deepcopy(dict(data)), "", {}, task_dialect())


def invalid(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that keeps the data from being a task, as (place, reason)."""
    try:
        as_task(data)
    except FileProblems as error:
        return [(problem.place, problem.reason) for problem in error.problems]
    return []


def find_problems(data: Mapping[str, Any]) -> list[Problem]:
    """What keeps the data from being a task; if nothing does, what the linter finds in it."""
    from cuecard.annotate.lint import lint

    try:
        task = as_task(data)
    except FileProblems as error:
        return [Problem("error", problem.place, problem.reason) for problem in error.problems]
    findings = [
        Problem(f.severity.value, f.place, f.reason, f.hint, f.code, f.about, f.silenced)
        for f in lint(task)
    ]
    return sorted(findings, key=lambda problem: problem.severity == "warning")
