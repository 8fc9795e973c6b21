"""Task files: import and export of tasks in any format, and what is wrong with files, as `cuecard check` says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.lint.codes import RULES, Finding, Severity
from cuecard.annotate.lint.rules import SAME_ID, code_of, lint
from cuecard.core.errors import CuecardError, FileProblem, NotFound
from cuecard.core.formats.base import FORMATS, detect
from cuecard.core.formats.files import SUFFIXES, find_files, mark, read_file
from cuecard.core.formats.round_trip import joined, left_out
from cuecard.core.i18n import _, headed, listed
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family, Task
from cuecard.core.tasks.yaml_io import load_tasks
from cuecard.core.text import storable
from cuecard.core.worlds.contamination import canary_of

if TYPE_CHECKING:
    from cuecard.core.formats.base import Format, Reading
    from cuecard.store.workspace import Workspace


AUTO = "auto"
Outcome = Literal["new", "revised", "unchanged"]


# Called with how many files of how many are done; whether to go on.
Progress = Callable[[int, int], bool]
# A transaction of many tasks is much faster than many of one; of so many, nobody waits long.
_BATCH = 200


class ImportedTask(Frozen):
    """A task that was imported. `revision`: its number now; `revised`: there was an earlier one."""

    task_id: str
    title: str
    revision: int
    outcome: Outcome
    file: str = ""


class ImportProblem(Frozen):
    """One problem of a file that was not imported."""

    file: str
    place: str
    reason: str
    line: int | None = None

    @property
    def mark(self) -> str:
        """The line, as it stands behind the file, unless the place tells it."""
        told = self.place.startswith(_("line {line}").format(line=self.line))
        return "" if self.line is None or told else f":{self.line}"

    def __str__(self) -> str:
        return headed(f"{self.file}{self.mark}", self.place, self.reason)


class ImportReport(Frozen):
    """What importing a path did. `files`: how many were read; `others`: how many of the folder only another format would
    read; `dry`: nothing was saved; `stopped`: somebody stopped it, so the rest was not imported.
    """

    format: str
    tasks: tuple[ImportedTask, ...]
    problems: tuple[ImportProblem, ...]
    files: int = 0
    others: int = 0
    dry: bool = False
    stopped: bool = False

    @property
    def bad_files(self) -> int:
        """How many files were not imported."""
        return len({problem.file for problem in self.problems})

    def count(self, outcome: Outcome) -> int:
        return sum(task.outcome == outcome for task in self.tasks)


def format_named(name: str, path: Path | None = None) -> Format:
    """The format of this name; for `auto`, the one that `path` is in. Raises `CuecardError`."""
    if name != AUTO:
        if name in FORMATS:
            return FORMATS[name]
        raise CuecardError(
            _("Unknown format"), name, _("formats: {names}").format(names=listed(FORMATS))
        )
    if path is not None and not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    found = detect(path) if path is not None else None
    if found is None:
        raise _unreadable(path) or CuecardError(
            _("The format of this file is not known"),
            str(path or ""),
            _("Name it with --format: {names}").format(names=listed(FORMATS)),
            in_app=_("Choose it under Format."),
        )
    return FORMATS[found]


def _unreadable(path: Path | None) -> FileProblem | None:
    """What the file cannot be read for, if it is that."""
    if path is None or not path.is_file() or path.suffix.lower() not in SUFFIXES:
        return None
    objects = read_file(path)
    return next((each for each in objects if isinstance(each, FileProblem)), None)


def import_path(
    workspace: Workspace,
    path: Path,
    *,
    format: str = AUTO,
    by: str,
    dry: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import the tasks of a file or folder, file by file; a file with a problem is not imported, and the report says
    what is wrong. An unchanged task stays as it is; a changed one gets a new revision that keeps what the file's format
    cannot hold. Drafts stay.

    With `dry` nothing is saved. If interrupted or stopped, every file is imported in full or not at all. Raises
    `CuecardError` if the path does not exist or its format is unknown.
    """
    chosen = format_named(format, path)
    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    found = chosen.files(path)
    every = find_files(path, [suffix for each in FORMATS.values() for suffix in each.suffixes])
    families: dict[str, Family] = {
        s.id: s.family for s in workspace.tasks.summaries(include_retired=True)
    }
    problems = list(found.problems)
    imported: list[ImportedTask] = []
    batch: list[tuple[Path, Task]] = []
    done, stopped = 0, False

    def save() -> None:
        imported.extend(_save(workspace, chosen, batch, by=by, dry=dry))
        batch.clear()

    for reading in chosen.read(found.files):
        wrong = [*reading.problems, *_strangers(reading, families, chosen)]
        problems.extend(wrong)
        if not wrong:
            batch.extend((reading.path, task) for task in reading.tasks)
        if len(batch) >= _BATCH:
            save()
        done += 1
        if progress is not None and not progress(done, len(found.files)):
            stopped = done < len(found.files)
            break
    save()
    return ImportReport(
        format=chosen.name,
        tasks=tuple(imported),
        problems=tuple(map(_problem, problems)),
        files=done,
        others=len({*every.files} - {*found.files}),
        dry=dry,
        stopped=stopped,
    )


