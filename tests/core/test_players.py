"""The table of kinds of players says what the configuration accepts and what the players say of themselves."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import BaseModel

from cuecard.core.config_players import AgentConfig, JudgeConfig, UserConfig, WorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.players import (
    DEFAULT_AGENT,
    DEFAULT_JUDGE,
    DEFAULT_USER,
    DEFAULT_WORLD,
    Part,
    all_embedded,
    embedded,
    kind_of,
    kinds,
)
from cuecard.core.plugins import imported
from offline_trials import sample_tasks

ACCEPTED: dict[Part, object] = {
    "agent": AgentConfig,
    "user": UserConfig,
    "world": WorldConfig,
    "judge": JudgeConfig,
}


def accepted(part: Part) -> dict[str, type[BaseModel]]:
    union, *_more = get_args(ACCEPTED[part])
    found: tuple[type[BaseModel], ...] = get_args(union)
    return {kind: each for each in found for kind in get_args(each.model_fields["kind"].annotation)}


@pytest.mark.parametrize("part", ACCEPTED)
def test_each_kind_that_a_configuration_accepts_has_a_row(part: Part) -> None:
    assert {row.kind: row.settings_class() for row in kinds(part)} == accepted(part)


def test_what_needs_a_model_has_a_field_for_it() -> None:
    for part in ACCEPTED:
        for row in kinds(part):
            fields = row.settings_class().model_fields
            if row.needs_model:
                assert {"model", "members", "models"} & set(fields), row


def test_the_defaults_are_there_without_a_configuration() -> None:
    assert (DEFAULT_AGENT, DEFAULT_USER, DEFAULT_WORLD, DEFAULT_JUDGE) == (
        "offline",
        "scripted",
        "closed",
        "lexical",
    )
    assert all_embedded("judge", [DEFAULT_JUDGE])
    assert not all_embedded("judge", [DEFAULT_JUDGE, "model"])


def givens(part: Part) -> tuple[object, ...]:
    """What a maker of this part is given after the hub."""
    task = sample_tasks()[0]
    rest: dict[Part, tuple[object, ...]] = {
        "agent": (task, (), False),
        "user": (task, False),
        "world": (task, None),
        "judge": (),
    }
    return rest[part]


@pytest.mark.parametrize("part", ACCEPTED)
def test_players_whose_settings_need_nothing_are_made_by_their_row(part: Part) -> None:
    made = set[str]()
    for row in kinds(part):
        fields = row.settings_class().model_fields
        if any(field.is_required() for name, field in fields.items() if name != "kind"):
            continue
        player = row.make(
            row.kind, row.settings_class()(kind=row.kind), Config(), None, *givens(part)
        )
        assert player.ref.baseline == row.baseline, row
        made.add(row.kind)
    assert made >= {row.kind for row in embedded(part)}


def test_each_row_has_a_maker_that_is_there() -> None:
    for part in ACCEPTED:
        for row in kinds(part):
            assert callable(imported(f"cuecard.core.{row.maker}")), row


def test_of_a_kind_that_is_not_known_nothing_is_true() -> None:
    unknown = kind_of("agent", "of-next-year")
    assert not any((unknown.baseline, unknown.needs_model, unknown.embedded))


def test_kinds_have_plain_names() -> None:
    every = [kind for part in get_args(Part) for kind in kinds(part)]
    assert [kind for kind in every if kind.label == kind.kind] == []
