"""Random people do random things to a task: nothing illegal succeeds, nothing legal is refused, and nobody
is given a row or a name that they must not see.
"""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from apart import workspaces
from budget import examples
from review_rules import ACTIONS, PEOPLE
from rules_play import Game
from verbs_play import quick_verbs

_people = st.sampled_from(PEOPLE)
_steps = st.tuples(st.sampled_from(ACTIONS), _people, _people, st.integers(0, 9))


@given(st.lists(_steps, min_size=6, max_size=16))
@settings(max_examples=examples(6), deadline=None)
def test_no_illegal_move_succeeds_and_nobody_sees_too_much(
    steps: list[tuple[str, str, str, int]],
) -> None:
    """`bench/blindness.py` plays longer games and looks through everybody's eyes after each step."""
    with workspaces(1) as [ws]:
        game = Game.begin(ws)
        for number, (action, by, other, pick) in enumerate(steps):
            if game.step(action, by, other, pick):
                game.look((by, PEOPLE[number % len(PEOPLE)]), screens=False)
        game.look()


def test_no_verb_names_whom_a_person_must_not_know() -> None:
    dice = random.Random(11)
    with quick_verbs(), workspaces(1) as [ws]:
        game = Game.begin(ws)
        for number in range(30):
            game.step(*game.likely(dice))
            if number % 15 == 14:
                game.look_through_verbs(dice.sample(PEOPLE, 2))


def test_who_reviewed_another_revision_is_no_party_to_a_disagreement() -> None:
    ana, bob, cho, dee = PEOPLE[:4]
    with workspaces(1) as [ws]:
        game = Game.begin(ws)
        for action, by in (
            ("submit", ana),
            ("approve", bob),
            ("save", ana),
            ("submit third", ana),
            ("return", cho),
            ("approve", dee),
        ):
            assert game.step(action, by, by, 0)
        game.look()
