"""How long the linter takes on a large task: 5,000 triples in 20 stages, English and Chinese.

The editor lints a quarter of a second after the last key, in a thread that shares the interpreter with
typing, so what counts is processor time: `first` with empty caches, `key` after one more key in a
triple, `draft` while one triple is unfinished. Run: python bench/lint.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from cuecard.annotate.authoring.edit import find_problems

TRIPLES, STAGES, KEYS = 5000, 20, 10
SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "zu",
]


def word(chance: random.Random) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(3)).title()


def han(chance: random.Random) -> str:
    return "".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(4))


def task(language: str) -> dict[str, Any]:
    chance = random.Random(4)
    make: Callable[[random.Random], str] = han if language == "zh" else word
    end = "。" if language == "zh" else ". "
    heads = [f"{make(chance)} {make(chance)}" for _ in range(900)]
    tails = [
        str(1500 + i % 500) if i % 4 else f"{make(chance)} {make(chance)}" for i in range(TRIPLES)
    ]

    def prose(words: int) -> str:
        return " ".join(make(chance) for _ in range(words)) + end

    return {
        "id": "large",
        "title": make(chance),
        "language": language,
        "query": prose(60),
        "persona": {
            "identity": prose(60),
            "initial_query": prose(30),
            "stages": [
                {
                    "title": make(chance),
                    "cue": {"kind": "mentions" if n else "start", "text": prose(8)},
                    "line": prose(50),
                    "not_met": prose(15),
                }
                for n in range(STAGES)
            ],
        },
        "gold": {
            "family": "graph",
            "nodes": [{"id": head, "aliases": [make(chance)]} for head in heads[:200]],
            "triples": [
                {
                    "head": chance.choice(heads),
                    "relation": f"{make(chance)} {i % 60}",
                    "tail": tail,
                    "stage": i % STAGES + 1,
                    "sources": [f"https://example.org/{i % 300}"],
                }
                for i, tail in enumerate(tails)
            ],
        },
    }  # fmt: skip


def spent(data: dict[str, Any]) -> float:
    """Milliseconds of processor time for one look at the task."""
    before = time.process_time()
    find_problems(data)
    return (time.process_time() - before) * 1000


def typed(data: dict[str, Any], tail: str) -> float:
    data["gold"]["triples"][7]["tail"] = tail
    return spent(data)


def main() -> None:
    print(f"{TRIPLES} triples, {STAGES} stages; ms of processor time")
    print(f"{'':4}{'first':>8}{'key':>8}{'draft':>8}")
    for language in ("en", "zh"):
        data = task(language)
        first = spent(data)
        keys = sorted(typed(data, f"Tail {'x' * n}") for n in range(1, KEYS + 1))
        drafts = sorted(typed(data, " " * n) for n in range(1, KEYS + 1))
        print(f"{language:4}{first:8.0f}{keys[KEYS // 2]:8.0f}{drafts[KEYS // 2]:8.0f}")


if __name__ == "__main__":
    main()
