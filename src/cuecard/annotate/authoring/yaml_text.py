"""A whole task as YAML for an outside editor, and back, with defaults left out and what is missing filled in."""

from __future__ import annotations

import copy
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.tasks.gold import gold_class
from cuecard.core.tasks.models import Family, Task
from cuecard.core.tasks.yaml_io import dump_data, read_data, task_dialect
from cuecard.core.text import one_line, storable
from cuecard.core.validation import Place, format_place, line_of, validated

_INT = re.compile(r"-?[0-9]{1,18}")
_Kind = Literal["text", "number", "list", "model", "any"]


@dataclass(frozen=True)
class _Shape:
    """`item`: of a list; `model`: of a mapping."""

    kind: _Kind
    optional: bool = False
    item: _Shape | None = None
    model: type[BaseModel] | None = None


@dataclass
class DefaultFiller:
    """Fills in the fields that a task's data lacks. `misfits`: places whose value has the wrong shape, with the reason."""

    misfits: list[tuple[Place, str]] = field(default_factory=list[tuple[Place, str]])

    def task(self, data: Mapping[str, Any], family: Family) -> dict[str, Any]:
        """`data` with every field that a task of the family has; unknown fields are kept."""
        return self._model(Task, data, (), family)

    def _model(
        self, model: type[BaseModel], data: Mapping[str, Any], place: Place, family: Family
    ) -> dict[str, Any]:
        filled: dict[str, Any] = {}
        for name, info in model.model_fields.items():
            here = (*place, name)
            if here == ("gold",):
                shape = _Shape("model", model=gold_class(family))
            elif here == ("gold", "family"):
                filled[name] = family
                continue
            else:
                shape = _shape(info)
            value = data.get(name)
            if value is None and not info.is_required():
                filled[name] = _default(info)
            else:
                filled[name] = self._value(shape, value, here, family)
        return {**filled, **{key: value for key, value in data.items() if key not in filled}}

    def _value(self, shape: _Shape, value: Any, place: Place, family: Family) -> Any:
        if shape.kind == "any" or (value is None and shape.optional):
            return value
        if shape.kind == "list":
            return self._list(shape, value, place, family)
        if shape.kind == "model":
            assert shape.model is not None
            if value is not None and not isinstance(value, dict):
                return self._misfit(value, place, _("must be a mapping of fields"))
            return self._model(shape.model, cast(dict[str, Any], value or {}), place, family)
        if isinstance(value, dict | list):
            return self._misfit(value, place, _("must be text"))
        if shape.kind == "number":
            return int(value) if isinstance(value, str) and _INT.fullmatch(value) else value
        return "" if value is None else value

    def _list(self, shape: _Shape, value: Any, place: Place, family: Family) -> Any:
        assert shape.item is not None
        if value is not None and not isinstance(value, list):
            return self._misfit(value, place, _("must be a list"))
        items = cast(list[Any], value or [])
        return [self._value(shape.item, item, (*place, i), family) for i, item in enumerate(items)]

    def _misfit(self, value: Any, place: Place, reason: str) -> Any:
        self.misfits.append((place, reason))
        return value


def _bare(
    model: type[BaseModel], data: Mapping[str, Any], family: Family, *, top: bool = False
) -> dict[str, Any]:
    bare: dict[str, Any] = {}
    for name, value in data.items():
        info = model.model_fields.get(name)
        if info is None:
            bare[name] = value
        elif info.is_required() or value != _default(info):
            gold = top and name == "gold"
            shape = _Shape("model", model=gold_class(family)) if gold else _shape(info)
            bare[name] = _bare_value(shape, value, family)
    return bare


def _bare_value(shape: _Shape, value: Any, family: Family) -> Any:
    same: Any = value
    if isinstance(value, list) and shape.item is not None:
        item = shape.item
        return [_bare_value(item, entry, family) for entry in cast(list[Any], value)]
    if isinstance(value, dict) and shape.model is not None:
        return _bare(shape.model, cast(dict[str, Any], value), family)
    return same


def _default(info: FieldInfo) -> Any:
    """A field's default as JSON-shaped data, a new object each time."""
    return _plain(info.get_default(call_default_factory=True))


def _plain(value: Any) -> Any:
    same: Any = value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return same


def _shape(info: FieldInfo) -> _Shape:
    return _shape_of(info.annotation)


