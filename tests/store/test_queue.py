"""Trials handed out to workers: claims with fences, over a real PgQueuer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import (
    Event,
    EventBody,
    RunState,
    Termination,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import ModelReply, UserReply
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import ClaimLost, NotAllowed
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Judgement
from cuecard.core.worker_archive import POISON_AT_LAST, AlreadyPlayed, Claim
from cuecard.store.workspace import Workspace

NO_LAPSE = 0.0


def said(turn: int) -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=f"words {turn}"))


on_postgres = pytest.mark.parametrize("url", ["postgres"], indirect=True)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_in_a_file_one_process_plays(workspace: Workspace) -> None:
    with pytest.raises(NotAllowed, match="Workers need PostgreSQL"):
        workspace.workers.queue("Ann")
    assert workspace.workers.offered() == {}


@on_postgres
async def test_a_trial_is_taken_once_and_handed_on_when_it_is_given_back(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    one, two = make_trial(), make_trial()
    run = one.run_id
    async with workspace.workers.queue("Ann", 1) as ann, workspace.workers.queue("Bo", 1) as bo:
        assert await ann.offer(run, {"/1": [one.id]}) == 1
        assert await bo.take(two.run_id, 5) == []
        (first,) = await ann.take(run, 5)
        assert (first.trial_id, first.fence, first.lost) == (one.id, 1, 0)
        assert await bo.take(run, 5) == []
        await ann.give_back(first, done=False)
        (second,) = await bo.take(run, 5)
        assert (second.fence, second.lost) == (2, 0)
        await bo.give_back(second, done=True)
        assert await ann.take(run, 5) == []
        assert workspace.workers.offered() == {run: 0}
        handout = workspace.workers.handout(run)
        assert handout is not None
        assert (handout.waiting, handout.held, handout.done, handout.lost) == (0, 0, 1, ())
        assert {worker.person for worker in handout.workers} == {"Ann", "Bo"}
    assert not any(worker.alive for worker in workspace.workers.all())


@on_postgres
async def test_who_lost_a_trial_that_went_on_elsewhere_is_told_so_and_not_that_its_log_is_odd(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
) -> None:
    trial = make_trial()
    async with workspace.workers.queue("Ann", 1) as ann:
        await ann.offer(trial.run_id, {"/1": [trial.id]})
        (old,) = await ann.take(trial.run_id, 1)
        sink = workspace.sink(trial.id, old)
        await sink.append(at(0, said(0)))
        with Workspace.open(workspace.url) as elsewhere:
            async with elsewhere.workers.queue("Bo", 1, lapse=NO_LAPSE) as bo:
                (new,) = await bo.take(trial.run_id, 1)
                await elsewhere.sink(trial.id, new).append(at(1, said(2)))
        with pytest.raises(ClaimLost, match="Another worker plays this trial now"):
            await sink.append(at(1, said(1)))


@on_postgres
async def test_who_offers_takes_up_what_another_offered_and_did_not_live_to_queue(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
) -> None:
    """Also where it had ended meanwhile, so that nobody offers it any more: its run would never be done."""
    trial = make_trial()
    async with workspace.workers.queue("Ann", 1) as ann, workspace.workers.queue("Bo", 1) as bo:
        await ann.offer(trial.run_id, {})
        ann._claims.offer(trial.run_id, [[trial.id]], "play")  # pyright: ignore[reportPrivateUsage]
        await workspace.sink(trial.id).append(at(0, TrialEnded(termination=Termination.ANSWERED)))
        assert await bo.take(trial.run_id, 1) == []
        assert await bo.offer(trial.run_id, {}) == 0
        (claim,) = await bo.take(trial.run_id, 1)
        await bo.give_back(claim, done=True)
        await bo.offer(trial.run_id, {})
        assert await ann.take(trial.run_id, 1) == []
    assert workspace.workers.offered() == {trial.run_id: 0}


@on_postgres
async def test_what_a_worker_writes_after_its_trial_was_taken_over_is_refused(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
    judged: Callable[..., Judgement],
) -> None:
    trial = make_trial()
    run, call = trial.run_id, RecordedCall(key="model/0", model="m", reply=ModelReply())
    async with (
        workspace.workers.queue("Ann", 1) as ann,
        workspace.workers.queue("Bo", 1, lapse=NO_LAPSE) as bo,
    ):
        await ann.offer(run, {"/1": [trial.id]})
        (old,) = await ann.take(run, 1)
        sink = workspace.sink(trial.id, old)
        await sink.append(at(0, said(0)))
        assert await ann.beat(1, "") == []
        (new,) = await bo.take(run, 1)
        assert (new.fence, new.lost) == (2, 1)
        holds = {one.person: one.under_way for one in workspace.workers.all()}
        assert holds == {"Ann": 0, "Bo": 1}
        for _again in range(2):
            with pytest.raises(ClaimLost):
                await sink.append(at(1, said(1)))
        with pytest.raises(ClaimLost):
            workspace.judge_calls.add(trial.id, "a", 0, call, old)
        with pytest.raises(ClaimLost):
            workspace.verdicts.add(trial.id, judged("a", 1), old)
        assert await ann.beat(3, "") == [old]
        await ann.give_back(old, done=True)
        await workspace.sink(trial.id, new).append(at(1, said(1)))
        workspace.judge_calls.add(trial.id, "a", 0, call, new)
        workspace.verdicts.add(trial.id, judged("a", 1), new)
        assert await bo.beat(0, "") == []
        handout = workspace.workers.handout(run)
    assert handout is not None
    (lost,) = handout.lost
    names = {worker.id: worker.person for worker in handout.workers}
    assert (names[lost.worker], names[lost.before or ""], lost.fence) == ("Bo", "Ann", 2)
    assert [len(workspace.runs.log(trial.id)), len(workspace.verdicts.of_trial(trial.id))] == [
        2,
        1,
    ]


@on_postgres
async def test_losses_of_a_trial_count_from_its_last_step_on(
    workspace: Workspace,
    make_trial: Callable[..., TrialRecord],
    at: Callable[[int, EventBody], Event],
) -> None:
    trial = make_trial()
    async with AsyncExitStack() as stack:
        parties = [
            await stack.enter_async_context(workspace.workers.queue(name, 1, lapse=NO_LAPSE))
            for name in ("Ann", "Bo", "Cy", "Di", "Eve")
        ]
        await parties[0].offer(trial.run_id, {"/1": [trial.id]})
        lost: list[int] = []
        for number, party in enumerate(parties):
            (claim,) = await party.take(trial.run_id, 1)
            lost.append(claim.lost)
            if number == 2:
                now = datetime.now(UTC)
                said_now = at(0, said(0)).model_copy(update={"at": now})
                await workspace.sink(trial.id, claim).append(said_now)
    assert lost == [0, 1, 2, 1, 2]


@on_postgres
async def test_a_trial_that_was_given_back_or_offered_again_is_suspected_of_nothing(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    """Else what was given up as poison once, as a judging is without an event, could never be done by workers."""
    trial = make_trial()
    lanes = {"/1": [trial.id]}
    async with AsyncExitStack() as stack:
        parties = [
            await stack.enter_async_context(workspace.workers.queue(str(n), 1, lapse=NO_LAPSE))
            for n in range(7)
        ]
        await parties[0].offer(trial.run_id, lanes)
        lost: list[int] = []
        for number, party in enumerate(parties):
            claim = await _take(party, trial.run_id)
            lost.append(claim.lost)
            if number in (1, 4):
                await party.give_back(claim, done=number == 4)
            if number == 4:
                await party.offer(trial.run_id, lanes, "judge")
    assert lost == [0, 1, 0, 1, 2, 0, 1]


@on_postgres
async def test_a_trial_is_no_poison_where_workers_die_without_it_too(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    one = make_trial()
    two, run = make_trial(one.run_id, task_id="u"), one.run_id
    async with AsyncExitStack() as stack:
        parties = [
            await stack.enter_async_context(workspace.workers.queue(str(n), 2, lapse=NO_LAPSE))
            for n in range(6)
        ]
        await parties[0].offer(run, {"/1": [one.id], "/2": [two.id]})
        assert len(await parties[0].take(run, 2)) == 2
        # What was lost is offered behind what was lost less often.
        taken = [claim for party in parties[1:] for claim in await party.take(run, 1)]
    assert [claim.trial_id for claim in taken] == [one.id, two.id, one.id, two.id, one.id]
    assert [claim.lost for claim in taken] == [1, 1, 2, 2, 3]
    assert (taken[-1].elsewhere, taken[-1].poisons) == (1, False)
    assert Claim(1, 1, 1, lost=3).poisons
    assert Claim(1, 1, 1, lost=POISON_AT_LAST, elsewhere=POISON_AT_LAST).poisons


@on_postgres
async def test_trials_that_workers_may_have_died_of_are_held_by_different_workers(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    one = make_trial()
    two, run = make_trial(one.run_id, task_id="u"), one.run_id
    async with AsyncExitStack() as stack:
        parties = [
            await stack.enter_async_context(workspace.workers.queue(str(n), 2, lapse=NO_LAPSE))
            for n in range(3)
        ]
        await parties[0].offer(run, {"/1": [one.id], "/2": [two.id]})
        for party in parties[:2]:
            assert len(await party.take(run, 2)) == 2
        (suspect,) = await parties[2].take(run, 2)
        assert (suspect.trial_id, suspect.lost) == (one.id, 2)
        for gone in parties[:2]:
            gone._claims.leave()  # pyright: ignore[reportPrivateUsage]
        other = await stack.enter_async_context(workspace.workers.queue("Eve", 2))
        assert (await _take(other, run)).trial_id == two.id


@on_postgres
async def test_a_run_is_played_by_workers_or_by_one_process(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trial = make_trial()
    run = trial.run_id
    async with workspace.workers.queue("Ann", 1) as ann:
        await ann.offer(run, {"/1": [trial.id]})
        lease = workspace.leases.take(run, "Cy")
        with pytest.raises(AlreadyPlayed, match="Cy plays it"):
            await ann.take(run, 1)
        with pytest.raises(AlreadyPlayed, match="Cy plays it"):
            await ann.offer(run, {"/1": [trial.id]})
        workspace.leases.release(lease)
        claim = await _take(ann, run)
        with pytest.raises(AlreadyPlayed, match=r"1 worker plays it since .*: Ann's on"):
            workspace.leases.take(run, "Cy")
        record = workspace.runs.get(run)
        assert record.state is RunState.RUNNING
        assert record.lease is not None
        assert record.lease.workers == 1
        await ann.give_back(claim, done=True)
        workspace.leases.release(workspace.leases.take(run, "Cy"))


@on_postgres
async def test_trials_of_one_lane_go_one_after_the_other_to_one_worker(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trials = [make_trial() for _each in range(3)]
    run, ids = trials[0].run_id, [trial.id for trial in trials]
    async with workspace.workers.queue("Ann", 9) as ann, workspace.workers.queue("Bo", 9) as bo:
        await ann.offer(run, {"agent": ids})
        for number, trial in enumerate(ids):
            (claim,) = await ann.take(run, 9)
            assert claim.trial_id == trial
            assert await bo.take(run, 9) == []
            await ann.give_back(claim, done=number < 2)
        (last,) = await bo.take(run, 9)
        assert last.trial_id == ids[-1]


@on_postgres
async def test_what_is_cancelled_is_handed_to_nobody(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trial = make_trial()
    async with workspace.workers.queue("Ann", 1) as ann:
        await ann.offer(trial.run_id, {"/1": [trial.id]})
        await ann.cancel(trial.run_id)
        assert await ann.take(trial.run_id, 1) == []
        assert workspace.workers.offered() == {trial.run_id: 0}
        assert await ann.offer(trial.run_id, {"/1": [trial.id]}) == 1
        assert await ann.take(trial.run_id, 1)


@on_postgres
async def test_what_is_offered_again_for_something_else_is_handed_out_once(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    one = make_trial()
    two, run = make_trial(one.run_id, task_id="u"), one.run_id
    lanes = {"/1": [one.id], "/2": [two.id]}
    async with workspace.workers.queue("Ann", 9) as ann, workspace.workers.queue("Bo", 9) as bo:
        assert await ann.offer(run, lanes) == 2
        assert await ann.offer(run, lanes, "retry") == 2
        claims = await ann.take(run, 9)
        assert [(claim.trial_id, claim.purpose) for claim in claims] == [
            (one.id, "retry"),
            (two.id, "retry"),
        ]
        assert await ann.offer(run, lanes) == 0
        assert await bo.take(run, 9) == []
        assert await ann.beat(0, "") == []


@on_postgres
async def test_a_lane_that_is_offered_again_goes_on_where_it_stands(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trials = [make_trial() for _each in range(3)]
    run, ids = trials[0].run_id, [trial.id for trial in trials]
    async with workspace.workers.queue("Ann", 9) as ann, workspace.workers.queue("Bo", 9) as bo:
        await ann.offer(run, {"agent": ids})
        (first,) = await ann.take(run, 9)
        assert await bo.offer(run, {"agent": ids}) == 0
        await ann.give_back(first, done=True)
        (second,) = await ann.take(run, 9)
        await ann.give_back(second, done=False)
        # The first is to be played once more, and the others after it.
        assert await bo.offer(run, {"agent": ids}, "retry") == 3
        for trial in ids:
            (claim,) = await bo.take(run, 9)
            assert claim.trial_id == trial
            assert await ann.take(run, 9) == []
            await bo.give_back(claim, done=True)
        assert workspace.workers.offered() == {run: 0}


async def _take(queue: object, run: int) -> Claim:
    """The run's trial, once what was put back for a moment is handed out again."""
    from cuecard.store.queue import PgQueue

    assert isinstance(queue, PgQueue)
    while not (claims := await queue.take(run, 1)):
        await queue.wait(0.2)
    return claims[0]
