"""Five errands by keys alone in a real terminal (tmux), with the keys that each takes, beside those that it took before.

python bench/keystrokes.py [COLSxROWS]      110x34, about five minutes; needs tmux

A text that is typed or pasted counts as one key: it is the same before and after. "Before" is the version in which a key
still meant different things on different screens (4c3c219a), counted with the same errands; what it took to find a phrase
in 300 transcripts is what it took to open and leave half of them, without reading. The bar: in sum at most 70%, none worse.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import authoring
import review_flow
from authoring import Terminal
from cuecard.annotate.samples import import_samples, load_samples
from cuecard.core.evaluation.runs import RunPlan, start_run
from cuecard.store.workspace import Workspace
from review_flow import SIZE, Seat

BEFORE = {
    "first differing scores": 6,
    "task of 8 stages and 25 triples": 241,
    "review returned and approved": 102,
    "100 labels": 102,
    "a phrase in 300 transcripts": 602,
}
BAR = 0.70
TRIALS, LABELS = 300, 100
_counted = 0
_size = SIZE


def _counting(terminal: type[Terminal]) -> None:
    keys, type_ = terminal.keys, terminal.type

    def count_keys(self: Terminal, *names: str) -> None:
        global _counted
        _counted += len(names)
        keys(self, *names)

    def count_text(self: Terminal, text: str) -> None:
        global _counted
        _counted += 1
        type_(self, text)

    terminal.keys, terminal.type = count_keys, count_text


def _did(seat: Seat | Terminal, does: Callable[[], object]) -> int:
    """The keys of what is done between start and end of one program."""
    seat.start()
    try:
        begun = _counted
        does()
        return _counted - begun
    finally:
        seat.close()


def first_scores(folder: Path) -> int:
    """From the first start of all to scores that differ."""
    seat = Newcomer(folder, "", _size)

    def does() -> None:
        seat.type("Ana")
        seat.keys("Enter")
        seat.wait("Where to begin")
        seat.keys("T")
        seat.wait("This is the example study")
        seat.keys("3")
        seat.wait("Three agents")
        seat.keys("Enter")
        seat.wait("offline:forgetful")

    return _did(seat, does)


class Newcomer(Seat):
    """Somebody without a name yet."""

    def wait(self, text: str) -> None:
        super().wait("Welcome" if text == "Home" and not self._named else text)
        self._named = True

    _named = False


def task(folder: Path) -> int:
    authoring.STAGES, authoring.TRIPLES = 8, 25
    terminal = Terminal(folder)
    return _did(terminal, lambda: authoring.write_task(terminal))


def review(folder: Path) -> int:
    review_flow.prepare(folder / "bench.db")
    begun = _counted
    ends = _leaves(review_flow.play, folder, _size)
    review_flow.check(folder / "bench.db")
    return _counted - begun - ends


def _leaves(play: Callable[..., None], *args: object) -> int:
    """The keys that people left the program with in between, which are no part of the errand."""
    left = 0
    leave = Seat.leave

    def counted(self: Seat) -> None:
        nonlocal left
        left += 1
        leave(self)

    Seat.leave = counted
    try:
        play(*args)
    finally:
        Seat.leave = leave
    return left


def labels(folder: Path) -> int:
    """Of a run's verdicts, one after the other."""
    _many(folder, 1)
    seat = Seat(folder, "Ben", _size)

    def does() -> None:
        seat.keys("5")
        seat.wait("many")
        seat.keys("Enter")
        seat.wait("item 1 of")
        for n in range(1, LABELS + 1):
            seat.keys("n" if n % 6 == 0 else "y")
            wanted = f"item {n + 1} of"
            seat.until(lambda wanted=wanted: wanted in seat.screen(), wanted)

    return _did(seat, does)


def phrase(folder: Path) -> int:
    _many(folder, TRIALS // len(load_samples()) + 1)
    seat = Seat(folder, "Ana", _size)

    def does() -> None:
        seat.keys("C-f")
        seat.wait("words that must occur")
        seat.type("lever piston")
        seat.wait("Transcript")
        seat.keys(*["Down"] * 5, "Enter")
        seat.wait("lever")

    return _did(seat, does)


def _many(folder: Path, samples: int) -> None:
    """A run of the sample tasks by the embedded players."""
    with Workspace.open(folder / "bench.db") as workspace:
        ids = tuple(revision.task_id for revision in import_samples(workspace))
        asyncio.run(
            start_run(workspace, RunPlan(tasks=ids, name="many", samples=samples), by="Ana")
        )


def main() -> int:
    if sys.argv[1:] and (found := re.fullmatch(r"(\d+)x(\d+)", sys.argv[1])):
        global _size
        _size = (int(found[1]), int(found[2]))
    _counting(Terminal)
    worse, before_all, after_all = False, 0, 0
    errands = (first_scores, task, review, labels, phrase)
    for (name, before), errand in zip(BEFORE.items(), errands, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            after = errand(Path(folder))
        worse = worse or after > before
        before_all, after_all = before_all + before, after_all + after
        print(f"{name:34} {before:5} {after:5}  {after / before:4.0%}", flush=True)
    share = after_all / before_all
    print(f"{'in sum':34} {before_all:5} {after_all:5}  {share:4.0%}; bar {BAR:.0%}, none worse")
    return 1 if worse or share > BAR else 0


if __name__ == "__main__":
    sys.exit(main())
