"""How often the intervals of corrected scores hold the truth, how wide they are against those from people's labels alone, and how many
labels a judge saves; and how often corrected ranks hold: `nice python bench/corrected.py [STUDIES] [trials items pairs half ranks]`.

Trials: tasks of mean Beta(2, 2), samples with noise of .15 around it, a tenth of them 0; the truth is the mean over all tasks of the kind,
from 400,000 tasks. Judges: good, noisy, useless, and one of a yes or no. Items: 30 tasks of 3 trials with 15 to 44 items, a judge that
accepts 20% of the wrong and refuses 5% of the right ones, at rates that vary by task (gamma, squared coefficient of variation .5), 100
labels in each of two strata by its decision. Ranks: five agents on the same tasks, labels drawn from the trials of all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cuecard.annotate.estimation.corrected import Corrected, corrected
from cuecard.annotate.estimation.joint import Joint, difference, joint
from cuecard.annotate.estimation.ranks import FEWEST_TASKS, Ranks, ranks
from cuecard.annotate.estimation.units import Unit, Units
from cuecard.annotate.results.corrected import by_task

Floats = NDArray[np.float64]
Dice = np.random.Generator
DESIGNS = ((30, 3, 30), (40, 3, 40), (60, 1, 30), (100, 3, 60), (40, 3, 15))


def trials(dice: Dice, tasks: int, samples: int) -> Floats:
    """People's value of every trial, tasks x samples."""
    mean = dice.beta(2, 2, (tasks, 1))
    value = np.clip(mean + dice.normal(0, 0.15, (tasks, samples)), 0, 1)
    return np.where(dice.random((tasks, samples)) < 0.1, 0.0, value)


def good(dice: Dice, people: Floats) -> Floats:
    return np.clip(people + 0.06 + dice.normal(0, 0.06, people.shape), 0, 1)


def noisy(dice: Dice, people: Floats) -> Floats:
    return np.clip(0.5 * people + 0.3 + dice.normal(0, 0.2, people.shape), 0, 1)


def useless(dice: Dice, people: Floats) -> Floats:
    return dice.random(people.shape)


def flips(dice: Dice, people: Floats) -> Floats:
    return np.where(dice.random(people.shape) < 0.1, 1 - people, people)


JUDGES: dict[str, Callable[[Dice, Floats], Floats]] = {
    "good": good,
    "noisy": noisy,
    "useless": useless,
    "success": flips,
}


def drawn(dice: Dice, judge: Floats, people: Floats, labels: int, first: int = 0) -> Units:
    """The trials, of which so many are drawn and labelled."""
    tasks, samples = people.shape
    chosen = set(dice.permutation(tasks * samples)[:labels].tolist())
    return Units.of(
        Unit(
            f"{at // samples:04}",
            first + at,
            float(judge.flat[at]),
            float(people.flat[at]) if at in chosen else None,
        )
        for at in range(tasks * samples)
    )


def width(found: tuple[float, float] | None) -> float:
    return found[1] - found[0] if found else np.nan


class Told:
    """What studies came to."""

    def __init__(self) -> None:
        self.held: list[bool] = []
        self.alone: list[bool] = []
        self.error: list[float] = []
        self.judge: list[float] = []
        self.widths: list[tuple[float, float]] = []

    def add(self, found: Corrected, truth: float) -> None:
        one = found.estimate
        if one.value is None or one.interval is None or found.people.interval is None:
            return
        self.held.append(one.interval[0] <= truth <= one.interval[1])
        self.alone.append(found.people.interval[0] <= truth <= found.people.interval[1])
        self.error.append(one.value - truth)
        self.judge.append((found.judge.value or 0.0) - truth)
        self.widths.append((width(one.interval), width(found.people.interval)))

    def line(self, name: str) -> str:
        mine, alone = np.mean(self.widths, axis=0)
        worst = max(one / other for one, other in self.widths)
        return (
            f"{name:28} n {len(self.held):5}  held {100 * np.mean(self.held):5.1f}%  alone {100 * np.mean(self.alone):5.1f}%  "
            f"bias {np.mean(self.error):+.4f} (judge {np.mean(self.judge):+.4f})  width {mine:.3f} / {alone:.3f} = {mine / alone:.3f}, "
            f"at most {worst:.4f}; labels saved {1 - (mine / alone) ** 2:.0%}"
        )


def of_trials(studies: int, dice: Dice) -> None:
    every = trials(dice, 400_000, 1)
    truths = {name: float(every.mean()) for name in JUDGES} | {
        "success": float((every > 0.5).mean())
    }
    for tasks, samples, labels in DESIGNS:
        for name, judged in JUDGES.items():
            told = Told()
            for _study in range(studies):
                people = trials(dice, tasks, samples)
                if name == "success":
                    people = (people > 0.5).astype(float)
                found = corrected(
                    drawn(dice, judged(dice, people), people, labels), share=name == "success"
                )
                told.add(found, truths[name])
            print(told.line(f"{tasks} x {samples}, {labels}: {name}"), flush=True)


def of_items(studies: int, dice: Dice, tasks: int = 30) -> None:
    told = Told()
    for _study in range(studies):
        units: list[tuple[str, int, bool, bool]] = []
        trial = 0
        for task in range(tasks):
            right = dice.beta(3, 2)
            rates = np.minimum(np.array([0.2, 0.05]) * dice.gamma(2, 0.5, 2), 1)
            for _sample in range(3):
                trial += 1
                for _item in range(dice.integers(15, 45)):
                    people = dice.random() < right
                    wrong = dice.random() < rates[1 if people else 0]
                    units.append((f"{task:03}", trial, bool(people ^ wrong), bool(people)))
        labelled: dict[int, float] = {}
        for said in (True, False):
            mine = [at for at, unit in enumerate(units) if unit[2] is said]
            labels = min(100, len(mine))
            labelled |= dict.fromkeys(dice.permutation(mine)[:labels].tolist(), labels / len(mine))
        found = corrected(
            Units.of(
                Unit(
                    task,
                    trial,
                    float(judge),
                    float(people) if at in labelled else None,
                    "yes" if judge else "no",
                    labelled.get(at, 1.0),
                )
                for at, (task, trial, judge, people) in enumerate(units)
            )
        )
        told.add(found, 0.6)
    print(told.line(f"{tasks} tasks of items, 2 x 100"), flush=True)


