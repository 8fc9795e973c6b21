"""The few methods of the Model Context Protocol that a server of tools needs."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

from pydantic import JsonValue

from cuecard import __version__
from cuecard.core.engine.messages import ToolAnswer, ToolCall, ToolSpec

SERVER_NAME: Final = "cuecard"
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

Message = dict[str, JsonValue]

_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602


class Toolbox(Protocol):
    """The tools that a server offers."""

    @property
    def tools(self) -> Sequence[ToolSpec]: ...

    async def call(self, call: ToolCall) -> ToolAnswer: ...


def unreadable() -> Message:
    return _error(None, _PARSE, "not JSON")


async def answer(body: JsonValue, toolbox: Toolbox) -> JsonValue:
    """The response to one JSON-RPC message or a batch of them; None if there is none to send."""
    if not isinstance(body, list):
        return await _answer(body, toolbox)
    answers = [found for one in body if (found := await _answer(one, toolbox)) is not None]
    return cast(JsonValue, answers) if answers else None


async def _answer(message: JsonValue, toolbox: Toolbox) -> Message | None:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, _INVALID, "not a JSON-RPC 2.0 message")
    id_, method = message.get("id"), message.get("method")
    if not isinstance(method, str) or "id" not in message:
        return None  # A notification, or an answer to what this server never asks.
    params = message.get("params")
    found = params if isinstance(params, dict) else {}
    match method:
        case "initialize":
            return _result(id_, _greeting(found))
        case "ping":
            return _result(id_, {})
        case "tools/list":
            return _result(id_, {"tools": [_listed(spec) for spec in toolbox.tools]})
        case "tools/call":
            return await _called(id_, found, toolbox)
        case _:
            return _error(id_, _NO_METHOD, f"no method {method}")


def _greeting(params: Mapping[str, JsonValue]) -> Message:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": SERVER_NAME, "version": __version__},
    }


def _listed(spec: ToolSpec) -> JsonValue:
    return {"name": spec.name, "description": spec.description, "inputSchema": spec.parameters}


async def _called(id_: JsonValue, params: Mapping[str, JsonValue], toolbox: Toolbox) -> Message:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        return _error(id_, _PARAMS, "the name of the tool is missing")
    broken = "" if isinstance(arguments, dict | None) else str(arguments)
    call = ToolCall(
        name=name, arguments=arguments if isinstance(arguments, dict) else {}, broken=broken
    )
    found = await toolbox.call(call)
    content: JsonValue = [{"type": "text", "text": found.text}]
    return _result(id_, {"content": content, "isError": not found.ok})


def _result(id_: JsonValue, result: JsonValue) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def _error(id_: JsonValue, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
