"""The parts that a task's data is made of: values, records, lists, and how each reads as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.annotate.authoring.matching import Likeness
from cuecard.core.i18n import _


@dataclass(frozen=True)
class Ref:
    """What a triple says of its stage, or a table of a key column: which item it is, wherever that
    stands. `shown` is how it reads.
    """

    id: int
    shown: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Leaf:
    """A value that changes as a whole. `joint`: what stands between two texts that are both kept;
    None where only one can be. `raw`: the label is the task's own text.
    """

    label: str
    joint: str | None = None
    raw: bool = False


@dataclass(frozen=True)
class Record:
    """A mapping with known fields; one without a label is not named, only its fields are. `whole`:
    fields that are decided together when both sides changed them, for only together they say something.
    """

    label: str
    fields: Mapping[str, Shape]
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class Items:
    """A list. `one` names an item by its number `{n}`; `title` is what an item says in a few words.
    `apart`: its items are not called after what the list stands in.
    """

    label: str
    one: str
    item: Shape
    likeness: Likeness = field(default_factory=Likeness)
    title: Callable[[Any], str] = str
    apart: bool = False


Shape = Leaf | Record | Items


def text_of(value: Any) -> str:
    """A value of any type as text; nothing is the empty text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case Ref():
            return value.shown
        case bool() | int() | float():
            return str(value)
        case list() if all(isinstance(part, str | Ref) for part in cast(list[Any], value)):
            return ", ".join(map(text_of, cast(list[Any], value)))
        case _:
            return json.dumps(value, ensure_ascii=False, default=text_of)


def described(shape: Shape, value: Any) -> str:
    """The whole of a value as lines of text, what is empty left out."""
    if isinstance(shape, Record) and isinstance(value, dict):
        lines: list[str] = []
        for name, inner in shape.fields.items():
            if text := described(inner, cast(dict[str, Any], value).get(name)):
                gap = "\n" if "\n" in text else " "
                label = label_of(inner)
                lines.append(f"{label}:{gap}{text}" if label else text)
        return "\n".join(lines)
    if isinstance(shape, Items) and isinstance(value, list):
        parts = [described(shape.item, item) for item in cast(list[Any], value)]
        between = ", " if isinstance(shape.item, Leaf) else "\n"
        return between.join(filter(None, parts))
    return text_of(value)


def fields_of(shape: Record, *values: Any) -> dict[str, Shape]:
    """The fields of a record, and those that the values have beyond what is known of it."""
    fields = dict(shape.fields)
    for value in values:
        for name in mapping(value):
            fields.setdefault(name, Leaf(name, raw=True))
    return fields


def label_of(shape: Shape) -> str:
    """How a thing is called, in the person's language."""
    if not shape.label or (isinstance(shape, Leaf) and shape.raw):
        return shape.label
    return _(shape.label)


def is_blank(value: Any) -> bool:
    """Whether a value says nothing; a key that is missing says as little."""
    return value is None or value == "" or value == [] or value == {}


def same(one: Any, other: Any) -> bool:
    """Whether two values say the same."""
    return one is other or one == other or (is_blank(one) and is_blank(other))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def part(item: Any, name: str) -> str:
    """A text field of an item, "" where there is none."""
    return text_of(mapping(item).get(name))
