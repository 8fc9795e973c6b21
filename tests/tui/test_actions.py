"""The line of keys at the foot of a screen."""

from __future__ import annotations

import pytest

from cuecard.tui.actions import fitting

KEYS = [("enter", 10), ("space", 20), ("question_mark", 9), ("x", 8), ("escape", 9), ("y", 4)]


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (60, {0, 1, 2, 3, 4, 5}),
        (59, {0, 1, 2, 3, 4}),
        (58, {0, 1, 2, 3, 4}),
        (57, {0, 1, 2, 4}),
        (40, {0, 2, 4}),
        (29, {2, 4}),
        (10, {2, 4}),
    ],
)
def test_what_fits_is_shown_in_its_order_and_help_always(room: int, shown: set[int]) -> None:
    assert fitting(KEYS, room) == shown
