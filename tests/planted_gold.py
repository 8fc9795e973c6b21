"""Trials of many agents on tasks some of whose gold is wrong: the simulation of which item analysis must find the errors."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from cuecard.annotate.estimation.item_analysis import Block, Flag, analyse, queue

TASKS, ITEMS, AGENTS, SAMPLES = 40, 30, 6, 3
WRONG, MISBELIEVED = 0.05, 0.02


def planted(
    seed: int, *, wrong: float = WRONG, agents: int = AGENTS
) -> tuple[list[Block], set[tuple[str, int]]]:
    """Blocks, and which items (task, index) have wrong gold.

    Skill N(.3, .5); difficulty N(0, 1.2) + task N(0, .6); found with logistic(skill - difficulty). Of wrong gold the true value
    is handed in 90% of the times that it would be found, the gold in 2% of trials. Of right items 2% have a misbelief that
    35% of trials share. Misses name one of 6 other values in 25% (wrong gold: 15%).
    """
    rng = np.random.default_rng(seed)
    skill = np.repeat(rng.normal(0.3, 0.5, agents), SAMPLES)
    names = tuple(f"a{n // SAMPLES}" for n in range(agents * SAMPLES))
    errors: set[tuple[str, int]] = set()
    blocks: list[Block] = []
    for number in range(TASKS):
        task = f"t{number:02}"
        difficulty = rng.normal(0, 1.2, ITEMS) + rng.normal(0, 0.6)
        chance = 1 / (1 + np.exp(difficulty[None, :] - skill[:, None]))
        reached = rng.random(chance.shape) < chance
        bad = rng.random(ITEMS) < wrong
        shared = ~bad & (rng.random(ITEMS) < MISBELIEVED)
        u, v, other = (rng.random(chance.shape) for _ in range(3))
        values = rng.integers(0, 6, chance.shape)
        believes = shared[None, :] & (u < 0.35)
        hits_true = bad[None, :] & reached & (u < 0.9)
        found = np.where(bad[None, :], ~hits_true & (v < 0.02), reached & ~believes)
        misses = ~found & ~hits_true & ~believes
        guesses = misses & (other < np.where(bad, 0.15, 0.25)[None, :])
        told: defaultdict[int, dict[int, tuple[str, ...]]] = defaultdict(dict)
        for which, value in ((hits_true, "true"), (believes, "belief"), (guesses, "")):
            for trial, item in zip(*map(list, np.nonzero(which)), strict=True):
                said = value or f"other {values[trial, item]}"
                told[int(item)][int(trial)] = (said,)
        errors |= {(task, int(item)) for item in np.flatnonzero(bad)}
        keys = tuple(f"triple/{n}" for n in range(ITEMS))
        blocks.append(Block(task, names, keys, found.astype(float), told=told))
    return blocks, errors


def precision(made: tuple[list[Block], set[tuple[str, int]]], first: int) -> float:
    """The share of wrong gold among the first so many suspects."""
    blocks, errors = made
    ranked = queue((block.task, one) for block in blocks for one in analyse(block))[:first]
    return sum((task, one.at) in errors for task, one in ranked) / max(1, len(ranked))


def by_share(made: tuple[list[Block], set[tuple[str, int]]], first: int) -> float:
    """The same, of items ordered only by how few trials found them."""
    blocks, errors = made
    every = [(block.task, one) for block in blocks for one in analyse(block)]
    ranked = sorted(every, key=lambda pair: (pair[1].found, pair[0], pair[1].at))[:first]
    return sum((task, one.at) in errors for task, one in ranked) / first


def rivals(made: tuple[list[Block], set[tuple[str, int]]]) -> tuple[int, int, int]:
    """How many rival flags there are, how many of them are on wrong gold, and how many errors there are."""
    blocks, errors = made
    flagged = [
        (block.task, one.at)
        for block in blocks
        for one in analyse(block)
        if Flag.RIVAL in one.flags
    ]
    return len(flagged), sum(pair in errors for pair in flagged), len(errors)
