"""Workers that share a run: real processes on PostgreSQL, agents over a model's endpoint."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import forked
import worker_process
from cuecard.core.config import Config, load_config
from cuecard.core.engine.events import Limits, RunState, Termination
from cuecard.core.engine.messages import UserReply
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.evaluation.ended_work import offer_judging, set_work
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.evaluation.offering import follow_run, give_order, offer_run
from cuecard.core.evaluation.plans import Judging, RunPlan, RunSettings, create_run, settings_of
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.rescoring import enter_rescoring, plan_rescoring, rescore_run
from cuecard.core.evaluation.runs import judges_of, resume_run, spent_on, start_run
from cuecard.core.evaluation.scores import score_run
from cuecard.core.evaluation.workers import Worker
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import OfferProgress
from cuecard.core.worker_archive import POISON, AlreadyPlayed
from cuecard.store.workspace import Workspace
from judge_scripts import good
from judged_trials import GOLD, ended_run, graph_task, triples
from openai_server import OpenAIServer, Reply, Request, error
from scripted_brain import brain

PROCESSES = multiprocessing.get_context("forkserver")
# Modules of tests are not found there.
PROCESSES.set_forkserver_preload(forked.modules())
CONFIG = """
models:
  m: {{base_url: '{url}', model: m}}
agents:
  live: {{kind: react, model: m, memory: {memory}}}
