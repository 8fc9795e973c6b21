"""The fields of a task's data for comparing and merging: labels, how items of lists are matched, values as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cuecard.annotate.authoring.diff import Loose, MatchRule
from cuecard.core.i18n import N_, NP_, _
from cuecard.core.text import normalise


@dataclass(frozen=True)
class Ref:
    """A reference to a stage or column by identity instead of number, so that renumbering is no change. `shown`: how it
    reads.
    """

    id: int
    shown: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Leaf:
    """A value that is compared and merged as a whole. `joint`: the text put between two versions that are both kept,
    None if only one can be kept. `raw`: the label is not to be translated.
    """

    label: str
    joint: str | None = None
    raw: bool = False


@dataclass(frozen=True)
class Record:
    """A mapping with known fields. Without a `label`, only its fields are named. `whole`: fields that depend on each
    other, so that a conflict in one is decided for all.
    """

    label: str
    fields: Mapping[str, Shape]
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class Items:
    """A list. `one`: the label of an item, with its number `{n}`; `title`: an item in a few words. `apart`: labels of
    items omit the label of what the list is in.
    """

    label: str
    one: str
    item: Shape
    match_rule: MatchRule = field(default_factory=MatchRule)
    title: Callable[[Any], str] = str
    apart: bool = False


Shape = Leaf | Record | Items


def text_of(value: Any) -> str:
    """A value of any type as text; nothing is the empty text."""
    match value:
        case None:
            return ""
        case str():
            return value
        case Ref():
            return value.shown
        case bool() | int() | float():
            return str(value)
        case list() if all(isinstance(part, str | Ref) for part in cast(list[Any], value)):
            return ", ".join(map(text_of, cast(list[Any], value)))
        case _:
            return json.dumps(value, ensure_ascii=False, default=text_of)


def described(shape: Shape, value: Any) -> str:
    """The whole of a value as lines of text, what is empty left out."""
    if isinstance(shape, Record) and isinstance(value, dict):
        lines: list[str] = []
        for name, inner in shape.fields.items():
            if text := described(inner, cast(dict[str, Any], value).get(name)):
                gap = "\n" if "\n" in text else " "
                label = label_of(inner)
                lines.append(f"{label}:{gap}{text}" if label else text)
        return "\n".join(lines)
    if isinstance(shape, Items) and isinstance(value, list):
        parts = [described(shape.item, item) for item in cast(list[Any], value)]
        between = ", " if isinstance(shape.item, Leaf) else "\n"
        return between.join(filter(None, parts))
    return text_of(value)


def fields_of(shape: Record, *values: Any) -> dict[str, Shape]:
    """The fields of a record, and those that the values have beyond what is known of it."""
    fields = dict(shape.fields)
    for value in values:
        for name in mapping(value):
            fields.setdefault(name, Leaf(name, raw=True))
    return fields


def label_of(shape: Shape) -> str:
    """How a thing is called, in the person's language."""
    if not shape.label or (isinstance(shape, Leaf) and shape.raw):
        return shape.label
    return _(shape.label)


def is_blank(value: Any) -> bool:
    """Whether a value is empty, as one that is missing is."""
    return value is None or value == "" or value == [] or value == {}


def same(one: Any, other: Any) -> bool:
    """Whether two values say the same."""
    return one is other or one == other or (is_blank(one) and is_blank(other))


def mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def part(item: Any, name: str) -> str:
    """A text field of an item, "" where there is none."""
    return text_of(mapping(item).get(name))


PARAGRAPH = "\n\n"


def _key(*names: str, plain: bool = False) -> Callable[[Any], Hashable | None]:
    """Known by these fields; `plain`: as compared texts, whatever case and width."""

    def key(item: Any) -> Hashable | None:
        values = tuple(part(item, name) for name in names)
        if plain:
            values = tuple(map(normalise, values))
        return values if any(values) else None

    return key


def _text(*names: str) -> Callable[[Any], str]:
    return lambda item: " · ".join(part(item, name) for name in names if part(item, name))


def _texts(label: str, one: str) -> Items:
    match_rule = MatchRule(keys=(_plain_text,), text=text_of, least=80)
    return Items(label, one, Leaf(label), match_rule, text_of)


def _plain_text(item: Any) -> Hashable | None:
    return normalise(text_of(item)) or None


