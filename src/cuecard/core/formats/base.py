"""The interface of a file format, what all formats share, and agents' outputs that were produced elsewhere; all formats by
name, of tasks and of trials, and detection of the format of a path.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any, cast

from pydantic import JsonValue, ValidationError

from cuecard.core.errors import CuecardError, FileProblem
from cuecard.core.formats.files import (
    SUFFIXES,
    Entry,
    FilesResult,
    Obj,
    find_files,
    first_objects,
    parse_json,
    read_objects,
)
from cuecard.core.formats.round_trip import Refused
from cuecard.core.i18n import _, headed, listed
from cuecard.core.plugins import Registry
from cuecard.core.tasks.base import Frozen, id_problem, too_long
from cuecard.core.tasks.models import Family, Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.text import is_cjk, one_line, slug, storable
from cuecard.core.validation import problems_of


class Response(Frozen):
    """An output for one sample of one task. `text`: what the agent handed in, for `parse_prediction`; `messages`: the chat
    messages as they came; `termination`: as the other program calls it, or empty.
    """

    task_id: str
    sample: int = 0
    text: str = ""
    termination: str = ""
    messages: tuple[dict[str, JsonValue], ...] = ()


def clean_messages(value: object) -> tuple[dict[str, JsonValue], ...]:
    """The messages that are objects, with every text in them storable."""
    if not isinstance(value, list):
        return ()
    cleaned = [clean(item) for item in cast(list[object], value)]
    return tuple(cast(dict[str, JsonValue], item) for item in cleaned if isinstance(item, dict))


def clean(value: object) -> object:
    """JSON with every text in it storable."""
    match value:
        case str():
            return storable(value)
        case list():
            return [clean(item) for item in cast(list[object], value)]
        case dict():
            fields = cast(Mapping[Any, object], value)
            return {storable(str(key)): clean(item) for key, item in fields.items()}
        case _:
            return value


TasksRead = tuple[list[Task], list[FileProblem]]
ResponsesRead = tuple[list[Response], list[FileProblem]]

_ID = re.compile(r"[\w.\-]{1,120}")


@dataclass(frozen=True)
class Reading:
    """The contents of one file. If there is a problem, nothing of the file should be imported."""

    path: Path
    tasks: tuple[Task, ...] = ()
    problems: tuple[FileProblem, ...] = ()


@dataclass(frozen=True)
class Format:
    """One file format. Reading never raises for the contents of a file: every problem names file, line and reason, and
    stops no other file. `write_tasks` raises `CuecardError` for a task of a family that the format cannot hold.
    `recognises` says whether an object is a task or a response of this format.

    Of a folder, the files with one of `suffixes` are read (`deep`: also in subfolders), only those that match one of
    `patterns` if any does, and of those the ones that `belongs` accepts. `id_place`: the format's name for a task's id.
    `through` gives a task as it would be read back from a file (None: unchanged); `made_up`: fields that a reader has to
    invent. `join` merges a task that was read with the newest revision of it.
    """

    name: str
    title: str
    families: Sequence[Family]
    suffixes: tuple[str, ...]
    read_file: Callable[[Path], TasksRead]
    write_tasks: Callable[[Sequence[Task], Path], list[Path]]
    patterns: tuple[str, ...] = ()
    deep: bool = False
    belongs: Callable[[Path], bool] = lambda path: True
    id_place: str = "id"
    through: Callable[[Task], Task] | None = None
    made_up: tuple[str, ...] = ()
    join: Callable[[Task, Task], Task] | None = None
    recognises: Callable[[Obj], bool] = lambda obj: False
    read_responses: Callable[[Path], ResponsesRead] | None = None

    def files(self, path: Path) -> FilesResult:
        """The files to read at `path`; an empty folder is a problem."""
        found = find_files(path, self.suffixes, patterns=self.patterns, deep=self.deep)
        if path.is_dir():
            found = replace(found, files=tuple(filter(self.belongs, found.files)))
        if found.files or found.problems:
            return found
        reason = _("holds no {suffixes} files").format(suffixes=listed(self.suffixes))
        return FilesResult(problems=(FileProblem(str(path), "", reason),))

    def read(self, files: Iterable[Path]) -> Iterator[Reading]:
        """Read each file in turn; a task that an earlier file contained already is a problem of the later one. Of two whose
        titles, made of their questions, begin alike, the second is headed by its id.
        """
        first: dict[str, Path] = {}
        begun: set[str] = set()
        for file in files:
            tasks, problems = self.read_file(file)
            for at, task in enumerate(tasks):
                begin = task.title[:20]
                if "title" in self.made_up and begin in begun:
                    tasks[at] = task.model_copy(update={"title": headed(task.id, task.title)})
                begun.add(begin)
                if reason := id_problem(task.id):
                    problems.append(FileProblem(str(file), self.id_place, headed(task.id, reason)))
                problems += [FileProblem(str(file), *found) for found in too_long(task)]
                if task.id in first:
                    reason = _("the task {id} stands in {file} too")
                    reason = reason.format(id=task.id, file=first[task.id])
                    problems.append(FileProblem(str(file), self.id_place, reason))
            tasks = [task for task in tasks if first.setdefault(task.id, file) is file]
            yield Reading(file, tuple(tasks), tuple(problems))

    def read_tasks(self, path: Path) -> TasksRead:
        """All good tasks of a file or folder, and everything that is wrong."""
        found = self.files(path)
        readings = list(self.read(found.files))
        problems = [*found.problems, *(p for reading in readings for p in reading.problems)]
        return [task for reading in readings for task in reading.tasks], problems


def collect(
    entries: Iterable[Entry | FileProblem],
    make: Callable[[Entry], Task],
    places: Sequence[tuple[str, str]] = (),
) -> TasksRead:
    """A task from each entry. `places`: regular expressions and replacements that turn a place in a task into the place
    in the format's object, for error messages.
    """
    tasks: list[Task] = []
    problems: list[FileProblem] = []
    seen: set[str] = set()
    for entry in entries:
        if isinstance(entry, FileProblem):
            problems.append(entry)
            continue
        try:
            task = make(entry)
        except Refused as error:
            problems.extend(entry.problem(*problem) for problem in error.problems)
        except ValidationError as error:
            for problem in problems_of(error, "", {}, task_dialect()):
                place = problem.place
                for pattern, replacement in places:
                    place = re.sub(pattern, replacement, place)
                problems.append(entry.problem(place, problem.reason))
        else:
            if task.id in seen:
                problems.append(
                    entry.problem("", _("the task {id} stands here twice").format(id=task.id))
                )
            else:
                seen.add(task.id)
                tasks.append(task)
    return tasks, problems


def collect_responses(
    path: Path, *, id_key: str, sample_key: str, patterns: Sequence[str] = ()
) -> ResponsesRead:
    """The responses in a file or folder of JSON lines. Without a sample number, the lines of a task are numbered from 0;
    without a task id, the file's name is the id.
    """
    responses: list[Response] = []
    problems: list[FileProblem] = []
    seen: set[tuple[str, int]] = set()
    counts: Counter[str] = Counter()
    for entry in read_objects(path, patterns):
        if isinstance(entry, FileProblem):
            problems.append(entry)
            continue
        data = entry.data
        text = data.get("response")
        if "response" not in data or not isinstance(text, str | None):
            reason = _("must be text") if "response" in data else _("is missing")
            problems.append(entry.problem("response", reason))
            continue
        try:
            task_id = task_id_of(data.get(id_key, entry.path.stem), id_key)
            sample = _sample(data.get(sample_key), sample_key)
        except Refused as error:
            problems.extend(entry.problem(*problem) for problem in error.problems)
            continue
        if sample is None:
            sample = counts[task_id]
        if (task_id, sample) in seen:
            reason = _("sample {sample} of task {id} stands here twice")
            problems.append(entry.problem("", reason.format(sample=sample, id=task_id)))
            continue
        seen.add((task_id, sample))
        counts[task_id] += 1
        responses.append(
            Response(
                task_id=task_id,
                sample=sample,
                text=storable(text or ""),
                termination=storable(str(data.get("termination") or "")),
                messages=clean_messages(data.get("messages")),
            )
        )
    return responses, problems


def _sample(value: object, key: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Refused((key, _("must be a whole number")))
    try:
        number = int(value)
    except (ValueError, OverflowError) as error:
        raise Refused((key, _("must be a whole number"))) from error
    if number < 0:
        raise Refused((key, _("must be at least {n}").format(n=0)))
    return number


def task_id_of(value: object, key: str) -> str:
    """The task id for another benchmark's id. Raises `Refused` if there is none."""
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise Refused((key, _("is missing") if value is None else _("must be a text or a number")))
    text = str(value).strip()
    # Python's `\w` matches more kinds of digits than an id may have.
    fits = _ID.fullmatch(text) and all(unicodedata.category(char) != "No" for char in text)
    return text if fits else slug(text)[:120]


