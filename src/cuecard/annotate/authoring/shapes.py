"""The shape of a task's data, read off the models: what is left out is filled in, defaults are left out."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain, FactWorld, Family, Graph, Table, Task
from cuecard.core.validation import Place

_GOLD: dict[str, type[BaseModel]] = {
    "graph": Graph,
    "table": Table,
    "checkpoints": CheckpointChain,
    "facts": FactWorld,
}
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
class Filling:
    """`misfits`: places that hold something of another shape than their field, with the reason."""

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
                shape = _Shape("model", model=_GOLD[family])
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


def without_defaults(data: Mapping[str, Any], family: Family) -> dict[str, Any]:
    """`data` without the fields that say what they would say anyway."""
    return _bare(Task, data, family, top=True)


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
            shape = _Shape("model", model=_GOLD[family]) if gold else _shape(info)
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
