"""Which tabs a task has, and on which of them a place is edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_
from cuecard.core.tasks import Family

TabId = Literal[
    "brief", "persona", "stages", "graph", "nodes", "table", "columns", "steps", "chain",
    "facts", "answer", "sources", "comments", "problems", "history",
]  # fmt: skip

TAB_LABEL: dict[TabId, str] = {
    "brief": N_("Brief"),
    "persona": N_("Persona"),
    "stages": N_("Stages"),
    "graph": N_("Graph"),
    "nodes": N_("Nodes"),
    "table": N_("Table"),
    "columns": N_("Columns"),
    "steps": N_("Checkpoints"),
    "chain": N_("Chain"),
    "facts": N_("Facts"),
    "answer": N_("Answer"),
    "sources": N_("Evidence"),
    "comments": N_("Comments"),
    "problems": N_("Problems"),
    "history": N_("History"),
}
_GOLD_TABS: dict[Family, tuple[TabId, TabId]] = {
    "graph": ("graph", "nodes"),
    "table": ("table", "columns"),
    "checkpoints": ("steps", "chain"),
    "facts": ("facts", "answer"),
}
# Below gold: which fields stand on which tab; the rest stands on the family's second tab.
_FIRST_TAB_FIELDS: dict[Family, tuple[str, ...]] = {
    "graph": ("triples",),
    "table": ("rows",),
    "checkpoints": ("steps",),
    "facts": ("facts",),
}


def tabs_of(data: Mapping[str, Any]) -> tuple[TabId, ...]:
    """The tabs of a task, in order; stages only where there is a persona."""
    stages: tuple[TabId, ...] = ("stages",) if data.get("persona") else ()
    gold = _GOLD_TABS[cast(Family, data["gold"]["family"])]
    return ("brief", "persona", *stages, *gold, "sources", "problems", "history")


def with_comments(tabs: tuple[TabId, ...]) -> tuple[TabId, ...]:
    """The tabs of a task about which something was said."""
    at = tabs.index("problems") if "problems" in tabs else len(tabs)
    return (*tabs[:at], "comments", *tabs[at:])


def tab_of(path: Path, data: Mapping[str, Any]) -> TabId:
    """The tab on which `path` is edited."""
    match path:
        case ("persona", "stages", *_) if data.get("persona"):
            return "stages"
        case ("persona", *_):
            return "persona"
        case ("sources", *_):
            return "sources"
        case ("silenced", *_):
            return "problems"
        case ("gold", *rest):
            family = cast(Family, data["gold"]["family"])
            first, second = _GOLD_TABS[family]
            return first if not rest or rest[0] in _FIRST_TAB_FIELDS[family] else second
        case _:
            return "brief"
