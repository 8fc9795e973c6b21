"""A scripted model that plays the search engine of a parallel world.

    async with OpenAIServer(engine(task)) as server:
        world = parallel_world(task, server.url)

It decides as the closed world does, and can be told to misbehave.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ParallelWorldConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import ToolCall
from cuecard.core.engine.players import build_world
from cuecard.core.engine.step_context import World
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Task
from cuecard.core.worlds.closed import ClosedWorld
from cuecard.core.worlds.statements import compile_statements
from openai_server import Reply, Request, text

BACKGROUND = {"en": "The page says little that is new.", "zh": "本页并无新内容。"}


def query_of(request: Request) -> str:
    """The query that a request is about, also when it is asked again."""
    asked = next(m for m in request.messages if m["role"] == "user")
    return json.loads(asked["content"])["query"]


def result(
    *contents: str, keys: Sequence[str] = (), compound: bool = False, **changes: Any
) -> dict[str, Any]:
    """A search result: these contents first, background to fill up."""
    language = "zh" if any("\u4e00" <= c <= "\u9fff" for c in "".join(contents)) else "en"
    filled = [*contents, *[BACKGROUND[language]] * (4 - len(contents))]
    entries = [{"title": "…", "content": c, "date": "2031-05-17"} for c in filled]
    return {
        "reason": "as scripted",
        "is_compound_query": compound,
        "hit": int(bool(keys)),
        "matched_fact_keys": list(keys),
        "entries": entries,
        **changes,
    }


def good(task: Task, query: str) -> dict[str, Any]:
    """What an engine that keeps the rules answers."""
    call = ToolCall(name="search", arguments={"query": query})
    answer = _run(ClosedWorld(task), call)
    assert answer.hit is not None
    if not answer.hit.hit:
        return result(BACKGROUND[task.language], compound=answer.hit.is_compound)
    (key,) = answer.hit.matched_fact_keys
    statement = next(s for s in compile_statements(task) if s.key == key)
    return result(f"{statement.attribute}: {statement.value}", keys=[key])


def _run(world: ClosedWorld, call: ToolCall) -> Any:
    """The closed world never waits, so that its answer is there at once."""
    step = world.answer(call)
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the closed world waited")


def engine(
    task: Task, spoil: Callable[[dict[str, Any], Request], Any] = lambda told, _request: told
) -> Callable[[Request], Reply]:
    """`spoil` may change what is said; a text is sent as it is."""

    def script(request: Request) -> Reply:
        said = spoil(good(task, query_of(request)), request)
        return text(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))

    return script


def slowly(script: Callable[[Request], Reply]) -> Callable[[Request], Any]:
    """The same, after some turns of the loop: for calls made at the same time."""

    async def answer(request: Request) -> Reply:
        for _ in range(5):
            await asyncio.sleep(0)
        return script(request)

    return answer


def parallel_config(url: str, **settings: Any) -> Config:
    return Config(
        models={"m": ModelConfig(base_url=url, model="engine", retries=0)},
        worlds={"pw": ParallelWorldConfig(kind="parallel", model="m", **settings)},
    )


def parallel_world(task: Task, url: str, **settings: Any) -> World:
    config = parallel_config(url, **settings)
    return build_world("pw", config, task, ModelHub(config))
