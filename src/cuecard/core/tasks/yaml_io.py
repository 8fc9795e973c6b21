"""Reads and writes task files (YAML or JSON): exact round trips, and errors that name file, place, line and reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from cuecard.core.errors import FileProblem, FileProblems, system_words
from cuecard.core.formats.files import find_files
from cuecard.core.i18n import _, listed
from cuecard.core.tasks.base import id_problem
from cuecard.core.tasks.models import FAMILIES, Task
from cuecard.core.validation import Dialect, Place, TaggedUnion, format_place, validated

MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_DEPTH = 100
# Python refuses to read integers of very many digits; longer ones stay text.
_MAX_DIGITS = 1000
_MAX_NODES = 2_000_000
_MAX_REPEATED = 100_000
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "false": False}
_INT = re.compile(r"-?(0|[1-9][0-9]*)")
# A character beyond U+FFFF as JSON escapes it, in two surrogates; YAML only has escapes of whole characters.
_HALVES = re.compile(
    r"((?<!\\)(?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def read_text(path: Path, title: str) -> str:
    """The file's text. Raises `FileProblems` when it is too large, unreadable or not UTF-8."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            # A device tells no size, and may never end.
            large = path.stat().st_size > MAX_FILE_BYTES
            text = "" if large else file.read(MAX_FILE_BYTES + 1)
        if large or len(text) > MAX_FILE_BYTES:
            raise _single(title, path, _("is larger than 32 MB; split it or remove pasted pages"))
        return text
    except UnicodeDecodeError as error:
        raise _single(title, path, _("is not UTF-8 text; save it as UTF-8")) from error
    except OSError as error:
        raise _single(title, path, system_words(error)) from error


def read_mapping(text: str, file: str, lines: dict[Place, int], dialect: Dialect) -> dict[str, Any]:
    """The file's top-level mapping; `lines` receives the line of each place. Raises `FileProblems`."""
    try:
        loader = _loader()
        text = _whole_characters(text)
        plain: dict[Place, int] = {}
        data = _plain_data(text, loader, plain, dialect.typed)
        if data is not None:
            lines |= plain
        else:
            _check_depth(text, loader)
            root = cast(yaml.Node | None, yaml.compose(text, Loader=loader))
            if root is None:
                raise _Unreadable(_("is empty"), None)
            data = _Builder(lines, dialect.typed).build(root, (), typed=False)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        if "nesting depth" in (
            error.problem or ""
        ):  # libyaml has a limit of its own, since PyYAML 6.0.4
            problem = FileProblem(file, "", _("is nested too deeply"), line)
            raise FileProblems(dialect.title, [problem]) from error
        reason = " ".join(filter(None, (error.context, error.problem)))
        if line is not None:
            reason = _("line {line}: {reason}").format(line=line, reason=reason)
        raise FileProblems(_("This is not YAML"), [FileProblem(file, "", reason, line)]) from error
    except yaml.YAMLError as error:
        reason = str(error).replace("\n", " ")
        raise FileProblems(_("This is not YAML"), [FileProblem(file, "", reason)]) from error
    except _Unreadable as error:
        raise FileProblems(
            dialect.title, [FileProblem(file, error.place, error.reason, error.line)]
        ) from error
    except RecursionError as error:
        problem = FileProblem(file, "", _("is nested too deeply"))
        raise FileProblems(dialect.title, [problem]) from error
    if not isinstance(data, dict):
        raise FileProblems(dialect.title, [FileProblem(file, "", dialect.shape, 1)])
    return cast(dict[str, Any], data)


def _whole_characters(text: str) -> str:
    """The text with escaped pairs of surrogates joined if it is JSON (lines stay as they are); other YAML unchanged."""
    if "\\u" not in text or _HALVES.search(text) is None:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _HALVES.sub(_joined, text)


def _joined(found: re.Match[str]) -> str:
    halves = int(found[2], 16), int(found[3], 16)
    return f"{found[1]}\\U{0x10000 + ((halves[0] - 0xD800) << 10) + halves[1] - 0xDC00:08x}"


