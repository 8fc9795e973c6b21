"""Tasks as YAML files: exact round trips, and errors that name file, path, line and reason.

Every scalar is read as the text that stands there (`tail: 1.50` stays "1.50"); models turn text into
numbers where they want numbers. Only below `foreign.fields`, which mirrors another benchmark's JSON,
unquoted scalars get their JSON type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.tasks.models import FAMILIES, Task

MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_NODES = 2_000_000
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "false": False}
_INT = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")

Place = tuple[str | int, ...]


def load_task(path: Path) -> Task:
    """Read one task. Raises `FileProblems` with everything that is wrong with the file."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _single(path, _("is larger than 32 MB; split it or remove pasted pages"))
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _single(path, _("is not UTF-8 text; save it as UTF-8")) from error
    except OSError as error:
        raise _single(path, error.strerror or str(error)) from error
    return parse_task(text, str(path))


def load_tasks(paths: Iterable[Path]) -> tuple[list[tuple[Path, Task]], list[FileProblem]]:
    """Read many files and folders (`*.yaml`, `*.yml`, recursively); one bad file stops no other."""
    tasks: list[tuple[Path, Task]] = []
    problems: list[FileProblem] = []
    for path in _expand(paths):
        try:
            tasks.append((path, load_task(path)))
        except FileProblems as error:
            problems.extend(error.problems)
    return tasks, problems


def parse_task(text: str, file: str = "task.yaml") -> Task:
    """Read one task from YAML text; `file` is only used in messages. Raises `FileProblems`."""
    lines: dict[Place, int] = {}
    data = _read(text, file, lines)
    family = data.pop("family", None)
    gold = data.get("gold")
    if family is not None and family not in FAMILIES:
        reason = _("must be one of {choices}").format(choices=", ".join(FAMILIES))
        raise FileProblems(
            _("This task cannot be read"),
            [FileProblem(file, "family", reason, lines.get(("family",)))],
        )
    if family is not None and isinstance(gold, dict):
        data["gold"] = {"family": family, **gold}
    try:
        return Task.model_validate(data)
    except ValidationError as error:
        raise FileProblems(_("This task cannot be read"), _problems(error, file, lines)) from error


def dump_task(task: Task) -> str:
    """The task as YAML, defaults left out; `parse_task` gives back an equal task."""
    data = task.model_dump(mode="json", exclude_defaults=True)
    gold = data.get("gold", {})
    gold.pop("family", None)
    ordered: dict[str, Any] = {}
    for key in Task.model_fields:
        if key in data:
            ordered[key] = data[key]
        if key == "title":
            ordered["family"] = task.family
    return yaml.dump(
        _styled(ordered), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110
    )


