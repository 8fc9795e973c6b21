"""YAML read as plain data that remembers its lines.

Shared by tasks and by `cuecard.yaml`. Every scalar is the text that stands there, except below the
places that a `Dialect` calls typed, where unquoted scalars get their JSON type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.validation import (
    Dialect,
    Place,
    TaggedUnion,
    format_place,
    line_of,
    problems_of,
)

__all__ = [
    "MAX_FILE_BYTES",
    "Dialect",
    "Place",
    "TaggedUnion",
    "format_place",
    "line_of",
    "problems_of",
    "read_mapping",
    "read_text",
]

MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_DEPTH = 100
# More, Python refuses to read; such a thing stays the text that stands there.
_MAX_DIGITS = 1000
_MAX_NODES = 2_000_000
_MAX_REPEATED = 100_000
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "false": False}
_INT = re.compile(r"-?(0|[1-9][0-9]*)")
# A character beyond the first 65,536 as JSON escapes it, in two halves; YAML knows only whole ones.
_HALVES = re.compile(
    r"((?<!\\)(?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def read_text(path: Path, title: str) -> str:
    """The file's text. Raises `FileProblems` when it is too large, unreadable or not UTF-8."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _single(title, path, _("is larger than 32 MB; split it or remove pasted pages"))
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _single(title, path, _("is not UTF-8 text; save it as UTF-8")) from error
    except OSError as error:
        raise _single(title, path, error.strerror or str(error)) from error


def read_mapping(text: str, file: str, lines: dict[Place, int], dialect: Dialect) -> dict[str, Any]:
    """The file's top-level mapping; `lines` receives the line of each place. Raises `FileProblems`."""
    try:
        loader = _loader()
        text = _whole_characters(text)
        _check_depth(text, loader)
        root = cast(yaml.Node | None, yaml.compose(text, Loader=loader))
        if root is None:
            raise _Unreadable(_("is empty"), None)
        data = _Builder(lines, dialect.typed).build(root, (), typed=False)
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
            dialect.title, [FileProblem(file, error.place, error.reason, error.line)]
        ) from error
    except RecursionError as error:
        problem = FileProblem(file, "", _("is nested too deeply"))
        raise FileProblems(dialect.title, [problem]) from error
    if not isinstance(data, dict):
        raise FileProblems(dialect.title, [FileProblem(file, "", dialect.shape, 1)])
    return cast(dict[str, Any], data)


def _whole_characters(text: str) -> str:
    """JSON with its escaped halves of characters joined, in the lines where they stood; other YAML as it is."""
    if _HALVES.search(text) is None:
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
    """Guesses no types: that takes a third of the time, and nobody would look at them."""
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return type("Loader", (base,), {"yaml_implicit_resolvers": dict[str, Any]()})


def _check_depth(text: str, loader: Any) -> None:
    """Libyaml's composer recurses in C: ten thousand brackets would end the process."""
    depth = 0
    for event in cast(Any, yaml.parse(text, Loader=loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _MAX_DEPTH:
                line = int(event.start_mark.line) + 1
                raise _Unreadable(_("is nested too deeply"), line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


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
        # An alias leads to a node that was built before; a few lines of them can stand for billions.
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


def _scalar(node: yaml.ScalarNode, typed: bool) -> object:
    value = str(node.value)
    if node.style in ("'", '"', "|", ">"):
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