@cache
def _loader() -> Any:
    """A YAML loader that resolves no types, which would take a third of the time in vain."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return type("Loader", (base,), {"yaml_implicit_resolvers": dict[str, Any]()})


def _check_depth(text: str, loader: Any) -> None:
    """Refuses deep nesting: libyaml's composer recurses in C, and ten thousand brackets would crash the process."""
    depth = 0
    for event in cast(Any, yaml.parse(text, Loader=loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                line = int(event.start_mark.line) + 1
                raise _Unreadable(_("is nested too deeply"), line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _plain_data(
    text: str, loader: Any, lines: dict[Place, int], typed: Callable[[Place], bool]
) -> object | None:
    """What `_Builder` makes of the text, in half the time; None where something is wrong or an alias stands, for that to
    see to.
    """
    # The collections that are open, with their places, and whether scalars in them have types.
    stack: list[tuple[dict[str, object] | list[object], Place, bool]] = []
    root: object = None
    key: Any = None
    count = 0
    event: Any
    try:
        # `yaml.parse` would make three calls of each event.
        for event in iter(loader(text).get_event, None):
            kind = event.__class__
            if kind not in _NODES:
                if kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                    stack.pop()
                elif kind is yaml.AliasEvent or (kind is yaml.DocumentStartEvent and count):
                    return None
                continue
            count += 1
            place, within = (), False
            inside = None
            if stack:
                inside, outer, within = stack[-1]
                if isinstance(inside, list):
                    place = (*outer, len(inside))
                elif key is None:
                    if kind is not yaml.ScalarEvent or event.anchor or event.value in inside:
                        return None
                    key = event.value
                    lines[(*outer, key)] = event.start_mark.line + 1
                    continue
                else:
                    place = (*outer, key)
                    within = within or typed(place)
            if event.anchor or count > _MAX_NODES or len(stack) >= _MAX_DEPTH:
                return None
            lines.setdefault(place, event.start_mark.line + 1)
            value: Any
            if kind is yaml.ScalarEvent:
                value = _scalar(event, within)
            else:
                value = {} if kind is yaml.MappingStartEvent else []
                stack.append((value, place, within))
            if isinstance(inside, list):
                inside.append(value)
            elif inside is None:
                root = value
            else:
                inside[key] = value
                key = None
    except yaml.YAMLError:
        return None
    return root


_NODES = frozenset((yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent))


def _single(title: str, path: Path, reason: str) -> FileProblems:
    return FileProblems(title, [FileProblem(str(path), "", reason)])


class _Unreadable(Exception):
    def __init__(self, reason: str, line: int | None, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.line, self.place = reason, line, place


class _Builder:
    """Turns YAML nodes into plain data, remembering the line of each place.

    PyYAML's own constructors would guess types, let a later key replace an earlier one, and expand
    nested aliases without bound.
    """

    def __init__(self, lines: dict[Place, int], typed: Callable[[Place], bool]) -> None:
        self._lines = lines
        self._typed = typed
        self._count = 0
        self._seen: set[int] = set()
        self._repeated = 0

    def build(self, node: yaml.Node, place: Place, *, typed: bool) -> object:
        self._count += 1
        # An alias repeats an earlier node; a few lines of aliases can stand for billions of nodes.
        self._repeated += id(node) in self._seen
        self._seen.add(id(node))
        if self._count > _MAX_NODES or self._repeated > _MAX_REPEATED:
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
            result[key] = self.build(value_node, inner, typed=typed or self._typed(inner))
        return result


_QUOTED = frozenset("'\"|>")


def _scalar(node: yaml.ScalarNode | yaml.ScalarEvent, typed: bool) -> object:
    value: str = node.value
    if node.style in _QUOTED:
        return value
    if value in _NULLS:
        return None
    if typed:
        if value in _BOOLS:
            return _BOOLS[value]
        if _INT.fullmatch(value) and len(value) <= _MAX_DIGITS:
            return int(value)
        if _FLOAT.fullmatch(value):
            return float(value)
    return value


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
    """Whether a file in a folder is meant as a task: any YAML file, and JSON that has a task's fields. An unreadable
    file counts as one, so that its problem is reported.
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
    """The data in a task file's text, not validated: every scalar is text. `lines` receives the line of each place.
    Raises `FileProblems`.
    """
    dialect = task_dialect()
    data = read_mapping(text, file, lines, dialect)
    family = data.pop("family", None)
    gold = data.get("gold")
    if family is not None and family not in FAMILIES:
        reason = _("must be one of {choices}").format(choices=listed(FAMILIES))
        problem = FileProblem(file, "family", reason, lines.get(("family",)), "literal_error")
        raise FileProblems(dialect.title, [problem])
    if family is not None and isinstance(gold, dict):
        data["gold"] = {"family": family, **gold}
    return data


def dump_task(task: Task) -> str:
    """The task as YAML, defaults left out; `parse_task` gives back an equal task."""
    return dump_data(task.model_dump(mode="json", exclude_defaults=True), task.family)


def dump_data(data: Mapping[str, Any], family: str) -> str:
    """A task's data, valid or not, as the text of its file."""
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
    """How errors in task files are worded."""
    return Dialect(
        title=_("This task cannot be read"),
        shape=_("must be a mapping with id, title, family and so on"),
        # Mirrors another benchmark's JSON, where 1 and "1" differ.
        typed=lambda place: place[:2] == ("foreign", "fields"),
        unions={"gold": TaggedUnion(1, "family", tuple(FAMILIES), tag_at_top=True)},
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