def _node_title(item: Any) -> str:
    return part(item, "name") or part(item, "id")


def _step_text(item: Any) -> str:
    return part(item, "question") or part(item, "target")


_LINKS = Items(
    N_("Sources"), N_("Source {n}"), Leaf(N_("Source")), MatchRule(text=text_of, least=85), text_of
)
_ALIASES = _texts(N_("Aliases"), N_("Alias {n}"))
_TERMS = _texts(N_("Terms"), N_("Term {n}"))

STAGES = Items(
    N_("Stages"),
    N_("Stage {n}"),
    Record(
        N_("Stage"),
        {
            "title": Leaf(N_("Title")),
            "cue": Record(
                N_("Cue"),
                {"kind": Leaf(N_("Kind")), "text": Leaf(NP_("of a cue", "When")), "terms": _TERMS},
            ),
            "line": Leaf(N_("Line"), PARAGRAPH),
            "not_met": Leaf(N_("If not met"), PARAGRAPH),
        },
    ),
    MatchRule(
        keys=(_key("title"), _key("line"), _key("title", plain=True)),
        text=_text("title", "line"),
        least=60,
    ),
    _text("title"),
    apart=True,
)
_PERSONA = Record(
    N_("Persona"),
    {
        "name": Leaf(N_("Name")),
        "identity": Leaf(N_("Identity"), PARAGRAPH),
        "initial_query": Leaf(N_("First query"), PARAGRAPH),
        "stages": STAGES,
        "behaviour": Leaf(N_("Behaviour"), PARAGRAPH),
    },
)
_SOURCE_LIST = Items(
    N_("Sources"),
    N_("Source {n}"),
    Record(N_("Source"), {"url": Leaf(N_("Address")), "note": Leaf(N_("Note"), PARAGRAPH)}),
    MatchRule(keys=(_key("url"),), text=_text("url", "note"), least=80),
    _text("url"),
)
_SILENCED = Items(
    N_("Silenced"),
    N_("Silence {n}"),
    Record(
        N_("Silence"),
        {"code": Leaf(N_("Rule")), "about": Leaf(N_("About")), "reason": Leaf(N_("Reason"))},
    ),
    MatchRule(keys=(_key("code", "about"),), text=_text("code", "about"), least=90),
    _text("code", "about"),
)
_NODES = Items(
    N_("Nodes"),
    N_("Node {n}"),
    Record(
        N_("Node"),
        {"id": Leaf(N_("Id")), "name": Leaf(N_("Shown as")), "aliases": _ALIASES},
    ),
    MatchRule(keys=(_key("id"), _key("id", plain=True)), text=_text("id", "name"), least=75),
    _node_title,
)
_TRIPLES = Items(
    N_("Triples"),
    N_("Triple {n}"),
    Record(
        N_("Triple"),
        {
            "head": Leaf(N_("Head")),
            "relation": Leaf(N_("Relation")),
            "tail": Leaf(N_("Tail")),
            "stage": Leaf(N_("Stage")),
            "sources": _LINKS,
            "note": Leaf(N_("Note"), PARAGRAPH),
        },
        whole=("head", "relation", "tail"),
    ),
    MatchRule(
        keys=(_key("head", "relation", "tail"), _key("head", "relation", "tail", plain=True)),
        loose=(
            Loose(_key("head", "tail"), _text("relation"), 0),
            Loose(_key("head", "relation"), _text("tail"), 50, lone=True),
            Loose(_key("relation", "tail"), _text("head"), 50),
        ),
        text=_text("head", "relation", "tail"),
        least=75,
    ),
    _text("head", "relation", "tail"),
)
COLUMNS = Items(
    N_("Columns"),
    N_("Column {n}"),
    Record(
        N_("Column"),
        {
            "name": Leaf(N_("Name")),
            "preprocess": Leaf(N_("Preprocess")),
            "metric": Leaf(N_("Metric")),
            "criterion": Leaf(N_("Criterion"), PARAGRAPH),
        },
    ),
    # `cells` is what stands below a column: one that got quite another name is known by it.
    MatchRule(
        keys=(_key("name"), _key("name", plain=True), _key("cells")),
        loose=(Loose(lambda _column: True, _text("cells"), 70),),
        text=_text("name"),
        least=60,
    ),
    _text("name"),
)
_STEPS = Items(
    N_("Checkpoints"),
    N_("Checkpoint {n}"),
    Record(
        N_("Checkpoint"),
        {
            "question": Leaf(N_("Question")),
            "target": Leaf(N_("Target")),
            "aliases": _ALIASES,
            "ambiguity": Record(
                N_("Ambiguity"),
                {
                    "type": Leaf(N_("Kind")),
                    "logic": Leaf(N_("Logic"), PARAGRAPH),
                    "candidates": _texts(N_("Candidates"), N_("Candidate {n}")),
                    "clue": Leaf(N_("Clue"), PARAGRAPH),
                    "terms": _TERMS,
                },
            ),
            "sources": _LINKS,
        },
    ),
    MatchRule(keys=(_key("question"), _key("target")), text=_step_text, least=55),
    _step_text,
)
_FACTS = Items(
    N_("Facts"),
    N_("Fact {n}"),
    Record(
        N_("Fact"),
        {
            "key": Leaf(N_("Key")),
            "value": Leaf(N_("Value")),
            "kind": Leaf(N_("Kind")),
            "entity": Leaf(N_("Entity")),
            "attribute": Leaf(N_("Attribute")),
            "unit": Leaf(N_("Unit")),
            "aliases": _ALIASES,
            "sources": _LINKS,
        },
    ),
    MatchRule(
        keys=(_key("key"), _key("key", plain=True), _key("entity", "attribute", "value")),
        text=_text("key"),
        least=75,
    ),
    _text("key"),
)
_CELL = N_("Cell")
_ROWS = N_("Rows")
_ROW = N_("Row {n}")
_GOLDS: Mapping[str, Mapping[str, Shape]] = {
    "graph": {"nodes": _NODES, "triples": _TRIPLES},
    "checkpoints": {
        "opening": Leaf(N_("Opening"), PARAGRAPH),
        "steps": _STEPS,
        "final_answer": Leaf(N_("Final answer")),
        "final_aliases": _ALIASES,
        "forbidden": _texts(N_("Forbidden"), N_("Forbidden {n}")),
    },
    "facts": {
        "facts": _FACTS,
        "answer": Leaf(N_("Answer")),
        "answer_aliases": _ALIASES,
        "derivation": Leaf(N_("Derivation"), PARAGRAPH),
    },
}


