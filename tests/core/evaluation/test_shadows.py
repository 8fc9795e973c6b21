"""Shadows: k calls a turn, nobody waits for them, nobody sees them, and what is missing is filled later."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable

import pytest

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_players import SimulatorConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import UserSpoke, dialogue_of
from cuecard.core.engine.messages import (
    Act,
    CheckpointStatus,
    Dialogue,
    FlagKind,
    Message,
    UserReply,
)
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import ConfigError, NotFound
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.shadow_replay import shadow_trials, turns_of
from cuecard.core.evaluation.shadows import state_of
from cuecard.core.records import Shadow
from cuecard.store.workspace import Workspace
from lab_players import play_out, speak
from openai_server import OpenAIServer, Reply, Request, error, text
from simulator_bench import honest, met

TASK = "table-solar-terms-zh"
CHAIN = "checkpoints-old-bridge-zh"
TURNS = 5
"""User turns that answer the agent when the scripted user's words are said in TASK."""
SECRET = "what only a shadow says"


def config_of(url: str, *names: str, cost: float = 0.0) -> Config:
    """Simulators of these names, each on a model of its own whose requests bear its name."""
    price = Price(prompt=cost, completion=cost) if cost else None
    model = ModelConfig(base_url=url, model="m", retries=0, give_up_after=100, price=price)
    simulators = {name: SimulatorConfig(kind="simulator", model=name) for name in names}
    return EMBEDDED.model_copy(
        update={
            "models": {name: model.model_copy(update={"model": name}) for name in names},
            "users": {**EMBEDDED.users, **simulators},
        }
    )


def who(request: Request) -> str:
    return str(request.body["model"])


async def kept(workspace: Workspace, trial_id: int, count: int) -> list[Shadow]:
    """The shadows of a trial, once there are so many."""
    await until(lambda: len(workspace.shadows.of([trial_id])) >= count)
    return workspace.shadows.of([trial_id])


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("k", [1, 2, 3])
async def test_k_calls_a_turn_and_nobody_waits_for_them(workspace: Workspace, k: int):
    release = asyncio.Event()

    async def script(request: Request) -> Reply:
        """The first hangs until the session is over, the second fails every other time."""
        if who(request) == "one":
            await release.wait()
        if who(request) == "two" and seen["two"] % 2:
            seen["two"] += 1
            return error(400)
        seen[who(request)] += 1
        return text(json.dumps(met(SECRET)))

    seen: Counter[str] = Counter()
    names = ("one", "two", "three")[:k]
    async with OpenAIServer(script) as server:
        config = config_of(server.url, *names)
        session = await PlaySession.start(workspace, TASK, by="ann", config=config, shadows=names)
        trial_id, turn = session.trial.id, 0
        while await session.wait_turn():
            await server.arrived(k * turn)
            if turn:
                assert session.listening.shadows == k
                assert session.listening.answered < k
            await speak(session)
            said = [e for e in workspace.runs.events(trial_id) if isinstance(e.body, UserSpoke)]
            assert len(said) == turn + 1
            assert "one" not in {s.player.name for s in workspace.shadows.of([trial_id])}
            turn += 1
        outcome = await session.wait()
        assert outcome is not None
        assert outcome.judged
        assert turn == TURNS + 1
        # Nothing of them is in the log, nor in anything that the session shows.
        assert SECRET not in "".join(e.model_dump_json() for e in workspace.runs.log(trial_id))
        assert SECRET not in repr([getattr(session, n) for n in dir(session) if n[0] != "_"])
        release.set()
        failed = TURNS // 2 if k > 1 else 0
        found = await kept(workspace, trial_id, k * TURNS - failed)
        await session.close()
    assert Counter(map(who, server.requests)) == dict.fromkeys(names, TURNS)
    dialogues = {state_of(d): d for d in turns_of(workspace.runs.events(trial_id))}
    assert len(dialogues) == TURNS
    for shadow in found:
        assert shadow.live
        assert shadow.turn == dialogues[shadow.state].turn + 1
        assert shadow.reply.text == SECRET
        assert shadow.reply.cue_met is True or shadow.turn == TURNS
        assert len(shadow.calls) == 1


async def test_a_turn_said_again_is_not_asked_about_again(workspace: Workspace):
    async with OpenAIServer(lambda _: text("no JSON at all")) as server:
        config = config_of(server.url, "one")
        session = await PlaySession.start(
            workspace, TASK, by="ann", agent="offline", config=config, shadows=["one", "one"]
        )
        await session.wait_turn()
        await speak(session)
        await session.wait_turn()
        await session.retry()  # The offline agent says the same once more.
        await session.wait_turn()
        await kept(workspace, session.trial.id, 1)
        await session.close()
        session = await PlaySession.resume(workspace, session.trial.id, by="ann", config=config)
        await session.wait_turn()
        await until(lambda: session.listening.answered == 1)
        assert session.listening == (1, 1, 0)
        assert len(server.requests) == 1
        await session.submit(UserReply(text="请继续。", cue_met=False))
        await session.wait_turn()
        found = await kept(workspace, session.trial.id, 2)
        await session.close()
    assert len(server.requests) == 2
    for shadow in found:
        assert (shadow.reply.text, shadow.reply.cue_met) == ("", None)
        assert [flag.kind for flag in shadow.reply.flags] == [FlagKind.UNUSABLE]


