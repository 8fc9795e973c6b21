"""Mind-ParaWorld: fact tasks with a closed world, as JSON lines."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.formats import base
from cuecard.core.formats.files import SUFFIXES, Obj, read_file, write_lines
from cuecard.core.formats.round_trip import PRIVATE, Codec, Refused, exported, imported, same
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.gold import narrow
from cuecard.core.tasks.models import Difficulty, Foreign, Task
from cuecard.core.text import is_cjk

NAME = "paraworld"
FAMILIES = ("facts",)
_ID = re.compile(r"paraworld_(\d+)")
_SAID = f"{PRIVATE}said"
_TRUTH = "extra_info.world_truth_info"
_PLACES = (
    (r"^query$", "prompt"),
    (r"^id$", "index"),
    (r"^gold\.facts\b", f"{_TRUTH}.atomic_facts"),
    (r"^gold\.answer$", "answer"),
    (r"^gold\.", ""),
)


def _read_file(path: Path) -> base.TasksRead:
    return base.collect(read_file(path), lambda entry: _imported(entry.data), _PLACES)


def write_tasks(tasks: Sequence[Task], folder: Path) -> list[Path]:
    """One `paraworld.jsonl`. Raises `CuecardError`."""
    base.check_family(tasks, NAME, FAMILIES)
    objects = [_object(task) for task in tasks]
    return [write_lines(folder / "paraworld.jsonl", objects)]


def recognises(obj: Obj) -> bool:
    extra = obj.get("extra_info")
    return "prompt" in obj and isinstance(extra, dict) and "world_truth_info" in extra


def difficulty_of(facts: int) -> Difficulty:
    """The difficulty by the number of facts, after Mind-ParaWorld's tiers: 1-5 easy, 6-10 medium, 11 and more hard."""
    return "easy" if facts <= 5 else "medium" if facts <= 10 else "hard"


def _build(obj: Obj) -> Task:
    truth = _truth(obj)
    query = _query(obj) or truth.get("generated_question")
    facts = truth.get("atomic_facts")
    if not isinstance(facts, dict) or not facts:
        reason = _("must be a mapping of fields") if facts is not None else _("is missing")
        raise Refused((f"{_TRUTH}.atomic_facts", reason))
    index = obj.get("index")
    number = base.task_id_of(index, "index")
    atomic = cast(Mapping[str, Any], facts)
    data: Obj = {
        "id": f"paraworld_{number}" if number.isdecimal() else number,
        "title": base.title_of(query),
        "language": base.language_of(None, query),
        "difficulty": difficulty_of(len(atomic)),
        "query": query,
        "gold": {
            "family": "facts",
            "facts": [{"key": key, "value": base.scalar(value)} for key, value in atomic.items()],
            "answer": base.scalar(obj.get("answer", truth.get("final_answer"))),
        },
    }
    return base.make_task(data)


def _truth(obj: Obj) -> Obj:
    extra = obj.get("extra_info")
    extra = base.decoded(extra, "extra_info")
    return base.decoded(extra.get("world_truth_info"), _TRUTH)


def _query(obj: Obj) -> str:
    """The text of the last user message; its parts joined when it comes in parts."""
    for message in reversed(base.objects_in(obj, "prompt")):
        if message.get("role") != "user":
            continue
        content = message.get("content")
        if isinstance(content, str):
            return content
        if isinstance(content, list):
            parts = cast(list[object], content)
            texts = [cast(Obj, part).get("text") for part in parts if isinstance(part, dict)]
            return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _render(task: Task) -> Obj:
    world = narrow(task.gold, FactWorld)
    return {
        "index": _index(task.id),
        "prompt": [{"role": "user", "content": task.query}],
        "answer": world.answer,
        "extra_info": {
            "world_truth_info": {
                "generated_question": task.query,
                "atomic_facts": {fact.key: _value(fact) for fact in world.facts},
                "final_answer": world.answer,
            }
        },
    }


CODEC = Codec(NAME, _build, _render)


def _imported(obj: Obj) -> Task:
    task = imported(obj, CODEC)
    if task.foreign is None or "extra_info" not in task.foreign.fields:
        return task
    said: dict[str, JsonValue] = {"generated_question": task.query, "final_answer": _answer(task)}
    foreign = Foreign(format=NAME, fields={**task.foreign.fields, _SAID: said})
    return Task.model_validate({**dict(task), "foreign": foreign})


def _refreshed(task: Task) -> Task:
    """The world repeats question and answer in its own words; an edit of either replaces those words."""
    if task.foreign is None or task.foreign.format != NAME:
        return task
    fields = task.foreign.fields
    said = fields.get(_SAID)
    kept = fields.get("extra_info")
    now = {"generated_question": task.query, "final_answer": _answer(task)}
    if not isinstance(said, dict) or said == now:
        return task
    extra = base.decoded(kept, "extra_info")
    info = base.decoded(extra.get("world_truth_info"), _TRUTH)
    changed = {key: text for key, text in now.items() if key in info and said.get(key) != text}
    extra = {**extra, "world_truth_info": {**info, **changed}}
    text = json.dumps(extra, ensure_ascii=False) if isinstance(kept, str) else extra
    foreign = Foreign(format=NAME, fields={**fields, "extra_info": text})
    return task.model_copy(update={"foreign": foreign})


def _index(task_id: str) -> int | str:
    """The number from which this id was made; an id that was not made from a number is returned unchanged."""
    match = _ID.fullmatch(task_id)
    return int(match[1]) if match and str(int(match[1])) == match[1] else task_id


def _object(task: Task) -> Obj:
    return _with_prompt(exported(_refreshed(task), CODEC), task)


def _answer(task: Task) -> str:
    return task.gold.answer if isinstance(task.gold, FactWorld) else ""


def _with_prompt(obj: Obj, task: Task) -> Obj:
    """An edited question keeps the messages that stood before it."""
    kept = (
        task.foreign.fields.get("prompt") if task.foreign and task.foreign.format == NAME else None
    )
    if isinstance(kept, list) and not same(obj.get("prompt"), kept):
        messages = [dict(m) for m in kept if isinstance(m, dict)]
        asked = [m for m in messages if m.get("role") == "user"]
        if asked:
            asked[-1]["content"] = task.query
            obj["prompt"] = messages
    return obj


def _value(fact: Fact) -> str:
    """The value with its unit: the format has no place for units."""
    if not fact.unit:
        return fact.value
    return f"{fact.value}{fact.unit}" if is_cjk(fact.unit) else f"{fact.value} {fact.unit}"


FORMAT = base.Format(
    name=NAME,
    title=N_("Mind-ParaWorld: JSON lines with prompt and world_truth_info"),
    families=FAMILIES,
    suffixes=SUFFIXES,
    patterns=("*.jsonl",),
    id_place="index",
    through=lambda task: _imported(_object(task)),
    made_up=("title", "language"),
    read_file=_read_file,
    write_tasks=write_tasks,
    recognises=recognises,
)
