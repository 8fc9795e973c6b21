"""A session in which the agent fails is taken up again: nothing that the person said is lost."""

from __future__ import annotations

import asyncio

import pytest

from cuecard.core.engine.events import AgentSpoke, RunState, Termination, TrialRetried, UserSpoke
from cuecard.core.engine.messages import UserReply
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request, error
from play_bench import TASK, config_of, talker


def broken(_request: Request) -> Reply:
    return error(400)


async def test_a_session_whose_agent_failed_goes_on_where_it_did(workspace: Workspace) -> None:
    async with OpenAIServer(talker()) as server:
        config = config_of(server.url)
        session = await PlaySession.start(workspace, TASK, by="ann", agent="react", config=config)
        await session.wait_turn()
        await session.submit(UserReply(text="one"))
        assert await session.wait_turn()
        server.script = broken
        await session.submit(UserReply(text="two"))
        outcome = await asyncio.wait_for(session.wait(), 20)
        assert outcome is not None
        assert outcome.termination is Termination.API_ERROR
        trial_id = session.trial.id
        with pytest.raises(NotAllowed):
            await PlaySession.resume(workspace, trial_id, by="bob", config=config)

        server.script = talker()
        again = await PlaySession.resume(workspace, trial_id, by="ann", config=config)
        assert workspace.runs.get(again.trial.run_id).state is RunState.RUNNING
        assert await again.wait_turn()
        await again.submit(UserReply(text="three", done=True))
        ended = await again.wait()
        assert ended is not None
        assert ended.termination is Termination.USER_DONE

    events = workspace.runs.events(trial_id)
    said = [e.body.reply.text for e in events if isinstance(e.body, UserSpoke)]
    assert said == ["one", "two", "three"]
    assert sum(isinstance(e.body, AgentSpoke) for e in events) == 2
    retried = [e.body for e in workspace.runs.log(trial_id) if isinstance(e.body, TrialRetried)]
    assert [body.reason for body in retried] == ["api_error"]
    assert workspace.runs.get(again.trial.run_id).state is RunState.DONE
    with pytest.raises(NotAllowed, match="ended"):
        await PlaySession.resume(workspace, trial_id, by="ann", config=config)
