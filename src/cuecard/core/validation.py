"""Data from outside: broken JSON of models is repaired in a bounded number of steps, a file's data is checked against a
pydantic model, and HTTP responses against limits of size.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast

from pydantic import BaseModel, ValidationError

from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _, listed, plural

if TYPE_CHECKING:
    from aiohttp import ClientResponse


Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

# Validators of whole models name the place inside them: "rows[3]: has 2 cells, not 4".
_INNER_PLACE = re.compile(r"([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*): (.+)", re.DOTALL)
# What Pydantic adds to the location of a mapping's key that is wrong.
_OF_A_KEY = "[key]"
_WRONG_TYPES = {
    "string_type",
    "tuple_type",
    "list_type",
    "dict_type",
    "model_type",
    "model_attributes_type",
}


@dataclass(frozen=True)
class TaggedUnion:
    """How a union of models is written in a file: its members are `depth` levels below one top-level field, and are told
    apart by the field `tag`, inside the member or (`tag_at_top`) at the top of the file.
    """

    depth: int
    tag: str
    choices: tuple[str, ...]
    tag_at_top: bool = False


@dataclass(frozen=True)
class Dialect:
    """How files of one kind are checked. `title`: of their errors; `shape`: the reason given if the file is no mapping;
    `typed`: which places hold JSON with types; `unions`: tagged unions by top-level field.
    """

    title: str
    shape: str
    typed: Callable[[Place], bool] = lambda place: False
    unions: Mapping[str, TaggedUnion] = field(default_factory=dict[str, TaggedUnion])


def validated(
    model: type[Model],
    data: dict[str, Any],
    file: str,
    lines: Mapping[Place, int],
    dialect: Dialect,
) -> Model:
    """`data` as a model. A field that stands there without a value counts as left out, unless it is
    required. Raises `FileProblems` with everything that is wrong.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        blank = [
            _without_tag(item["loc"], dialect)
            for item in error.errors(include_url=False, include_context=False)
            if item["input"] is None and item["type"] in _WRONG_TYPES
        ]
        removed = [place for place in blank if _remove(data, place)]
        if not removed:
            raise FileProblems(dialect.title, problems_of(error, file, lines, dialect)) from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = problems_of(error, file, lines, dialect, frozenset(removed))
        raise FileProblems(dialect.title, problems) from error


def problems_of(
    error: ValidationError,
    file: str,
    lines: Mapping[Place, int],
    dialect: Dialect,
    blank: frozenset[Place] = frozenset(),
) -> list[FileProblem]:
    """Each validation error as place, reason and line; at a `blank` place a value is missing that
    the file names without giving it.
    """
    items = error.errors(include_url=False, include_context=True)
    problems: list[FileProblem] = []
    for item in items:
        kind, given = item["type"], item["input"]
        context: dict[str, Any] = item.get("ctx", {})
        # Pydantic counts only the entries that are right: one wrong entry makes the list too short.
        if kind == "too_short" and len(given) >= context.get("min_length", 1):
            continue
        loc = item["loc"]
        union = dialect.unions.get(str(loc[0])) if loc else None
        place = _without_tag(loc, dialect)
        if place[-1:] == (_OF_A_KEY,):
            place = place[:-1]
        if place in blank:
            kind, reason = "missing", _("must not be empty")
        else:
            reason = reason_of(kind, item["msg"], context, given)
        if union and kind in ("union_tag_not_found", "union_tag_invalid"):
            place = (union.tag,) if union.tag_at_top else (*place, union.tag)
            choices = listed(union.choices)
            reason = (
                _("is missing; must be one of {choices}")
                if kind == "union_tag_not_found"
                else _("must be one of {choices}")
            ).format(choices=choices)
        where = format_place(place)
        if kind == "value_error" and (inner := _INNER_PLACE.match(reason)):
            place = (*place, *_parse_place(inner[1]))
            where, reason = format_place(place), inner[2]
        problems.append(FileProblem(file, where, reason, line_of(place, lines), kind))
    return problems


def format_place(place: Sequence[str | int]) -> str:
    """`("persona", "stages", 3, "line")` as `persona.stages[3].line`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _parse_place(text: str) -> Place:
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"\w+", text))


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """The line of a place, or of the nearest thing around it that stands in the file."""
    while place:
        if place in lines:
            return lines[place]
        place = place[:-1]
    return None


def _without_tag(loc: Place, dialect: Dialect) -> Place:
    """Pydantic puts the tag of a union's chosen member into the location; the file has no such level."""
    union = dialect.unions.get(str(loc[0])) if loc else None
    if union and len(loc) > union.depth and loc[union.depth] in union.choices:
        return (*loc[: union.depth], *loc[union.depth + 1 :])
    return loc


def _remove(data: object, place: Place) -> bool:
    """Take the field at `place` out of `data`; entries of lists stay, their places would shift."""
    if not place or not isinstance(place[-1], str):
        return False
    for part in place[:-1]:
        try:
            data = cast(Any, data)[part]
        except (KeyError, IndexError, TypeError):
            return False
    if not isinstance(data, dict) or place[-1] not in data:
        return False
    del data[place[-1]]
    return True


