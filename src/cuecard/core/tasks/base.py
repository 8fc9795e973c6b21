"""What all task models share: the frozen base class, text types, ids, origins, and a check of what can be stored."""

import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from cuecard.core.i18n import _

_ABSENT = object()
_set_values, _set_names, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in (
        "__dict__",
        "__pydantic_fields_set__",
        "__pydantic_extra__",
        "__pydantic_private__",
    )
)


class Frozen(BaseModel):
    """An immutable model that refuses unknown fields (a misspelt key must not vanish).

    Validators are built on first use, not on import: the app starts with few of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def from_fields(cls, source: object, /, **more: object) -> Self:
        """With `more`, and of the other fields those that `source` has under the same names. Raises `ValidationError`."""
        found = {
            name: getattr(source, name, _ABSENT) for name in cls.model_fields if name not in more
        }
        return cls.model_validate({k: v for k, v in found.items() if v is not _ABSENT} | more)

    @classmethod
    def unchecked(cls, **fields: object) -> Self:
        """Of all fields, without checking them: of many records that the store wrote itself, which this makes several
        times as fast and half as large.
        """
        found = cls.__new__(cls)
        _set_values(found, fields)
        _set_names(found, _fields_of(cls))
        _set_extra(found, None)
        _set_private(found, None)
        return found


@lru_cache(maxsize=64)
def _fields_of(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError(_("must not be empty"))
    return value


def is_web_address(value: str) -> bool:
    """Whether a text is an http or https address."""
    scheme, separator, rest = value.partition("://")
    known = scheme in ("http", "https") and bool(separator) and bool(rest)
    return known and value.split(maxsplit=1) == [value]


def _http_url(value: str) -> str:
    if not is_web_address(value):
        raise ValueError(_("must be a web address that starts with http:// or https://"))
    return value


Text = Annotated[str, AfterValidator(_not_blank)]
"""Text of any length, lines included, kept exactly; not blank."""
Name = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_not_blank)]
"""A short text, stripped; not blank."""
Url = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_http_url)]


ID_PATTERN = r"^[\w.\-]{1,120}$"
"""The pattern of every task id. New ids must also pass `id_problem`; older tasks keep theirs."""
DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)))
)
"""File names that Windows reserves for devices, whatever the suffix."""

_ID = re.compile(r"[\w.\-]{1,120}")


def id_problem(task_id: str) -> str:
    """Why a new task cannot have this id, translated; "" if it can."""
    if _ID.fullmatch(task_id) is None:
        return _("may hold letters, digits, '.', '_' and '-' only, 120 at most")
    if task_id.startswith("-"):
        return _("must not begin with '-', which commands take for an option")
    if not task_id.strip("."):
        return _("must not be dots alone, which name folders")
    if task_id.casefold().partition(".")[0] in DEVICES:
        return _("is a name that Windows keeps for a device")
    return ""


OriginKind = Literal["persona", "triples", "checkpoints", "facts", "translation"]


class Origin(Frozen):
    """Part of a task that a machine drafted and the author accepted. `by`: the model's name; `items`: how many items
    were accepted; `prompt`: hash of the prompt, empty without one; `at`: in UTC.
    """

    kind: OriginKind
    by: Name
    items: Annotated[int, Field(ge=1)]
    prompt: str = ""
    at: datetime


_MAX_DEPTH = 60


def check_storable(data: dict[str, Any]) -> None:
    """Raises `ValueError` (`place: reason`) for the first value that cannot be stored exactly: half
    of a surrogate pair, a NUL character, a number that is not finite, nesting without end.
    """
    for place, reason in _unstorable(data, "", 0):
        raise ValueError(f"{place}: {reason}")


MOST_CHARACTERS = 200_000
"""Of one text of a task that is imported: a longer one holds up whoever opens it."""


def too_long(task: BaseModel) -> Iterator[tuple[str, str]]:
    """Place and reason of each text of a task that is longer than `MOST_CHARACTERS`."""
    if len(task.model_dump_json()) > MOST_CHARACTERS:
        yield from _unstorable(task.model_dump(), "", 0, MOST_CHARACTERS)


def _unstorable(
    value: object, place: str, depth: int, most: int | None = None
) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if reason := _bad_text(value):
            yield place, reason
        if most is not None and len(value) > most:
            yield place, _("is longer than {n} characters").format(n=f"{most:,}")
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield place, _("must be a finite number")
    elif depth > _MAX_DEPTH and isinstance(value, dict | list | tuple):
        yield place, _("is nested too deeply")
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            if reason := _bad_text(key):
                yield place, reason
            yield from _unstorable(inner, f"{place}.{key}" if place else key, depth + 1, most)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(cast(Sequence[Any], value)):
            yield from _unstorable(inner, f"{place}[{index}]", depth + 1, most)


def _bad_text(value: str) -> str:
    if value.isascii():
        return _("holds a NUL character; remove it") if "\0" in value else ""
    try:
        value.encode()
    except UnicodeEncodeError:
        return _("holds half of a character (a lone surrogate); type it again")
    return _("holds a NUL character; remove it") if "\0" in value else ""


_KEY = re.compile("[a-z][a-z0-9_]{0,39}")


def _dimension_key(value: str) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError(
            _("begins with a small letter and holds small letters, digits and '_', at most 40")
        )
    return value


DimensionKey = Annotated[str, AfterValidator(_dimension_key)]


class FormQuestion(Frozen):
    """One question at the end of a session. `key` is stored with the answers; texts are shown as they are. Kinds:
    `scale`: whole numbers from `lowest` to `highest`, whose ends mean `low` and `high`; `choice`: one of `options`;
    `text`: free text. The scale with the key `satisfaction` is compared with the scores.
    """

    key: DimensionKey
    label: Name
    kind: Literal["scale", "choice", "text"] = "scale"
    lowest: Annotated[int, Field(ge=0, le=1)] = 1
    highest: Annotated[int, Field(ge=2, le=10)] = 7
    low: str = ""
    high: str = ""
    options: tuple[Name, ...] = ()
    required: bool = True

    @model_validator(mode="after")
    def _has_options(self) -> Self:
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError(_("a choice needs two options or more"))
        return self
