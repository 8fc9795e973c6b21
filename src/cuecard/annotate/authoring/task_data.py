"""A task as plain JSON-like data: paths to its parts, changes that make a new root and share the rest, and what a new task or item begins as."""

import re
from typing import Any, cast

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.tasks.models import Family, TaskLanguage

Path = tuple[str | int, ...]

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def parse_place(place: str) -> Path:
    """The path of a place: `persona.stages[3].line` gives `("persona", "stages", 3, "line")`, "" the root."""
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


def blank_task(task_id: str, title: str, family: Family, language: TaskLanguage) -> dict[str, Any]:
    """Data of a task with everything still to be written; only a graph task begins with a persona."""
    return {
        "id": task_id,
        "title": title,
        "language": language,
        "domain": "",
        "difficulty": None,
        "query": "",
        "sub_queries": [],
        "persona": blank_persona() if ANNOTATE[family].persona else None,
        "gold": {"family": family, **ANNOTATE[family].blank()},
        "sources": [],
        "notes": "",
        "silenced": [],
        "foreign": None,
    }


def blank_persona() -> dict[str, Any]:
    return {
        "name": "",
        "identity": "",
        "initial_query": "",
        "stages": [blank_stage("start")],
        "behaviour": "",
    }


def blank_stage(kind: str = "mentions") -> dict[str, Any]:
    return {"title": "", "cue": {"kind": kind, "text": "", "terms": []}, "line": "", "not_met": ""}


def blank_source() -> dict[str, Any]:
    return {"url": "", "note": ""}


def blank_node() -> dict[str, Any]:
    return {"id": "", "name": "", "aliases": []}


def blank_triple() -> dict[str, Any]:
    return {"head": "", "relation": "", "tail": "", "stage": None, "sources": [], "note": ""}


def blank_column() -> dict[str, Any]:
    return {"name": "", "preprocess": ["norm_str"], "metric": ["exact_match"], "criterion": ""}


def blank_ambiguity(kind: str) -> dict[str, Any]:
    return {"type": kind, "logic": "", "candidates": [], "clue": "", "terms": []}


def blank_step() -> dict[str, Any]:
    return {"question": "", "target": "", "aliases": [], "ambiguity": None, "sources": []}


def blank_fact() -> dict[str, Any]:
    return {
        "key": "",
        "value": "",
        "kind": "fact",
        "entity": "",
        "attribute": "",
        "unit": "",
        "aliases": [],
        "sources": [],
    }
