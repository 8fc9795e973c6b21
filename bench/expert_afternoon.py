"""A judge is checked by keys alone in a real terminal (tmux): a set is drawn, two people label 30 items of it
blind, a third adjudicates, and the agreement and the effect on the scores are looked at.

python bench/expert_afternoon.py [COLSxROWS]      110x34, about a minute; needs tmux
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cuecard.annotate.labelling.adjudication import disputes
from cuecard.annotate.labelling.comparison import effect_of
from cuecard.store.workspace import Workspace
from effect_runs import offline_run
from review_flow import Seat

ANN, BOB, CAS = "Wilhelmina", "Zebedee", "Quentin"
ITEMS = 30
SIZE = (110, 34)


def draw(seat: Seat) -> None:
    """30 items, all of them by two people."""
    seat.keys("5")
    seat.wait("No labelling set yet")
    seat.keys("a")
    seat.wait("From each stratum")
    seat.type(str(ITEMS))
    seat.wait(f"{ITEMS} items of")
    seat.keys("Tab", "Tab", "Tab", "Tab")
    seat.type("100")
    seat.wait(f"{2 * ITEMS} labels")
    seat.keys("C-s")
    seat.wait("Labelling sets")


def to_the_set(seat: Seat) -> None:
    seat.keys("5")
    seat.wait("Labelling sets")
    seat.keys("Tab")


def label(seat: Seat, against: int) -> list[float]:
    """Label what waits in the set, yes but for every `against`th; seconds from the key to the next item."""
    seat.keys("Enter")
    seat.wait(f"item 1 of {ITEMS}")
    took: list[float] = []
    for n in range(1, ITEMS + 1):
        blind = seat.screen()
        assert "lexical" not in blind, blind
        begun = time.monotonic()
        seat.keys("n" if n % against == 0 else "y")
        wanted = f"item {n + 1} of {ITEMS}"
        seat.until(lambda wanted=wanted, n=n: n == ITEMS or wanted in seat.screen(), wanted)
        took.append(time.monotonic() - begun)
    seat.wait(f"{ITEMS} labelled")
    seat.keys("Escape")
    seat.wait("Labelling sets")
    return took


def adjudicate(seat: Seat, count: int) -> None:
    """Decide yes on everything, with the causes in turn."""
    seat.keys(".", "j")
    seat.wait("See what others decided?")
    seat.keys("y")
    seat.wait(f"1 of {count}")
    for n in range(count):
        seat.keys("y")
        seat.wait("nobody erred")
        seat.keys("ae"[n % 2])
        if n + 1 < count:
            seat.wait(f"{n + 2} of {count}")
    seat.keys("Escape")
    seat.wait("Labelling sets")


def look(seat: Seat) -> None:
    seat.keys(".", "a")
    seat.wait("kappa")
    print(seat.screen())
    seat.keys("v", "e")
    seat.wait("Triplet recall")
    print(seat.screen())
    seat.keys("Escape")


def afternoon(folder: Path, size: tuple[int, int]) -> None:
    db = Seat(folder, ANN, size).db
    with Workspace.open(db) as workspace:
        run = offline_run(workspace)
    took: list[float] = []

    def does(person: str, *steps: Callable[[Seat], object]) -> None:
        seat = Seat(folder, person, size)
        seat.start()
        try:
            for step in steps:
                step(seat)
            seat.leave()
        finally:
            seat.close()

    does(ANN, draw, lambda seat: took.extend(label(seat, against=6)))
    does(BOB, to_the_set, lambda seat: took.extend(label(seat, against=5)))
    with Workspace.open(db) as workspace:
        [drawn] = workspace.label_sets.all()
        given = workspace.verdicts.item_labels()
        assert len(given) == 2 * ITEMS, len(given)
        assert {one.phase for one in given} == {"blind"}
        disputed = len(disputes(workspace, set_id=drawn.id))
    does(CAS, to_the_set, lambda seat: adjudicate(seat, disputed), look)
    with Workspace.open(db) as workspace:
        decided = workspace.adjudications.newest()
        assert len(decided) == disputed, (len(decided), disputed)
        effect = effect_of(workspace, [run])
        assert effect.settled == ITEMS
    _tell(took, disputed, effect.changed)


def _tell(took: Sequence[float], disputed: int, changed: int) -> None:
    print(
        f"{len(took)} labels by keys, blind; median {1000 * statistics.median(took):.0f} ms from the"
    )
    print(
        f"key to the next item on the terminal (80 ms of it the hand), slowest {1000 * max(took):.0f} ms"
    )
    print(
        f"{disputed} disputes adjudicated; people decide otherwise than the judge on {changed} items"
    )


def main() -> int:
    size = SIZE
    if sys.argv[1:] and (found := re.fullmatch(r"(\d+)x(\d+)", sys.argv[1])):
        size = (int(found[1]), int(found[2]))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        afternoon(Path(folder), size)
    print(f"{time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