async def test_a_session_that_is_closed_stops_its_shadows(workspace: Workspace):
    never = asyncio.Event()

    async def script(_request: Request) -> Reply:
        await never.wait()
        return text("")

    async with OpenAIServer(script) as server:
        config = config_of(server.url, "one")
        session = await PlaySession.start(workspace, TASK, by="ann", config=config, shadows=["one"])
        await session.wait_turn()
        await speak(session)
        await server.arrived(1)
        await session.close()
        assert not [t for t in asyncio.all_tasks() if "Listener" in repr(t)]
        assert workspace.shadows.of([session.trial.id]) == []
    async with OpenAIServer(lambda _: text(json.dumps(met("")))) as server:
        config = config_of(server.url, "one")
        session = await PlaySession.resume(workspace, session.trial.id, by="ann", config=config)
        await play_out(session)
        await kept(workspace, session.trial.id, TURNS)
        await session.close()
        assert len(server.requests) == TURNS


async def test_afterwards_gaps_are_filled_and_nothing_is_asked_twice(workspace: Workspace):
    outcome = await start_run(workspace, RunPlan(tasks=(TASK, CHAIN), samples=1), by="ann")
    trials = workspace.runs.trials(outcome.run.id)
    ids = [trial.id for trial in trials]
    tasks = {t.task_id: workspace.tasks.revision(t.task_id, t.revision).task for t in trials}
    points = {t.id: list(turns_of(workspace.runs.events(t.id))) for t in trials}
    total = sum(map(len, points.values()))
    models = {name: honest(task) for name, task in tasks.items()}
    down = {3, 5}

    def script(request: Request) -> Reply:
        if request.number in down:
            return error(400)
        chain = "move" in str(request.messages[0]["content"])
        return models[CHAIN if chain else TASK](request)

    async with OpenAIServer(script) as server:
        config = config_of(server.url, "one")
        told: list[tuple[int, int]] = []
        control = RunControl()

        def moved(done: int, of: int) -> None:
            told.append((done, of))
            if done == 6:
                control.cancel()

        with pytest.raises(asyncio.CancelledError):
            await shadow_trials(
                workspace, ids, ["one"], config, concurrency=1, on_progress=moved, control=control
            )
        assert told == [(n, total) for n in range(1, 7)]
        assert len(workspace.shadows.of(ids)) == 4
        asked = len(server.requests)
        assert asked in (6, 7)
        rest = await shadow_trials(workspace, ids, ["one", "scripted"], config)
        assert (rest.before, rest.asked, rest.failures) == (4, 2 * total - 4, ())
        assert len(server.requests) == asked + total - 4
        assert {(ref.kind, ref.baseline) for s in rest.shadows for ref in s.players} == {
            ("persona", False),
            ("responder", False),
            ("scripted", True),
            ("responder", True),
        }
        again = await shadow_trials(workspace, ids, ["one", "scripted"], config)
        assert (again.before, again.asked, len(server.requests)) == (
            2 * total,
            0,
            asked + total - 4,
        )
    # The script decides as whoever played; the model does what the script does.
    for shadow in workspace.shadows.of(ids):
        events = workspace.runs.events(shadow.trial_id)
        played = next(
            e.body.reply
            for e in events
            if isinstance(e.body, UserSpoke) and e.body.turn == shadow.turn
        )
        assert not shadow.live
        assert not shadow.reply.flags
        assert (shadow.reply.stage, shadow.reply.status) == (played.stage, played.status)
        if shadow.player.baseline:
            assert shadow.reply == played


def two_is_down(request: Request) -> Reply:
    return error(500) if who(request) == "two" else text(json.dumps(met("")))


async def test_what_stops_asking(workspace: Workspace):
    outcome = await start_run(workspace, RunPlan(tasks=(TASK,), samples=1), by="ann")
    ids = [trial.id for trial in workspace.runs.trials(outcome.run.id)]
    async with OpenAIServer(lambda _: text(json.dumps(met("")))) as server:
        config = config_of(server.url, "one", cost=1.0)
        done = await shadow_trials(workspace, ids, ["one"], config, concurrency=1, budget=1e-9)
        assert (done.asked, len(server.requests)) == (1, 1)
        assert [failure.turn for failure in done.failures] == [2, 3, 4, 5]
        assert all(failure.halted for failure in done.failures)
        assert "--budget" in done.halt
        config = config_of(server.url, "two", "three")
        server.script = two_is_down
        weary = config.models["two"].model_copy(update={"give_up_after": 2})
        config.models["two"] = weary
        done = await shadow_trials(workspace, ids, ["two", "three"], config, concurrency=1)
        assert [(s.name, s.asked, s.failed) for s in done.shadows] == [
            ("two", 0, TURNS),
            ("three", TURNS, 0),
        ]
        assert Counter(map(who, server.requests)) == {"one": 1, "two": 2, "three": TURNS}
    with pytest.raises(ConfigError):
        await shadow_trials(workspace, ids, ["nobody"], config)
    with pytest.raises(NotFound):
        await shadow_trials(workspace, [999], ["one"], config)


def test_a_state_is_all_that_was_said_and_disclosed():
    first = Message(role="user", turn=0, text="Hello.", stage=1, cue_met=True)
    reply = Message(role="agent", turn=0, text="Which?", act=Act.ASK)
    state = state_of(Dialogue((first, reply)))
    assert len(state) == 16
    same = first.model_copy(update={"cue_met": None})
    assert state_of(Dialogue((same, reply))) == state
    others = [
        first.model_copy(update={"text": "Hello!"}),
        first.model_copy(update={"stage": 2}),
        first.model_copy(update={"checkpoint": 0, "status": CheckpointStatus.SEARCH_ONLY}),
    ]
    states = {state_of(Dialogue((other, reply))) for other in others}
    states.add(state_of(Dialogue((first, reply.model_copy(update={"act": Act.REPLY})))))
    states.add(state_of(dialogue_of(())))
    assert len(states - {state}) == 5
