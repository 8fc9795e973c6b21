"""A whole task as YAML for an editor outside, and back: also a task that is not complete yet."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cuecard.annotate.authoring.shapes import Filling, without_defaults
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.tasks import Family, Task
from cuecard.core.tasks.yaml_io import dump_data, read_data, task_dialect
from cuecard.core.text import one_line, storable
from cuecard.core.validation import Place, format_place, line_of, validated

NOTE = "#! "
"""Begins the lines at the top that tell of problems; they are taken out again."""
_MOST_TOLD = 30


@dataclass(frozen=True)
class ReadBack:
    """`data`: what the text says, None where it cannot be taken into the editor. `problems`: what is
    wrong, with lines; with `data` they keep it from being saved, not from being edited further.
    """

    data: dict[str, Any] | None
    problems: tuple[FileProblem, ...] = ()


def to_yaml(data: Mapping[str, Any]) -> str:
    """The data of an edit in the form of a task file, defaults left out."""
    family = cast(Family, data["gold"]["family"])
    return storable(dump_data(without_defaults(data, family), family))


def from_yaml(text: str, task_id: str, family: Family) -> ReadBack:
    """What the text says, for the task of this id and family; both stay as they are.

    Fields that are left out are filled in. Text that is not YAML, names another family, or has a list
    where a text belongs cannot be taken; anything else that is wrong can.
    """
    lines: dict[Place, int] = {}
    try:
        given = read_data(text, "", lines)
    except FileProblems as error:
        return ReadBack(None, error.problems)
    gold = given.get("gold")
    named = cast(dict[str, Any], gold).get("family") if isinstance(gold, dict) else None
    if named not in (None, family):
        reason = _("this is a {family} task; begin a new task for another family")
        problem = FileProblem("", "family", reason.format(family=family), lines.get(("family",)))
        return ReadBack(None, (problem,))
    filling = Filling()
    data = filling.task({**given, "id": task_id}, family)
    misfits = [
        FileProblem("", format_place(p), why, line_of(p, lines)) for p, why in filling.misfits
    ]
    problems = _problems(data, lines)
    if misfits:
        told = {problem.place for problem in misfits}
        return ReadBack(None, (*misfits, *(p for p in problems if p.place not in told)))
    other = str(given.get("id", task_id))
    if other != task_id:
        reason = _("stays {id} here; rename or copy the task instead").format(id=task_id)
        problems.insert(0, FileProblem("", "id", reason, lines.get(("id",))))
    return ReadBack(data, tuple(problems))


def annotated(text: str, problems: Sequence[FileProblem]) -> str:
    """The text with its problems told at the top, and no longer those told there before.

    Lines are counted in the text as it is returned.
    """
    body, taken = _without_notes(text)
    if not problems:
        return body
    shown = problems[:_MOST_TOLD]
    added = len(shown) + 1 + (len(problems) > len(shown))
    notes = [NOTE + _("What is wrong (these lines go away by themselves):")]
    notes += [NOTE + told(_moved(problem, added - taken)) for problem in shown]
    if len(problems) > len(shown):
        notes.append(NOTE + _("… and {n} more").format(n=len(problems) - len(shown)))
    return "\n".join([*notes, body])


def told(problem: FileProblem) -> str:
    """A problem on one line: where, and why."""
    where = _("line {line}").format(line=problem.line) if problem.line else ""
    return one_line(" · ".join(filter(None, (where, problem.place, _bare_reason(problem)))))


def _without_notes(text: str) -> tuple[str, int]:
    rows = text.split("\n")
    count = 0
    while count < len(rows) and rows[count].startswith(NOTE):
        count += 1
    return "\n".join(rows[count:]), count


def _moved(problem: FileProblem, by: int) -> FileProblem:
    line = problem.line + by if problem.line else None
    return FileProblem(problem.file, problem.place, _bare_reason(problem), line)


def _bare_reason(problem: FileProblem) -> str:
    """YAML's own complaints begin with their line."""
    own = _("line {line}: {reason}").format(line=problem.line, reason="")
    return problem.reason.removeprefix(own)


def _problems(data: Mapping[str, Any], lines: Mapping[Place, int]) -> list[FileProblem]:
    try:
        validated(Task, copy.deepcopy(dict(data)), "", lines, task_dialect())
    except FileProblems as error:
        return list(error.problems)
    return []
