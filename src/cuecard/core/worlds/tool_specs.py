"""The tools that worlds are known to offer, as models see them."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from cuecard.core.parts import ToolCall, ToolSpec
from cuecard.core.worlds.closed import SEARCH

_QUERY: dict[str, JsonValue] = {"type": "string", "description": "What to look for."}
_TOPN: dict[str, JsonValue] = {
    "type": "integer",
    "minimum": 1,
    "description": "How many results at most.",
}
_SEARCHING: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"query": _QUERY, "topn": _TOPN},
    "required": ["query"],
}

SEARCH_WEB = ToolSpec(
    name="search",
    description=(
        "Search the web. Gives titles, addresses and short excerpts; read a page with `visit` where"
        " that tool is offered."
    ),
    parameters=_SEARCHING,
)
WEB_SEARCH = SEARCH_WEB.model_copy(update={"name": "web_search"})
SCHOLAR_SEARCH = ToolSpec(
    name="scholar_search",
    description="Search scholarly literature. Gives titles, addresses and short excerpts.",
    parameters=_SEARCHING,
)
VISIT = ToolSpec(
    name="visit",
    description="Read web pages with a goal in mind, and get what they say about it.",
    parameters={
        "type": "object",
        "properties": {
            "urls": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "The addresses of the pages, starting with http:// or https://.",
            },
            "goal": {"type": "string", "description": "What you want to know from them."},
        },
        "required": ["urls", "goal"],
    },
)
PYTHON = ToolSpec(
    name="python",
    description=(
        "Run a Python program, which may use the standard library, and get what it prints. Nothing is"
        " kept from one call to the next; there is no network."
    ),
    parameters={
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The whole program; print what you want."}
        },
        "required": ["code"],
    },
)

# Worlds whose `search` looks into a closed collection rather than the web.
_COLLECTIONS = ("closed", "parallel")
_KNOWN = {spec.name: spec for spec in (SEARCH_WEB, WEB_SEARCH, SCHOLAR_SEARCH, VISIT, PYTHON)}


def spec_of(name: str, world: str, calls: Iterable[ToolCall]) -> ToolSpec:
    """The tool `name` as a world of the kind `world` offers it; one that is not known here is
    described by the arguments that it was called with.
    """
    if name == SEARCH.name and world in _COLLECTIONS:
        return SEARCH
    if name in _KNOWN:
        return _KNOWN[name]
    seen = dict.fromkeys(argument for call in calls for argument in call.arguments)
    anything: dict[str, JsonValue] = {argument: {} for argument in seen}
    return ToolSpec(
        name=name,
        description="A tool of an earlier run.",
        parameters={"type": "object", "properties": anything},
    )
