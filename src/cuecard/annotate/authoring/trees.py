"""Plain JSON-shaped data that is never changed in place: every edit makes a new root.

Old roots stay as they were and share what did not change, so keeping them costs little.
"""

from __future__ import annotations

import re
from typing import Any, cast

Path = tuple[str | int, ...]

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def parse_place(place: str) -> Path:
    """`persona.stages[3].line` as `("persona", "stages", 3, "line")`; the place "" is the root."""
    return tuple(
        int(match[2]) if match[2] is not None else match[1] for match in _PART.finditer(place)
    )


def get(root: Any, path: Path) -> Any:
    """What stands at `path`. Raises `LookupError` when nothing does."""
    for part in path:
        root = _child(root, part)
    return root


def put(root: Any, path: Path, value: Any) -> Any:
    """`root` with `value` at `path`; a mapping may gain a key that way, a list no index."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(root, dict) and isinstance(part, str):
        mapping = cast(dict[str, Any], root)
        if rest and part not in mapping:
            raise KeyError(part)
        return {**mapping, part: put(mapping.get(part), rest, value)}
    items = list(_as_list(root))
    items[_index(part, len(items) - 1)] = put(_child(root, part), rest, value)
    return items


def insert(root: Any, path: Path, index: int, value: Any) -> Any:
    """`root` with `value` before `index` in the list at `path`. Raises `LookupError`."""
    items = _as_list(get(root, path))
    index = _index(index, len(items))
    return put(root, path, [*items[:index], value, *items[index:]])


def remove(root: Any, path: Path) -> Any:
    """`root` without what stands at `path`. Raises `LookupError` when nothing does."""
    parent, part = get(root, path[:-1]), path[-1]
    if isinstance(parent, dict) and isinstance(part, str):
        mapping = cast(dict[str, Any], parent)
        if part not in mapping:
            raise KeyError(part)
        return put(root, path[:-1], {k: v for k, v in mapping.items() if k != part})
    items = _as_list(parent)
    index = _index(part, len(items) - 1)
    return put(root, path[:-1], [*items[:index], *items[index + 1 :]])


def move(root: Any, path: Path, index: int, to: int) -> Any:
    """`root` with the item `index` of the list at `path` standing at `to`. Raises `LookupError`."""
    items = list(_as_list(get(root, path)))
    index, to = _index(index, len(items) - 1), _index(to, len(items) - 1)
    items.insert(to, items.pop(index))
    return put(root, path, items)


def _child(root: Any, part: str | int) -> Any:
    if isinstance(root, dict) and isinstance(part, str):
        return cast(dict[str, Any], root)[part]
    items = _as_list(root)
    return items[_index(part, len(items) - 1)]


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise KeyError("not a list")
    return cast(list[Any], value)


def _index(part: str | int, last: int) -> int:
    if not isinstance(part, int) or not 0 <= part <= last:
        raise IndexError(part)
    return part
