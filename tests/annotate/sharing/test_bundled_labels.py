"""Labels, and what goes with them, in bundles: there and back, and every way in which one can be wrong."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apart import PausedByPerson, held, packed, unpacked
from budget import examples
from cuecard.annotate.sharing.checking import Seen, problems_of_record
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.bundle_records import (
    SharedAdjudication,
    SharedLabel,
    SharedLabelSet,
    SharedReveal,
    SharedSetItem,
)

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
LABEL = SharedLabel(trial="t" * 32, item="triple/0", person="Ana", value=LabelValue.YES, at=AT)
SET = SharedLabelSet(uid="0" * 32, name="set", by="Ana", at=AT)
ITEM = SharedSetItem(trial="t" * 32, item="triple/0")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
times = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


def _key(kind: ItemKind, index: int, column: str) -> str:
    return Item(kind=kind, index=index, column=column if kind is ItemKind.CELL else "").key


keys = st.builds(_key, st.sampled_from(ItemKind), st.integers(0, 999), texts)
labels = st.builds(
    SharedLabel,
    trial=st.just("a" * 32),
    item=keys,
    person=st.just("Ana"),
    value=st.sampled_from(LabelValue),
    comment=texts,
    at=times,
    phase=st.sampled_from(["blind", "revealed"]),
    seconds=st.floats(0, 1e6),
    gold_wrong=st.booleans(),
    source=texts,
)
reveals = st.builds(
    SharedReveal, trial=st.just("a" * 32), item=keys, person=st.just("Ana"), at=times
)
adjudications = st.builds(
    SharedAdjudication,
    trial=st.just("a" * 32),
    item=keys,
    by=st.just("Ana"),
    value=st.sampled_from(LabelValue),
    cause=st.sampled_from(["", "alias", "gold_wrong"]),
    comment=texts,
    at=times,
)
sets = st.builds(
    SharedLabelSet,
    uid=st.just("b" * 32),
    name=texts,
    by=st.just("Ana"),
    at=times,
    plan=st.just({"seed": 3, "runs": [1]}),
    items=st.lists(
        st.builds(
            SharedSetItem,
            trial=st.just("a" * 32),
            item=keys,
            stratum=texts,
            probability=st.floats(0.001, 1),
            raters=st.integers(1, 4),
            people=st.sampled_from([(), ("Ana", "Ben")]),
        ),
        max_size=3,
    ).map(tuple),
)
several = st.lists(labels | reveals | adjudications | sets, max_size=8)


@given(several)
@settings(max_examples=examples(40), deadline=None)
def test_a_bundle_comes_back_as_it_was(records: list[Any]) -> None:
    data = packed(PausedByPerson("Ana", tuple(records)))
    found = held(unpacked(data))
    assert list(found.held) == records
    assert packed(found) == data


def test_a_plain_label_is_written_as_earlier_versions_wrote_it() -> None:
    data = gzip.decompress(packed(PausedByPerson("Ana", (LABEL,))))
    assert b'"phase"' not in data
    assert b'"reveal"' not in data


def _wrong() -> Iterator[tuple[Any, str]]:
    def label(**fields: Any) -> SharedLabel:
        return LABEL.model_copy(update=fields)

    yield label(person="Ben"), "in the name of Ben"
    yield label(trial="../x"), "trial's uid"
    for key in ("", "triple", "triple/-1", "triple/01", "triple/١", "word/1", "triple/" + "9" * 99):
        yield label(item=key), "item of a trial"
    yield label(item="triple/" + "9" * 9999), "item of a trial"
    yield label(value=CheckpointStatus.SEARCH_ONLY), "only the status"
    yield label(seconds=float("nan")), "number of seconds"
    yield label(seconds=-1.0), "number of seconds"
    yield label(at=AT - timedelta(days=20_000)), "one of these years"
    yield label(comment="a\0"), "NUL"
    yield label(source="\ud800"), "source"
    reveal = SharedReveal(trial="t", item="triple/0", person="Ben", at=AT)
    yield reveal, "in the name of Ben"
    decision = SharedAdjudication(
        trial="t", item="leak/x", by="Ana", value=LabelValue.NO, comment="", at=AT
    )
    yield decision, "item of a trial"
    for fields, said in (
        ({"by": "Ben"}, "in the name of Ben"),
        ({"uid": "1"}, "uid of a labelling set"),
        ({"items": (ITEM.model_copy(update={"probability": 0.0}),)}, "probability"),
        ({"items": (ITEM.model_copy(update={"probability": float("nan")}),)}, "probability"),
        ({"items": (ITEM.model_copy(update={"raters": 0}),)}, "at least one"),
        ({"items": (ITEM.model_copy(update={"people": ("A\x1bna",)}),)}, "control characters"),
    ):
        yield SET.model_copy(update=fields), said


@pytest.mark.parametrize(("entry", "said"), [*_wrong()])
def test_what_is_wrong_is_told(entry: Any, said: str) -> None:
    assert said in " ".join(problems_of_record(entry, Seen("Ana")))


def test_what_is_right_is_taken() -> None:
    status = LABEL.model_copy(
        update={"item": "status/3", "value": CheckpointStatus.SEARCH_ONLY, "phase": "revealed"}
    )
    for label in (LABEL, status):
        assert not problems_of_record(label, Seen("Ana"))
    drawn = SET.model_copy(update={"items": (ITEM,)})
    assert not problems_of_record(drawn, Seen("Ana"))
