"""A live session's turns are interrupted, taken again and taken back, at any moment."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from pathlib import Path

import pytest

import forked
import lab_players
from cuecard.annotate.results.trial_disclosure import stages_seen
from cuecard.core.config import EMBEDDED, parse_config
from cuecard.core.engine.events import AgentSpoke, Event, ModelReplied, TrialRetried, UserSpoke
from cuecard.core.engine.messages import UserReply
from cuecard.core.errors import ConfigError, NotAllowed
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.play_setup import PlayPhase
from cuecard.core.evaluation.scores import score_run
from cuecard.store.workspace import Workspace
from lab_players import speak
from openai_server import OpenAIServer, text
from play_bench import TASK, check_log, config_of, endless, say, spoken, talker, written


async def test_an_interrupted_reply_stands_and_the_model_is_told_of_it(workspace: Workspace):
    phases: list[PlayPhase] = []
    async with OpenAIServer(endless) as server:
        config = config_of(server.url)
        session = await PlaySession.start(
            workspace, TASK, by="ann", agent="react", config=config, on_phase=phases.append
        )
        with pytest.raises(NotAllowed, match="nothing to interrupt"):
            await session.interrupt()
        await say(session, "hello")
        await written(session, "I think that")
        await session.interrupt()
        assert session.phase == "yours"
        assert spoken(session.events) == ["user: hello", "agent: I think that"]
        (reply,) = [e.body.reply for e in session.events if isinstance(e.body, AgentSpoke)]
        assert reply.interrupted
        check_log(workspace, session)

        server.script = lambda _request: text("Fine.")
        await say(session, "stop, do this")
        assert await session.wait_turn()
        sent = server.requests[-1].messages[1:]
        assert [(m["role"], m["content"]) for m in sent] == [
            ("user", "hello"),
            ("assistant", "I think that"),
            ("user", "stop, do this"),
        ]
        await session.close()
    assert phases == ["yours", "writing", "yours", "writing", "yours"]


async def test_retry_and_undo_leave_exactly_the_kept_dialogue(workspace: Workspace):
    async with OpenAIServer(talker()) as server:
        session = await PlaySession.start(
            workspace, TASK, by="ann", agent="react", config=config_of(server.url)
        )
        with pytest.raises(NotAllowed):
            await session.retry()
        with pytest.raises(NotAllowed):
            await session.undo()
        await say(session, "one")
        assert await session.wait_turn()
        first = spoken(session.events)[-1]
        with pytest.raises(NotAllowed, match="has answered"):
            await session.undo()
        await session.retry("too short")
        assert await session.wait_turn()
        assert len(spoken(session.events)) == 2
        assert spoken(session.events)[-1] != first
        assert [m["role"] for m in server.requests[2].messages] == ["system", "user"]

        server.script = endless
        await say(session, "two, wrong")
        await written(session, "I think")
        taken = await session.undo()
        assert taken.text == "two, wrong"
        assert session.phase == "yours"
        await say(session, "two")
        await written(session, "I think")
        await session.interrupt()
        assert (await session.undo()).text == "two"

        server.script = talker()
        await say(session, "three")
        assert await session.wait_turn()
        sent = server.requests[-2].messages
        assert [m["role"] for m in sent[1:]] == [
            *("user", "assistant", "tool", "tool", "assistant", "user")
        ]
        assert sent[-1]["content"] == "three"
        log = check_log(workspace, session)
        retried = [e.body for e in log if isinstance(e.body, TrialRetried)]
        assert [body.reason for body in retried] == ["retry: too short", "undo", "undo"]
        said = [e.body.reply.text for e in log if isinstance(e.body, UserSpoke)]
        assert said == ["one", "two, wrong", "two", "three"]
        # What was taken back was paid for.
        usage = workspace.runs.usage(session.trial.run_id)
        assert sum(row.calls for row in usage) == sum(isinstance(e.body, ModelReplied) for e in log)
        await session.close()


async def test_stopped_before_it_had_said_anything(workspace: Workspace):
    silent = asyncio.Event()

    async def never(_request: object):
        await silent.wait()
        return text("Late.")

    async with OpenAIServer(never) as server:
        config = config_of(server.url)
        session = await PlaySession.start(workspace, TASK, by="ann", agent="react", config=config)
        await say(session, "one")
        await server.arrived(1)
        await session.interrupt()
        assert session.phase == "stopped"
        with pytest.raises(NotAllowed):
            await session.submit(UserReply(text="more"))
        with pytest.raises(NotAllowed):
            await session.interrupt()
        await session.note("agent", "silent")
        check_log(workspace, session)
        # Left while stopped, the agent takes its turn when the session is gone on with.
        await session.close()
        silent.set()
        again = await PlaySession.resume(workspace, session.trial.id, by="ann", config=config)
        assert await again.wait_turn()
        assert spoken(again.events) == ["user: one", "agent: Late."]
        silent.clear()
        await say(again, "two")
        await server.arrived(3)
        await again.interrupt()
        silent.set()
        await again.retry()
        assert again.phase == "writing"
        assert await again.wait_turn()
        silent.clear()
        await say(again, "three")
        await again.interrupt()
        assert (await again.undo()).text == "three"
        assert [line.split()[0] for line in spoken(again.events)] == ["user:", "agent:"] * 2
        check_log(workspace, again)
        await again.close()


async def test_a_session_with_turns_taken_back_counts_as_one_without(workspace: Workspace):
    views = []
    for disturbed in (False, True):
        told: list[Event] = []
        session = await PlaySession.start(workspace, TASK, by="ann", on_event=told.append)
        turn = 0
        while await session.wait_turn():
            if disturbed and turn == 2:
                await session.retry()
                await session.wait_turn()
                await session.submit(UserReply(text="no, wait", stage=4, cue_met=False))
                if session.phase == "writing":
                    await session.undo()
                await session.note("other", "mine")
            await speak(session)
            turn += 1
        outcome = await session.wait()
        assert outcome is not None
        assert outcome.judged
        assert told == check_log(workspace, session)
        views.append(trial_view(workspace, session.trial.id))
    plain, disturbed_view = views
    assert disturbed_view.messages == plain.messages
    seen = [stages_seen(view.task.stages, view.events) for view in views]
    assert [s.turn for s in seen[1]] == [s.turn for s in seen[0]]
    assert [s.cue_met for s in seen[1]] == [s.cue_met for s in seen[0]]
    assert disturbed_view.measures == plain.measures
    assert [v.verdict for v in disturbed_view.verdicts] == [v.verdict for v in plain.verdicts]
    assert disturbed_view.trial.events > plain.trial.events
    scores = [score_run(workspace, view.run.id).trials[0].scores for view in views]
    assert scores[0] == scores[1]


async def test_names_are_kept_with_the_session(workspace: Workspace):
    config = EMBEDDED.model_copy(
        update={"judges": {**EMBEDDED.judges, "strict": EMBEDDED.judge("lexical")}}
    )
    with pytest.raises(ConfigError):
        await PlaySession.start(workspace, TASK, by="ann", judge="strict")
    with pytest.raises(ConfigError):
        await PlaySession.start(workspace, TASK, by="ann", shadows=["absent"])
    with pytest.raises(ConfigError):
        await PlaySession.start(workspace, TASK, by="ann", world="absent")
    assert workspace.runs.all() == []
    session = await PlaySession.start(
        workspace, TASK, by="ann", judge="strict", shadows=["scripted"], config=config
    )
    await session.wait_turn()
    await session.close()
    with pytest.raises(ConfigError):
        await PlaySession.resume(workspace, session.trial.id, by="ann")
    again = await PlaySession.resume(workspace, session.trial.id, by="ann", config=config)
    assert again.settings == session.settings
    assert (again.settings.judges, again.settings.shadows) == (("strict",), ("scripted",))
    await again.close()


async def undone(session: PlaySession) -> bool:
    try:
        return bool(await session.undo())
    except NotAllowed:
        return False


async def test_killed_while_turns_are_stopped_and_taken_back(tmp_path: Path, db: Path):
    script = Path(lab_players.__file__)

    async def killed(server: OpenAIServer, events: int) -> None:
        mine = tmp_path / f"{events}.db"
        shutil.copy(db, mine)
        command = (sys.executable, script, "acts", mine, server.url, events)
        program = await asyncio.to_thread(forked.run, command, capture_output=True, text=True)
        assert program.returncode == -signal.SIGKILL
        acknowledged = program.stdout.splitlines()
        with Workspace.open(mine) as workspace:
            (trial,) = workspace.runs.open_trials(kind="play")
            session = await PlaySession.resume(
                workspace, trial.id, by="ann", config=config_of(server.url)
            )
            log = check_log(workspace, session)
            assert len(log) >= events
            words = [e.body.reply.text for e in log if isinstance(e.body, UserSpoke | AgentSpoke)]
            for line in set(acknowledged):
                assert words.count(line.removeprefix("said ")) >= acknowledged.count(line)
            if session.phase == "writing" and not await undone(session):
                await session.retry()
            check_log(workspace, session)
            await session.close()

    async with OpenAIServer(endless) as server:
        tasks = [asyncio.create_task(killed(server, events)) for events in (6, 11)]
        await asyncio.gather(*tasks)


async def test_interrupted_at_any_moment_the_log_is_whole(workspace: Workspace):
    async with OpenAIServer(talker()) as server:
        session = await PlaySession.start(
            workspace, TASK, by="ann", agent="react", config=config_of(server.url)
        )
        for moment in range(40):
            await say(session, f"say {moment}")
            # On an idle machine that is before the first word, on which every fourth waits.
            for _step in range(100_000 if moment % 4 == 3 else moment * 3):
                await asyncio.sleep(0)
                if moment % 4 == 3 and (session.written or session.phase != "writing"):
                    break
            try:
                await session.interrupt()
            except NotAllowed:
                assert session.phase == "yours"
            check_log(workspace, session)
            if session.phase == "stopped":
                await session.undo()
            elif moment % 3 == 0:
                await session.retry()
        log = check_log(workspace, session)
        said = {e.body.reply.text for e in log if isinstance(e.body, UserSpoke)}
        assert said == {f"say {moment}" for moment in range(40)}
        assert any(e.body.reply.interrupted for e in log if isinstance(e.body, AgentSpoke))
        # No model was ever sent calls without their answers.
        for request in server.requests:
            asked = [c["id"] for m in request.messages for c in m.get("tool_calls") or ()]
            answered = [m["tool_call_id"] for m in request.messages if m["role"] == "tool"]
            assert asked == answered
        await session.close()


async def test_an_agent_of_ones_own_is_interrupted_and_plays_on(
    workspace: Workspace, tmp_path: Path
):
    (tmp_path / "interrupted_agent.py").write_text(
        "import asyncio\n"
        "class Agent:\n"
        "    def __init__(self, task): pass\n"
        "    async def reply(self, dialogue, context):\n"
        "        context.stream('I think')\n"
        "        if dialogue.turn == 0:\n"
        "            await asyncio.sleep(3600)\n"
        "        return 'Fine.'\n"
        "    def conclude(self, dialogue, context): return 'Final answer: x'\n",
        encoding="utf-8",
    )
    text = 'agents:\n  own: {kind: python, class: "interrupted_agent:Agent"}\n'
    config = parse_config(text, tmp_path / "cuecard.yaml")
    session = await PlaySession.start(workspace, TASK, by="ann", agent="own", config=config)
    await say(session, "hello")
    await written(session, "I think")
    await session.interrupt()
    assert spoken(session.events) == ["user: hello", "agent: I think"]
    await say(session, "go on")
    assert await session.wait_turn()
    assert spoken(session.events)[2:] == ["user: go on", "agent: Fine."]
    check_log(workspace, session)
    await session.close()
