"""Which tabs a task has, on which of them a place is edited, and what is wrong where."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from cuecard.core.errors import FileProblems
from cuecard.core.i18n import N_
from cuecard.core.tasks import Family, Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.validation import validated
from cuecard.tui.state.trees import Path

TabId = Literal[
    "brief", "persona", "stages", "graph", "nodes", "table", "columns", "steps", "chain",
    "facts", "answer", "sources", "problems", "history",
]  # fmt: skip

TAB_LABEL: dict[TabId, str] = {
    "brief": N_("Brief"),
    "persona": N_("Persona"),
    "stages": N_("Stages"),
    "graph": N_("Graph"),
    "nodes": N_("Nodes"),
    "table": N_("Table"),
    "columns": N_("Columns"),
    "steps": N_("Steps"),
    "chain": N_("Chain"),
    "facts": N_("Facts"),
    "answer": N_("Answer"),
    "sources": N_("Sources"),
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


@dataclass(frozen=True)
class Problem:
    """`error`: cannot be saved or plays wrongly; `warning`: somebody ought to look."""

    severity: Literal["error", "warning"]
    place: str
    reason: str
    hint: str = ""


def tabs_of(data: Mapping[str, Any]) -> tuple[TabId, ...]:
    """The tabs of a task, in order; stages only where there is a persona."""
    stages: tuple[TabId, ...] = ("stages",) if data.get("persona") else ()
    gold = _GOLD_TABS[cast(Family, data["gold"]["family"])]
    return ("brief", "persona", *stages, *gold, "sources", "problems", "history")


def tab_of(path: Path, data: Mapping[str, Any]) -> TabId:
    """The tab on which `path` is edited."""
    match path:
        case ("persona", "stages", *_) if data.get("persona"):
            return "stages"
        case ("persona", *_):
            return "persona"
        case ("sources", *_):
            return "sources"
        case ("gold", *rest):
            family = cast(Family, data["gold"]["family"])
            first, second = _GOLD_TABS[family]
            return first if not rest or rest[0] in _FIRST_TAB_FIELDS[family] else second
        case _:
            return "brief"


def as_task(data: Mapping[str, Any]) -> Task:
    """The data as a task. Raises `FileProblems` with everything that keeps it from being one."""
    return validated(Task, copy.deepcopy(dict(data)), "", {}, task_dialect())


def invalid(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that keeps the data from being a task, as (place, reason)."""
    try:
        as_task(data)
    except FileProblems as error:
        return [(problem.place, problem.reason) for problem in error.problems]
    return []


def find_problems(data: Mapping[str, Any]) -> list[Problem]:
    """What keeps the data from being a task; if nothing does, what the linter finds in it."""
    from cuecard.annotate.lint import lint

    try:
        task = as_task(data)
    except FileProblems as error:
        return [Problem("error", problem.place, problem.reason) for problem in error.problems]
    findings = [Problem(f.severity.value, f.place, f.reason, f.hint) for f in lint(task)]
    return sorted(findings, key=lambda problem: problem.severity == "warning")
