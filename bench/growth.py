"""What writing takes as a workspace grows: packing and exporting a run, importing tasks, entering trials; seconds of the
processor, and the most memory that a process of its own held.

python bench/growth.py                     runs of 2,700 and 10,800 trials with 100 verdicts each; half an hour
python bench/growth.py 900                 a run of so many trials

Trials are on 300 tasks of 100 triples, by three agents. With `PYTHONPATH=OTHER/src` it measures another checkout.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cuecard.core.tasks.yaml_io import dump_task, load_tasks
from cuecard.store.workspace import Workspace

TRIALS, TASKS, TURNS, TRIPLES = (2700, 10_800), 300, 6, 100
IMPORTED, ENTERED = 5000, 20_000
FORMATS = ("jsonl", "vibesearch", "inspect", "otel")


def build(folder: Path, trials: int) -> None:
    """A judged run of so many trials."""
    import big_results

    big_results.SAMPLES = trials // TASKS // len(big_results.AGENTS)
    with Workspace.open(folder / "run.db") as workspace:
        made = [big_results._task(number, TRIPLES) for number in range(TASKS)]
        workspace.tasks.save_all(made, author="ann")
        samples = big_results.SAMPLES
        big_results._run(workspace, "run", made, big_results.AGENTS, samples, TURNS)


def files(folder: Path) -> None:
    """Our samples under new ids, a file each."""
    loaded, _wrong = load_tasks([Path(__file__).parent.parent / "sample_tasks"])
    folder.mkdir()
    for number in range(IMPORTED):
        task = loaded[number % len(loaded)][1].model_copy(update={"id": f"t-{number:05}"})
        (folder / f"{task.id}.yaml").write_text(dump_task(task))


def do(what: str, folder: Path) -> None:
    """One thing, as the command line does it; then what it took."""
    from cuecard.tui.commands.main import run

    start = time.process_time()
    database, out = folder / f"{what}.db", folder / "out"
    if what == "enter":
        from cuecard.core.evaluation.plans import RunPlan, create_run

        with Workspace.open(database) as workspace:
            ids = tuple(task.id for task in workspace.tasks.summaries())[:100]
            start = time.process_time()
            create_run(workspace, RunPlan(tasks=ids, samples=ENTERED // len(ids)), by="ann")
    else:
        verb = {
            "start": ["runs"],
            "pack": ["pack", "--run", "1", "-o", f"{out}.cuepack"],
            "import": ["import", str(folder / "tasks")],
        }.get(what, ["export", "--run", "1", "-o", str(out), "--format", what])
        sys.argv = ["cuecard", "--db", str(database), "--as", "ann", *verb]
        if code := run():
            sys.exit(code)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.process_time() - start
    print(f"{what:<11} {seconds:6.1f} s  {most:6,.0f} MB", file=sys.stderr)


def measured(what: str, folder: Path, source: str) -> None:
    """Do it in a process of its own, on a copy, for exports record what they told."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    shutil.copyfile(folder / source, folder / f"{what}.db")
    subprocess.run(
        [sys.executable, __file__, what, str(folder)], stdout=subprocess.DEVNULL, check=True
    )
    (folder / f"{what}.db").unlink()


def main(sizes: list[int]) -> None:
    for trials in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            build(folder, trials)
            print(f"{trials:,} trials", flush=True)
            for what in ("start", "pack", *FORMATS):
                measured(what, folder, "run.db")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files(folder / "tasks")
        Workspace.open(folder / "empty.db").close()
        print(f"{IMPORTED:,} tasks imported, then {ENTERED:,} trials entered", flush=True)
        measured("import", folder, "empty.db")
        with Workspace.open(folder / "some.db") as workspace:
            loaded, _wrong = load_tasks(sorted((folder / "tasks").iterdir())[:100])
            workspace.tasks.save_all([task for _path, task in loaded], author="ann")
        measured("enter", folder, "some.db")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("start" | "pack" | "import" | "enter") as what, folder]:
            do(what, Path(folder))
        case [what, folder] if what in FORMATS:
            do(what, Path(folder))
        case numbers:
            main([int(number) for number in numbers] or list(TRIALS))
