"""The places that a comment on an element can be pinned to: it, a part of it, the whole task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from cuecard.annotate.authoring.anatomy import Items, Record, Shape, is_blank, mapping, part
from cuecard.annotate.authoring.place_names import place_in_words
from cuecard.annotate.authoring.task_anatomy import table_shape, task_shape
from cuecard.annotate.authoring.trees import Path, get, parse_place
from cuecard.core.i18n import _
from cuecard.core.validation import format_place


def pin_places(place: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """`place`, the parts of it that say something, and "" for the task as a whole."""
    path = parse_place(place)
    try:
        value = get(data, path) if path else None
    except LookupError:
        return ("",)
    found = [place, *(format_place(inner) for inner in _parts(_shape_at(path, data), value, path))]
    return tuple(dict.fromkeys([*found, ""]))


def words_of(place: str, data: Mapping[str, Any]) -> str:
    """A place as people call it."""
    return place_in_words(place, data) or place or _("The whole task")


def _parts(shape: Shape | None, value: Any, path: Path) -> Iterator[Path]:
    if path[:2] == ("gold", "rows") and len(path) == 3 and isinstance(value, list):
        yield from ((*path, at) for at in range(len(cast(list[Any], value))))
    elif isinstance(shape, Record):
        for name, inner in shape.fields.items():
            held = mapping(value).get(name)
            if is_blank(held):
                continue
            if isinstance(inner, Record):
                yield from _parts(inner, held, (*path, name))
            else:
                yield (*path, name)


def _shape_at(path: Path, data: Mapping[str, Any]) -> Shape | None:
    family = part(data.get("gold"), "family")
    shape: Shape | None = task_shape(family, table_shape({}, ()) if family == "table" else None)
    for step in path:
        if isinstance(shape, Items):
            shape = shape.item
        elif isinstance(shape, Record):
            shape = shape.fields.get(str(step))
        else:
            return None
    return shape
