"""Keep what a task cannot hold of another benchmark's object, and put it back on export.

On import, every field whose value the task alone would not render alike is kept in
`Task.foreign.fields`: unknown ones, and known ones in another form (a number as text, a persona with
other blanks). Keys that begin with `PRIVATE` are ours, never the file's. On export, a kept field is laid over the rendered one as long as it still says the same;
where the task was edited since, only the edited parts change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.core.formats.json_files import Obj
from cuecard.core.tasks.models import Foreign, Task

PRIVATE = "cuecard:"
_ORDER = f"{PRIVATE}order"


class Refused(Exception):
    """An object is no task of the format: places inside it with reasons."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True)
class Codec:
    """How one format's object becomes a task and back. `build` raises `Refused` or pydantic's
    `ValidationError`; `render` yields every field that the format names. `mend` puts an edit into a
    field's own text, for fields of which more than the whole can be kept.
    """

    name: str
    build: Callable[[Obj], Task]
    render: Callable[[Task], Obj]
    mend: Mapping[str, Callable[[Any, Task], Any]] = field(
        default_factory=dict[str, "Callable[[Any, Task], Any]"]
    )


def imported(obj: Obj, codec: Codec) -> Task:
    """The task in `obj`, with the rest of it in `foreign`. Raises what `codec.build` raises."""
    task = codec.build(obj)
    rendered = codec.render(task)
    kept = {k: v for k, v in obj.items() if k not in rendered or not same(v, rendered[k])}
    unknown = [key for key in obj if key not in rendered]
    if list(obj) != [*rendered, *unknown]:
        kept[_ORDER] = list(obj)
    foreign = Foreign(format=codec.name, fields=kept)
    return Task.model_validate({**dict(task), "foreign": foreign})


def exported(task: Task, codec: Codec) -> Obj:
    """The object for `task`, with what `imported` kept in its place and order."""
    rendered = codec.render(task)
    if task.foreign is None or task.foreign.format != codec.name:
        return rendered
    fields: dict[str, Any] = dict(task.foreign.fields)
    order = fields.get(_ORDER)
    result = dict(rendered)
    for key, original in fields.items():
        if key.startswith(PRIVATE):
            continue
        if key not in rendered:
            result[key] = original
        else:
            baseline = _baseline(codec, rendered, key, original)
            if key in codec.mend and not same(baseline, rendered[key]):
                result[key] = codec.mend[key](original, task)
            else:
                result[key] = merged(original, baseline, rendered[key])
    if not isinstance(order, list):
        return result
    keys = [str(key) for key in cast(list[object], order)]
    ordered = {key: result[key] for key in keys if key in result}
    for key, value in result.items():
        if key not in ordered and not _implied(codec, rendered, key):
            ordered[key] = value
    return ordered


def merged(original: Any, baseline: Any, current: Any) -> Any:
    """`original` with the changes that lead from `baseline` (how the unedited task renders it) to
    `current`; text that holds JSON stays text.
    """
    if same(baseline, current):
        return original
    if isinstance(original, str) and isinstance(current, dict | list):
        try:
            inner: Any = json.loads(original)
        except (ValueError, RecursionError):
            return cast(Any, current)
        return json.dumps(merged(inner, baseline, current), ensure_ascii=False)
    if isinstance(original, dict) and isinstance(baseline, dict) and isinstance(current, dict):
        return _merged_dict(cast(Obj, original), cast(Obj, baseline), cast(Obj, current))
    if isinstance(original, list) and isinstance(baseline, list) and isinstance(current, list):
        return _merged_list(
            cast(list[Any], original), cast(list[Any], baseline), cast(list[Any], current)
        )
    return current


def same(left: Any, right: Any) -> bool:
    """Equal as JSON text: 1, 1.0, true and "1" differ, and so does the order of keys."""
    return json.dumps(left) == json.dumps(right)


def _merged_dict(original: Obj, baseline: Obj, current: Obj) -> Obj:
    result: Obj = {}
    for key, value in original.items():
        if key in current:
            result[key] = (
                merged(value, baseline[key], current[key]) if key in baseline else current[key]
            )
        elif key not in baseline:
            result[key] = value
    for key, value in current.items():
        if key not in original and not (key in baseline and same(baseline[key], value)):
            result[key] = value
    return result


def _merged_list(original: list[Any], baseline: list[Any], current: list[Any]) -> list[Any]:
    if len(original) != len(baseline):
        return current
    if len(current) == len(baseline):
        return [merged(*items) for items in zip(original, baseline, current, strict=True)]
    unused: dict[str, list[Any]] = {}
    for item, rendered in zip(original, baseline, strict=True):
        unused.setdefault(json.dumps(rendered), []).append(item)
    return [unused[key].pop(0) if unused.get(key := json.dumps(item)) else item for item in current]


def _baseline(codec: Codec, rendered: Obj, key: str, original: Any) -> Any:
    """How the field would be rendered had the task been built from `original`."""
    try:
        return codec.render(codec.build({**rendered, key: original})).get(key)
    except (Refused, ValueError):
        # No longer fits the rest of the edited task: nothing of it is unchanged.
        return None


def _implied(codec: Codec, rendered: Obj, key: str) -> bool:
    """Whether a field that the original left out still says only what leaving it out says."""
    if key not in rendered:
        return False
    try:
        again = codec.render(codec.build({k: v for k, v in rendered.items() if k != key}))
    except (Refused, ValueError):
        return False
    return same(again.get(key), rendered[key])
