"""Tasks as YAML files, or as JSON, which is YAML: exact round trips, and errors that name file, path, line and reason.

Every scalar is read as the text that stands there (`tail: 1.50` stays "1.50"); models turn text into
numbers where they want numbers. Only below `foreign.fields`, which mirrors another benchmark's JSON,
unquoted scalars get their JSON type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.formats.walking import find_files
from cuecard.core.i18n import _
from cuecard.core.tasks.ids import id_problem
from cuecard.core.tasks.models import FAMILIES, Task
from cuecard.core.validation import Dialect, Place, TaggedUnion, format_place, validated
from cuecard.core.yaml_nodes import MAX_FILE_BYTES, read_mapping, read_text

__all__ = [
    "MAX_FILE_BYTES",
    "SUFFIXES",
    "dump_data",
    "dump_task",
    "format_place",
    "is_task_data",
    "is_task_file",
    "load_task",
    "load_tasks",
    "parse_task",
    "read_data",
    "task_dialect",
]

SUFFIXES = (".yaml", ".yml", ".json")


def load_task(path: Path) -> Task:
    """Read one task. Raises `FileProblems` with everything that is wrong with the file."""
    return parse_task(read_text(path, task_dialect().title), str(path))


def load_tasks(paths: Iterable[Path]) -> tuple[list[tuple[Path, Task]], list[FileProblem]]:
    """Read many files and folders (`*.yaml`, `*.yml` and JSON of ours, recursively); one bad file stops no other."""
    tasks: list[tuple[Path, Task]] = []
    problems: list[FileProblem] = []
    for path in paths:
        found = find_files(path, SUFFIXES, deep=True)
        problems.extend(found.problems)
        for file in filter(is_task_file, found.files) if path.is_dir() else found.files:
            try:
                tasks.append((file, load_task(file)))
            except FileProblems as error:
                problems.extend(error.problems)
    return tasks, problems


def is_task_file(path: Path) -> bool:
    """Whether a file of a folder is meant as a task: of JSON, which may be anything, what holds the fields of one. A
    file that cannot be read is, so that its problem is told.
    """
    if path.suffix.lower() != ".json":
        return True
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return False
        content = path.read_bytes()
        if b'"family"' not in content or b'"gold"' not in content:
            return False
        data = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(data, dict) and is_task_data(cast(dict[str, Any], data))


def is_task_data(data: Mapping[str, Any]) -> bool:
    """Whether the fields of an object are those that every task file has."""
    return data.get("family") in FAMILIES and "id" in data and isinstance(data.get("gold"), dict)


def parse_task(text: str, file: str = "task.yaml") -> Task:
    """Read one task from YAML text; `file` is only used in messages. Raises `FileProblems`."""
    lines: dict[Place, int] = {}
    data = read_data(text, file, lines)
    task = validated(Task, data, file, lines, task_dialect())
    if reason := id_problem(task.id):
        problem = FileProblem(file, "id", reason, lines.get(("id",)), "string_pattern_mismatch")
        raise FileProblems(task_dialect().title, [problem])
    return task


def read_data(text: str, file: str, lines: dict[Place, int]) -> dict[str, Any]:
    """What the text of a task file holds, shaped as a task's data but not yet checked: every scalar is
    text. `lines` receives the line of each place. Raises `FileProblems`.
    """
    dialect = task_dialect()
    data = read_mapping(text, file, lines, dialect)
    family = data.pop("family", None)
    gold = data.get("gold")
    if family is not None and family not in FAMILIES:
        reason = _("must be one of {choices}").format(choices=", ".join(FAMILIES))
        problem = FileProblem(file, "family", reason, lines.get(("family",)), "literal_error")
        raise FileProblems(dialect.title, [problem])
    if family is not None and isinstance(gold, dict):
        data["gold"] = {"family": family, **gold}
    return data


def dump_task(task: Task) -> str:
    """The task as YAML, defaults left out; `parse_task` gives back an equal task."""
    return dump_data(task.model_dump(mode="json", exclude_defaults=True), task.family)


def dump_data(data: Mapping[str, Any], family: str) -> str:
    """A task's data as the text of its file, whether or not they are a task yet."""
    gold = {key: value for key, value in data["gold"].items() if key != "family"}
    ordered: dict[str, Any] = {}
    for key in Task.model_fields:
        if key in data:
            ordered[key] = gold if key == "gold" else data[key]
        if key == "title":
            ordered["family"] = family
    ordered |= {key: value for key, value in data.items() if key not in ordered}
    return yaml.dump(
        _styled(ordered), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110
    )


def task_dialect() -> Dialect:
    """How task files show in error messages."""
    return Dialect(
        title=_("This task cannot be read"),
        shape=_("must be a mapping with id, title, family and so on"),
        # Mirrors another benchmark's JSON, where 1 and "1" differ.
        typed=lambda place: place[:2] == ("foreign", "fields"),
        unions={"gold": TaggedUnion(1, "family", FAMILIES, tag_at_top=True)},
    )


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


class _FlowList(list[Any]):
    """A list written on one line."""


if TYPE_CHECKING:
    _Fast = yaml.SafeDumper
else:
    # Writes the same, in a tenth of the time; absent where PyYAML was built without libyaml.
    _Fast = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Fast):
    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_str(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = None
    if "\n" in value and _BLOCK_SAFE.fullmatch(value) is not None:
        style = "|"
    elif _ODD.search(value) is not None:
        # Other styles fold or drop odd line breaks, tabs and blanks at the ends of lines.
        style = '"'
    elif _NUMBER.fullmatch(value) is not None:
        # YAML 1.1, which PyYAML quotes for, takes 1e3 for text; the reader takes it for a number.
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_BLOCK_SAFE = re.compile(r"\S(?:[^\r\t\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*\S)?\n?")
_Dumper.add_representer(str, _represent_str)
_Dumper.add_representer(
    _Flow, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", v.items(), flow_style=True)
)
_Dumper.add_representer(
    _FlowList, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True)
)


def _styled(data: dict[str, Any]) -> dict[str, Any]:
    """Long lists of small things (triples, rows, facts) take a line each."""
    gold: dict[str, Any] = data["gold"]
    for key in ("nodes", "triples", "columns", "facts"):
        if key in gold:
            gold[key] = [_on_a_line(item) for item in gold[key]]
    if "rows" in gold:
        gold["rows"] = [_flat(row) for row in gold["rows"]]
    return data


def _on_a_line(item: object) -> object:
    if not isinstance(item, dict):
        return item
    return _Flow({k: _flat(v) for k, v in cast(dict[str, Any], item).items()})


def _flat(value: object) -> object:
    return _FlowList(cast(list[Any], value)) if isinstance(value, list) else value
