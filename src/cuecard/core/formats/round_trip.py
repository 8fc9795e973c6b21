"""Lossless round trips: keeps what a task cannot hold of another benchmark's object, and what a format cannot hold of a
task.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError

from cuecard.core.formats.files import Obj
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.models import Foreign, Task

PRIVATE = "cuecard:"
_ORDER = f"{PRIVATE}order"


class Refused(Exception):
    """An object is no valid task of the format; holds places in it with reasons."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True)
class Codec:
    """Conversion between a format's objects and tasks. `build` makes a task; it raises `Refused` or pydantic's
    `ValidationError`. `render` gives every field that the format defines. `mend` applies an edit to the original text of
    a field, so that the rest of that text is kept.
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
    """A three-way merge: `original` with the changes from `baseline` (the unedited task, rendered) to `current`. Text
    that holds JSON stays text.
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
    """Whether two values are equal as JSON text: 1, 1.0, true and "1" differ, and the order of keys matters."""
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


Through = Callable[[Task], Task]

# Places of a task, indices left out; those below one of them count as it.
_LABELS: dict[str, str] = {
    "title": N_("titles"),
    "language": N_("languages"),
    "domain": N_("domains"),
    "difficulty": N_("difficulties"),
    "sub_queries": N_("sub-queries"),
    "persona": N_("personas"),
    "persona.name": N_("names of personas"),
    "persona.stages.title": N_("titles of stages"),
    "persona.stages.cue.kind": N_("kinds of cues"),
    "persona.stages.cue.terms": N_("testable terms"),
    "sources": N_("sources of tasks"),
    "notes": N_("notes on tasks"),
    "silenced": N_("silences"),
    "gold.nodes": N_("names and aliases of nodes"),
    "gold.triples.stage": N_("stages of triples"),
    "gold.triples.sources": N_("sources of triples"),
    "gold.triples.note": N_("notes of triples"),
    "gold.steps.sources": N_("sources of checkpoints"),
    "gold.steps.ambiguity.terms": N_("terms of ambiguities"),
    "gold.final_aliases": N_("other forms of the final answer"),
    "gold.answer_aliases": N_("other forms of the answer"),
    "gold.derivation": N_("derivations"),
    "gold.facts.kind": N_("kinds of facts"),
    "gold.facts.entity": N_("entities of facts"),
    "gold.facts.attribute": N_("attributes of facts"),
    "gold.facts.unit": N_("units of facts"),
    "gold.facts.value": N_("values of facts (the unit goes with them)"),
    "gold.facts.aliases": N_("other forms of facts"),
    "gold.facts.sources": N_("sources of facts"),
}


def left_out(tasks: Sequence[Task], through: Through | None) -> dict[str, int]:
    """The parts of tasks that a format's files cannot hold, by their names for people, with their numbers."""
    counts: Counter[str] = Counter()
    if through is None:
        return {}
    for task in tasks:
        try:
            before, after = _dump(task), _dump(through(task))
        except (Refused, ValueError):
            counts[_("whole tasks: their files cannot be read back")] += 1
            continue
        # Which fields another benchmark's file had is nothing that a person wrote.
        for part in (before, after):
            part.pop("foreign")
        counts.update(_label(place) for place in _differences(before, after, ()))
    return dict(counts)


def joined(given: Task, newest: Task, through: Through | None, made_up: Sequence[str] = ()) -> Task:
    """The task `given`, as read from a file, completed from `newest` with what such files cannot hold. `made_up`: fields
    that a reader has to invent because the file has no place for them.
    """
    if through is None or given.family != newest.family:
        return given
    try:
        base = _dump(through(newest))
    except (Refused, ValueError):
        return given
    mine, theirs = _dump(newest), _dump(given)
    data = {key: _merged(base[key], mine[key], theirs[key]) for key in theirs}
    data.update({key: mine[key] for key in made_up})
    data["foreign"] = mine["foreign"] if theirs["foreign"] == base["foreign"] else theirs["foreign"]
    persona = cast(Obj, data["persona"] or {})
    stages = len(cast(list[Obj], persona.get("stages", [])))
    for triple in data["gold"].get("triples", ()):
        if triple["stage"] is not None and triple["stage"] > stages:
            triple["stage"] = None
    try:
        return Task.model_validate(data)
    except ValidationError:
        return given


