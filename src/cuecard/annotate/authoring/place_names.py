"""What a place of a task is called: `Stage 3 · Line` for `persona.stages[2].line`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cuecard.annotate.authoring.anatomy import Items, Record, Shape, label_of
from cuecard.annotate.authoring.changes import joined, numbered
from cuecard.annotate.authoring.task_anatomy import table_shape, task_shape
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.core.i18n import _


def place_in_words(place: str, data: Mapping[str, Any]) -> str:
    """A place as people call it, as far as it is one of a task; empty for the task as a whole."""
    path = parse_place(place)
    gold = data.get("gold")
    family = str(cast(dict[str, Any], gold).get("family", "")) if isinstance(gold, dict) else ""
    table = table_shape({}, ()) if family == "table" else None
    shape: Shape | None = task_shape(family, table)
    label = ""
    for at, part in enumerate(path):
        if isinstance(shape, Items) and isinstance(part, int):
            label, shape = numbered(shape, label, part), shape.item
        elif isinstance(shape, Record) and isinstance(part, str) and part in shape.fields:
            shape = shape.fields[part]
            last = at == len(path) - 1
            if last or not isinstance(shape, Items):
                label = joined(label, label_of(shape)) if label != _("Persona") else label_of(shape)
        elif path[:2] == ("gold", "rows") and isinstance(part, int):
            return joined(label, _column_name(path, data) or str(part + 1))
        else:
            break
    return label


def _column_name(path: Path, data: Mapping[str, Any]) -> str:
    try:
        return str(data["gold"]["columns"][path[3]]["name"])
    except (LookupError, TypeError):
        return ""
