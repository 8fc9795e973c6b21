"""The protocol of review and of the quality probes, as `cuecard.yaml` can set it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cuecard.core.i18n import _
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen, Name

Problem = tuple[tuple[str | int, ...], str]
"""A place in the configuration, and what is wrong there."""
_KEY = re.compile("[a-z][a-z0-9_]{0,39}")


def _dimension_key(value: str) -> str:
    if not _KEY.fullmatch(value):
        raise ValueError(
            _("begins with a small letter and holds small letters, digits and '_', at most 40")
        )
    return value


DimensionKey = Annotated[str, AfterValidator(_dimension_key)]


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
    `world`: where they search, "" for the first on the web, else the embedded one, which is no evidence.
    `right_at`: the score from which an attempt counts as right. `minutes` and `pages`: what an author
    should at least have spent. `agreement`: between judge and expert, item by item.
    """

    models: tuple[Name, ...] = ()
    examiner: str = ""
    judge: Name = "lexical"
    world: str = ""
    closed_book: Annotated[int, Field(ge=1, le=100)] = 3
    open_book: Annotated[int, Field(ge=1, le=100)] = 1
    search_calls: Annotated[int, Field(ge=1, le=1000)] = 25
    with_facts: Annotated[int, Field(ge=1, le=100)] = 3
    right_at: Annotated[float, Field(gt=0, le=1)] = 0.8
    minutes: Annotated[float, Field(ge=0)] = 10
    pages: Annotated[int, Field(ge=0)] = 10
    agreement: Annotated[float, Field(gt=0, le=1)] = 0.95


def review_problems(review: ReviewConfig) -> Iterator[Problem]:
    """Dimensions of one family that share a key: their ratings could not be told apart."""
    for family, dimensions in review.dimensions.items():
        keys = [dimension.key for dimension in dimensions]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                place = ("review", "dimensions", family, index, "key")
                yield place, _("the key {key} is already taken in this list").format(key=key)


def qc_problems(
    qc: QcConfig, models: Collection[str], judges: Collection[str], worlds: Collection[str]
) -> Iterator[Problem]:
    """Names that stand for nothing in the configuration, and models that are listed twice."""
    for index, name in enumerate(qc.models):
        if name not in models:
            yield ("qc", "models", index), no_model(name, models)
        elif name in qc.models[:index]:
            yield ("qc", "models", index), _("{name} is listed twice").format(name=name)
    if qc.examiner and qc.examiner not in models:
        yield ("qc", "examiner"), no_model(qc.examiner, models)
    if qc.judge not in judges:
        reason = _("there is no judge {name} here; known judges: {names}")
        yield ("qc", "judge"), reason.format(name=qc.judge, names=", ".join(judges) or "-")
    if qc.world and qc.world not in worlds:
        reason = _("there is no world {name} here; known worlds: {names}")
        yield ("qc", "world"), reason.format(name=qc.world, names=", ".join(worlds) or "-")


def no_model(name: str, models: Collection[str]) -> str:
    return _("there is no model {name} here; known models: {names}").format(
        name=name, names=", ".join(models) or "-"
    )
