"""Planted errors of gold: how many of the first 20 suspects are errors, over seeds (docs/suspects.md has the figures).
With `--trials` instead how long a survey of so many trials takes, of tasks with 20 triples, in a workspace made for it.

    nice python bench/suspects.py [--seeds 30] [--agents 6] [--trials 10000]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.suspects import survey
from cuecard.core.engine.events import Event, Limits, RunState, ToolAnswered, TrialStarted
from cuecard.core.engine.messages import PlayerRef, SearchEntry, ToolAnswer, ToolCall
from cuecard.core.families.registry import family_of
from cuecard.core.predictions import Prediction
from cuecard.core.records import TrialCell
from cuecard.core.verdicts import Judgement
from cuecard.store.workspace import Workspace

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from judged_trials import ending, graph_task, triples
from planted_gold import by_share, planted, precision, rivals
from suspect_runs import BEGUN

SAMPLES, WIDTH, WRONG = 25, 20, 3


def seeded(path: Path, trials: int) -> int:
    """A run of 8 agents on tasks of 20 triples, of which one is wrong and one is not found; returns its number."""
    dice = random.Random(0)
    page = "The firm maker 3 was founded in 1899. " * 20
    with Workspace.open(path, create=True) as workspace:
        run = workspace.runs.create(
            name="many", kind="grid", created_by="ann", samples=SAMPLES, limits=Limits()
        )
        judge = PlayerRef(name="lexical", kind="lexical", baseline=True)
        user = PlayerRef(name="nobody", kind="offline")
        for number in range(trials // (8 * SAMPLES)):
            gold = [(f"maker {n}", "founded in", str(1900 + n)) for n in range(WIDTH)]
            task = graph_task(f"makers-{number}", gold)
            revision = workspace.tasks.save(task, author="ann", message="").number
            cells = [
                TrialCell(
                    task_id=task.id, revision=revision, agent=PlayerRef(name=f"a{n}", kind="react"),
                    user=user, world=user, sample=sample,
                )
                for n in range(8)
                for sample in range(SAMPLES)
            ]  # fmt: skip
            batch: list[tuple[int, Event]] = []
            told: dict[int, Prediction] = {}
            for trial in workspace.runs.add_trials(run.id, cells):
                said = [each for each in gold[1:] if dice.random() < 0.7]
                said = [(h, r, "1899") if h == f"maker {WRONG}" else (h, r, t) for h, r, t in said]
                entry = SearchEntry(id="1", title="", content=page)
                started = TrialStarted(
                    task_id=task.id, revision=revision, revision_hash="", agent=trial.agent,
                    user=user, world=user, sample=trial.sample,
                )  # fmt: skip
                call = ToolCall(name="search", arguments={"query": "makers"})
                answer = ToolAnswer(text=page, entries=(entry,))
                searched = ToolAnswered(part="agent", turn=0, step=0, call=call, answer=answer)
                told[trial.id] = triples(*said)
                bodies = (started, searched, *ending(told[trial.id]))
                batch += [(trial.id, Event(seq=n, at=BEGUN, body=b)) for n, b in enumerate(bodies)]
            workspace.runs.append_events(batch)
            for trial_id, prediction in told.items():
                decided = family_of(task).judge(task, task.gold, prediction)
                assert decided is not None
                workspace.verdicts.add(trial_id, Judgement(judge=judge, verdicts=decided[0]))
        workspace.runs.set_state(run.id, RunState.DONE)
        return run.id


def timed(trials: int) -> int:
    """How long pool and survey take; 0 where both together are within the bar."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.db"
        run = seeded(path, trials)
        with Workspace.open(path) as workspace:
            gather(
                workspace, [run]
            )  # Keeps the figures of trials, as a run does when it is judged.
        with Workspace.open(path) as workspace:
            begun = time.process_time()
            pool = gather(workspace, [run])
            pooled = time.process_time()
            found = survey(workspace, pool)
            done = time.process_time()
    items = sum(len(task.items) for task in found.tasks)
    print(
        f"{len(pool.rows)} trials, {items} items, {len(found.suspects)} suspects, {found.unread} tasks without pages"
    )
    print(f"processor: pool {pooled - begun:.2f} s, survey {done - pooled:.2f} s")
    return 0 if done - begun < 3 else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--agents", type=int, default=6)
    parser.add_argument("--trials", type=int, default=0)
    asked = parser.parse_args()
    if asked.trials:
        return timed(asked.trials)
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
