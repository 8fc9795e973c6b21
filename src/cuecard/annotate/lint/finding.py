"""One finding of the linter."""

from __future__ import annotations

from enum import StrEnum

from cuecard.core.tasks.base import Frozen


class Severity(StrEnum):
    """`error`: the task scores or plays wrongly. `warning`: somebody ought to look."""

    ERROR = "error"
    WARNING = "warning"


class Finding(Frozen):
    """`code` is stable. `place` is a path into the task (`persona.stages[3].line`); `reason` says
    what is wrong there, `hint` how to mend it, both translated.
    """

    code: str
    severity: Severity
    place: str
    reason: str
    hint: str


def error(code: str, place: str, reason: str, hint: str) -> Finding:
    return Finding(code=code, severity=Severity.ERROR, place=place, reason=reason, hint=hint)


def warning(code: str, place: str, reason: str, hint: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, place=place, reason=reason, hint=hint)
