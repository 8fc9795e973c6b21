"""Whether the data of an edit is a task yet, and what is wrong with it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from pydantic import ValidationError

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.tasks import Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.validation import problems_of, validated


@dataclass(frozen=True)
class Problem:
    """`error`: cannot be saved or plays wrongly; `warning`: somebody ought to look. `code` is that of
    a rule or of a shape (`E…`). `about` is what a silence names; `silenced` its reason.
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
    try:
        return Task.model_validate(dict(data))
    except ValidationError as error:
        dialect = task_dialect()
        items = error.errors(include_url=False, include_context=False)
        if all(item["input"] is not None for item in items):
            raise FileProblems(dialect.title, problems_of(error, "", {}, dialect)) from error
    # Fields without a value count as left out, which takes data that may be changed.
    return validated(Task, copy.deepcopy(dict(data)), "", {}, dialect)


def invalid(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that keeps the data from being a task, as (place, reason)."""
    try:
        as_task(data)
    except FileProblems as error:
        return [(problem.place, problem.reason) for problem in error.problems]
    return []


def find_problems(data: Mapping[str, Any], today: date | None = None) -> list[Problem]:
    """What keeps the data from being a task, and what the linter finds in it, complete or not: errors
    first, what the author has silenced last.
    """
    from cuecard.annotate.lint import lint, loosely

    refused: tuple[FileProblem, ...] = ()
    try:
        task = as_task(data)
    except FileProblems as error:
        refused = error.problems
        task = loosely(data)
    findings = lint(task, today, complete=not refused) if task is not None else ()
    found = [
        *map(_refusal, refused),
        *(
            Problem(f.severity.value, f.place, f.reason, f.hint, f.code, f.about, f.silenced)
            for f in findings
        ),
    ]
    return sorted(found, key=lambda problem: (problem.silenced != "", problem.severity))


def _refusal(problem: FileProblem) -> Problem:
    from cuecard.annotate.lint import RULES
    from cuecard.annotate.lint.refusals import code_of
    from cuecard.core.i18n import _

    code = code_of(problem)
    return Problem("error", problem.place, problem.reason, _(RULES[code].mend), code)