@cache
def _shape_of(annotation: Any) -> _Shape:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape_of(args[0])
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        shape = _shape_of(inner[0]) if len(inner) == 1 else _Shape("any")
        return _Shape(shape.kind, len(inner) < len(args), shape.item, shape.model)
    if origin is tuple:
        return _Shape("list", item=_shape_of(args[0]))
    if origin is Literal or annotation is str:
        return _Shape("text")
    if annotation is int:
        return _Shape("number")
    if isinstance(annotation, type) and origin is None:
        if issubclass(annotation, BaseModel):
            return _Shape("model", model=annotation)
        if issubclass(annotation, Enum):
            return _Shape("text")
    return _Shape("any")


NOTE = "#! "
"""Begins the lines at the top that tell of problems; they are taken out again."""
_MOST_TOLD = 30


@dataclass(frozen=True)
class ReadBack:
    """The result of reading a task's text. `data`: None if the editor cannot use it. `problems`: what is wrong, with
    lines; if there is `data`, they only keep it from being saved.
    """

    data: dict[str, Any] | None
    problems: tuple[FileProblem, ...] = ()


def to_yaml(data: Mapping[str, Any]) -> str:
    """The data of an edit in the form of a task file, defaults left out."""
    family = cast(Family, data["gold"]["family"])
    return storable(dump_data(_bare(Task, data, family, top=True), family))


def from_yaml(text: str, task_id: str, family: Family) -> ReadBack:
    """What the text says, for the task of this id and family; both stay as they are.

    Fields that are left out are filled in. Text that is not YAML, names another family, or has a list
    where a text belongs cannot be taken; anything else that is wrong can.
    """
    lines: dict[Place, int] = {}
    try:
        given = read_data(text, "", lines)
    except FileProblems as error:
        return ReadBack(None, error.problems)
    gold = given.get("gold")
    named = cast(dict[str, Any], gold).get("family") if isinstance(gold, dict) else None
    if named not in (None, family):
        reason = _("this is a {family} task; begin a new task for another family")
        problem = FileProblem("", "family", reason.format(family=family), lines.get(("family",)))
        return ReadBack(None, (problem,))
    filling = DefaultFiller()
    data = filling.task({**given, "id": task_id}, family)
    misfits = [
        FileProblem("", format_place(p), why, line_of(p, lines)) for p, why in filling.misfits
    ]
    problems = _problems(data, lines)
    if misfits:
        told = {problem.place for problem in misfits}
        return ReadBack(None, (*misfits, *(p for p in problems if p.place not in told)))
    other = str(given.get("id", task_id))
    if other != task_id:
        reason = _("stays {id} here; rename or copy the task instead").format(id=task_id)
        problems.insert(0, FileProblem("", "id", reason, lines.get(("id",))))
    return ReadBack(data, tuple(problems))


def annotated(text: str, problems: Sequence[FileProblem]) -> str:
    """The text with its problems as comments at the top, in place of those of an earlier call.

    Line numbers are those of the returned text.
    """
    body, taken = _without_notes(text)
    if not problems:
        return body
    shown = problems[:_MOST_TOLD]
    added = len(shown) + 1 + (len(problems) > len(shown))
    notes = [NOTE + _("What is wrong (these lines go away by themselves):")]
    notes += [NOTE + problem_text(_moved(problem, added - taken)) for problem in shown]
    if len(problems) > len(shown):
        notes.append(NOTE + _("… and {n} more").format(n=len(problems) - len(shown)))
    return "\n".join([*notes, body])


def problem_text(problem: FileProblem) -> str:
    """A problem on one line: where, and why."""
    where = _("line {line}").format(line=problem.line) if problem.line else ""
    return one_line(" · ".join(filter(None, (where, problem.place, _bare_reason(problem)))))


def _without_notes(text: str) -> tuple[str, int]:
    rows = text.split("\n")
    count = 0
    while count < len(rows) and rows[count].startswith(NOTE):
        count += 1
    return "\n".join(rows[count:]), count


def _moved(problem: FileProblem, by: int) -> FileProblem:
    line = problem.line + by if problem.line else None
    return FileProblem(problem.file, problem.place, _bare_reason(problem), line)


def _bare_reason(problem: FileProblem) -> str:
    """YAML's own complaints begin with their line."""
    own = _("line {line}: {reason}").format(line=problem.line, reason="")
    return problem.reason.removeprefix(own)


def _problems(data: Mapping[str, Any], lines: Mapping[Place, int]) -> list[FileProblem]:
    try:
        validated(Task, copy.deepcopy(dict(data)), "", lines, task_dialect())
    except FileProblems as error:
        return list(error.problems)
    return []
