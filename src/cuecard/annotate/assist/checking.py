"""What the linter would say if a proposal were taken whole, told at the items that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from cuecard.annotate.assist.apply import apply
from cuecard.annotate.assist.proposal import Proposal
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem, as_task, find_problems
from cuecard.core.errors import FileProblems

# What gives something away is a doubt, even where the linter only warns of it.
_GIVES_AWAY = {"L006", "L009", "L011"}
_FILLER = "…"
_WRITTEN = (
    ("title",),
    ("query",),
    ("persona", "identity"),
    ("persona", "initial_query"),
    ("gold", "opening"),
    ("gold", "final_answer"),
    ("gold", "answer"),
)
# Facts must not share a key: each filler is another one.
_ENTRIES: dict[Path, tuple[Path, ...]] = {
    ("persona", "stages"): (("title",), ("line",), ("cue", "text")),
    ("gold", "triples"): (("head",), ("relation",), ("tail",)),
    ("gold", "steps"): (("question",), ("target",)),
    ("gold", "facts"): (("key",), ("value",)),
}


def with_lint(data: Mapping[str, Any], proposal: Proposal) -> Proposal:
    """The proposal with what the linter finds in its items: doubts where it is an error or gives something
    away, else remarks.
    """
    edit = TaskEdit(data)
    applied = apply(edit, proposal, {item.id for item in proposal.items})
    landed = {parse_place(place): id_ for id_, place in applied.places.items()}
    found: dict[str, list[Problem]] = defaultdict(list)
    for problem in _problems(edit.data):
        path = parse_place(problem.place)
        for length in range(len(path), 0, -1):
            if path[:length] in landed:
                found[landed[path[:length]]].append(problem)
                break
    items = tuple(
        item.flagged(p.reason for p in found[item.id] if _is_doubt(p)).model_copy(
            update={"remarks": tuple(p.reason for p in found[item.id] if not _is_doubt(p))}
        )
        for item in proposal.items
    )
    return proposal.model_copy(update={"items": items})


def _is_doubt(problem: Problem) -> bool:
    return problem.severity == "error" or problem.code in _GIVES_AWAY


def _problems(data: dict[str, Any]) -> list[Problem]:
    """The linter's findings, also where other parts of the task are still to be written."""
    filled = _filled(data)
    try:
        as_task(filled)
    except FileProblems:
        return []
    return [problem for problem in find_problems(filled) if problem.code and not problem.silenced]


def _filled(data: dict[str, Any]) -> dict[str, Any]:
    """The data with what is still blank filled in, nothing moved."""
    edit = TaskEdit(data)
    with edit.together(()):
        for path in _WRITTEN:
            if edit.get(path, _FILLER) is None or not str(edit.get(path, _FILLER)).strip():
                edit.set(path, _FILLER)
        for path, fields in _ENTRIES.items():
            for index in range(len(edit.items(path))):
                for field in fields:
                    here = (*path, index, *field)
                    if not str(edit.get(here) or "").strip():
                        edit.set(here, f"{_FILLER}{index}")
    return edit.data