def table_shape(columns: Mapping[str, str], keys: tuple[str, ...]) -> Record:
    """The shape of a table whose rows are mappings. `columns`: what each field of a row is called;
    `keys`: the fields by which rows are known.
    """
    fields: dict[str, Shape] = {
        name: Leaf(label or _CELL, raw=bool(label)) for name, label in columns.items()
    }

    def key_of(row: Any) -> tuple[str, ...] | None:
        cells = tuple(part(row, key) for key in keys or fields)
        return cells if any(cells) else None

    def title(row: Any) -> str:
        return " | ".join(key_of(row) or ())

    def text(row: Any) -> str:
        return " | ".join(cell for key in fields if (cell := part(row, key)))

    rows = Items(_ROWS, _ROW, Record("", fields), MatchRule((key_of,), text=text, least=60), title)
    return Record("", {"columns": COLUMNS, "unique_columns": Leaf(N_("Key columns")), "rows": rows})


def task_shape(family: str, table: Record | None = None) -> Record:
    """The structure of a task of this family. `table`: that of a table's gold. Of an unknown family, gold is one value."""
    gold: Shape = Leaf(N_("Gold"))
    if family in _GOLDS:
        gold = Record("", _GOLDS[family])
    elif table is not None:
        gold = table
    return Record(
        "",
        {
            "id": Leaf(N_("Id")),
            "title": Leaf(N_("Title")),
            "domain": Leaf(N_("Domain")),
            "language": Leaf(N_("Language")),
            "difficulty": Leaf(N_("Difficulty")),
            "query": Leaf(N_("Query"), PARAGRAPH),
            "sub_queries": _texts(N_("Sub-queries"), N_("Sub-query {n}")),
            "notes": Leaf(N_("Notes"), PARAGRAPH),
            "persona": _PERSONA,
            "gold": gold,
            "sources": _SOURCE_LIST,
            "silenced": _SILENCED,
            "foreign": Leaf(N_("Other format's fields")),
        },
    )
