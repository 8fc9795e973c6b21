"""The gold of a facts task: a closed world of atomic facts and the answer that follows from them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name, Url
from cuecard.core.tasks.gold import Gold


class FactKind(StrEnum):
    FACT = "fact"
    RULE = "rule"

    @property
    def label(self) -> str:
        return _("rule") if self is FactKind.RULE else _("fact")


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


class FactWorld(Gold, frozen=True):
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

    @property
    def items(self) -> tuple[Fact, ...]:
        return self.facts

    @property
    def field(self) -> str:
        return "facts"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(" — ".join((fact.key, fact.value)) for fact in self.facts)

    @property
    def answers(self) -> tuple[str, ...]:
        return (self.answer, *self.answer_aliases)

    @property
    def things(self) -> tuple[tuple[str, ...], ...]:
        facts = tuple((fact.value, *fact.aliases) for fact in self.facts)
        entities = tuple((fact.entity,) for fact in self.facts if fact.entity)
        return (*entities, *facts, self.answers)

    @property
    def opens_with(self) -> str:
        return ""

    def problem(self, stages: int) -> str:
        return ""
