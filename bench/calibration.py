"""Rates corrected by labels from elsewhere: in how many of 20,000 studies the 95% interval holds the true rate, with each
study drawing its own judged items and its own calibration labels. Prints the table of docs/stopping.md.

    nice python bench/calibration.py [--studies 20000]
"""

import argparse

import numpy as np

from cuecard.annotate.labelling.calibrating import JudgeErrors, corrected_rate

SETTINGS = (
    (0.3, 0.9, 0.85, 500, 100, 100),
    (0.6, 0.8, 0.7, 300, 50, 50),
    (0.9, 0.9, 0.95, 300, 30, 100),
    (0.05, 0.95, 0.9, 500, 100, 50),
)
"""True rate, specificity, sensitivity; judged items, false and true items of the calibration."""


def study(
    setting: tuple[float, float, float, int, int, int], studies: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """In %, how often the interval and how often that of the judge's rate alone held the truth; and the mean width."""
    theta, q0, q1, n, m0, m1 = setting
    accepted = rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0), studies)
    right0, right1 = rng.binomial(m0, q0, studies), rng.binomial(m1, q1, studies)
    held = naive = defined = 0
    width = 0.0
    for x, r0, r1 in zip(accepted, right0, right1, strict=True):
        errors = JudgeErrors(sensitivity=r1 / m1, specificity=r0 / m0, true=m1, false=m0)
        found = corrected_rate("", x / n, n, errors).corrected.interval
        half = 1.96 * np.sqrt(x / n * (1 - x / n) / n)
        naive += abs(x / n - theta) <= half
        if found is not None:
            defined += 1
            held += found[0] <= theta <= found[1]
            width += found[1] - found[0]
    return 100 * held / defined, 100 * naive / studies, width / defined


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=20_000)
    rng = np.random.default_rng(1978)
    print(
        "| true rate | specificity | sensitivity | n | false | true | held | width | uncorrected held |"
    )
    studies = parser.parse_args().studies
    for setting in SETTINGS:
        held, naive, width = study(setting, studies, rng)
        told = " | ".join(map(str, setting))
        print(f"| {told} | {held:.1f} | {width:.3f} | {naive:.1f} |", flush=True)


if __name__ == "__main__":
    main()
