"""Repairing broken JSON ends, whatever it is."""

import json

from cuecard.core import validation
from cuecard.core.validation import repair

MANY = [{"head": "a", "relation": "b", "tail": str(n)} for n in range(4_000)]


def test_what_is_long_and_broken_in_one_place_is_repaired() -> None:
    text = json.dumps(MANY)
    assert repair(text[:-1]) == MANY
    assert repair(text.replace('"tail": "20"', 'tail: "20"', 1)) == MANY


def test_a_text_that_would_take_steps_without_end_is_given_up() -> None:
    piece = '[{"head": "x '
    assert repair(piece * 10) is not None
    assert repair(piece * (100_000 // len(piece))) is None
    assert repair("[" * 10_000) is None


def test_a_text_over_the_limit_is_not_tried() -> None:
    assert repair("[1" + " " * validation.MAX_LENGTH) is None
