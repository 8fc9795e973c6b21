"""Random people at random tasks and trials, looked at through everybody's eyes after every step.

python bench/blindness.py [GAMES [STEPS [SEED]]]      100 games of 40 steps of each kind; some minutes

The tests play a few short games of these kinds. Review: a step that the rules of `tests/review_rules.py` allow must
succeed, any other must change nothing; and no query and, at the end of a game, no verb that is used by a person may tell of
a review, comment, lease, independent gold or name that those rules hide from them. Labels: people label, draw sets, adjudicate and
use every reading verb and export (`tests/verbs_play.py`); none may tell what was decided on an item that they are still to
label, and what was told is no item that they can label blind. Stops at the first difference.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from apart import workspaces
from review_rules import ACTIONS, PEOPLE
from rules_play import Game
from verbs_play import LabelGame, quick_verbs


def main(games: int, steps: int, seed: int) -> None:
    with quick_verbs():
        labels(games, steps, seed)
        reviews(games, steps, seed)


def labels(games: int, steps: int, seed: int) -> None:
    begun = time.monotonic()
    done: Counter[str] = Counter()
    for number in range(games):
        dice = random.Random(f"{seed}/{number}")
        script: list[str] = []
        with workspaces(1) as [ws]:
            game = LabelGame.begin(ws, dice)
            try:
                for _ in range(steps):
                    script.append(game.step(dice))
            except AssertionError:
                print(f"game {number}, seed {seed}:", *script, sep="\n  ")
                raise
        done.update(" ".join(action.split()[:2]) for action in script)
    for action in sorted(done):
        print(f"{action:24} {done[action]:5}")
    print(
        f"{games} games of labels, {done.total()} steps, {time.monotonic() - begun:.0f} s: no leak"
    )


def reviews(games: int, steps: int, seed: int) -> None:
    begun = time.monotonic()
    tried: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for number in range(games):
        dice = random.Random(f"{seed}/{number}")
        script: list[tuple[str, str, str, int]] = []
        with workspaces(1) as [ws]:
            game = Game.begin(ws)
            try:
                for _ in range(steps):
                    script.append(game.likely(dice) if dice.random() < 0.6 else anything(dice))
                    tried[script[-1][0]] += 1
                    if game.step(*script[-1]):
                        done[script[-1][0]] += 1
                        game.look()
                game.look_through_verbs(dice.sample(PEOPLE, 2))
            except AssertionError:
                print(f"game {number}, seed {seed}:", *script, sep="\n  ")
                raise
    for action in sorted(tried):
        print(f"{action:12} {done[action]:5} of {tried[action]:5} were allowed")
    print(
        f"{games} games of review, {tried.total()} steps, {time.monotonic() - begun:.0f} s: no difference"
    )


def anything(dice: random.Random) -> tuple[str, str, str, int]:
    return dice.choice(ACTIONS), dice.choice(PEOPLE), dice.choice(PEOPLE), dice.randrange(10)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [100, 40, 5][len(given) :]))
