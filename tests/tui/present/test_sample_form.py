"""The form of a labelling set: what it makes of what was typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cuecard.annotate.labelling.labelling_sets import n_in_tasks
from cuecard.annotate.labelling.sampling import Unit
from cuecard.core.errors import CuecardError
from cuecard.core.verdicts import Item, ItemKind
from cuecard.tui.present.verdicts import SampleForm, worked_out

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


def test_the_form_says_what_it_would_draw() -> None:
    look = worked_out(FORM, lambda _plan: UNITS)
    assert [row[:2] for row in look.rows] == [
        ("✗ not covered", "500"),
        ("✓ covered", "1,500"),
    ]
    assert (look.plan.n, look.plan.overlap) == (200, 0.2)
    assert look.said[0] == "200 items of 2,000 · 240 labels"
    wide = worked_out(replace(FORM, width="0.1"), lambda _plan: UNITS)
    assert wide.plan.n == n_in_tasks(0.1, 0.9, tasks=20, items=2000, correlation=0.05)
    few = worked_out(replace(FORM, n="1"), lambda _plan: UNITS)
    assert "1 stratum gets nothing" in few.said[-1]
    assert "everything is drawn" in worked_out(replace(FORM, n="9999"), lambda _p: UNITS).said[-1]
    assert worked_out(FORM, lambda _plan: []).said[0].startswith("Nothing to draw")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n": "0"}, "How many"),
        ({"n": "²"}, "How many"),
        ({"seed": "-1"}, "Seed"),
        ({"overlap": "120"}, "Overlap"),
        ({"share": "nan"}, "Expected"),
        ({"alike": "2"}, "alike"),
        ({"raters": "1"}, "People each"),
        ({"people": "Ann"}, "cannot give"),
        ({"width": "1"}, "between 0 and 1"),
        ({"width": "0.0001"}, "say less than that"),
        ({"width": "0.1", "by": "trials", "strata": ()}, "counts items"),
        ({"by": "trials"}, "trials have no decision"),
    ],
)
def test_what_cannot_be_is_said(changes: dict[str, object], said: str) -> None:
    with pytest.raises(CuecardError) as raised:
        worked_out(replace(FORM, **changes), lambda _plan: UNITS)  # pyright: ignore[reportArgumentType]
    assert said in raised.value.message