def _save(
    workspace: Workspace, format_: Format, batch: Sequence[tuple[Path, Task]], *, by: str, dry: bool
) -> Iterator[ImportedTask]:
    if not batch:
        return

    def join(given: Task, newest: Task) -> Task:
        if format_.join is not None:
            return format_.join(given, newest)
        return joined(given, newest, format_.through, format_.made_up)

    tasks = [task for _path, task in batch]
    saved = workspace.tasks.save_all(tasks, author=by, message=format_.name, join=join, dry=dry)
    for (path, _task), one in zip(batch, saved, strict=True):
        yield _imported(one.task_id, one.title, one.before, one.number, str(path))


def _imported(task_id: str, title: str, before: int, number: int, file: str = "") -> ImportedTask:
    outcome: Outcome = "new" if not before else "unchanged" if number == before else "revised"
    return ImportedTask(
        task_id=task_id, title=title, revision=number, outcome=outcome, file=storable(file)
    )


def _strangers(
    reading: Reading, families: Mapping[str, Family], format_: Format
) -> list[FileProblem]:
    """Problems with tasks whose id belongs to a task of another family."""
    reason = _("{id} is a {family} task in this workspace; choose another id")
    return [
        FileProblem(
            str(reading.path), format_.id_place, reason.format(id=task.id, family=families[task.id])
        )
        for task in reading.tasks
        if families.get(task.id, task.family) != task.family
    ]


def _problem(problem: FileProblem) -> ImportProblem:
    return ImportProblem(
        file=storable(problem.file), place=problem.place, reason=problem.reason, line=problem.line
    )


class ExportReport(Frozen):
    """What an export wrote. `left_out`: what the format cannot hold of these tasks, in words, with the number of times."""

    format: str
    tasks: int
    files: tuple[Path, ...]
    left_out: dict[str, int]


class ExportPreview(Frozen):
    """What an export would do: the tasks that fit the format, how many others there are, and what it cannot hold of
    them.
    """

    task_ids: tuple[str, ...]
    others: int
    left_out: dict[str, int]


def preview_export(
    workspace: Workspace, task_ids: Sequence[str], format: str, *, load: bool = True
) -> ExportPreview:
    """What an export would do. Without `load`, `left_out` stays empty. Raises `NotFound` for an unknown id."""
    chosen = format_named(format)
    families = {s.id: s.family for s in workspace.tasks.summaries(include_retired=True)}
    unique = tuple(dict.fromkeys(task_ids))
    fitting = tuple(id_ for id_ in unique if families.get(id_) in chosen.families)
    tasks = [revision.task for revision in workspace.tasks.newest(fitting)] if load else []
    return ExportPreview(
        task_ids=fitting,
        others=len(unique) - len(fitting),
        left_out=left_out(tasks, chosen.through),
    )


def export_tasks(
    workspace: Workspace,
    folder: Path,
    *,
    format: str = "cuecard",
    task_ids: Sequence[str] | None = None,
    family: Family | None = None,
    canary: str = "",
) -> ExportReport:
    """Write the newest revisions into `folder` (made if absent): those named, or all that are in
    use, each file with a canary (`canary`, or the task's own) where its format has comments. Raises `NotFound` for an unknown id, `CuecardError` if the format cannot hold a task or
    nothing is left to write.
    """
    chosen = format_named(format)
    if task_ids is None:
        task_ids = [s.id for s in workspace.tasks.summaries(family=family)]
    tasks = [revision.task for revision in workspace.tasks.newest(dict.fromkeys(task_ids))]
    if not tasks:
        raise NotFound(
            _("Nothing to export"),
            _("No task fits."),
            _("`cuecard import` brings tasks in."),
            in_app=_("{IMPORT} on the list of tasks brings tasks in."),
        )
    files = chosen.write_tasks(tasks, folder)
    owners = tasks if len(files) == len(tasks) else [tasks[0]] * len(files)
    for file, task in zip(files, owners, strict=True):
        mark(file, canary_of(task.id, canary))
    return ExportReport(
        format=chosen.name,
        tasks=len(tasks),
        files=tuple(files),
        left_out=left_out(tasks, chosen.through),
    )


class Problem(Finding):
    """A finding with its file. `E` codes are about files and shapes, `L` codes are rules."""

    file: str
    task_id: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return headed(self.file, self.place, self.reason)


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


def check_paths(paths: Iterable[Path]) -> CheckReport:
    """Check task files and folders of them; one bad file hides nothing about the others."""
    today = date.today()
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
