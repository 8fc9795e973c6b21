"""Codes of what keeps data from being a task."""

from __future__ import annotations

import re

from cuecard.core.errors import FileProblem
from cuecard.core.i18n import _

UNREADABLE, SAME_ID = "E001", "E002"
_EMPTY, _UNKNOWN, _SHAPE, _CHOICE = "E003", "E004", "E005", "E006"
_MALFORMED, _REFERENCE, _UNSTORABLE = "E007", "E008", "E009"

_BY_KIND = {
    "": UNREADABLE,
    "missing": _EMPTY,
    "too_short": _EMPTY,
    "extra_forbidden": _UNKNOWN,
    "enum": _CHOICE,
    "literal_error": _CHOICE,
    "union_tag_invalid": _CHOICE,
    "union_tag_not_found": _EMPTY,
    "string_pattern_mismatch": _MALFORMED,
    "greater_than_equal": _MALFORMED,
    "string_unicode": _UNSTORABLE,
}
_ADDRESS = re.compile(r"(?:^|\.)(?:url|sources\[\d+\])$")


def code_of(problem: FileProblem) -> str:
    """The stable code of one problem that validation found."""
    if problem.kind == "value_error":
        return _of_value(problem)
    return _BY_KIND.get(problem.kind, _SHAPE)


def _of_value(problem: FileProblem) -> str:
    """Our own validators say what they refuse in words, in the language that is set."""
    if problem.reason == _("must not be empty"):
        return _EMPTY
    if problem.reason in _unstorable_reasons():
        return _UNSTORABLE
    return _MALFORMED if _ADDRESS.search(problem.place) else _REFERENCE


def _unstorable_reasons() -> tuple[str, ...]:
    return (
        _("holds half of a character (a lone surrogate); type it again"),
        _("holds a NUL character; remove it"),
        _("is nested too deeply"),
        _("must be a finite number"),
    )