def make_task(data: Obj) -> Task:
    """The task in `data`, where null means a missing field. Raises `ValidationError`."""
    return Task.model_validate(_without_nulls(data))


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        fields = cast(Obj, value)
        return {key: _without_nulls(v) for key, v in fields.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in cast(list[object], value)]
    return value


def decoded(value: object, place: str) -> Obj:
    """The object that `value` is, or holds as JSON text; empty if it is missing. Raises `Refused`."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError as error:
            raise Refused((place, str(error))) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refused((place, _("must be an object with named fields")))
    return cast(Obj, value)


def language_of(value: object, *texts: object) -> str:
    """`zh` or `en`: as `value` says, else by the script of `texts`; of another language its name, which no task takes."""
    named = str(value or "").strip().lower()
    if not named:
        return "zh" if any(isinstance(text, str) and is_cjk(text) for text in texts) else "en"
    known = {"zh": ("zh", "chinese", "cn", "中", "汉", "漢"), "en": ("en", "英")}
    return next((code for code, ways in known.items() if named.startswith(ways)), named)


def title_of(*texts: object) -> str:
    """A title for a task that has none: the first text that is not blank, on one line, cut after a word."""
    lines = (one_line(storable(text)) for text in texts if isinstance(text, str))
    line = next(filter(None, lines), _("Untitled"))
    cut = shorten(line, 60, placeholder="…")
    return cut if len(cut) > 40 else one_line(line, 60)


def scalar(value: object) -> object:
    """A number as text; anything else unchanged, for the pydantic model to validate."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def objects_in(obj: Obj, key: str) -> list[Obj]:
    """The list of objects at `key`; empty when absent. Raises `Refused`."""
    items = _list_in(obj, key)
    wrong = [
        (f"{key}[{index}]", _("must be an object with named fields"))
        for index, item in enumerate(items)
        if not isinstance(item, dict)
    ]
    if wrong:
        raise Refused(*wrong)
    return cast(list[Obj], items)


