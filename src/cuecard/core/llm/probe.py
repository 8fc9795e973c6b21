"""One call that tells what an endpoint can do, for `cuecard doctor`."""

from __future__ import annotations

import time

from cuecard.core.config_models import ModelConfig
from cuecard.core.errors import CuecardError
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
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
_QUESTION = "Use the tool `search` once, with the query `capital of Peru`. Do not answer yourself."


class ProbeReport(Frozen):
    """What one call showed. `reachable`: a usable reply came. `latency_ms`: until the whole reply was there. `tool_calls`: the model
    made the call it was asked for; a weak model may fail here on a good server. `usage`: tokens as the
    server counted them, None if it did not. `error`: why there is no answer, in words for a person.
    """

    reachable: bool
    latency_ms: int = 0
    streaming: bool = False
    tool_calls: bool = False
    usage: Usage | None = None
    model: str = ""
    error: str = ""


async def probe(config: ModelConfig) -> ProbeReport:
    """Call the model once, without further attempts. Never raises a `CuecardError`."""
    began = time.perf_counter()
    try:
        client = ChatClient(config.model_copy(update={"retries": 0}))
        call = await client.call([wire.user(_QUESTION)], [_TOOL])
    except CuecardError as error:
        elapsed = round((time.perf_counter() - began) * 1000)
        return ProbeReport(reachable=False, latency_ms=elapsed, error=str(error))
    return ProbeReport(
        reachable=True,
        latency_ms=call.reply.latency_ms,
        streaming=call.streamed,
        tool_calls=any(
            made.name == _TOOL.name and "query" in made.arguments for made in call.reply.tool_calls
        ),
        usage=call.reply.usage if call.counted else None,
        model=call.reply.model,
    )
