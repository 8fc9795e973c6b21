"""What a task's data is made of, field by field: how each thing is called, and known again.

Everything that compares versions of a task (differences, merging) walks over this one description.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from cuecard.annotate.authoring.anatomy import Items, Leaf, Record, Shape, part, text_of
from cuecard.annotate.authoring.matching import Likeness, Loose
from cuecard.core.i18n import N_, NP_
from cuecard.core.text import normalise

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
    likeness = Likeness(keys=(_plain_text,), text=text_of, least=80)
    return Items(label, one, Leaf(label), likeness, text_of)


def _plain_text(item: Any) -> Hashable | None:
    return normalise(text_of(item)) or None


def _node_title(item: Any) -> str:
    return part(item, "name") or part(item, "id")


def _step_text(item: Any) -> str:
    return part(item, "question") or part(item, "target")


_LINKS = Items(
    N_("Sources"), N_("Source {n}"), Leaf(N_("Source")), Likeness(text=text_of, least=85), text_of
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
    Likeness(
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
    Likeness(keys=(_key("url"),), text=_text("url", "note"), least=80),
    _text("url"),
)
_SILENCED = Items(
    N_("Silenced"),
    N_("Silence {n}"),
    Record(
        N_("Silence"),
        {"code": Leaf(N_("Rule")), "about": Leaf(N_("About")), "reason": Leaf(N_("Reason"))},
    ),
    Likeness(keys=(_key("code", "about"),), text=_text("code", "about"), least=90),
    _text("code", "about"),
)
_NODES = Items(
    N_("Nodes"),
    N_("Node {n}"),
    Record(
        N_("Node"),
        {"id": Leaf(N_("Id")), "name": Leaf(N_("Shown as")), "aliases": _ALIASES},
    ),
    Likeness(keys=(_key("id"), _key("id", plain=True)), text=_text("id", "name"), least=75),
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
    Likeness(
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
    Likeness(
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
    Likeness(keys=(_key("question"), _key("target")), text=_step_text, least=55),
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
    Likeness(
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

    rows = Items(_ROWS, _ROW, Record("", fields), Likeness((key_of,), text=text, least=60), title)
    return Record("", {"columns": COLUMNS, "unique_columns": Leaf(N_("Key columns")), "rows": rows})


def task_shape(family: str, table: Record | None = None) -> Record:
    """The shape of a task of this family; of an unknown one, its gold is one value."""
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
