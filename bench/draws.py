"""How many labels a draw where it pays saves: mean width and coverage of the corrected share of items, on studies whose truth
is known, by the way of drawing. Prints the table of docs/stopping.md.

    nice python bench/draws.py [--studies 300]

A study: 40 tasks of 3 trials of 25 items, three judges. People accept an item with a chance that varies by task. A share
of the items is hard: there each judge errs in 40%, on the others in 2%, which is the setting in which active draws are
published: the judges' doubt tells where they err. The first judge's share is corrected. Draws that go by labels have a
pilot of 60, drawn at random: labels that are there already, or that count among those of the draw. Widths are those for
these items.
"""

import argparse
from collections.abc import Iterator
from math import exp, log

import numpy as np

from cuecard.annotate.estimation.corrected import corrected
from cuecard.annotate.estimation.units import Unit as Labelled
from cuecard.annotate.estimation.units import Units
from cuecard.annotate.labelling.sampling import FROM_LABELS, SamplingPlan, Unit, draw
from cuecard.core.verdicts import Item, ItemKind

TASKS, TRIALS, ITEMS = 40, 3, 25
PILOT = 60
WAYS: dict[str, dict[str, object]] = {
    "at random": {},
    "by decision, proportional": {"strata": ("decision",)},
    "variance, by decision and agreement": {
        "strata": ("decision", "judges"),
        "allocation": "variance",
    },
    "disagreement": {"allocation": "disagreement"},
    "active": {"strata": ("decision",), "allocation": "active"},
    "variance, pilot counted": {"strata": ("decision", "judges"), "allocation": "variance"},
}
SIZES = (200, 400, 800)


def study(hard: float, rng: np.random.Generator) -> tuple[list[Unit], dict[tuple[int, str], str]]:
    """The population by judges, and what people say of each item."""
    units: list[Unit] = []
    truth: dict[tuple[int, str], str] = {}
    for task in range(TASKS):
        accepted = rng.beta(6, 3)
        for trial in range(TRIALS):
            for index in range(ITEMS):
                right = bool(rng.random() < accepted)
                slips = rng.random(3) < (0.4 if rng.random() < hard else 0.02)
                votes = tuple(bool(right != slip) for slip in slips)
                unit = Unit(
                    trial_id=task * TRIALS + trial,
                    item=Item(kind=ItemKind.TRIPLE, index=index),
                    decision=("no", "yes")[votes[0]],
                    task=str(task),
                    votes=votes,
                )
                units.append(unit)
                truth[unit.trial_id, unit.item.key] = ("no", "yes")[right]
    return units, truth


def labelled(
    units: list[Unit], truth: dict[tuple[int, str], str], plan: SamplingPlan, counted: bool
) -> Iterator[Labelled]:
    """The population with the labels of a set drawn by the plan."""
    known = list(units)
    budget = plan.n
    if plan.allocation in FROM_LABELS:
        pilot = draw(units, plan.model_copy(update={"n": PILOT, "allocation": "proportional"}))
        keys = {(one.trial_id, one.item.key) for one in pilot}
        budget -= PILOT * counted
        known = [
            unit._replace(people=truth[key])
            if (key := (unit.trial_id, unit.item.key)) in keys
            else unit
            for unit in units
        ]
    drawn = {
        (one.trial_id, one.item.key): one
        for one in draw(known, plan.model_copy(update={"n": budget, "seed": plan.seed + 1}))
    }
    own = plan.allocation in ("disagreement", "active")
    for unit in units:
        key = unit.trial_id, unit.item.key
        one = drawn.get(key)
        stratum = " · ".join(str(getattr(unit, name)) for name in plan.strata)
        yield Labelled(
            unit.task,
            unit.trial_id,
            float(unit.decision == "yes"),
            float(truth[key] == "yes") if one else None,
            "" if own else stratum,
            one.probability if one else 1.0,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    studies = parser.parse_args().studies
    for hard in (0.2, 0.1):
        print(f"{hard:.0%} of the items are hard")
        print("| draw | " + " | ".join(f"{n} labels" for n in SIZES) + " | held, in % |")
        widths: dict[str, list[float]] = {}
        people: list[float] = []
        for way, fields in WAYS.items():
            rng = np.random.default_rng(33)
            found = np.zeros((studies, len(SIZES)))
            alone = np.zeros((studies, len(SIZES)))
            held = np.zeros((studies, len(SIZES)), dtype=bool)
            for at in range(studies):
                units, truth = study(hard, rng)
                mean = np.mean([said == "yes" for said in truth.values()])
                for column, n in enumerate(SIZES):
                    plan = SamplingPlan.model_validate(
                        {"runs": (1,), "n": n, "seed": 2 * at, **fields}
                    )
                    columns = Units.of(labelled(units, truth, plan, "counted" in way))
                    low, high = corrected(columns).here.interval or (0.0, 1.0)
                    found[at, column], held[at, column] = high - low, low <= mean <= high
                    if way == "at random":
                        said = columns.people[columns.labelled]
                        spread = said.std(ddof=1) * np.sqrt(
                            (1 - len(said) / len(units)) / len(said)
                        )
                        alone[at, column] = 2 * 1.96 * spread
            widths[way] = found.mean(axis=0).tolist()
            if way == "at random":
                people = alone.mean(axis=0).tolist()
                print(
                    "| at random, people alone | " + " | ".join(f"{w:.3f}" for w in people) + " | |"
                )
            told = " | ".join(f"{width:.3f}" for width in widths[way])
            print(f"| {way} | {told} | {100 * held.mean():.1f} |", flush=True)
        print("Labels at random that make the interval as narrow as 200 drawn so:")
        for way, found_ in widths.items():
            wanted = found_[0]
            logs = [log(n) for n in SIZES]
            same = [
                exp(float(np.interp(-log(wanted), [-log(width) for width in curve], logs)))
                for curve in (widths["at random"], people)
            ]
            told = [f"over {SIZES[-1]}" if n > SIZES[-1] - 1 else f"{n:.0f}" for n in same]
            print(f"| {way} | {told[0]} corrected | {told[1]} people alone |")


if __name__ == "__main__":
    main()
