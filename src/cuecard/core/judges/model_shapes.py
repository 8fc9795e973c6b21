"""The answers that a judging model is asked for. The reason stands before the verdict everywhere, so that
the verdict follows from it.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    OnErrorOmit,
    model_validator,
)

_YES = frozenset(("yes", "y", "true", "1", "是", "covered"))
_NO = frozenset(("no", "n", "false", "0", "否", "not covered"))


def _yes_or_no(value: object) -> object:
    word = str(value).strip().casefold()
    return "yes" if word in _YES else "no" if word in _NO else value


def _indices(value: object) -> object:
    if value is None:
        return []
    return cast(object, value) if isinstance(value, list) else [value]


def _kind(value: object) -> object:
    word = str(value).strip().casefold()
    return word if word in ("direct", "subsumed", "collective", "composed") else "none"


def _nothing(value: object) -> object:
    blank = isinstance(value, str) and value.strip().casefold() in ("", "null", "none", "-")
    return None if blank or value == -1 else value


YesNo = Annotated[Literal["yes", "no"], BeforeValidator(_yes_or_no)]
Kind = Annotated[
    Literal["direct", "subsumed", "collective", "composed", "none"], BeforeValidator(_kind)
]
Indices = Annotated[list[OnErrorOmit[int]], BeforeValidator(_indices)]
MaybeIndex = Annotated[int | None, BeforeValidator(_nothing)]


def _all_required(schema: dict[str, Any]) -> None:
    """Servers that hold a model to the schema must not let it leave the reason out."""
    schema["required"] = list(schema["properties"])


class Entry(BaseModel):
    """The answer on one item."""

    model_config = ConfigDict(json_schema_extra=_all_required)

    index: int
    reason: str = ""

    @property
    def stance(self) -> object:
        """What was decided: two answers on one item must agree in it."""
        raise NotImplementedError


class CoverageEntry(Entry):
    covered: YesNo
    kind: Kind = "none"
    supporting: Indices = []

    @property
    def stance(self) -> object:
        return self.covered


class PartnerEntry(Entry):
    """`partner`: the index of what belongs to the item, or None where nothing does."""

    partner: MaybeIndex

    @property
    def stance(self) -> object:
        return self.partner


class CellEntry(Entry):
    score: Annotated[int, Field(ge=0, le=1)]

    @property
    def stance(self) -> object:
        return self.score


EntryT = TypeVar("EntryT", bound=Entry)


class Entries(BaseModel, Generic[EntryT]):
    """The answers on several items. One that is unusable spoils none of the others."""

    verdicts: list[OnErrorOmit[EntryT]]

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, data: object) -> object:
        # Models forget the outer object, or write one for each item.
        if isinstance(data, dict) and "verdicts" not in data and "index" not in data:
            return cast(object, data)  # of another shape: to be told so
        return {"verdicts": _entries(cast(object, data))}

    @model_validator(mode="after")
    def _something(self) -> Self:
        # Else any list in a model's prose would pass for an answer.
        if not self.verdicts:
            raise ValueError("no verdicts")
        return self


class Coverage(Entries[CoverageEntry]):
    pass


class Partners(Entries[PartnerEntry]):
    pass


class Cells(Entries[CellEntry]):
    pass


class Equivalence(BaseModel):
    """Whether an answer says what gold says."""

    model_config = ConfigDict(json_schema_extra=_all_required)

    reason: str = ""
    equivalent: Annotated[bool, BeforeValidator(lambda v: {"是": True, "否": False}.get(str(v), v))]


def _entries(data: object) -> list[object]:
    if isinstance(data, list):
        return [entry for part in cast(list[object], data) for entry in _entries(part)]
    if isinstance(data, dict) and "verdicts" in data:
        return _entries(cast(dict[str, object], data)["verdicts"])
    return [data]
