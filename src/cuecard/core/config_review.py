"""The protocol of review and of the quality probes, as `cuecard.yaml` can set it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen, Name

DimensionKey = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class DimensionConfig(Frozen):
    """One question that reviewers rate. `key` is stored with reviews; the texts are shown as they are."""

    key: DimensionKey
    label: Name
    help: str = ""


class ReviewConfig(Frozen):
    """How tasks are reviewed. `version`: raise it when the protocol changes; reviews keep the one they
    were made under. `dimensions`: those of a family, in place of the embedded ones. `spot_check`: so many
    gold items, drawn for each reviewer, must carry a mark. `on_split`: two reviewers who disagree return
    the task, or a third decides. `lease_hours`: how long a reviewer has a task for themselves.
    `coordinators`: people who assign; they see who reviews, so they do not review.
    """

    version: Name = "1"
    dimensions: dict[Family, Annotated[tuple[DimensionConfig, ...], Field(min_length=1)]] = {}
    spot_check: Annotated[int, Field(ge=0, le=1000)] = 5
    on_split: Literal["return", "third"] = "return"
    lease_hours: Annotated[float, Field(gt=0, le=8760)] = 72
    coordinators: tuple[Name, ...] = ()


class QcConfig(Frozen):
    """How tasks are probed. `models`: names of models that try, none meaning all of them; `examiner`:
    the model that judges ambiguity and laws, "" for the first. `judge`: who scores what they hand in.
    `right_at`: the score from which an attempt counts as right. `minutes` and `pages`: what an author
    should at least have spent. `agreement`: between judge and expert, item by item.
    """

    models: tuple[Name, ...] = ()
    examiner: str = ""
    judge: Name = "lexical"
    closed_book: Annotated[int, Field(ge=1, le=100)] = 3
    open_book: Annotated[int, Field(ge=1, le=100)] = 1
    search_calls: Annotated[int, Field(ge=1, le=1000)] = 25
    with_facts: Annotated[int, Field(ge=1, le=100)] = 3
    right_at: Annotated[float, Field(gt=0, le=1)] = 0.8
    minutes: Annotated[float, Field(ge=0)] = 10
    pages: Annotated[int, Field(ge=0)] = 10
    agreement: Annotated[float, Field(gt=0, le=1)] = 0.95
