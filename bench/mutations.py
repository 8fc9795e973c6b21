"""Damaged import files in every format: errors, never tracebacks, and the store as it was.

python bench/mutations.py [ROUNDS] [FIRST_SEED]      5,000 rounds, about ten minutes

A good file of each format (the sample tasks) is damaged: bytes flipped, cut, doubled and inserted, other
encodings, types swapped, fields deleted and doubled, numbers without end, nesting, XML and YAML bombs,
tags, contexts elsewhere. It is imported into a workspace that holds half of these tasks. What must not
happen is printed with the seed that shows it; the exit code is 1 then.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import import_mutations


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    warnings.simplefilter("error")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        findings = import_mutations.rounds(Path(folder), range(first, first + count))
    took = time.perf_counter() - began
    outcomes = ", ".join(f"{n} {what}" for what, n in sorted(findings.outcomes.items()))
    print(f"{count} damaged files in {took:.0f} s: {outcomes}; {len(findings.wrong)} wrong")
    for line in findings.wrong:
        print(line)
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