"""
SHORT = Limits(max_turns=3)
TASKS = ("espresso", "facts-night-train")


@pytest.fixture
def dialect() -> str:
    return "postgres"


def configured(folder: Path, url: str, memory: str = "none", more: str = "") -> tuple[str, Config]:
    path = folder / "cuecard.yaml"
    path.write_text(CONFIG.format(url=url, memory=memory) + more, encoding="utf-8")
    return str(path), load_config(path)


def worker(*arguments: Any) -> ForkServerProcess:
    process = PROCESSES.Process(target=worker_process.work, args=arguments, daemon=True)
    process.start()
    return process


def told(workspace: Workspace, run: int) -> dict[tuple[str, int], Any]:
    """What was recorded of each trial, without times: its whole log, and its verdicts."""
    return {
        (trial.task_id, trial.sample): (
            [
                event.body.model_dump(mode="json", exclude={"reply": {"latency_ms"}})
                for event in log
            ],
            [record.judgement.verdicts for record in workspace.verdicts.of_trial(trial.id)],
        )
        for trial in workspace.runs.trials(run)
        for log in [workspace.runs.log(trial.id)]
    }


def handed(workspace: Workspace, run: int) -> OfferProgress:
    found = workspace.workers.handout(run)
    assert found is not None
    return found


async def test_a_worker_that_is_killed_leaves_no_trace_in_what_was_played(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with OpenAIServer(brain) as server:
        path, config = configured(tmp_path, server.url)
        plan = RunPlan(tasks=TASKS, agents=("live",), samples=4, limits=SHORT)
        undisturbed = await start_run(workspace, plan, by="ann", config=config)
        asked = len(server.requests)

        async def slowly(request: Request) -> Reply:
            await asyncio.sleep(0.02)
            return brain(request)

        server.script = slowly
        run = create_run(workspace, plan, by="ann", config=config)
        assert await offer_run(workspace, run.id, by="ann") == 8
        assert await offer_run(workspace, run.id, by="ann") == 8
        first, second = (worker(workspace.url, path, name, 2) for name in ("Al", "Bo"))
        await server.arrived(asked + 12)
        first.kill()
        halt = await follow_run(
            workspace,
            run.id,
            config=config,
            by="ann",
            control=RunControl(),
            on_event=lambda _event: None,
        )
        await asyncio.to_thread(second.join, 20)
    assert (halt, first.exitcode, second.exitcode) == (None, -signal.SIGKILL, 0)
    assert workspace.runs.get(run.id).state is RunState.DONE
    assert told(workspace, run.id) == told(workspace, undisturbed.run.id)
    assert len(server.requests) - 2 * asked <= 2  # Those that were under way.
    found = handed(workspace, run.id)
    people = {one.id: one.person for one in found.workers}
    assert {people[take.before or ""] for take in found.lost} <= {"Al"}
    assert (found.waiting, found.held, found.done) == (0, 0, 8)
    assert sum(one.calls for one in found.workers) >= asked - 12


async def test_a_worker_that_was_stopped_too_long_loses_its_trial_and_goes_on_with_others(
    workspace: Workspace, tmp_path: Path
) -> None:
    stopped = asyncio.Event()

    async def held_up(request: Request) -> Reply:
        if request.number == 0:
            await stopped.wait()
        return brain(request)

    async with OpenAIServer(held_up) as server:
        path, config = configured(tmp_path, server.url)
        plan = RunPlan(tasks=TASKS, agents=("live",), limits=SHORT)
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        sleeper = worker(workspace.url, path, "Al", 1)
        await server.arrived(1)
        with pytest.raises(AlreadyPlayed, match="1 worker plays it since"):
            await resume_run(workspace, run.id, config=config, by="ann")
        os.kill(sleeper.pid or 0, signal.SIGSTOP)
        other = Worker(workspace, config, "Bo", 1, lapse=0.3)
        control = RunControl()
        working = asyncio.create_task(other.work(control))
        while handed(workspace, run.id).done < len(TASKS):  # noqa: ASYNC110 - another process's work
            await asyncio.sleep(0.05)
        control.pause()
        await working
        again = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, again.id, by="ann")
        os.kill(sleeper.pid or 0, signal.SIGCONT)
        stopped.set()
        await asyncio.to_thread(sleeper.join, 20)
    assert sleeper.exitcode == 0
    found = handed(workspace, run.id)
    people = {one.id: one.person for one in found.workers}
    assert [(people[t.before or ""], people[t.worker]) for t in found.lost] == [("Al", "Bo")]
    assert {people[one.id] for one in handed(workspace, again.id).workers} == {"Al"}
    assert told(workspace, run.id) == told(workspace, again.id)


async def test_a_trial_that_workers_die_of_ends_with_its_reason(
    workspace: Workspace, tmp_path: Path
) -> None:
    _path, config = configured(tmp_path, "http://127.0.0.1:9/v1")
    run = create_run(workspace, RunPlan(tasks=TASKS[:1]), by="ann", config=config)
    await offer_run(workspace, run.id, by="ann")
    for _each in range(POISON):
        dying = PROCESSES.Process(
            target=worker_process.take_and_die, args=(workspace.url, run.id), daemon=True
        )
        dying.start()
        await asyncio.to_thread(dying.join, 20)
        assert dying.exitcode == 9
    await Worker(workspace, config, "Bo", 1).work(RunControl(), until_done=True)
    (trial,) = workspace.runs.trials(run.id)
    assert (trial.termination, trial.detail) == (
        Termination.INTERNAL_ERROR,
        "3 workers died while they played it",
    )
    assert workspace.runs.get(run.id).state is RunState.DONE
    assert len(handed(workspace, run.id).lost) == POISON


async def test_a_worker_with_another_configuration_is_told_what_differs(
    workspace: Workspace, tmp_path: Path
) -> None:
    _path, config = configured(tmp_path, "http://127.0.0.1:9/v1")
    run = create_run(workspace, RunPlan(tasks=TASKS, agents=("live",)), by="ann", config=config)
    await offer_run(workspace, run.id, by="ann")
    _path, elsewhere = configured(tmp_path, "http://127.0.0.1:7/v1", memory="local")
    heard: dict[int, str] = {}
    other = Worker(workspace, elsewhere, "Bo", 1, on_refusal=heard.__setitem__)
    await other.work(RunControl(), until_done=True)
    said = 'agents/live: memory is "local" here and "none" in the run'
    assert other.refused == heard == {run.id: said}
    assert handed(workspace, run.id).waiting == len(TASKS)
    (row,) = workspace.workers.all()
    assert row.note == f"{run.id}: {said}"


async def test_a_memory_from_task_to_task_goes_to_one_worker_in_order(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with OpenAIServer(brain) as server:
        _path, config = configured(tmp_path, server.url, memory="lifelong")
        plan = RunPlan(tasks=TASKS, agents=("live", "offline"), limits=SHORT)
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        workers = [Worker(workspace, config, name, 4) for name in ("Al", "Bo")]
        await asyncio.gather(*(one.work(RunControl(), until_done=True) for one in workers))
    assert workspace.runs.get(run.id).state is RunState.DONE
    trials = [trial for trial in workspace.runs.trials(run.id) if trial.agent.name == "live"]
    assert trials == sorted(trials, key=lambda trial: trial.ended_at or trial.created_at)
    judged = [len(workspace.verdicts.of_trial(trial.id)) for trial in trials]
    assert judged == [1] * len(trials)


async def test_a_worker_that_is_told_to_pause_a_run_leaves_it_paused_for_all(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def slowly(request: Request) -> Reply:
        await asyncio.sleep(0.2)
        return brain(request)

    async with OpenAIServer(slowly) as server:
        _path, config = configured(tmp_path, server.url)
        run = create_run(workspace, RunPlan(tasks=TASKS, agents=("live",)), by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        working = asyncio.create_task(
            Worker(workspace, config, "Al", 1).work(RunControl(), until_done=True)
        )
        await server.arrived(1)
        workspace.orders.give(run.id, "pause", "ann")
        await working
    assert workspace.runs.get(run.id).state is RunState.PAUSED
    assert handed(workspace, run.id).held == 0


async def test_calls_of_a_worker_get_the_grace_that_it_was_given(
    workspace: Workspace, tmp_path: Path
) -> None:
    answers = asyncio.Event()

    async def held_up(request: Request) -> Reply:
        await answers.wait()
        return brain(request)

    async with OpenAIServer(held_up) as server:
        _path, config = configured(tmp_path, server.url)
        plan = RunPlan(tasks=TASKS[:1], agents=("live",))
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        control, worker = RunControl(3600), Worker(workspace, config, "Al", 1)
        working = asyncio.create_task(worker.work(control))
        await server.arrived(1)
        playing = worker._playing[run.id].control
        control.drain()
        while (left := playing.seconds_left) is None:  # noqa: ASYNC110 - the worker hears of it
            await asyncio.sleep(0.01)
        assert left > 3000
        answers.set()
        await working
    assert len(workspace.runs.log(workspace.runs.trials(run.id)[0].id)) > 1
    assert handed(workspace, run.id).waiting == 1


async def test_a_judge_that_nobody_knows_is_refused_and_holds_up_no_other_run(
    workspace: Workspace, tmp_path: Path
) -> None:
    """As of a run that an earlier version offered, or of a worker whose configuration lacks the judge."""
    _path, config = configured(tmp_path, "http://127.0.0.1:1/v1")
    with pytest.raises(CuecardError, match="Unknown judge"):
        await offer_judging(workspace, 1, ("nobody",), config, by="ann")
    first, second = (
        create_run(workspace, RunPlan(tasks=TASKS[:1], agents=("offline",)), by="ann").id
        for _each in range(2)
    )
    for run in (first, second):
        await offer_run(workspace, run, by="ann")
    set_work(workspace, first, Judging(judges=("nobody",)))
    al = Worker(workspace, config, "Al", 1)
    await al.work(RunControl(), until_done=True)
    assert list(al.refused) == [first]
    assert "Unknown judge: nobody" in al.refused[first]
    assert workspace.runs.get(second).state is RunState.DONE


async def test_judging_that_is_cancelled_leaves_the_run_as_it_was_and_goes_on_when_offered_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def slowly(request: Request) -> Reply:
        await asyncio.sleep(0.2)
        return good(request)

    async with OpenAIServer(slowly) as server:
        more = "judges:\n  sage: {kind: model, model: m}\n"
        _path, config = configured(tmp_path, server.url, more=more)
        run = ended_run(workspace, graph_task(), [triples(*GOLD[: 1 + n]) for n in range(6)])
        assert await offer_judging(workspace, run, ("sage",), config, by="ann") == 6
        working = asyncio.create_task(
            Worker(workspace, config, "Al", 1).work(RunControl(), until_done=True)
        )
        await server.arrived(2)
        looked = asyncio.Event()
        following = asyncio.create_task(
            follow_run(
                workspace,
                run,
                config=config,
                by="ann",
                control=RunControl(),
                on_left=lambda _left: looked.set(),
            )
        )
        await looked.wait()
        await asyncio.to_thread(give_order, workspace, run, "cancel", "ben")
        await working
        halt = await following
        assert halt is not None
        assert "ben asked for it at" in halt.message
        record = workspace.runs.get(run)
        assert (record.state, settings_of(record).judging) == (RunState.DONE, None)
        assert handed(workspace, run).held == 0
        left = await offer_judging(workspace, run, ("sage",), config, by="ann")
        assert 0 < left < 6
        await Worker(workspace, config, "Al", 4).work(RunControl(), until_done=True)
    assert workspace.runs.get(run).state is RunState.DONE
    assert all(len(workspace.verdicts.of_trial(t.id)) == 1 for t in workspace.runs.trials(run))


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    yield
    for child in multiprocessing.active_children():
        child.kill()


async def test_workers_share_limits_and_a_budget_and_are_paused_and_resumed_from_elsewhere(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def slowly(request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return brain(request)

    more = ", limits: {{in_flight: 4}}, price: {{prompt: 1000, completion: 0}}}}"
    text = CONFIG.replace(", model: m}}", ", model: m" + more, 1)
    async with OpenAIServer(slowly) as server:
        path = tmp_path / "cuecard.yaml"
        path.write_text(text.format(url=server.url, memory="none"), encoding="utf-8")
        config = load_config(path)
        settings = RunSettings(budget=0.5)
        plan = RunPlan(tasks=TASKS, agents=("live",), samples=200, limits=SHORT, settings=settings)
        run = create_run(workspace, plan, by="ann", config=config)
        await offer_run(workspace, run.id, by="ann")
        workers = [worker(workspace.url, str(path), name, 8) for name in ("Al", "Bo")]
        await server.arrived(20)
        await asyncio.to_thread(give_order, workspace, run.id, "pause", "ben")
        for each in workers:
            await asyncio.to_thread(each.join, 20)
        assert handed(workspace, run.id).held == 0
        paused = workspace.runs.get(run.id)
        assert paused.state is RunState.PAUSED
        assert "ben asked for it at" in paused.reason
        await asyncio.to_thread(give_order, workspace, run.id, "resume", "ben")
        workers = [worker(workspace.url, str(path), name, 8) for name in ("Al", "Bo")]
        for each in workers:
            await asyncio.to_thread(each.join, 40)
    spent = workspace.runs.get(run.id)
    assert (spent.state, server.peak) == (RunState.PAUSED, 4)
    assert "budget" in spent.reason
    # A call of each trial may have been under way, or answered and not yet recorded, when it was spent.
    assert 0.5 <= spent_on(workspace, run.id) <= 0.5 + 2 * 8 * 0.011 + 0.001


async def test_workers_judge_and_rescore_a_run_as_one_process_does(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def slowly(request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return good(request)

    handed_in = [triples(*GOLD[: 1 + n]) for n in range(6)]
    async with OpenAIServer(good) as server:
        path, config = configured(
            tmp_path, server.url, more="judges:\n  sage: {kind: model, model: m}\n"
        )
        alone, shared = (ended_run(workspace, graph_task(), handed_in) for _each in range(2))

        async def rescored(run: int, by_workers: bool) -> int:
            plan = plan_rescoring(workspace, run, judges=("sage",))
            hub = ModelHub(config)
            judges = judges_of(("sage",), config, hub)
            if not by_workers:
                outcome = await rescore_run(workspace, plan, judges, by="ann")
                assert outcome.failed == ()
                return outcome.run.id
            entered = await enter_rescoring(workspace, plan, judges, by="ann")
            await hub.close()
            return entered.id

        async def judged(run: int, again: bool = False) -> int:
            offered = await offer_judging(workspace, run, ("sage",), config, by="ann", again=again)
            await Worker(workspace, config, "Cy", 4).work(RunControl(), until_done=True)
            assert settings_of(workspace.runs.get(run)).judging is None
            return offered

        hub = ModelHub(config)
        await judge_run(workspace, alone, *judges_of(("sage",), config, hub))
        await hub.close()
        server.script = slowly
        assert await offer_judging(workspace, shared, ("sage",), config, by="ann") == 6
        before = len(server.requests)
        first, second = (worker(workspace.url, path, name, 2) for name in ("Al", "Bo"))
        await server.arrived(before + 3)
        first.kill()
        await asyncio.to_thread(first.join, 20)
        left: list[int] = []
        following = follow_run(
            workspace, shared, config=config, by="ann", control=RunControl(), on_left=left.append
        )
        assert await following is None
        await asyncio.to_thread(second.join, 20)
        assert (left[-1], second.exitcode) == (0, 0)
        assert len(server.requests) - before <= before + 2  # Those under way.
        assert told(workspace, shared) == told(workspace, alone)
        assert workspace.runs.get(shared).state is RunState.DONE
        assert await offer_judging(workspace, shared, ("sage",), config, by="ann") == 0
        workspace.tasks.save(graph_task(gold=(*GOLD[1:], ("maker 9", "is", "9"))), author="bo")
        asked = len(server.requests)
        one = await rescored(alone, False)
        cost = len(server.requests) - asked
        other = await rescored(shared, True)
        assert await judged(other) == 6
        assert len(server.requests) - asked == 2 * cost > 0
        assert told(workspace, other) == told(workspace, one)
        assert workspace.runs.get(other).state is RunState.DONE
        assert await judged(shared, again=True) == 6
    for trial in workspace.runs.trials(shared):
        first, second = workspace.verdicts.of_trial(trial.id)
        assert first.judgement.verdicts == second.judgement.verdicts


async def test_judging_that_cannot_go_on_is_paused_for_all_and_taken_up_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with OpenAIServer(lambda _request: error(401)) as server:
        _path, config = configured(
            tmp_path, server.url, more="judges:\n  sage: {kind: model, model: m}\n"
        )
        run = ended_run(workspace, graph_task(), [triples(*GOLD)] * 2)
        await offer_judging(workspace, run, ("sage",), config, by="ann")
        with pytest.raises(NotAllowed, match="something else"):
            await offer_judging(workspace, run, ("lexical",), config, by="ann")
        _path, elsewhere = configured(tmp_path, server.url)
        stranger = Worker(workspace, elsewhere, "Al", 1)
        await stranger.work(RunControl(), until_done=True)
        assert "sage is not in the configuration" in stranger.refused[run]
        await Worker(workspace, config, "Bo", 1).work(RunControl(), until_done=True)
        paused = workspace.runs.get(run)
        assert (paused.state, workspace.verdicts.of_run(run)) == (RunState.PAUSED, [])
        server.script = good
        await asyncio.to_thread(give_order, workspace, run, "resume", "ann")
        await Worker(workspace, config, "Bo", 1).work(RunControl(), until_done=True)
    assert len(workspace.verdicts.of_run(run)) == 2
    assert workspace.runs.get(run).state is RunState.DONE


async def test_sessions_of_people_keep_to_the_limits_and_hold_nothing_while_they_wait(
    workspace: Workspace, tmp_path: Path
) -> None:
    async def slow(request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return brain(request)

    engine = sqlalchemy.create_engine(workspace.url, poolclass=sqlalchemy.NullPool)

    def kept() -> bool:
        with engine.connect() as connection:
            return bool(connection.execute(sqlalchemy.text("SELECT 1 FROM allowance")).all())

    async with OpenAIServer(slow) as server:
        path = tmp_path / "cuecard.yaml"
        text = CONFIG.replace(", model: m}}", ", model: m, limits: {{in_flight: 1}}}}", 1)
        path.write_text(text.format(url=server.url, memory="none"), encoding="utf-8")
        limited = load_config(path)

        async def play() -> None:
            with Workspace.open(workspace.url) as own:
                session = await PlaySession.start(
                    own, "espresso", by="ann", agent="live", config=limited
                )
                for turn in range(2):
                    await session.wait_turn()
                    await session.submit(UserReply(text=f"words {turn}"))
                await session.wait_turn()
                while await asyncio.to_thread(kept):  # noqa: ASYNC110 - what another session holds
                    await asyncio.sleep(0.05)
                await session.close()

        await asyncio.gather(play(), play())
        assert (server.peak, len(server.requests) >= 4) == (1, True)


async def test_workers_judge_by_a_jury(workspace: Workspace, tmp_path: Path) -> None:
    """Its members judge each trial once, in their own names, whoever takes it."""
    handed_in = [triples(*GOLD[: 1 + n]) for n in range(4)]
    async with OpenAIServer(good) as server:
        more = (
            "judges:\n  sage: {kind: model, model: m}\n"
            "  board: {kind: jury, members: [sage, lexical, 'lexical:strict']}\n"
        )
        _path, config = configured(tmp_path, server.url, more=more)
        run = ended_run(workspace, graph_task(), handed_in)
        for left in (4, 0):
            assert await offer_judging(workspace, run, ("board",), config, by="ann") == left
            pair = [Worker(workspace, config, name, 2) for name in ("Al", "Bo")]
            await asyncio.gather(*(each.work(RunControl(), until_done=True) for each in pair))
        assert len(server.requests) == 4
    for trial in workspace.runs.trials(run):
        names = [record.judgement.judge.name for record in workspace.verdicts.of_trial(trial.id)]
        assert sorted(names) == ["board", "lexical", "lexical:strict", "sage"]
    assert [
        each.scores["triplet_recall"] for each in score_run(workspace, run, "board").trials
    ] == [(1 + n) / len(GOLD) for n in range(4)]
