"""The checks of `cuecard doctor`: what an endpoint supports, and whether agents that are other programs can be reached."""

from __future__ import annotations

import asyncio
import importlib
import time
from typing import TYPE_CHECKING, Literal

from cuecard.core.agents.acp_access import asks_late
from cuecard.core.agents.programs import find_command, headers_of
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import AcpAgentConfig, HttpAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import ToolSpec, Usage
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, headed
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.failures import CONNECT_SECONDS, RequestRefused
from cuecard.core.llm.hub import ModelHub
from cuecard.core.llm.requests import JsonMode
from cuecard.core.llm.structured import read_shape, schema_of
from cuecard.core.secrets import scrub
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.agents.mcp_world import Door

_TOOL = ToolSpec(
    name="search",
    description="Look something up.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)
_TOOL_QUESTION = (
    "Use the tool `search` once, with the query `capital of Peru`. Do not answer yourself."
)
_JSON_QUESTION = "What is the capital of Peru? Answer as a JSON object."

# Most seconds for one of these small calls, even if the endpoint keeps sending.
_PATIENCE = 30.0

JsonSupport = Literal["schema", "ignored", "object", "none", "unknown"]


class _City(Frozen):
    """Nobody would call the field so who does not see the schema."""

    name_of_the_city: str


class ProbeReport(Frozen):
    """What a check of a model's endpoint found. `reachable`: a usable reply came. `latency_ms`: milliseconds until the
    first reply was complete. `tool_calls`: the model made the call that it was asked for; a weak model may fail here on a
    good server. `json_schema`: `schema` if the answer kept to the schema, `ignored` if the server accepted it and the
    answer did not, `object` if it supports only JSON without a schema, `none` if neither, `unknown` if that could not be
    checked. `usage`: tokens of the first call, None if the server did not count them. `calls`: requests sent. `error`,
    `hint`: why there is no reply, and what to do; `tools_error`: why it refused a request with tools;
    `notes`: what of the entry was mended, and what the server takes otherwise than it is configured.
    """

    reachable: bool
    latency_ms: int = 0
    streaming: bool = False
    tool_calls: bool = False
    json_schema: JsonSupport = "unknown"
    usage: Usage | None = None
    model: str = ""
    calls: int = 0
    error: str = ""
    hint: str = ""
    tools_error: str = ""
    notes: tuple[str, ...] = ()


async def probe(config: ModelConfig) -> ProbeReport:
    """Check an endpoint: call the model once with a tool and once with a JSON schema, streamed, without retries.

    If the server refuses a part, the call is repeated without it. Never raises a `CuecardError`.
    """
    patience = min(config.total_timeout, max(config.timeout, _PATIENCE))
    asking = {"retries": 0, "stream": "always", "total_timeout": patience}
    try:
        client = ChatClient(config.model_copy(update=asking))
    except CuecardError as error:
        return _unreachable(error, 0)
    try:
        report = await _examine(client)
        notes = (*config.notes, *client.capabilities.notes(config))
        return report.model_copy(update={"notes": notes})
    except CuecardError as error:
        return _unreachable(error, client.sent)
    finally:
        await client.close()


async def _examine(client: ChatClient) -> ProbeReport:
    """Raises `CuecardError` if no usable reply comes."""
    tools_error = ""
    try:
        call = await client.call([wire.user(_TOOL_QUESTION)], [_TOOL])
    except RequestRefused as error:
        tools_error = str(error)
        call = await client.call([wire.user(_JSON_QUESTION)])
    reply = call.reply
    return ProbeReport(
        reachable=True,
        latency_ms=reply.latency_ms,
        streaming=call.streamed,
        tool_calls=any(c.name == _TOOL.name and "query" in c.arguments for c in reply.tool_calls),
        json_schema=await _json_support(client),
        usage=reply.usage if call.counted else None,
        model=reply.model,
        calls=client.sent,
        tools_error=tools_error,
    )


async def _json_support(client: ChatClient) -> JsonSupport:
    """How the endpoint handles a request with a JSON schema."""
    try:
        reply = await client.chat([wire.user(_JSON_QUESTION)], schema=schema_of(_City))
    except CuecardError:
        return "unknown"
    match client.capabilities.fallback.json:
        case JsonMode.NONE:
            return "none"
        case JsonMode.OBJECT:
            return "object"
        case JsonMode.SCHEMA:
            return "schema" if read_shape(reply.text, _City)[0] else "ignored"


def _unreachable(error: CuecardError, calls: int) -> ProbeReport:
    said = headed(error.title, error.message)
    return ProbeReport(reachable=False, error=said, hint=error.hint, calls=calls)


class ServedModel(Frozen):
    """One model that the server of the entry `entry` says it has. `chosen`: the entry uses it. `trouble`: why the server
    did not tell, with `model` "".
    """

    entry: str
    url: str
    model: str = ""
    chosen: bool = False
    trouble: str = ""


async def served_models(config: Config) -> list[ServedModel]:
    """What the servers of all entries have, entry by entry, those of the entries first. Never raises a `CuecardError`."""

    async def of(entry: str, model: ModelConfig) -> list[ServedModel]:
        patience = min(model.timeout, CONNECT_SECONDS)
        here = ServedModel(entry=entry, url=model.base_url)
        try:
            client = ChatClient(model.model_copy(update={"timeout": patience}))
            try:
                names = await client.served()
            finally:
                await client.close()
        except CuecardError as error:
            return [here.model_copy(update={"trouble": _unreachable(error, 0).error})]
        names = sorted(names, key=lambda name: name != model.model)
        return [
            here.model_copy(update={"model": name, "chosen": name == model.model}) for name in names
        ]

    found = await asyncio.gather(*(of(*each) for each in config.models.items()))
    return [row for rows in found for row in rows]


_CONNECTS_S = 5.0
_MISSING = (404, 410)
_LOCKED = (401, 402, 403)


class AgentReport(Frozen):
    """What a check of an agent found. `works`: as far as that can be seen without a prompt. `detail`: what it is, or why
    it does not work; `hint`: what to do. `ms`: milliseconds until a session was open, or an answer came. `asks_late`: it
    opens sessions without a login, so that only a prompt would tell whether it has one.
    """

    works: bool
    detail: str
    hint: str = ""
    ms: int = 0
    loads: bool | None = None
    asks_late: bool = False
    status: int | None = None


async def try_harness(name: str, agent: AcpAgentConfig) -> AgentReport:
    """Start the harness as a trial would, world included, and open a session. It gets no prompt.

    Never raises a `CuecardError`. Takes little more than three times its `start_timeout` at most.
    """
    from cuecard.core.agents.acp_trial import Player
    from cuecard.core.agents.mcp_world import Door
    from cuecard.core.worlds.closed import SEARCH

    began = time.monotonic()
    hub = ModelHub(Config())
    try:
        find_command(name, agent)
        door = Door((SEARCH,), "en") if agent.world else None
        player = Player(name, agent, hub, door)
        try:
            await player.start()
            await player.open_session()
            opened = time.monotonic()
            hint = ""
            if door is not None and agent.world_port is None and not await _reached(door):
                hint = _(
                    "it has not connected to the world's server: does it trust it? (docs/agents.md)"
                )
            return AgentReport(
                works=True,
                detail=player.harness.title or agent.command[0],
                hint=hint,
                ms=round((opened - began) * 1000),
                loads=player.harness.can_load,
                asks_late=asks_late(player.harness.title),
            )
        finally:
            await player.leave()
    except CuecardError as error:
        return _failed(error)
    finally:
        await hub.close()


async def _reached(door: Door) -> bool:
    """Whether the harness connects to the world soon after it opened a session."""
    try:
        async with asyncio.timeout(_CONNECTS_S):
            await door.reached.wait()
    except TimeoutError:
        return False
    return True


async def try_address(name: str, agent: HttpAgentConfig) -> AgentReport:
    """Check whether something answers at the agent's address, by a HEAD request. Never raises a `CuecardError`."""
    try:
        headers = headers_of(name, agent)
    except CuecardError as error:
        return _failed(error)
    await asyncio.to_thread(importlib.import_module, "aiohttp")
    import aiohttp

    began = time.monotonic()
    limit = aiohttp.ClientTimeout(total=min(agent.timeout, CONNECT_SECONDS))
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.head(agent.url, headers=headers, allow_redirects=False) as response,
        ):
            status = response.status
    except TimeoutError:
        return AgentReport(
            works=False, detail=_("no answer within {n} seconds").format(n=f"{limit.total:g}")
        )
    except (aiohttp.ClientError, OSError, ValueError) as error:
        hint = _("is the server running, and the network there?")
        detail = one_line(scrub(str(error)) or type(error).__name__, 300)
        return AgentReport(works=False, detail=detail, hint=hint)
    hint = ""
    if status in _LOCKED:
        hint = _("are its headers right?")
    elif status in _MISSING or status // 100 == 3:
        hint = _("is there an agent at this address?")
    return AgentReport(
        works=status not in _LOCKED and status // 100 != 3,
        detail=_("answered {status} to HEAD").format(status=status),
        hint=hint,
        ms=round((time.monotonic() - began) * 1000),
        status=status,
    )


def _failed(error: CuecardError) -> AgentReport:
    said = headed(error.title, error.message)
    return AgentReport(works=False, detail=said, hint=error.hint)