def reason_of(kind: str, message: str, context: Mapping[str, Any], given: object) -> str:
    """What Pydantic found, by its kind of error, message and context, as the end of a sentence about a field."""
    if given is None and kind in _WRONG_TYPES:
        return _('has no value; write "" for empty text')
    match kind:
        case "missing":
            return _("is missing")
        case "extra_forbidden":
            return _("is not a known field; check the spelling")
        case "string_type":
            return _("must be text")
        case "string_unicode":
            return _("holds half of a character (a lone surrogate); type it again")
        case "string_pattern_mismatch":
            return _("may hold letters, digits, '.', '_' and '-' only, 120 at most")
        case "tuple_type" | "list_type":
            return _("must be a list")
        case "dict_type" | "model_type" | "model_attributes_type":
            return _("must be a mapping of fields")
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return _("must be a whole number")
        case "float_type" | "float_parsing":
            return _("must be a number")
        case "bool_type" | "bool_parsing":
            return _("must be true or false")
        case "greater_than_equal":
            return _("must be at least {n}").format(n=context.get("ge"))
        case "less_than_equal":
            return _("must be at most {n}").format(n=context.get("le"))
        case "greater_than":
            return _("must be more than {n}").format(n=context.get("gt"))
        case "less_than":
            return _("must be less than {n}").format(n=context.get("lt"))
        case "string_too_short":
            return _("must not be empty")
        case "too_short":
            least = int(context.get("min_length", 1))
            return plural("must have at least {n} entry", "must have at least {n} entries", least)
        case "enum" | "literal_error":
            return _("must be one of {choices}").format(choices=context.get("expected", ""))
        case "value_error":
            return str(context.get("error", message))
        case _:
            return message[:1].lower() + message[1:]


MOST_BYTES = 8_000_000
"""The most bytes of one response, decompressed, or of one event of a stream."""
_MOST_VALUES = 500_000
_REFUSAL_BYTES = 100_000
_REFUSAL_SECONDS = 3.0
_PACKED = 65_536


class TooLarge(ValueError):
    """A response is larger than allowed; the message says in what respect."""


async def read_body(response: ClientResponse, head: bytes = b"", most: int = MOST_BYTES) -> bytes:
    """The whole body, of which `head` was read before. Raises `TooLarge`, and what the connection raises."""
    body = bytearray(head)
    while piece := await response.content.readany():
        body += piece
        check_bytes(len(body), most)
    return bytes(body)


async def read_refusal(response: ClientResponse, patience: float) -> bytes:
    """The beginning of the body that explains an error status, as far as it comes within a few seconds, at most half of
    `patience` (the call's timeout in seconds).
    """
    said = bytearray()
    try:
        async with asyncio.timeout(min(_REFUSAL_SECONDS, patience / 2)):
            while len(said) < _REFUSAL_BYTES and (piece := await response.content.readany()):
                said += piece
    except (OSError, ValueError, client_error()):
        pass  # The status alone says enough.
    return bytes(said[:_REFUSAL_BYTES])


def check_bytes(size: int, most: int = MOST_BYTES) -> None:
    """Raises `TooLarge` if a response of `size` bytes is too long."""
    if size > most:
        raise TooLarge(_("the reply is longer than {n} bytes").format(n=f"{most:,}"))


def check_values(data: bytes) -> None:
    """Raises `TooLarge` if JSON has so many values that they would take many times the memory of its bytes."""
    if len(data) > _PACKED and sum(map(data.count, (b",", b"{", b"["))) > _MOST_VALUES:
        raise TooLarge(_("the reply holds more than {n} values").format(n=f"{_MOST_VALUES:,}"))


def read_json(data: bytes) -> object:
    """The value in `data`, of bounded depth and size.

    Raises `TooLarge`, `UnicodeDecodeError`, and `ValueError` for what is no JSON.
    """
    check_values(data)
    try:
        return json.loads(data.decode("utf-8"))
    except RecursionError:
        raise TooLarge(_("the reply is nested too deeply")) from None


def client_error() -> type[Exception]:
    """What aiohttp raises; it is loaded by whoever made the connection."""
    from aiohttp import ClientError

    return ClientError


MAX_LENGTH = 400_000
_STEPS = 50_000
_STEPS_A_CHARACTER = 6


def repair(text: str) -> object:
    """The value of broken JSON; None if it cannot be repaired, is longer than `MAX_LENGTH` characters, or takes more steps
    than are allowed.
    """
    if len(text) > MAX_LENGTH:
        return None
    from json_repair import repair_json

    try:
        return cast(
            object, repair_json(_Metered.of(text), return_objects=True, skip_json_loads=True)
        )
    except (
        ValueError,
        ArithmeticError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        _UsedUp,
    ):
        # json-repair fails on some texts with an exception; then nothing is repaired.
        return None


class _UsedUp(Exception):
    """Repairing took more steps than are allowed."""


class _Metered(str):
    """A text that can be indexed a limited number of times, since repairing some texts takes time quadratic in their
    length and could not be stopped otherwise.
    """

    _meter: list[int]

    @classmethod
    def of(cls, text: str, meter: list[int] | None = None) -> _Metered:
        metered = cls(text)
        metered._meter = meter or [_STEPS + _STEPS_A_CHARACTER * len(text)]
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        self._meter[0] -= 1 + len(found) // 64
        if self._meter[0] < 0:
            raise _UsedUp
        return self.of(found, self._meter) if isinstance(key, slice) else found

    def __add__(self, other: str) -> str:
        return self.of(super().__add__(other), self._meter)
