"""Label Studio's JSON of annotated tasks: a list of tasks with `data` and `annotations`, whose `result`
holds what each control of the labelling interface says (labelstud.io/guide/task_format).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from cuecard.annotate.labels_io.entries import Entry, LabelFile, Problems
from cuecard.annotate.labels_io.plain import VERDICT_COLUMNS, entry_of
from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus
from cuecard.store.label_records import LabelValue

LABEL, COMMENT, FLAG, SHOWN = "label", "comment", "flag", "item"
GOLD_WRONG = "gold_wrong"
Json = dict[str, Any]


def label_tasks(path: Path, text: str, problems: Problems) -> LabelFile:
    """The entries of all annotations; what is wrong goes to `problems`. The line of an entry is the
    number of its task, from 1. Annotations that were cancelled (skipped) do not count.
    """
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError):
        problems.add(None, _("is no JSON"))
        tasks = []
    if not isinstance(tasks, list):
        problems.add(None, _("is no list of tasks; export as JSON from Label Studio"))
        tasks = []
    entries: list[Entry] = []
    shows = False
    for number, task in enumerate(cast(list[object], tasks), start=1):
        data = _object(_object(task).get("data"))
        if not data:
            problems.add(number, _("is no task of Label Studio: it has no data"))
            continue
        shows = shows or any(data.get(name) for name in VERDICT_COLUMNS)
        # `completions` is how older versions called them.
        given = _list(_object(task).get("annotations")) or _list(_object(task).get("completions"))
        found = [_object(annotation) for annotation in given]
        kept = [annotation for annotation in found if not annotation.get("was_cancelled")]
        for fields in [_fields(annotation) for annotation in kept] or [{}]:
            before = len(problems.found)
            entry = entry_of(number, {**_of_task(data), **fields}, problems)
            if entry is not None and len(problems.found) == before:
                entries.append(entry)
    if not tasks and not problems.found:
        problems.add(None, _("is empty"))
    return LabelFile(str(path), path.name, "labelstudio", tuple(entries), shows_judge=shows)


def tasks_text(tasks: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> str:
    """Tasks and their annotations, each a label's fields by column name, as Label Studio's JSON."""
    found = [
        {"data": dict(data), "annotations": [_annotation(label) for label in labels]}
        for data, labels in tasks
    ]
    return json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def interface(statuses: bool) -> str:
    """The labelling interface that belongs to `tasks_text`: Settings, Labeling Interface, Code.
    `statuses`: some items are labelled with the status of a checkpoint.
    """
    values = [value.value for value in LabelValue]
    values += [status.value for status in CheckpointStatus] if statuses else []
    choices = "\n".join(f'    <Choice value="{value}"/>' for value in values)
    return f"""<View>
  <Header value="$task"/>
  <Text name="{SHOWN}" value="$text"/>
  <Text name="evidence" value="$evidence"/>
  <Choices name="{LABEL}" toName="{SHOWN}" choice="single-radio" required="true">
{choices}
  </Choices>
  <Choices name="{FLAG}" toName="{SHOWN}" choice="multiple">
    <Choice value="{GOLD_WRONG}"/>
  </Choices>
  <TextArea name="{COMMENT}" toName="{SHOWN}" maxSubmissions="1"/>
</View>
"""


def _of_task(data: Json) -> Json:
    names = ("trial", "item", "text", "head", "relation", "tail")
    return {name: data.get(name, "") for name in names}


def _fields(annotation: Json) -> Json:
    fields: Json = {
        "person": _person(annotation.get("completed_by")),
        "seconds": annotation.get("lead_time"),
        "at": annotation.get("updated_at") or annotation.get("created_at"),
    }
    chosen: list[str] = []
    for result in _list(annotation.get("result")):
        region = _object(result)
        value = _object(region.get("value"))
        if region.get("type") == "choices":
            picked = [str(choice) for choice in _list(value.get("choices"))]
            if region.get("from_name") == FLAG:
                fields["gold_wrong"] = GOLD_WRONG in picked
            else:
                chosen += picked
        elif region.get("type") == "textarea" and region.get("from_name", COMMENT) == COMMENT:
            text = value.get("text")
            fields["comment"] = "\n".join(str(part) for part in _list(text) or [text] if part)
        for name in ("person", "phase"):
            meta = _object(region.get("meta"))
            if isinstance(meta.get(name), str):
                fields[name] = meta[name]
    # Two choices at once are no decision; put together they are told as what nobody knows.
    fields["label"] = " + ".join(chosen)
    return fields


def _annotation(label: Mapping[str, Any]) -> Json:
    # Label Studio takes `completed_by` only of people who have an account in it.
    meta = {name: label[name] for name in ("person", "phase") if label.get(name)}
    result: list[Json] = [_region(LABEL, "choices", {"choices": [label["label"]]}, meta)]
    if label.get("gold_wrong"):
        result.append(_region(FLAG, "choices", {"choices": [GOLD_WRONG]}, {}))
    if label.get("comment"):
        result.append(_region(COMMENT, "textarea", {"text": [label["comment"]]}, {}))
    found: Json = {"result": result, "was_cancelled": False, "ground_truth": False}
    if label.get("seconds"):
        found["lead_time"] = label["seconds"]
    if label.get("at"):
        found["created_at"] = label["at"]
    return found


def _region(name: str, type_: str, value: Json, meta: Json) -> Json:
    region: Json = {"from_name": name, "to_name": SHOWN, "type": type_, "value": value}
    return {**region, "meta": meta} if meta else region


def _person(completed_by: object) -> str:
    """An account's number, or what the export tells of it."""
    if isinstance(completed_by, dict):
        found = cast(Json, completed_by)
        name = " ".join(str(found.get(key) or "") for key in ("first_name", "last_name")).strip()
        return name or str(found.get("email") or found.get("username") or found.get("id") or "")
    if isinstance(completed_by, int) and not isinstance(completed_by, bool):
        return _("annotator {n}").format(n=completed_by)
    return completed_by if isinstance(completed_by, str) else ""


def _object(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []
