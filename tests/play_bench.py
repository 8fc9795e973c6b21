"""Live sessions with a model agent over a scripted server, and what must hold of their logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import AgentConfig, ReactAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, dialogue_of, effective_log
from cuecard.core.engine.messages import UserReply
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.store.workspace import Workspace
from openai_server import Reply, Request, calls, stream, text

TASK = "table-solar-terms-zh"


def config_of(url: str = "", **agents: AgentConfig) -> Config:
    """The embedded configuration with `react` on the server at `url`, and other agents."""
    made: dict[str, Any] = dict(EMBEDDED.agents) | agents
    models: dict[str, ModelConfig] = {}
    if url:
        models["m"] = ModelConfig(base_url=url, model="scripted", retries=0)
        made["react"] = ReactAgentConfig(model="m")
    return EMBEDDED.model_copy(update={"agents": made, "models": models})


def talker(pause: float = 0.0) -> Callable[[Request], Reply]:
    """A model that says something, searches twice at once, and then answers with the number of the
    request that it answers.
    """

    def script(request: Request) -> Reply:
        if request.last.get("role") == "tool":
            said = f"Answer {request.number}: " + " ".join(f"word{n}" for n in range(12))
            return text(said, pause=pause)
        wanted = [("search", {"query": "立春"}), ("search", {"query": "雨水"})]
        return calls(*wanted, content=f"Looking, {request.number}.", pause=pause)

    return script


def endless(request: Request) -> Reply:
    """A model that has said a little and then says no more for a long time."""
    start = [{"role": "assistant", "content": "I thi"}, {"content": "nk that"}]
    return stream(*start, *({"content": ""} for _ in range(1000)), pause=0.05)


async def written(session: PlaySession, words: str) -> None:
    """Wait until the agent has streamed `words`."""
    while words not in session.written:  # noqa: ASYNC110 - nobody is told of each piece
        await asyncio.sleep(0.001)


async def say(session: PlaySession, words: str) -> None:
    assert await session.wait_turn()
    await session.submit(UserReply(text=words))


def spoken(events: Sequence[Event]) -> list[str]:
    """The dialogue as lines."""
    return [f"{m.role}: {m.text}" for m in dialogue_of(events).messages]


def check_log(workspace: Workspace, session: PlaySession) -> list[Event]:
    """The whole log, in which nothing is lost or doubled, and whose effective log the session has in memory."""
    workspace.event_writer.settle()
    log = workspace.runs.log(session.trial.id)
    assert [event.seq for event in log] == list(range(len(log)))
    keys = [(event.take, event.body.key) for event in log]
    assert len(set(keys)) == len(keys)
    assert session.events == effective_log(log)
    return log
