"""Formats of labels: CSV with a label a line, the same as JSON lines, and Label Studio's JSON."""

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast
from xml.sax.saxutils import quoteattr

from cuecard.annotate.labelling.files.entries import (
    Entry,
    Format,
    LabelFile,
    Problems,
    Rows,
    value_of,
)
from cuecard.core.engine.messages import STATUS_WORDS
from cuecard.core.i18n import _, headed, listed
from cuecard.core.label_records import Phase
from cuecard.core.tables.texts import csv_text, guarded, unguarded
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind

NEEDED = ("trial", "item", "label")
COLUMNS = (
    *("id", "run", "task", "revision", "agent", "sample", "trial", "item", "text", "person"),
    *("label", "comment", "gold_wrong", "phase", "seconds", "at", "source"),
)
VERDICT_COLUMNS = ("judge", "judge_label")
_TRUE = ("true", "yes", "y", "1", "是")
_FALSE = ("", "false", "no", "n", "0", "否")
_MOST_INDEX = 10**9
Fields = Mapping[str, object]
T = TypeVar("T")


def label_rows(path: Path, rows: Rows, problems: Problems) -> LabelFile:
    """The entries of a CSV table; what is wrong is added to `problems`."""
    missing = [name for name in NEEDED if name not in rows.columns]
    if missing and not problems.found:
        text = _("there is no column {name}").format(name=listed(missing))
        hint = _("labels need the columns trial, item and label; see docs/labels.md")
        problems.add(1, _("; ").join((text, hint)))
    if problems.found:
        return _file(path, "csv", [], rows.columns)
    lines = [
        (line, {name: unguarded(cell) for name, cell in cells.items()}) for line, cells in rows.rows
    ]
    return _file(path, "csv", _entries(lines, problems), rows.columns)


def label_lines(path: Path, text: str, problems: Problems) -> LabelFile:
    """The entries of JSON lines; what is wrong is added to `problems`."""
    lines: list[tuple[int, Fields]] = []
    names: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            problems.add(number, _("is no JSON"))
            continue
        if not isinstance(found, dict):
            problems.add(number, _("is no JSON object"))
            continue
        fields = cast(dict[str, object], found)
        missing = [name for name in NEEDED if name not in fields]
        if missing:
            problems.add(number, _("there is no {name}").format(name=listed(missing)))
            continue
        names.update(fields)
        lines.append((number, fields))
    if not lines and not problems.found:
        problems.add(None, _("is empty"))
    return _file(path, "jsonl", _entries(lines, problems), names)


def plain_csv(rows: Iterable[Mapping[str, Any]], more: Sequence[str] = ()) -> str:
    """Rows by column name as CSV; missing values are blank."""
    columns = (*COLUMNS, *more)
    return csv_text(columns, ([guarded(_cell(row.get(name))) for name in columns] for row in rows))


def plain_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else ""
        case float():
            return f"{value:g}" if value == round(value, 6) else repr(value)
        case _:
            return str(value)


def _file(path: Path, format: Format, entries: list[Entry], names: Iterable[str]) -> LabelFile:
    shows = bool(set(names) & set(VERDICT_COLUMNS))
    return LabelFile(str(path), path.name, format, tuple(entries), shows_judge=shows)


def _entries(lines: Iterable[tuple[int, Fields]], problems: Problems) -> list[Entry]:
    found: list[Entry] = []
    for line, fields in lines:
        before = len(problems.found)
        entry = entry_of(line, fields, problems)
        if entry is not None and len(problems.found) == before:
            found.append(entry)
    return found


def entry_of(line: int, fields: Fields, problems: Problems) -> Entry | None:
    """One entry from its fields (cells or JSON values), None if invalid; what is wrong is added to `problems`."""

    def text(name: str) -> str:
        value = fields.get(name)
        if isinstance(value, dict | list):
            problems.add(line, _("must be a text"), name)
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    def parsed(name: str, parse: Callable[[str], T], why: str, otherwise: T) -> T:
        given = text(name).strip()
        try:
            return parse(given)
        except (ValueError, OverflowError):
            shown = one_line(given, 40)
            problems.add(line, headed(shown, why), name)
            return otherwise

    item = parsed("item", _item, _("is no item, such as triple/3"), None)
    if item is None:
        return None
    trial = text("trial").strip()
    if not trial:
        problems.add(line, _("is blank"), "trial")
    parts = [text(name) for name in ("head", "relation", "tail")]
    whole = text("text")
    wanted = _(
        "is none of yes, no and unsure, nor the status of a checkpoint where that is labelled"
    )
    return Entry(
        line=line,
        item=item,
        trial=trial,
        texts=tuple(parts) if any(parts) else (whole,) if whole.strip() else (),
        person=text("person").strip(),
        account=text("account"),
        value=parsed("label", lambda word: value_of(word, item.kind), wanted, None),
        comment=text("comment"),
        seconds=parsed("seconds", _seconds, _("is no number of seconds"), 0.0),
        gold_wrong=parsed("gold_wrong", _flag, _("is neither true nor false"), False),
        phase=parsed("phase", _phase, _("is neither blind nor revealed"), None),
        at=parsed("at", _moment, _("is no time, such as 2026-11-21T09:30:00Z"), None),
    )


