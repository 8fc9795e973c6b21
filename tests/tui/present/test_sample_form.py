"""The form of a labelling set: what it makes of what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from cuecard.annotate.labelling.labelling_sets import n_in_tasks
from cuecard.annotate.labelling.sampling import Unit
from cuecard.core.errors import CuecardError
from cuecard.core.verdicts import Item, ItemKind
from cuecard.tui.present.verdicts import SampleSnapshot, worked_out
from cuecard.tui.screens.labelling.dialogs import SampleForm

UNITS = [
    Unit(
        trial_id=n // 100,
        item=Item(kind=ItemKind.TRIPLE, index=n % 100),
        decision="yes" if n % 4 else "no",
        task=f"t{n // 100}",
    )
    for n in range(2000)
]
FORM = SampleForm(runs=(1,))


def drawn(units: Sequence[Unit] = UNITS, **changes: Any) -> SampleSnapshot:
    form = FORM.model_validate({**FORM.model_dump(), **changes})
    return worked_out(form.plan(), units, form.width, form.share / 100, form.alike)


def test_the_form_says_what_it_would_draw() -> None:
    found = drawn()
    assert ["".join(piece.text for piece in entry.head) for entry in found.entries] == [
        "200 items of 2,000 · 240 labels",
        "If 90% agree: 95% interval about 0.101 wide",
        "not covered: 50 of 500",
        "covered: 150 of 1,500",
    ]
    assert (found.plan.n, found.plan.overlap) == (200, 0.2)
    assert drawn(width=0.1).plan.n == n_in_tasks(0.1, 0.9, tasks=20, items=2000, correlation=0.05)
    assert "1 stratum gets nothing" in drawn(n=1).said[-1]
    assert "everything is drawn" in drawn(n=9999).said[-1]
    assert drawn(()).said[0].startswith("Nothing to draw")


def test_draws_by_doubt_say_what_they_lack() -> None:
    found = drawn(allocation="disagreement")
    said = ["".join(piece.text for piece in entry.head) for entry in found.entries]
    assert said[-2].startswith("No item has decisions of two judges")
    assert said[-1] == "all: 200 of 2,000"
    assert "Nothing is labelled yet" in drawn(allocation="variance").said[-1]
    # 91.6 independent ones at a standard deviation of .5, alike by .05 in 20 tasks.
    assert drawn(allocation="variance", width=0.2).plan.n == 113


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"people": "Ann"}, "cannot give"),
        ({"width": 0.0001}, "say less than that"),
        ({"width": 0.1, "by": "trials", "strata": ()}, "counts items"),
        ({"by": "trials"}, "trials have no decision"),
        ({"allocation": "active", "half_width": 0.1}, "labelled to its end"),
    ],
)
def test_what_cannot_be_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CuecardError) as raised:
        drawn(**changes)
    assert said in raised.value.message


@pytest.mark.parametrize("field", ["n", "seed", "overlap", "share", "alike", "raters", "width"])
def test_no_number_is_out_of_bounds(field: str) -> None:
    for value in (-1, float("nan"), 1e12):
        with pytest.raises(ValidationError):
            FORM.model_validate({"runs": (1,), field: value})
