"""The declarations of what travels: they fit the records and the tables, and rows give back the records they are of."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from apart import held
from cuecard.annotate.sharing.reading import read_bundles
from cuecard.store.bundle_kinds import KINDS, PARTS, SET_ITEMS, Rows
from cuecard.store.bundle_records import SharedTag

PACKS = Path(__file__).parents[1] / "annotate" / "sharing" / "packs"
EVERY = {kind.name: kind.rows for kind in KINDS} | {part.kind: part.rows for part in PARTS}
TAG = SharedTag(
    uid="0" * 32,
    kind="task",
    about="t",
    tag="hard",
    person="Ben",
    at=datetime(2026, 1, 1, tzinfo=UTC),
)
"""Earlier versions packed none."""
SIMPLE = ("label", "reveal", "adjudication", "effort", "run")
"""Kinds whose records are rows without more."""


@pytest.mark.parametrize("rows", [*EVERY.values(), SET_ITEMS], ids=lambda r: r.table.__name__)
def test_a_declaration_names_fields_and_columns_that_there_are(rows: Rows) -> None:
    columns, fields = set(rows.table.model_fields), set(rows.record.model_fields)
    assert set(rows.identity) <= columns
    assert set(rows.columns) <= fields
    assert set(rows.columns.values()) <= columns
    assert set(rows.json) <= fields


def test_what_is_declared_of_each_kind_is_found_in_its_records() -> None:
    records = [record for bundle in read_bundles([PACKS]) for record in held(bundle).held]
    records.append(TAG)
    people, counts = set[str](), set[str]()
    for kind in KINDS:
        mine = [record for record in records if type(record) is kind.rows.record]
        assert mine, kind.name
        assert sorted(map(repr, kind.sorted(mine))) == sorted(map(repr, mine))
        for record in mine:
            people.update(kind.people_of(record))
            assert all(at.tzinfo for at in kind.moments_of(record))
            counts |= set(+kind.counts_of(record))
    assert people == {"Ana", "Ben", "Cy", "Dee", "Eve", "ann"}
    parts = {part.kind for part in PARTS} | {"judgement"}
    assert counts > parts | {"run", "trial", "label", "effort", "submitted", "reviewed"}


@pytest.mark.parametrize("name", SIMPLE)
def test_a_row_gives_back_its_record(name: str) -> None:
    rows = EVERY[name]
    records = [record for bundle in read_bundles([PACKS]) for record in held(bundle).held]
    for record in (record for record in records if type(record) is rows.record):
        given = {"trial": record.trial} if "trial" in rows.record.model_fields else {}
        assert rows.record_of(SimpleNamespace(**rows.values(record)), **given) == record


def test_parts_of_trials_give_back_their_records_too() -> None:
    tags = EVERY["tag"]
    assert tags.record_of(SimpleNamespace(**tags.values(TAG))) == TAG
    (bundle,) = read_bundles([PACKS / "run.cuepack"])
    for trial in held(bundle).of("trial"):
        for part in PARTS:
            for record in getattr(trial, part.name):
                stored = part.rows.values(record, trial_id=1)
                assert set(part.rows.identity) <= set(stored) | {"key"}
                assert part.rows.record_of(SimpleNamespace(**stored)) == record
