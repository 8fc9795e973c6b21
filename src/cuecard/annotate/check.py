"""Everything that is wrong with task files, in structure and content, as `cuecard check` says it."""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

from cuecard.annotate.lint.codes import RULES, Finding, Severity
from cuecard.annotate.lint.rules import SAME_ID, code_of, lint
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.yaml_io import load_tasks


class Problem(Finding):
    """A finding with its file. `E` codes are about files and shapes, `L` codes are rules."""

    file: str
    task_id: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.reason) if part)


class CheckReport(Frozen):
    """`tasks`: how many could be read. `problems` in the order of files, errors before warnings, with
    what authors have silenced.
    """

    tasks: int
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.open if p.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.open if p.severity is Severity.WARNING)

    @property
    def silenced(self) -> tuple[Problem, ...]:
        """What an author has looked at and means to leave, with the reason."""
        return tuple(p for p in self.problems if p.silenced)

    @property
    def open(self) -> tuple[Problem, ...]:
        """What nobody has silenced."""
        return tuple(p for p in self.problems if not p.silenced)


def check_paths(paths: Iterable[Path], today: date | None = None) -> CheckReport:
    """Check task files and folders of them; one bad file hides nothing about the others."""
    today = today or date.today()
    loaded, unreadable = load_tasks(paths)
    problems = [
        Problem(
            code=(code := code_of(problem)),
            severity=Severity.ERROR,
            file=problem.file,
            place=problem.place,
            reason=problem.reason,
            hint=_(RULES[code].mend),
            line=problem.line,
        )
        for problem in unreadable
    ]
    files: dict[str, Path] = {}
    for path, task in loaded:
        if task.id in files and files[task.id] != path:
            problems.append(
                Problem(
                    code=SAME_ID,
                    severity=Severity.ERROR,
                    file=str(path),
                    task_id=task.id,
                    place="id",
                    reason=_("{id} is also the id in {file}").format(
                        id=task.id, file=files[task.id]
                    ),
                    hint=_("Give every task an id of its own."),
                    about=task.id,
                )
            )
        files.setdefault(task.id, path)
        problems += [
            Problem(**finding.model_dump(), file=str(path), task_id=task.id)
            for finding in lint(task, today)
        ]
    problems.sort(key=lambda p: (p.file, p.silenced != "", p.severity is Severity.WARNING))
    return CheckReport(tasks=len(loaded), problems=tuple(problems))
