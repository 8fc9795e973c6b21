"""A task as plain JSON-like data: paths to its parts, changes that make a new root and share the rest, what a new task or
item begins as; and the history of changes for undo and redo, kept with the draft as what each step differs by from the next.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.tasks.base import Origin
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


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in the data, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(cast(list[Any], value)):
            yield from leaves(inner, (*path, at))


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


MAX_STEPS = 2000
KEPT_STEPS = 200
KEPT_BYTES = 256 * 1024
"""What is kept with a draft in either direction; it is written again with every rest of the keys."""

Data = dict[str, Any]


@dataclass
class Step:
    """One step of the history: the data before it, where it happened, and whether further typing there joins it.
    `rebased`: the revision (number and data) that the edit was based on before, if the step changed it. `told`: the data
    after it, the difference from that to `before`, and the characters of this.
    """

    before: Data
    origins: tuple[Origin, ...]
    path: Path
    open: bool
    rebased: tuple[int, Data | None] | None = None
    told: tuple[Data, Any, int] | None = None


@dataclass(frozen=True)
class Snapshot:
    """An edit at one moment with its history, to be kept by another thread. `changed`: it differs from revision `base`."""

    base: int
    data: Data
    origins: tuple[Origin, ...]
    changed: bool
    done: tuple[Step, ...]
    undone: tuple[Step, ...]

    def history(self) -> Data | None:
        """The history as JSON-like data, the nearest steps first, as many as may be kept; None if there are no steps."""
        if not self.done and not self.undone:
            return None
        return {
            "changed": self.changed,
            "done": list(self._told(reversed(self.done))),
            "undone": list(self._told(reversed(self.undone))),
        }

    def _told(self, steps: Iterable[Step]) -> Iterable[Data]:
        after, origins, room = self.data, self.origins, KEPT_BYTES
        for _number, step in zip(range(KEPT_STEPS), steps, strict=False):
            if step.told is None or step.told[0] is not after:
                told = difference(after, step.before)
                step.told = after, told, len(json.dumps(told))
            _after, told, size = step.told
            room -= size
            if room < 0:
                return
            entry: Data = {"path": list(step.path), "diff": told}
            if step.origins != origins:
                entry["origins"] = [origin.model_dump(mode="json") for origin in step.origins]
            if step.rebased is not None:
                entry["rebased"] = step.rebased[0]
            yield entry
            after, origins = step.before, step.origins


def steps_of(
    kept: Sequence[Mapping[str, Any]],
    data: Data,
    origins: tuple[Origin, ...],
    revision: Callable[[int], Data | None],
) -> list[Step]:
    """The steps that `Snapshot.history` made `kept` of, in the order of an edit; `data` and `origins` are those of the edit,
    `revision` gives the data of a revision by its number. Raises `LookupError`, `TypeError` or `ValueError` if they are
    not of this data.
    """
    steps: list[Step] = []
    for entry in kept:
        before = cast(Data, applied(data, entry["diff"]))
        if (given := entry.get("origins")) is not None:
            origins = tuple(Origin.model_validate(origin) for origin in given)
        number = entry.get("rebased")
        rebased = None if number is None else (int(number), revision(number))
        steps.append(Step(before, origins, tuple(entry["path"]), open=False, rebased=rebased))
        data = before
    return steps[::-1]


def difference(now: Any, then: Any) -> Any:
    """What makes `then` of `now`, where parts that they share are not looked into; None if they are the same."""
    if now is then:
        return None
    kinds: set[type[object]] = {type(now), type(then)}
    if kinds == {dict} and list(now) == list(then):
        return _inside((key, now[key], then[key]) for key in now)
    if kinds == {list}:
        return _of_list(now, then)
    return None if len(kinds) == 1 and now == then else {"v": then}


def _inside(parts: Iterable[tuple[Any, Any, Any]]) -> Any:
    told = ((str(key), difference(old, new)) for key, old, new in parts)
    found = {key: inner for key, inner in told if inner is not None}
    return {"in": found} if found else None


def _of_list(now: list[Any], then: list[Any]) -> Any:
    at = {id(item): index for index, item in enumerate(now)}
    if len(now) == len(then):
        apart = [i for i, pair in enumerate(zip(now, then, strict=True)) if pair[0] is not pair[1]]
        if not any(id(then[i]) in at for i in apart):
            return _inside((i, now[i], then[i]) for i in apart)
    parts: list[Any] = []
    for item in then:
        index = at.get(id(item))
        if index is None:
            parts.append({"v": item})
        elif parts and isinstance(parts[-1], list) and parts[-1][1] == index:
            parts[-1][1] = index + 1
        else:
            parts.append([index, index + 1])
    return {"of": parts}


def applied(now: Any, told: Any) -> Any:
    """What a difference makes of `now`; what does not change is shared. Raises `LookupError`, `TypeError` or `ValueError`
    where it does not fit.
    """
    if told is None:
        return now
    if "v" in told:
        return told["v"]
    if "in" in told:
        made, index = copy(now), int if isinstance(now, list) else str
        for key, inner in told["in"].items():
            made[index(key)] = applied(made[index(key)], inner)
        return made
    items: list[Any] = []
    for part in told["of"]:
        if isinstance(part, dict):
            items.append(part["v"])
        else:
            start, end = part
            if end > len(now):
                raise IndexError(end)
            items += now[start:end]
    return items