def of_pairs(studies: int, dice: Dice) -> None:
    """Two agents of .05 between them on the same 60 tasks, 45 labels each: how often the interval of the difference holds it."""
    held, widths = 0, list[float]()
    for _study in range(studies):
        mean = dice.beta(2, 2, (60, 1)) * 0.9
        people = [
            np.clip(mean + shift + dice.normal(0, 0.1, (60, 2)), -1, 2) for shift in (0.05, 0.0)
        ]
        sides = [
            drawn(dice, np.clip(p + 0.06 + dice.normal(0, 0.06, p.shape), -1, 2), p, 45)
            for p in people
        ]
        found = difference(sides[0], sides[1])
        low, high = found.interval or (np.nan, np.nan)
        held += low <= 0.05 <= high
        widths.append(high - low)
    print(f"difference of two agents: held {held / studies:.1%}, width {np.mean(widths):.3f}")


def half(studies: int, dice: Dice) -> None:
    """How many labels of a random draw of trials a good judge needs for the width of 60 from people alone, at 100 x 3."""
    goal: list[float] = []
    for _study in range(studies):
        people = trials(dice, 100, 3)
        goal.append(width(corrected(drawn(dice, people, people, 60)).people.interval))
    for labels in (20, 25, 30, 40):
        mine: list[float] = []
        for _study in range(studies):
            people = trials(dice, 100, 3)
            mine.append(
                width(corrected(drawn(dice, good(dice, people), people, labels)).estimate.interval)
            )
        print(
            f"{labels} labels: width {np.mean(mine):.3f}; 60 from people alone: {np.mean(goal):.3f}"
        )


RANKED = {"all equal": (0.0,) * 5, "apart": (0.0, 0.0, -0.1, -0.1, -0.3)}
"""What agents have above the level of a task."""
RANK_DESIGNS = ((30, 1, 100), (60, 3, 250), (100, 3, 500))
"""Tasks, samples, and labelled trials of all five agents."""


def people_of(dice: Dice, shifts: tuple[float, ...], tasks: int, samples: int) -> Floats:
    """Agents x tasks x samples: tasks that are as hard for all, what an agent has of its own on a task, and noise."""
    level = dice.beta(2, 2, (1, tasks, 1)) * 0.9
    own = level + np.array(shifts)[:, None, None] + dice.normal(0, 0.1, (len(shifts), tasks, 1))
    return own + dice.normal(0, 0.1, (len(shifts), tasks, samples))


def of_ranks(studies: int, dice: Dice) -> None:
    """In how many studies all rank sets are right at once, and how many of ten pairs are told apart."""
    for what, shifts in RANKED.items():
        for name in ("good", "noisy"):
            for tasks, samples, labels in RANK_DESIGNS:
                right, told, n = 0, 0, 0
                for _study in range(studies):
                    people = people_of(dice, shifts, tasks, samples)
                    both = joint(_agents(dice, JUDGES[name](dice, people), people, labels))
                    if isinstance(both, Joint) and both.labelled_tasks >= FEWEST_TASKS:
                        found = ranks(by_task(both), widening=both.widening)
                        right += _sets_hold(found, shifts)
                        told += sum(pair.apart != 0 for pair in found.pairs)
                        n += 1
                print(
                    f"{what:9} {name:5} {tasks} x {samples}, {labels:3} labels: all right {right / n:.1%} of {n}; "
                    f"told apart {told / n:.1f} of 10",
                    flush=True,
                )


def _agents(dice: Dice, judge: Floats, people: Floats, labels: int) -> dict[str, Units]:
    """One draw of trials from all agents."""
    agents, tasks, samples = people.shape
    chosen = np.zeros(people.size, bool)
    chosen[dice.permutation(people.size)[:labels]] = True
    chosen = chosen.reshape(people.shape)
    return {
        f"{a}": Units.of(
            Unit(
                f"{t:04}",
                t * samples + n,
                float(judge[a, t, n]),
                float(people[a, t, n]) if chosen[a, t, n] else None,
            )
            for t in range(tasks)
            for n in range(samples)
        )
        for a in range(agents)
    }


def _sets_hold(found: Ranks, shifts: tuple[float, ...]) -> bool:
    """A true rank is an interval where means are equal: all of it must be in the set."""
    told = {one.name: one for one in found.agents}
    return all(
        (told[f"{at}"].best or 9) <= 1 + sum(other > own for other in shifts)
        and len(shifts) - sum(other < own for other in shifts) <= (told[f"{at}"].worst or 0)
        for at, own in enumerate(shifts)
    )


PARTS: dict[str, Callable[[int, Dice], None]] = {
    "trials": of_trials,
    "items": of_items,
    "pairs": of_pairs,
    "half": lambda studies, dice: half(max(studies // 4, 1), dice),
    "ranks": lambda studies, dice: of_ranks(max(studies // 2, 1), dice),
}


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    dice = np.random.default_rng(21)
    print(
        f"{studies} studies each; a share of .95 is known to +-{196 * sqrt(0.95 * 0.05 / studies):.1f} points"
    )
    for part in sys.argv[2:] or PARTS:
        PARTS[part](studies, dice)


if __name__ == "__main__":
    main()