def _expand(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            found = sorted(
                p for p in path.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file()
            )
            yield from found
        else:
            yield path


def _single(path: Path, reason: str) -> FileProblems:
    return FileProblems(_("This task cannot be read"), [FileProblem(str(path), "", reason)])


def _read(text: str, file: str, lines: dict[Place, int]) -> dict[str, Any]:
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        root = cast(yaml.Node | None, yaml.compose(text, Loader=loader))
        if root is None:
            raise _Unreadable(_("is empty"), None)
        data = _Builder(lines).build(root, (), typed=False)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        reason = " ".join(filter(None, (error.context, error.problem)))
        if line is not None:
            reason = _("line {line}: {reason}").format(line=line, reason=reason)
        raise FileProblems(_("This is not YAML"), [FileProblem(file, "", reason, line)]) from error
    except yaml.YAMLError as error:
        reason = str(error).replace("\n", " ")
        raise FileProblems(_("This is not YAML"), [FileProblem(file, "", reason)]) from error
    except _Unreadable as error:
        raise FileProblems(
            _("This task cannot be read"),
            [FileProblem(file, error.place, error.reason, error.line)],
        ) from error
    except RecursionError as error:
        reason = _("is nested too deeply")
        raise FileProblems(
            _("This task cannot be read"), [FileProblem(file, "", reason)]
        ) from error
    if not isinstance(data, dict):
        reason = _("must be a mapping with id, title, family and so on")
        raise FileProblems(_("This task cannot be read"), [FileProblem(file, "", reason, 1)])
    return cast(dict[str, Any], data)


class _Unreadable(Exception):
    def __init__(self, reason: str, line: int | None, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.place = reason, line, place


class _Builder:
    """Turns YAML nodes into plain data, remembering the line of each place.

    PyYAML's own constructors would guess types, let a later key replace an earlier one, and expand
    nested aliases without bound.
    """

    def __init__(self, lines: dict[Place, int]) -> None:
        self._lines = lines
        self._count = 0

    def build(self, node: yaml.Node, place: Place, *, typed: bool) -> object:
        self._count += 1
        if self._count > _MAX_NODES:
            raise _Unreadable(_("holds too many values (nested aliases?)"), None)
        line = node.start_mark.line + 1 if node.start_mark else None
        if line is not None:
            self._lines.setdefault(place, line)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, typed)
        if isinstance(node, yaml.SequenceNode):
            items = cast(list[yaml.Node], node.value)
            return [self.build(item, (*place, i), typed=typed) for i, item in enumerate(items)]
        return self._mapping(cast(yaml.MappingNode, node), place, typed)

    def _mapping(self, node: yaml.MappingNode, place: Place, typed: bool) -> dict[str, object]:
        result: dict[str, object] = {}
        for key_node, value_node in cast(list[tuple[yaml.Node, yaml.Node]], node.value):
            line = key_node.start_mark.line + 1 if key_node.start_mark else None
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Unreadable(_("a key must be plain text"), line, format_place(place))
            key = str(key_node.value)
            inner = (*place, key)
            if key in result:
                reason = _("stands here twice (line {line})").format(line=line)
                raise _Unreadable(reason, line, format_place(inner))
            if line is not None:
                self._lines[inner] = line
            below_foreign = typed or place == ("foreign",)
            result[key] = self.build(value_node, inner, typed=below_foreign)
        return result


def _scalar(node: yaml.ScalarNode, typed: bool) -> object:
    value = str(node.value)
    if node.style in ("'", '"', "|", ">"):
        return value
    if value in _NULLS:
        return None
    if typed:
        if value in _BOOLS:
            return _BOOLS[value]
        if _INT.fullmatch(value):
            return int(value)
        if _FLOAT.fullmatch(value):
            return float(value)
    return value


def format_place(place: Sequence[str | int]) -> str:
    """`("persona", "stages", 3, "line")` as `persona.stages[3].line`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _problems(error: ValidationError, file: str, lines: dict[Place, int]) -> list[FileProblem]:
    problems: list[FileProblem] = []
    for item in error.errors(include_url=False, include_context=True):
        place = tuple(
            part
            for index, part in enumerate(item["loc"])
            if not (index == 1 and item["loc"][0] == "gold" and part in FAMILIES)
        )
        where, reason = format_place(place), _reason(item["type"], item["msg"], item.get("ctx", {}))
        if item["type"] == "union_tag_not_found":
            place, where = (), "family"
            reason = _("is missing; must be one of {choices}").format(choices=", ".join(FAMILIES))
        elif item["type"] == "value_error" and (inner := _INNER_PLACE.match(reason)):
            where = f"{where}.{inner[1]}" if where else inner[1]
            reason = inner[2]
        problems.append(FileProblem(file, where, reason, _line_of(place, lines)))
    return problems


# Validators of whole models name the place inside them: "rows[3]: has 2 cells, not 4".
_INNER_PLACE = re.compile(r"([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): (.+)", re.DOTALL)


def _line_of(place: Place, lines: dict[Place, int]) -> int | None:
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return None


def _reason(kind: str, message: str, context: dict[str, Any]) -> str:
    match kind:
        case "missing":
            return _("is missing")
        case "extra_forbidden":
            return _("is not a known field; check the spelling")
        case "string_type":
            return _("must be text")
        case "tuple_type" | "list_type":
            return _("must be a list")
        case "dict_type" | "model_type" | "model_attributes_type":
            return _("must be a mapping of fields")
        case "too_short":
            return _("must have at least {n} entries").format(n=context.get("min_length", 1))
        case "enum" | "literal_error":
            return _("must be one of {choices}").format(choices=context.get("expected", ""))
        case "value_error":
            return str(context.get("error", message))
        case _:
            return message[:1].lower() + message[1:]


class _Flow(dict[str, Any]):
    """A mapping written on one line."""


class _FlowList(list[Any]):
    """A list written on one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_str(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    # Literal blocks cannot hold trailing blanks, tabs or odd line breaks exactly.
    block = "\n" in value and _BLOCK_SAFE.fullmatch(value) is not None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if block else None)


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
            gold[key] = [_Flow({k: _flat(v) for k, v in item.items()}) for item in gold[key]]
    if "rows" in gold:
        gold["rows"] = [_FlowList(row) for row in gold["rows"]]
    return data


def _flat(value: object) -> object:
    return _FlowList(cast(list[Any], value)) if isinstance(value, list) else value
