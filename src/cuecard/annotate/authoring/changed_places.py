"""Which places differ between two versions of a task's data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cuecard.annotate.authoring.trees import Path
from cuecard.core.validation import format_place


def changed_places(old: Any, new: Any, limit: int = 12) -> list[str]:
    """Places that differ, deepest first seen, `…` when there are more than `limit`.

    A list that grew or shrank is one place; otherwise its items are compared one by one.
    """
    places: list[str] = []
    for path in _differences(old, new, ()):
        if len(places) == limit:
            return [*places, "…"]
        places.append(format_place(path) or "–")
    return places


def _differences(old: Any, new: Any, here: Path) -> Iterator[Path]:
    if isinstance(old, dict) and isinstance(new, dict):
        left, right = cast(dict[str, Any], old), cast(dict[str, Any], new)
        for key in left | right:
            if key not in left or key not in right:
                yield (*here, key)
            else:
                yield from _differences(left[key], right[key], (*here, key))
    elif isinstance(old, list) and isinstance(new, list):
        ours, theirs = cast(list[Any], old), cast(list[Any], new)
        if len(ours) != len(theirs):
            yield here
            return
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(*pair, (*here, index))
    elif old != new:
        yield here
