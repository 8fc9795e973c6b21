"""The gold of a facts task: a closed world of atomic facts and the answer that follows from them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name, Url


class FactKind(StrEnum):
    FACT = "fact"
    RULE = "rule"


class Fact(Frozen):
    """key -> value. A rule is a convention of the world that the answer needs.

    `entity` and `attribute` say what an atomic query must name; without them the key does.
    """

    key: Name
    value: Name
    kind: FactKind = FactKind.FACT
    entity: str = ""
    attribute: str = ""
    unit: str = ""
    aliases: tuple[Name, ...] = ()
    sources: tuple[Url, ...] = ()


class FactWorld(Frozen):
    """`derivation` tells reviewers how the answer follows; players never see it."""

    family: Literal["facts"] = "facts"
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    answer: Name
    answer_aliases: tuple[Name, ...] = ()
    derivation: str = ""

    @model_validator(mode="after")
    def _unique_keys(self) -> FactWorld:
        seen: set[str] = set()
        for index, fact in enumerate(self.facts):
            if fact.key in seen:
                raise ValueError(
                    f"facts[{index}].key: " + _("{name!r} is listed twice").format(name=fact.key)
                )
            seen.add(fact.key)
        return self
