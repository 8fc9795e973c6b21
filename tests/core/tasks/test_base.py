"""What all frozen records share."""

from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from cuecard.core.tasks.base import Frozen


class _Place(Frozen):
    name: str
    source: str = ""
    people: int = 0


def test_a_record_takes_the_fields_of_the_same_names():
    row = SimpleNamespace(name="Utrecht", people=376_435, area=99)
    assert _Place.from_fields(row) == _Place(name="Utrecht", people=376_435)
    assert _Place.from_fields(row, people=1, source="a table").source == "a table"
    assert _Place.from_fields(row, people=1).people == 1


def test_what_neither_has_and_what_is_unknown_is_refused():
    with pytest.raises(ValidationError, match="name"):
        _Place.from_fields(SimpleNamespace(people=3))
    with pytest.raises(ValidationError, match="area"):
        _Place.from_fields(SimpleNamespace(name="Utrecht"), area=99)
