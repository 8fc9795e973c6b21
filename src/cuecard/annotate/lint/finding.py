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
    what is wrong there, `hint` how to mend it, both translated. `about` names the thing in the task's
    own words, free of its place, for a silence to hold on to; `silenced` is the author's reason for
    leaving it, empty where there is none.
    """

    code: str
    severity: Severity
    place: str
    reason: str
    hint: str
    about: str = ""
    silenced: str = ""


def error(code: str, place: str, reason: str, hint: str, about: str = "") -> Finding:
    return Finding(
        code=code, severity=Severity.ERROR, place=place, reason=reason, hint=hint, about=about
    )


def warning(code: str, place: str, reason: str, hint: str, about: str = "") -> Finding:
    return Finding(
        code=code, severity=Severity.WARNING, place=place, reason=reason, hint=hint, about=about
    )
