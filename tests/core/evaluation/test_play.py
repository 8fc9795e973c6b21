"""Play sessions: nothing lost and nothing doubled, wherever they are dropped."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import forked
import lab_players
from cuecard.annotate.results.trial_disclosure import stages_seen
from cuecard.core.config import EMBEDDED
from cuecard.core.engine.events import AgentSpoke, Event, Limits, RunState, Termination
from cuecard.core.engine.messages import UserReply
from cuecard.core.errors import ConfigError, NotAllowed, NotFound
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.play_setup import PlayOutcome
from cuecard.core.evaluation.runs import settle_runs
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.store.workspace import Workspace
from lab_players import bodies, in_a_loop_that_dies, play_out, speak

TASK = "table-solar-terms-zh"
CHAIN = "checkpoints-highest-mountain"


async def undisturbed(db: Path, task_id: str) -> list[str]:
    with Workspace.open(db) as workspace:
        session = await PlaySession.start(workspace, task_id, by="ann")
        outcome = await play_out(session)
        assert outcome is not None
        ended = Termination.ANSWERED if task_id == CHAIN else Termination.USER_DONE
        assert outcome.termination is ended
        return bodies(workspace.runs.events(session.trial.id))


@pytest.mark.parametrize("task_id", [TASK, CHAIN])
async def test_a_session_is_played_recorded_and_judged(workspace: Workspace, task_id: str):
    told: list[Event] = []
    ended: list[PlayOutcome] = []
    session = await PlaySession.start(
        workspace, task_id, by="ann", on_event=told.append, on_end=ended.append
    )
    assert await play_out(session) == ended[0]
    assert ended[0].judged
    assert ended[0].problem == ""
    assert told == workspace.runs.events(session.trial.id) == list(session.events)
    run = workspace.runs.get(session.trial.run_id)
    assert (run.kind, run.state, run.created_by) == ("play", RunState.DONE, "ann")
    view = trial_view(workspace, session.trial.id)
    assert view.trial.user.kind == "human"
    assert view.trial.user.name == "ann"
    assert view.measures
    if task_id == TASK:
        assert [s.turn for s in stages_seen(view.task.stages, view.events)] == [0, 1, 2, 3, 4]


async def begun(
    workspace: Workspace, trial_id: int | None, task_id: str, told: Callable[[Event], None]
) -> PlaySession:
    if trial_id is None:
        return await PlaySession.start(workspace, task_id, by="ann", on_event=told)
    return await PlaySession.resume(workspace, trial_id, by="ann", on_event=told)


@pytest.mark.parametrize(("task_id", "drop_in"), [(TASK, "the agent's turn"), (CHAIN, "my turn")])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_dropped_at_every_turn_and_resumed(db: Path, task_id: str, drop_in: str):
    expected = asyncio.run(undisturbed(db, task_id))
    trial_id: int | None = None
    over = False
    told: list[Event] = []

    async def one_turn(workspace: Workspace) -> None:
        nonlocal trial_id, over
        session = await begun(workspace, trial_id, task_id, told.append)
        trial_id = session.trial.id
        if not await session.wait_turn():
            over = await session.wait() is not None
            return
        await speak(session)
        if drop_in == "my turn":
            await session.wait_turn()
        else:
            await asyncio.sleep(0)
        over = session.outcome is not None

    for _attempt in range(40):
        with Workspace.open(db) as workspace:
            in_a_loop_that_dies(one_turn(workspace))
        # Closed first: the thread that writes events outlives the loop.
        with Workspace.open(db) as workspace:
            assert trial_id is not None
            trial = workspace.runs.trial(trial_id)
            if trial.termination is not None:
                break
            assert [t.id for t in workspace.runs.open_trials(created_by="ann")] == [trial_id]
    with Workspace.open(db) as workspace:
        assert trial_id is not None
        events = workspace.runs.events(trial_id)
        assert bodies(events) == expected
        assert [event.seq for event in events] == list(range(len(events)))
        assert len({event.body.key for event in events}) == len(events)
        asyncio.run(settle_runs(workspace))
        view = trial_view(workspace, trial_id)
        assert view.run.state is RunState.DONE
        assert view.measures
    # Nobody was told twice, and of nothing that is not in the log.
    assert len(told) == len({event.seq for event in told})
    assert set(bodies(told)) <= set(expected)


@pytest.mark.parametrize("events", [2, 30])
def test_killed_and_resumed(db: Path, events: int):
    expected = asyncio.run(undisturbed(db, TASK))
    script = Path(lab_players.__file__)
    command = [sys.executable, script, "play", db, TASK, events]
    done = forked.run(command, timeout=60)
    assert done.returncode == -9

    async def go_on() -> None:
        with Workspace.open(db) as workspace:
            (trial,) = workspace.runs.open_trials(kind="play")
            assert trial.events >= events
            session = await PlaySession.resume(workspace, trial.id, by="ann")
            outcome = await play_out(session)
            assert outcome is not None
            assert outcome.judged
            assert bodies(workspace.runs.events(trial.id)) == expected

    asyncio.run(go_on())


async def test_only_in_turn(workspace: Workspace):
    session = await PlaySession.start(workspace, TASK, by="ann")
    assert await session.wait_turn()
    first = session.submit(UserReply(text="hello"))
    again = session.submit(UserReply(text="hello again"))
    said, refused = await asyncio.gather(first, again, return_exceptions=True)
    assert said is None
    assert isinstance(refused, NotAllowed)
    assert "not your turn" in str(refused)
    await session.close()
    assert session.outcome is None
    assert not await session.wait_turn()
    kept = [e.body for e in workspace.runs.events(session.trial.id)]
    assert [body.reply.text for body in kept if body.type == "user_spoke"] == ["hello"]


async def test_ending_it_oneself_and_the_limit_of_turns(workspace: Workspace):
    session = await PlaySession.start(workspace, TASK, by="ann", limits=Limits(max_turns=1))
    await session.wait_turn()
    await speak(session)
    await session.wait_turn()
    await speak(session)
    outcome = await session.wait()
    assert outcome is not None
    assert outcome.termination is Termination.MAX_TURNS
    other = await PlaySession.start(workspace, TASK, by="ann")
    await other.wait_turn()
    await speak(other)
    await other.wait_turn()
    await other.submit(UserReply(text="enough", done=True))
    outcome = await other.wait()
    assert outcome is not None
    assert outcome.termination is Termination.USER_DONE


async def test_who_may_resume_what(workspace: Workspace):
    session = await PlaySession.start(workspace, TASK, by="ann")
    await session.wait_turn()
    await session.close()
    with pytest.raises(NotAllowed, match="ann"):
        await PlaySession.resume(workspace, session.trial.id, by="bob")
    with pytest.raises(NotFound):
        await PlaySession.resume(workspace, 999, by="ann")
    with pytest.raises(NotFound):
        await PlaySession.start(workspace, "absent", by="ann")
    with pytest.raises(ConfigError, match="Unknown agent"):
        await PlaySession.start(workspace, TASK, by="ann", agent="absent")
    again = await PlaySession.resume(workspace, session.trial.id, by="ann")
    await play_out(again)
    with pytest.raises(NotAllowed, match="ended"):
        await PlaySession.resume(workspace, session.trial.id, by="ann")


async def test_one_session_in_two_windows(db: Path):
    with Workspace.open(db) as one, Workspace.open(db) as two:
        left = await PlaySession.start(one, TASK, by="ann")
        await left.wait_turn()
        # The window that comes second is told who plays, before anybody has typed anything there.
        with pytest.raises(
            AlreadyPlayed, match=f"ann plays it on .*, process {os.getpid()}, since"
        ):
            await PlaySession.resume(two, left.trial.id, by="ann")
        run = two.runs.get(left.trial.run_id)
        assert (run.state, run.lease and run.lease.person) == (RunState.RUNNING, "ann")
        await left.submit(UserReply(text="first"))
        await left.wait_turn()
        await left.close()
        assert two.runs.get(left.trial.run_id).state is RunState.OPEN
        left = await PlaySession.resume(two, left.trial.id, by="ann")
        await play_out(left)
        assert one.runs.trial(left.trial.id).termination is Termination.USER_DONE
        said = [e.body for e in one.runs.events(left.trial.id) if e.body.type == "user_spoke"]
        assert said[0].reply.text == "first"


async def test_a_broken_screen_harms_no_session(workspace: Workspace):
    def broken(*_args: object) -> None:
        raise RuntimeError("no screen")

    session = await PlaySession.start(
        workspace, CHAIN, by="ann", on_event=broken, on_stream=broken, on_end=broken
    )
    outcome = await play_out(session)
    assert outcome is not None
    assert outcome.judged
    assert any(isinstance(event.body, AgentSpoke) for event in session.events)


async def test_an_agent_that_changed_does_not_go_on(workspace: Workspace):
    session = await PlaySession.start(workspace, TASK, by="ann")
    await session.wait_turn()
    await session.close()
    bare = EMBEDDED.model_copy(update={"agents": {}})
    with pytest.raises(ConfigError):
        await PlaySession.resume(workspace, session.trial.id, by="ann", config=bare)
    assert workspace.runs.trial(session.trial.id).termination is None
