"""What a model that plays a search engine answers to one query (Mind-ParaWorld's search result)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cuecard.core.text import one_line, storable


class EngineEntry(BaseModel):
    """One page of the result list, as it may be shown. `date`: when the page was published."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, defer_build=True)

    title: str
    content: str
    date: str = ""

    @field_validator("date", mode="before")
    @classmethod
    def _no_date(cls, value: object) -> object:
        return "" if value is None else value

    # Before anything is checked: what is taken out must not join what was apart.
    @field_validator("title", "date")
    @classmethod
    def _line(cls, value: str) -> str:
        return one_line(storable(value))

    @field_validator("content")
    @classmethod
    def _text(cls, value: str) -> str:
        return storable(value).strip()


class EngineReply(BaseModel):
    """FORMATS, paraworld: search result. `reason` comes first: it is thought out before the rest."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, defer_build=True)

    reason: str
    is_compound_query: bool
    hit: Annotated[int, Field(ge=0, le=1)]
    matched_fact_keys: tuple[str, ...] = ()
    entries: tuple[EngineEntry, ...]
