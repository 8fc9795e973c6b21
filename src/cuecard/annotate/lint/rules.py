"""Runs all rules over one task, also over a draft; gives validation errors codes, and applies authors' silences."""

import builtins
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from enum import Enum
from functools import cache
from itertools import chain
from typing import Any, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.lint.case import Case
from cuecard.annotate.lint.codes import Finding, may_silence, warning
from cuecard.annotate.lint.disclosure import (
    lint_cues,
    lint_gold_disclosure,
    lint_lines,
    lint_other_leaks,
)
from cuecard.annotate.lint.general import lint_dates, lint_sources, lint_stages, lint_texts
from cuecard.annotate.lint.gold import lint_gold_consistency
from cuecard.core.errors import FileProblem
from cuecard.core.families.table.gold import Table
from cuecard.core.i18n import _
from cuecard.core.tasks.models import FAMILIES, CueKind, Silenced, Task


def silence(
    findings: Iterable[Finding], silences: Iterable[Silenced], *, complete: bool = True
) -> Iterator[Finding]:
    """The findings, those that a silence matches with its reason. With `complete`, a silence that matches none is
    itself a finding (L044); a draft may not have got there yet.
    """
    reasons = {(silenced.code, silenced.about): silenced.reason for silenced in silences}
    used: set[tuple[str, str]] = set()
    for finding in findings:
        key = (finding.code, finding.about)
        if key in reasons and may_silence(finding.code, finding.severity):
            used.add(key)
            yield finding.model_copy(update={"silenced": reasons[key] or _("no reason given")})
        else:
            yield finding
    if not complete:
        return
    for index, silenced in enumerate(silences):
        if (silenced.code, silenced.about) not in used:
            yield warning(
                "L044",
                f"silenced[{index}]",
                _("nothing is found that {code} about “{about}” would silence").format(
                    code=silenced.code, about=silenced.about
                ),
                _("Remove the silence."),
                f"{silenced.code}: {silenced.about}",
            )


_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    lint_stages,
    lint_other_leaks,
    lint_gold_disclosure,
    lint_cues,
    lint_lines,
    lint_gold_consistency,
    lint_sources,
    lint_dates,
    lint_texts,
)


def lint(task: Task, today: date | None = None, *, complete: bool = True) -> tuple[Finding, ...]:
    """All findings for one task in the order of codes, silenced ones included. `today`: later dates are in the future;
    default the current day. `complete`: False for a draft from `loosely`.
    """
    case = Case(task, today or date.today(), complete)
    rules = (*_RULES, *ANNOTATE[task.family].lint)
    found = chain.from_iterable(rule(case) for rule in rules)
    silenced = silence(found, task.silenced, complete=complete)
    return tuple(sorted(silenced, key=lambda finding: finding.code))


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
    """The code of a problem that validation found."""
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


_Data = Mapping[str, Any]
_Model = TypeVar("_Model", bound=BaseModel)


def loosely(data: _Data) -> Task | None:
    """The task as far as it is written, without validation, so texts may be empty; None if the family is unknown."""
    gold = _mapping(data.get("gold"))
    family = gold.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        return None
    return written(Task, data, gold=ANNOTATE[family].written(gold), foreign=None)


def written(model: type[_Model], data: _Data, **read: object) -> _Model:
    """What is written of a model of ours: texts may be empty, what is of another shape counts as missing, and what stands in
    a list keeps its place. `read`: fields that were read otherwise.
    """
    for name, kind in _kinds(model).items():
        if name not in read:
            value = _reader(kind)(data.get(name))
            read[name] = _instead(kind) if value is None else value
    return model.model_construct(**cast(dict[str, Any], read))


@cache
def _kinds(model: type[BaseModel]) -> Mapping[str, Any]:
    return {name: field.annotation for name, field in model.model_fields.items()}


@cache
def _reader(kind: Any) -> Callable[[object], object]:
    """Reads values of this kind; None where it is another."""
    inner = get_args(kind)
    match get_origin(kind):
        case typing.Literal:
            return lambda value: value if value in inner else None
        case builtins.tuple:
            read, model = _reader(inner[0]), _is(inner[0], BaseModel)
            return lambda value: tuple(
                each
                for item in _list(value)
                if (each := read(_mapping(item) if model else item)) is not None
            )
        case None if kind is str:
            return _as_text
        case None if _is(kind, Enum):
            known: dict[str, object] = {member.value: member for member in kind}
            return lambda value: known.get(value) if isinstance(value, str) else None
        case None if _is(kind, BaseModel):
            return lambda value: (
                written(kind, cast(_Data, value)) if isinstance(value, dict) else None
            )
        case None:
            return lambda value: value if isinstance(value, kind) else None
        case _:
            return _reader(inner[0])


def _instead(kind: Any) -> object:
    """What stands for a value that is missing."""
    if type(None) in get_args(kind):
        return None
    if get_origin(kind) is typing.Literal:
        return get_args(kind)[0]
    if kind is CueKind:
        return CueKind.MENTIONS
    if _is(kind, BaseModel):
        return written(kind, {})
    return next(iter(kind)) if _is(kind, Enum) else kind()


def _is(kind: Any, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def written_table(gold: _Data) -> Table:
    """Every row as wide as the columns; of the keys those that are columns."""
    table = written(Table, gold)
    names, width = table.column_names, len(table.columns)
    rows = tuple((*row, *[""] * width)[:width] for row in table.rows)
    keys = tuple(key for key in table.unique_columns if key and key in names)
    return table.model_copy(update={"rows": rows, "unique_columns": keys})


def _mapping(value: object) -> _Data:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _as_text(value: object) -> str:
    """Text as it stands; half characters, which no rule can compare, count as missing."""
    text = value.strip() if isinstance(value, str) else str(value) if type(value) is int else ""
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()
