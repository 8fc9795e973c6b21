"""What is to be drawn: from which runs, how many of what, and by which properties spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import ItemKind

StratumKey = Literal["decision", "family", "language", "agent", "relation", "task"]
STRATUM_KEYS: tuple[StratumKey, ...] = get_args(StratumKey)
_OF_TRIALS: frozenset[StratumKey] = frozenset({"family", "language", "agent", "task"})


class SamplingPlan(Frozen):
    """`by` "items" draws `n` items, "trials" draws `n` trials with all their items. `kinds`: what is
    labelled; none means what the judge decided on. `judge`: whose decisions stratify, "" for the first
    that each trial has. `strata`: the draw is stratified by these properties, with as many from each as
    it is large (`proportional`), or equally many (`equal`). `overlap`: the share of what is drawn that
    `raters` people label, the rest one; `people`: who, none meaning anybody. Names and properties given
    twice count once.
    """

    runs: Annotated[tuple[int, ...], Field(min_length=1)]
    n: Annotated[int, Field(ge=1)]
    by: Literal["items", "trials"] = "items"
    kinds: tuple[ItemKind, ...] = ()
    judge: str = ""
    strata: tuple[StratumKey, ...] = ()
    allocation: Literal["proportional", "equal"] = "proportional"
    seed: int = 0
    overlap: Annotated[float, Field(ge=0, le=1)] = 0
    raters: Annotated[int, Field(ge=2, le=20)] = 2
    people: tuple[str, ...] = ()

    @field_validator("runs", "kinds", "strata", "people", mode="after")
    @classmethod
    def _once(cls, given: tuple[Any, ...]) -> tuple[Any, ...]:
        cleaned = (each.strip() if type(each) is str else each for each in given)
        return tuple(dict.fromkeys(each for each in cleaned if each != ""))

    @model_validator(mode="after")
    def _fits(self) -> SamplingPlan:
        if self.by == "trials" and (wrong := set(self.strata) - _OF_TRIALS):
            raise ValueError(
                _(
                    "trials have no {names}: stratify them by family, language, agent or task"
                ).format(names=", ".join(sorted(wrong)))
            )
        if self.people and self.overlap and len(self.people) < self.raters:
            raise ValueError(
                _("{n} people cannot give {m} labels to one item").format(
                    n=len(self.people), m=self.raters
                )
            )
        return self


def plan_of(fields: Mapping[str, object]) -> SamplingPlan:
    """The plan with these fields. Raises `CuecardError` with a sentence for people."""
    try:
        return SamplingPlan.model_validate(fields)
    except ValidationError as error:
        reasons: list[str] = []
        for found in error.errors():
            raised = found.get("ctx", {}).get("error")
            place = ".".join(str(part) for part in found["loc"])
            reasons.append(str(raised) if raised else f"{place}: {found['msg']}")
        raise CuecardError(_("This set cannot be drawn"), "; ".join(reasons)) from None