def _merged(base: Any, mine: Any, given: Any) -> Any:
    """`mine` with the changes that lead from `base` to `given`."""
    if given == base:
        return mine
    if mine == base:
        return given
    if isinstance(base, dict) and isinstance(mine, dict) and isinstance(given, dict):
        old, own = cast(Obj, base), cast(Obj, mine)
        return {
            key: _merged(old[key], own[key], value) if key in old and key in own else value
            for key, value in cast(Obj, given).items()
        }
    if isinstance(base, list) and isinstance(mine, list) and isinstance(given, list):
        return _keeping_merged_list(
            cast(list[Any], base), cast(list[Any], mine), cast(list[Any], given)
        )
    return given


def _keeping_merged_list(base: list[Any], mine: list[Any], given: list[Any]) -> list[Any]:
    if all(isinstance(item, dict) and "id" in item for item in (*base, *mine, *given)):
        return _merged_by_id(base, mine, given)
    if len(base) != len(mine):
        return given
    # An entry that the file repeats word for word is ours, wherever it went; of those that it
    # changed, each is taken for the one that stood there.
    unused: dict[str, list[int]] = {}
    for index, item in enumerate(base):
        unused.setdefault(json.dumps(item), []).append(index)
    sources = [
        unused[key].pop(0) if unused.get(key := json.dumps(item)) else None for item in given
    ]
    free = set(range(len(base))) - {source for source in sources if source is not None}
    result: list[Any] = []
    for index, (item, source) in enumerate(zip(given, sources, strict=True)):
        if source is None and len(given) == len(base) and index in free:
            source = index
        result.append(item if source is None else _merged(base[source], mine[source], item))
    return result


def _merged_by_id(base: list[Obj], mine: list[Obj], given: list[Obj]) -> list[Obj]:
    """Merged nodes: a file may have to list nodes that our tasks leave unlisted."""
    old = {item["id"]: item for item in base}
    own = {item["id"]: item for item in mine}
    result: list[Obj] = []
    for item in given:
        key = item["id"]
        if key in old and key in own:
            result.append(_merged(old[key], own[key], item))
        elif old.get(key) != item:
            result.append(item)
    return result


def _dump(task: Task) -> Obj:
    return task.model_dump(mode="json")


def _differences(before: Any, after: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The places where something of `before` is gone or otherwise."""
    if before == after or before in (None, "", [], {}):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        new = cast(Obj, after)
        for key, value in cast(Obj, before).items():
            yield from _differences(value, new.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and place == ("gold", "nodes"):
        known = {node["id"]: node for node in cast(list[Obj], after)}
        for node in cast(list[Obj], before):
            if _bare(node) != _bare(known.get(node["id"], {})):
                yield place
    elif isinstance(before, list) and isinstance(after, list):
        old, new = cast(list[Any], before), cast(list[Any], after)
        if len(old) != len(new) or not any(isinstance(item, dict) for item in old):
            yield place
        else:
            for left, right in zip(old, new, strict=True):
                yield from _differences(left, right, place)
    else:
        yield place


def _bare(node: Obj) -> tuple[object, object]:
    """What of a node is compared: its name (by default its id) and its aliases."""
    return node.get("name") or node.get("id"), node.get("aliases")


def _label(place: tuple[str, ...]) -> str:
    for length in range(len(place), 0, -1):
        label = _LABELS.get(".".join(place[:length]))
        if label is not None:
            return _(label)
    return ".".join(place)