def _item(key: str) -> Item | None:
    item = Item.of_key(key)
    if item.key != key or not 0 <= item.index < _MOST_INDEX:
        raise ValueError(key)
    return item


def _seconds(given: str) -> float:
    value = float(given) if given else 0.0
    if not math.isfinite(value) or value < 0:
        raise ValueError(given)
    return value


def _flag(given: str) -> bool:
    if given.casefold() in _TRUE:
        return True
    if given.casefold() in _FALSE:
        return False
    raise ValueError(given)


def _phase(given: str) -> Phase | None:
    match given.casefold():
        case "":
            return None
        case "blind" | "revealed" as phase:
            return phase
        case _:
            raise ValueError(given)


def _moment(given: str) -> datetime | None:
    if not given:
        return None
    at = datetime.fromisoformat(given)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    if not 2000 <= at.year < 2200:
        raise ValueError(given)
    return at


def _refuse(name: str) -> object:
    raise ValueError(name)


LABEL, COMMENT, FLAG, SHOWN = "label", "comment", "flag", "item"
GOLD_WRONG = "gold_wrong"
_KEPT = ("person", "phase", "at", "seconds")
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


def interface(kinds: Collection[ItemKind]) -> str:
    """The labelling interface for `tasks_text`, to be pasted in Label Studio: Settings, Labeling Interface, Code.
    `kinds`: of the items. It holds words of the program alone; what tasks say stands in their fields.
    """
    words: dict[str, tuple[str, str]] = {}
    if set(kinds) - {ItemKind.STATUS}:
        words = {"yes": (_("yes"), "y"), "no": (_("no"), "n")}
    if ItemKind.STATUS in kinds:
        words |= {status: (_(word), "") for status, word in STATUS_WORDS.items()}
    words["unsure"] = (_("cannot tell"), "u")
    choices = "".join(
        f'\n    <Choice value={quoteattr(word)} alias="{value}"'
        + (f' hotkey="{key}"/>' if key else "/>")
        for value, (word, key) in words.items()
    )
    rule, evidence = quoteattr(_("Rule")), quoteattr(_("Evidence"))
    wrong, note = quoteattr(_("⚑ gold is wrong")), quoteattr(_("Note"))
    return f"""<View>
  <Header value="$question"/>
  <Text name="{SHOWN}" value="$about"/>
  <Header size="6" value={rule}/>
  <Text name="rule" value="$rule"/>
  <Header size="6" value={evidence}/>
  <Text name="evidence" value="$evidence"/>
  <Choices name="{LABEL}" toName="{SHOWN}" choice="single-radio" required="true">{choices}
  </Choices>
  <Choices name="{FLAG}" toName="{SHOWN}" choice="multiple">
    <Choice value={wrong} alias="{GOLD_WRONG}"/>
  </Choices>
  <TextArea name="{COMMENT}" toName="{SHOWN}" maxSubmissions="1" placeholder={note}/>
</View>
"""


def _of_task(data: Json) -> Json:
    names = ("trial", "item", "text", "head", "relation", "tail")
    return {name: data.get(name, "") for name in names}


def _fields(annotation: Json) -> Json:
    regions = [_object(result) for result in _list(annotation.get("result"))]
    metas = [_object(region.get("meta")) for region in regions]
    kept = {name: meta[name] for meta in metas for name in _KEPT if name in meta}
    by, editor = annotation.get("completed_by"), annotation.get("updated_by")
    if kept and editor is not None:
        # A label that was exported and then changed there: of the one who did it, no matter who took it in.
        by, kept = by if editor == _object(by).get("id") else editor, {}
    fields: Json = {
        "person": _person(by),
        "account": by if isinstance(by, int) else _object(by).get("id"),
        "seconds": annotation.get("lead_time"),
        "at": annotation.get("updated_at") or annotation.get("created_at"),
    }
    chosen: list[str] = []
    for region in regions:
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
    # Two choices at once are no decision; put together they are told as what nobody knows.
    fields["label"] = " + ".join(chosen)
    # Label Studio gives a label that it takes in another time, and the account that took it in.
    return fields | kept


def _annotation(label: Mapping[str, Any]) -> Json:
    # Label Studio takes `completed_by` only of people who have an account in it.
    meta = {name: label[name] for name in _KEPT if label.get(name)}
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


def _person(by: object) -> str:
    """The name of an annotator as the export says it; "" if it gives only the number of an account."""
    name = " ".join(str(_object(by).get(k) or "") for k in ("first_name", "last_name")).strip()
    return by if isinstance(by, str) else name or str(_object(by).get("email") or "")


def _object(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []
