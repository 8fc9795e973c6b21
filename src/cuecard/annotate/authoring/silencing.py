"""Leaving a finding of the linter be, with a reason, and taking that back: each one step for undo."""

from __future__ import annotations

from typing import Any

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path, parse_place
from cuecard.annotate.authoring.validity import Problem
from cuecard.annotate.lint import may_silence

SILENCED: Path = ("silenced",)


def can_silence(problem: Problem) -> bool:
    """Whether the author may leave this problem be: no error of structure, no shape that is none."""
    return not problem.silenced and may_silence(problem.code, problem.severity)


def can_unsilence(problem: Problem) -> bool:
    """Whether there is a silence to take back: over the problem, or without one."""
    return bool(problem.silenced) or problem.place.startswith("silenced[")


def silence(edit: TaskEdit, problem: Problem, reason: str) -> None:
    """Leave a problem be. Raises `ValueError` for one that may not be silenced or without a reason."""
    if not can_silence(problem) or not reason.strip():
        raise ValueError("this cannot be silenced")
    entry = {"code": problem.code, "about": problem.about, "reason": reason.strip()}
    # Drafts from before there were silences lack the list.
    edit.set(SILENCED, [*_without(edit, problem.code, problem.about), entry])


def unsilence(edit: TaskEdit, problem: Problem) -> None:
    """Take back the silence over a problem, or the one that a problem is about (L044)."""
    path = parse_place(problem.place)
    if path[:1] == SILENCED:
        if edit.get(path) is not None:
            edit.delete(path)
        return
    edit.set(SILENCED, _without(edit, problem.code, problem.about))


def _without(edit: TaskEdit, code: str, about: str) -> list[Any]:
    return [
        entry
        for entry in edit.items(SILENCED)
        if (entry.get("code"), entry.get("about", "")) != (code, about)
    ]