def texts_in(obj: Obj, key: str) -> list[object]:
    """The entries of the list at `key` that are not blank texts; empty when absent. Raises `Refused`."""
    items = _list_in(obj, key)
    return [scalar(item) for item in items if not (isinstance(item, str) and not item.strip())]


def _list_in(obj: Obj, key: str) -> list[object]:
    value = obj.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Refused((key, _("must be a list")))
    return cast(list[object], value)


def check_family(tasks: Sequence[Task], name: str, families: Sequence[Family]) -> None:
    """Raises `CuecardError` naming every task that the format cannot hold."""
    wrong = [task.id for task in tasks if task.family not in families]
    if wrong:
        raise CuecardError(
            _("These tasks do not fit the format"),
            _("{format} holds {families} tasks, not {ids}").format(
                format=name, families=listed(families), ids=listed(wrong)
            ),
            _("export them as cuecard YAML"),
        )


FORMATS: Registry[Format] = Registry(
    "cuecard.formats",
    {
        "cuecard": "cuecard.core.formats.cuecard_files:FORMAT",
        "vibesearch": "cuecard.core.formats.vibesearch:FORMAT",
        "widesearch": "cuecard.core.formats.widesearch:FORMAT",
        "paraworld": "cuecard.core.formats.paraworld:FORMAT",
        "discobench": "cuecard.core.formats.discobench:FORMAT",
        "graphml": "cuecard.core.formats.graphml:FORMAT",
        "turtle": "cuecard.core.formats.rdf:TURTLE",
        "jsonld": "cuecard.core.formats.rdf:JSON_LD",
    },
    fits="cuecard.core.formats.base:Format",
)
_EXPORT = "cuecard.core.evaluation.run_export_formats"
EXPORTS: Registry[Callable[..., Any]] = Registry(
    "cuecard.exports",
    {
        "vibesearch": f"{_EXPORT}:Vibesearch",
        "widesearch": f"{_EXPORT}:Widesearch",
        "jsonl": f"{_EXPORT}:JsonLines",
        "inspect": f"{_EXPORT}:InspectLogs",
        "otel": f"{_EXPORT}:Spans",
    },
    fits="collections.abc:Callable",
)
"""The formats of trials: what makes a `core.evaluation.run_exports.Writing` of its `Options`."""
# Told by their suffix, where it is not that of any JSON.
_BY_SUFFIX = ("cuecard", "graphml", "turtle", "jsonld")


def detect(path: Path) -> str | None:
    """The name of the format of a file or folder of tasks or responses; None if it is none of them, or does not exist."""
    if path.is_file():
        suffix = path.suffix.lower()
        for name in _BY_SUFFIX:
            if suffix in FORMATS[name].suffixes and suffix not in SUFFIXES:
                return name
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        for obj in first_objects(path):
            for name, format_ in FORMATS.items():
                if format_.recognises(obj):
                    return name
    others = [name for name in FORMATS if name not in FORMATS.shipped]
    if path.is_dir():
        found = (name for name in (*_BY_SUFFIX, *others) if FORMATS[name].files(path).files)
    else:
        found = (name for name in others if path.suffix.lower() in FORMATS[name].suffixes)
    return next(found, None)
