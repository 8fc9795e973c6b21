"""More than one process on one workspace, and processes that are killed."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import forked
import store_workers as workers
from cuecard.core.engine.events import Limits, ModelReplied
from cuecard.core.engine.messages import Usage
from cuecard.core.records import TrialCell, TrialRecord, UsageRecord
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Judgement
from cuecard.store.workspace import Workspace
from postgres_server import Databases

# Processes of their own that need not import everything anew. Modules of tests are not found there.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(forked.modules())
ROUNDS = 12
CELL = TrialCell(
    task_id="t",
    revision=1,
    agent=workers.PLAYER,
    user=workers.PLAYER,
    world=workers.PLAYER,
    sample=0,
    seed=0,
)
PEOPLE = ("Ann", "Bob")


def finish(processes: list[ForkServerProcess]) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * len(processes)


def test_two_processes_make_the_same_workspace(url: str) -> None:
    barrier = PROCESSES.Barrier(2)
    finish([PROCESSES.Process(target=workers.create, args=(url, barrier)) for _ in range(2)])
    with Workspace.open(url, create=False) as workspace:
        assert [person.name for person in workspace.people.all()] == ["Ann"]


def test_two_processes_lose_nothing_and_lock_nobody_out(
    url: str,
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    judged: Callable[..., Judgement],
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 5))
    verdicts = [record.verdict_id for record in workspace.verdicts.records()]
    workspace.tasks.save(workers.task("shared", "first"), author="Ann")
    barrier = PROCESSES.Barrier(len(PEOPLE))
    finish(
        [
            PROCESSES.Process(target=workers.work, args=(url, me, ROUNDS, verdicts, barrier))
            for me in PEOPLE
        ]
    )
    revisions = workspace.tasks.revisions("shared")
    assert [r.number for r in reversed(revisions)] == list(range(1, len(PEOPLE) * ROUNDS + 2))
    assert Counter(r.task.title for r in revisions) == Counter(
        ["first", *(f"{me} {n}" for me in PEOPLE for n in range(ROUNDS))]
    )
    for run in workspace.runs.all()[:2]:
        [played] = workspace.runs.trials(run.id)
        bodies = [event.body for event in workspace.runs.events(played.id)]
        assert bodies == [workers.spoke(n, "x" * 3000) for n in range(ROUNDS)]
    for me in PEOPLE:
        [draft] = workspace.drafts.of(me)
        assert draft.data == {"n": ROUNDS - 1}
        comments = [
            label.comment
            for verdict in verdicts
            for label in workspace.verdicts.history(verdict, me)
        ]
        assert sorted(comments, key=int) == [str(n) for n in range(ROUNDS)]


def test_kill_9_loses_nothing_that_was_acknowledged(
    url: str, workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    record = make_trial()
    trial = record.id
    acknowledged = 0
    for _ in range(3):
        command = [sys.executable, Path(workers.__file__), url, str(trial)]
        with forked.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                acknowledged = int(line) + 1
                if acknowledged % 20 == 0:
                    process.kill()
                    break
            rest = process.stdout.read().split()
        acknowledged = int(rest[-1]) + 1 if rest else acknowledged
        events = workspace.runs.events(trial)
        assert [event.seq for event in events] == list(range(len(events)))
        assert events == [workers.event(n) for n in range(len(events))]
        calls = [event.body for event in events if isinstance(event.body, ModelReplied)]
        assert workspace.runs.usage(record.run_id) == [
            UsageRecord(
                trial_id=trial,
                payer="agent",
                model="m",
                calls=len(calls),
                usage=Usage(prompt=sum(c.reply.usage.prompt for c in calls), completion=len(calls)),
                cost=sum(c.reply.cost or 0 for c in calls),
                priced=len(calls),
            )
        ]
        # The last one may be on the disk although nobody was told any more.
        assert acknowledged <= len(events) <= acknowledged + 1


def test_of_two_processes_on_one_trial_one_is_refused(
    url: str, workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trial = make_trial().id
    barrier, told = PROCESSES.Barrier(2), PROCESSES.Queue()
    finish(
        [
            PROCESSES.Process(target=workers.take_part, args=(url, trial, me, 30, barrier, told))
            for me in PEOPLE
        ]
    )
    fates = dict(told.get(timeout=60) for _ in PEOPLE)
    assert sorted(fates.values()) == ["played", "refused"]
    winner = next(me for me, fate in fates.items() if fate == "played")
    events = workspace.runs.events(trial)
    assert [event.body for event in events] == [workers.spoke(n, winner) for n in range(30)]


def test_threads_share_a_workspace(workspace: Workspace, make_task: Callable[..., Task]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def save(number: int) -> int:
        workspace.people.add(f"p{number % 3}")
        return workspace.tasks.save(make_task(title=str(number)), author="Ann").number

    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(save, range(64)))
        list(pool.map(lambda _n: workspace.tasks.summaries(), range(64)))
    assert sorted(numbers) == list(range(1, 65))


def test_its_version_changes_with_what_anybody_saves_and_with_nothing_else(url: str) -> None:
    with Workspace.open(url) as mine, Workspace.open(url) as other:
        before = mine.version()
        assert mine.tasks.count() == 0
        assert not other.people.exists("Ann")
        assert mine.version() == before
        other.people.add("Ann")
        theirs = mine.version()
        assert theirs != before
        mine.people.add("Ben")
        assert mine.version() != theirs


def test_strangers_on_the_same_server_do_not_change_the_version(
    postgres: Databases, make_task: Callable[..., Task]
) -> None:
    with (
        postgres.empty() as one,
        postgres.empty() as two,
        postgres.workspace() as three,
        Workspace.open(one) as mine,
        Workspace.open(one) as other,
    ):
        other.tasks.save(make_task("t"), author="Ann")
        (trial,) = other.runs.trials(
            other.runs.create(
                name="r",
                kind="grid",
                created_by="Ann",
                samples=1,
                limits=Limits(),
                cells=[CELL],
            ).id
        )
        before = mine.version()
        for stranger in (two, three):
            with Workspace.open(stranger) as theirs:
                theirs.people.add("Zoe")
        assert mine.version() == before
        asyncio.run(other.sink(trial.id).append(workers.event(0)))
        assert mine.version() != before
