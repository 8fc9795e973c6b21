"""A few small calls that tell what an endpoint can do, for `cuecard doctor`."""

from __future__ import annotations

from typing import Literal

from cuecard.core.config_models import ModelConfig
from cuecard.core.errors import CuecardError
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.failures import RequestRefused
from cuecard.core.llm.request import JsonMode
from cuecard.core.llm.structured import read_shape, schema_of
from cuecard.core.parts import ToolSpec, Usage
from cuecard.core.tasks.base import Frozen

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

# Seconds for one of these calls, which are small, where the endpoint goes on and on.
_PATIENCE = 30.0

JsonSupport = Literal["schema", "ignored", "object", "none", "unknown"]


class _City(Frozen):
    """Nobody would call the field so who does not see the schema."""

    name_of_the_city: str


class ProbeReport(Frozen):
    """What the calls showed. `reachable`: a usable reply came. `latency_ms`: until the whole first
    reply was there. `tool_calls`: the model made the call that it was asked for; a weak model may fail here
    on a good server. `json_schema`: `schema` if the answer kept to one, `ignored` if the server
    took it and the answer did not, `object` if it knows only JSON without a schema, `none` if
    neither, `unknown` if that could not be asked. `usage`: tokens of the first call as the server counted
    them, None if it did not. `calls`: requests sent. `error` and `hint`: why there is no answer
    and how to mend that, in words for a person; `tools_error`: why it refused a request with tools.
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


async def probe(config: ModelConfig) -> ProbeReport:
    """Call the model once with a tool, once with a JSON schema, both streamed, without further attempts.

    What the server refuses is left out, and asked for without. Never raises a `CuecardError`.
    """
    patience = min(config.total_timeout, max(config.timeout, _PATIENCE))
    asking = {"retries": 0, "stream": "always", "total_timeout": patience}
    try:
        client = ChatClient(config.model_copy(update=asking))
    except CuecardError as error:
        return _unreachable(error, 0)
    try:
        return await _examine(client)
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
    """What comes of asking for JSON by a schema."""
    try:
        reply = await client.chat([wire.user(_JSON_QUESTION)], schema=schema_of(_City))
    except CuecardError:
        return "unknown"
    match client.habits.manners.json:
        case JsonMode.NONE:
            return "none"
        case JsonMode.OBJECT:
            return "object"
        case JsonMode.SCHEMA:
            return "schema" if read_shape(reply.text, _City)[0] else "ignored"


def _unreachable(error: CuecardError, calls: int) -> ProbeReport:
    said = f"{error.title}: {error.message}" if error.message else error.title
    return ProbeReport(reachable=False, error=said, hint=error.hint, calls=calls)
