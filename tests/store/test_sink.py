from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Termination,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import AgentReply, UserReply
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.records import TrialCell, TrialRecord
from cuecard.store.workspace import StoreSink, Workspace

MakeTrial = Callable[..., TrialRecord]
At = Callable[[int, EventBody], Event]


def spoke(turn: int, text: str = "hi") -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text))


async def test_an_appended_event_is_there(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    sink = StoreSink(workspace, trial)
    sink.stream(0, "never kept")
    for seq in range(3):
        await sink.append(at(seq, spoke(seq)))
        assert [e.seq for e in workspace.runs.events(trial)] == list(range(seq + 1))


async def test_many_trials_at_once(workspace: Workspace, make_trial: MakeTrial) -> None:
    trials = [make_trial().id for _ in range(8)]

    async def play(trial: int) -> None:
        trial_log = TrialLog(StoreSink(workspace, trial))
        for turn in range(20):
            await trial_log.record(spoke(turn))

    await asyncio.gather(*(play(trial) for trial in trials))
    for trial in trials:
        assert [e.body for e in workspace.runs.events(trial)] == [spoke(n) for n in range(20)]


async def test_parallel_steps_of_one_trial_keep_their_order(
    workspace: Workspace, make_trial: MakeTrial
) -> None:
    trial = make_trial().id
    trial_log = TrialLog(StoreSink(workspace, trial))
    await asyncio.gather(*(trial_log.record(spoke(turn)) for turn in range(30)))
    assert workspace.runs.events(trial) == list(trial_log.events)


async def test_one_trials_trouble_reaches_it_and_no_other(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    good, bad = make_trial().id, make_trial().id
    workspace.runs.append_events([(bad, at(0, spoke(0)))])
    results = await asyncio.gather(
        StoreSink(workspace, good).append(at(0, spoke(0))),
        StoreSink(workspace, bad).append(at(0, spoke(0, "different"))),
        StoreSink(workspace, 999).append(at(0, spoke(0))),
        StoreSink(workspace, good).append(at(1, spoke(1))),
        return_exceptions=True,
    )
    assert results[0] is None
    assert isinstance(results[1], Conflict)
    assert isinstance(results[2], NotFound)
    assert results[3] is None
    assert len(workspace.runs.events(good)) == 2


def agent_spoke(turn: int) -> AgentSpoke:
    return AgentSpoke(turn=turn, reply=AgentReply(text="hello"))


async def test_what_follows_from_the_log_is_written_in_its_place(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trials = [make_trial().id for _ in range(6)]

    async def play(trial: int) -> None:
        sink = StoreSink(workspace, trial)
        for turn in range(5):
            await sink.append(at(2 * turn, agent_spoke(turn)))
            # Nobody waited for it, and yet whoever reads finds it.
            if turn == 2:
                assert len(await asyncio.to_thread(workspace.runs.log, trial)) == 2 * turn + 1
            await sink.append(at(2 * turn + 1, spoke(turn)))

    await asyncio.gather(*(play(trial) for trial in trials))
    for trial in trials:
        assert [e.seq for e in workspace.runs.events(trial)] == list(range(10))


async def test_the_first_trouble_is_told_also_when_nobody_waited_for_it(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    workspace.runs.append_events([(trial, at(0, spoke(7)))])
    sink = StoreSink(workspace, trial)
    await sink.append(at(0, agent_spoke(0)))
    with pytest.raises(Conflict, match="number 0") as first:
        await sink.append(at(1, spoke(0)))
    with pytest.raises(Conflict) as again:
        await sink.append(at(2, spoke(1)))
    assert again.value is first.value
    assert len(workspace.runs.events(trial)) == 1


async def test_what_others_wrote_in_the_meantime_is_noticed(
    url: str, workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial, other = make_trial().id, make_trial().id
    mine, theirs = StoreSink(workspace, trial), StoreSink(workspace, other)
    end = TrialEnded(termination=Termination.USER_DONE)
    await mine.append(at(0, spoke(0)))
    with Workspace.open(url) as elsewhere:
        sink = StoreSink(elsewhere, trial)
        await sink.append(at(1, spoke(1)))
        # The same event again is no trouble; another one in its place is.
        await mine.append(at(1, spoke(1)))
        await sink.append(at(2, end))
        results = await asyncio.gather(
            mine.append(at(2, spoke(2))), theirs.append(at(0, spoke(0))), return_exceptions=True
        )
        assert isinstance(results[0], Conflict)
        assert results[1] is None
        with pytest.raises(Conflict):
            await mine.append(at(3, spoke(3)))
    assert [e.body for e in workspace.runs.events(trial)] == [spoke(0), spoke(1), end]
    assert len(workspace.runs.events(other)) == 1


def test_a_loop_that_is_gone_does_not_stop_the_writer(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id

    async def begin() -> None:
        for seq in range(50):
            body = agent_spoke(seq) if seq % 2 else spoke(seq)
            workspace.event_writer.submit(trial, at(seq, body), lazy=bool(seq % 2))

    asyncio.run(begin())
    assert len(workspace.runs.events(trial)) == 50
    asyncio.run(StoreSink(workspace, trial).append(at(50, spoke(50))))


async def test_a_cancelled_append_is_kept(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    task = asyncio.create_task(StoreSink(workspace, trial).append(at(0, spoke(0))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(workspace.runs.events(trial)) == 1


def test_closing_writes_what_was_submitted(url: str, make_task: Callable[..., object]) -> None:
    from cuecard.core.engine.events import Limits
    from cuecard.core.engine.messages import PlayerRef

    workspace = Workspace.open(url)
    task = workspace.tasks.save(make_task(), author="Ann")  # pyright: ignore[reportArgumentType]
    run = workspace.runs.create(name="r", kind="grid", created_by="Ann", samples=1, limits=Limits())
    player = PlayerRef(name="x", kind="offline")
    trial = workspace.runs.add_trials(
        run.id,
        [
            TrialCell(
                task_id="t",
                revision=task.number,
                agent=player,
                user=player,
                world=player,
                sample=0,
                seed=0,
            )
        ],
    )[0].id
    from datetime import UTC, datetime

    writer = workspace.event_writer
    jobs = [
        writer.submit(trial, Event(seq=seq, at=datetime.now(UTC), body=spoke(seq)))
        for seq in range(600)
    ]
    workspace.close()
    assert all(job.settled and job.error is None for job in jobs)
    with pytest.raises(CuecardError):
        writer.submit(trial, Event(seq=600, at=datetime.now(UTC), body=spoke(600)))
    workspace.close()
    with Workspace.open(url, create=False) as again:
        assert len(again.runs.events(trial)) == 600
