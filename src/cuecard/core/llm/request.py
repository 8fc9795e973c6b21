"""The body of a request, and what of it a server can be asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from pydantic import JsonValue

from cuecard.core.config_models import ModelConfig
from cuecard.core.llm.wire import ChatMessage, tool
from cuecard.core.parts import ToolSpec
from cuecard.core.text import storable

JsonSchema = Mapping[str, JsonValue]
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ABOUT_JSON = re.compile(r"response_format|json_?schema|json_object|schema|grammar", re.IGNORECASE)
_ABOUT_COUNT = re.compile(r"stream_options|include_usage", re.IGNORECASE)


class JsonMode(IntEnum):
    """How a server can be made to answer in JSON: not at all, as any object, by a schema."""

    NONE = 0
    OBJECT = 1
    SCHEMA = 2


@dataclass(frozen=True)
class Manners:
    """What a request asks for beyond the messages. `count`: tokens counted in a stream."""

    json: JsonMode = JsonMode.SCHEMA
    count: bool = True


class Habits:
    """What a server was found to understand. Shared by all calls of a model.

    A request that it refuses may be refused for a part that older servers do not know. So it is
    sent again without: first what its words name, else what was never seen to work. What then
    succeeds is kept to.
    """

    def __init__(self) -> None:
        self.manners = Manners()
        self._json_works = False
        self._count_works = False

    def plainer(self, manners: Manners, draft: Draft, words: str) -> Manners | None:
        """What to ask for after a refusal of `manners`; None where nothing is left to doubt."""
        json_asked = draft.schema is not None and manners.json > JsonMode.NONE
        count_asked = draft.streams and manners.count
        about_count = count_asked and _ABOUT_COUNT.search(words) is not None
        if (
            json_asked
            and not about_count
            and (not self._json_works or _ABOUT_JSON.search(words) is not None)
        ):
            return replace(manners, json=JsonMode(manners.json - 1))
        if count_asked and (about_count or not self._count_works):
            return replace(manners, count=False)
        return None

    def worked(self, manners: Manners, draft: Draft) -> None:
        """A request with `manners` was accepted."""
        if draft.schema is not None:
            if not self._json_works:
                self.manners = replace(self.manners, json=manners.json)
            self._json_works = self._json_works or manners.json > JsonMode.NONE
        if draft.streams:
            if not self._count_works:
                self.manners = replace(self.manners, count=manners.count)
            self._count_works = self._count_works or manners.count


@dataclass(frozen=True)
class Draft:
    """One call's request, whatever is asked for beyond it."""

    config: ModelConfig
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec]
    may_call: bool
    schema: JsonSchema | None
    streams: bool

    def encoded(self, manners: Manners) -> bytes:
        """The JSON to be sent, in UTF-8."""
        config = self.config
        body: dict[str, object] = {**config.extra, "model": config.model, "stream": self.streams}
        body["messages"] = self.messages
        if config.temperature is not None:
            body["temperature"] = config.temperature
        if config.max_tokens is not None:
            body["max_tokens"] = config.max_tokens
        if self.tools:
            body["tools"] = [tool(spec) for spec in self.tools]
            if not self.may_call:
                body["tool_choice"] = "none"
        if self.streams and manners.count:
            body["stream_options"] = {"include_usage": True}
        if self.schema is not None and manners.json:
            # What a person configured for all calls has precedence.
            body.setdefault("response_format", _response_format(self.schema, manners.json))
        text = _ENCODE(body)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return storable(text).encode()


def _response_format(schema: JsonSchema, mode: JsonMode) -> dict[str, object]:
    if mode is JsonMode.OBJECT:
        return {"type": "json_object"}
    name = _NO_NAME.sub("_", str(schema.get("title", "")))[:64] or "answer"
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema, "strict": False},
    }
