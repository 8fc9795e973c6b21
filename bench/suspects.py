"""Planted errors of gold: how many of the first 20 suspects are errors, over seeds (docs/suspects.md has the figures).

nice python bench/suspects.py [--seeds 30] [--agents 6]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from planted_gold import by_share, planted, precision, rivals


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--agents", type=int, default=6)
    asked = parser.parse_args()
    made = [planted(seed, agents=asked.agents) for seed in range(asked.seeds)]
    ours = [precision(one, 20) for one in made]
    plain = [by_share(one, 20) for one in made]
    flags = [rivals(one) for one in made]
    print(f"precision@20: mean {statistics.fmean(ours):.3f}, least {min(ours):.2f}")
    print(f"by share found alone: mean {statistics.fmean(plain):.3f}, least {min(plain):.2f}")
    flagged, right, errors = (statistics.fmean(column) for column in zip(*flags, strict=True))
    print(f"rival flags {flagged:.1f}, of which {right:.1f} on wrong gold; errors {errors:.1f}")
    return 0 if statistics.fmean(ours) >= 0.8 and min(ours) >= 0.65 else 1


if __name__ == "__main__":
    raise SystemExit(main())
