"""What packing and merging a run takes: seconds of the processor, and the most memory that a process of its own held.

python bench/packs.py                     a run of 200 trials, and one of 2,000; some minutes
python bench/packs.py 50 100              runs of so many trials

Each trial records eight answers of 8 KB that stand in no other trial. `started`: the memory of a process that has loaded
the same modules and opened the workspace, which is not the pack's.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from cuecard.annotate.sharing.bundle import write_bundle
from cuecard.annotate.sharing.reading import read_bundles
from cuecard.core.engine.events import Event, Limits, ToolAnswered
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall
from cuecard.core.label_records import LabelValue
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace

TRIALS, ANSWERS, BYTES = (200, 2000), 8, 8192
PLAYER = PlayerRef(name="bench", kind="offline")
AT = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = [f"{number:x}" for number in range(7**5, 7**5 + 5000)]


def build(path: Path, trials: int) -> None:
    """A workspace with one run of so many trials, each with its log and a label."""
    chance = random.Random(trials)
    gold = {"family": "graph", "triples": [{"head": "a", "relation": "r", "tail": "b"}]}
    task = {"id": "t", "title": "A task", "language": "en", "query": "Who?", "gold": gold}
    with Workspace.open(path) as workspace:
        workspace.tasks.save(Task.model_validate(task), author="Ana")
        run = workspace.runs.create(
            name="run", kind="grid", created_by="Ana", samples=trials, limits=Limits()
        )
        cells = [
            TrialCell(
                task_id="t", revision=1, agent=PLAYER, user=PLAYER, world=PLAYER, sample=sample
            )
            for sample in range(trials)
        ]
        for trial in workspace.runs.add_trials(run.id, cells):
            events: list[tuple[int, Event]] = []
            for turn in range(ANSWERS):
                call = ToolCall(name="search", arguments={"query": "?"})
                text = " ".join(chance.choices(WORDS, k=BYTES // 5))
                body = ToolAnswered(
                    part="agent", turn=turn, step=0, call=call, answer=ToolAnswer(text=text)
                )
                events.append((trial.id, Event(seq=turn, at=AT, body=body)))
            workspace.runs.append_events(events)
            item = Item(kind=ItemKind.TRIPLE, index=0)
            workspace.verdicts.label_item(trial.id, item, "Ben", LabelValue.YES)


def measured(what: str, folder: Path) -> str:
    """Do it in a process of its own, and say what it took."""
    done = subprocess.run(
        [sys.executable, __file__, what, str(folder)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def do(what: str, folder: Path) -> None:
    """Pack, merge, or only start."""
    start = time.process_time()
    pack = folder / "run.cuepack"
    with Workspace.open(folder / ("source.db" if what == "pack" else "target.db")) as workspace:
        if what == "pack":
            write_bundle(workspace, "Ana", pack, runs=[1])
        elif what == "merge":
            workspace.exchange.import_(read_bundles([pack]), by="Ben")
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<8} {seconds:6.1f} s  {most:6,.0f} MB")


def main(sizes: list[int]) -> None:
    for trials in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            build(folder / "source.db", trials)
            Workspace.open(folder / "target.db").close()
            told = [measured(what, folder) for what in ("started", "pack", "merge")]
            size = (folder / "run.cuepack").stat().st_size >> 20
            print(f"{trials:,} trials, a pack of {size} MB", *told, sep="\n  ", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("started" | "pack" | "merge") as what, folder]:
            do(what, Path(folder))
        case numbers:
            main([int(number) for number in numbers] or list(TRIALS))
