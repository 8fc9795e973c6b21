"""The JSON of a request to a model, and what of it a server was found to support."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from pydantic import JsonValue

from cuecard.core.config_models import LENGTHS, SAMPLING, ModelConfig
from cuecard.core.engine.messages import ToolSpec
from cuecard.core.i18n import _
from cuecard.core.llm import responses_api
from cuecard.core.llm.wire import CARRIED, ChatMessage, tool
from cuecard.core.text import storable

JsonSchema = Mapping[str, JsonValue]
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_ABOUT_JSON = re.compile(
    r"response_format|text\.format|json_?schema|json_object|schema|grammar", re.IGNORECASE
)
_ABOUT_COUNT = re.compile(r"stream_options|include_usage", re.IGNORECASE)


class JsonMode(IntEnum):
    """How a server can be made to answer in JSON: not at all, as any object, by a schema."""

    NONE = 0
    OBJECT = 1
    SCHEMA = 2


@dataclass(frozen=True)
class Fallback:
    """Optional parts of a request, which a server may refuse. `count`: ask for token counts in a stream. `length`: the
    field for most tokens of a reply, "" for the configured one. `without`: configured fields that are left out.
    """

    json: JsonMode = JsonMode.SCHEMA
    count: bool = True
    length: str = ""
    without: frozenset[str] = frozenset()


class Capabilities:
    """What a server was found to support; shared by all calls of a model.

    A server may refuse a request because of a part that it does not know. The request is then sent again without the
    part that its message names, else without parts that never worked so far; a field that a person configured is only
    left out if the message names it. What succeeds is used from then on.
    """

    def __init__(self) -> None:
        self.fallback = Fallback()
        self._json_works = False
        self._count_works = False

    def notes(self, config: ModelConfig) -> tuple[str, ...]:
        """What a person should know of it, in sentences."""
        told = [
            _("the server takes no {field}: it is left out").format(field=name)
            for name in sorted(self.fallback.without)
        ]
        if self.fallback.length:
            usual = next(name for name in LENGTHS if getattr(config, name) is not None)
            told.append(
                _("the server takes {other} in place of {field}").format(
                    other=self.fallback.length, field=usual
                )
            )
        return tuple(told)

    def plainer(self, fallback: Fallback, draft: Draft, words: str) -> Fallback | None:
        """What to ask for after a refusal of `fallback`; None if no part is left to leave out."""
        if (other := _other_length(fallback, draft, words)) is not None:
            return replace(fallback, length=other)
        for name in SAMPLING:
            sent = getattr(draft.config, name) is not None and name not in fallback.without
            if sent and re.search(rf"\b{name.replace('_', '[_.]')}\b", words, re.IGNORECASE):
                return replace(fallback, without=fallback.without | {name})
        json_asked = draft.schema is not None and fallback.json > JsonMode.NONE
        count_asked = draft.streams and fallback.count and draft.config.api == "chat"
        about_count = count_asked and _ABOUT_COUNT.search(words) is not None
        if (
            json_asked
            and not about_count
            and (not self._json_works or _ABOUT_JSON.search(words) is not None)
        ):
            return replace(fallback, json=JsonMode(fallback.json - 1))
        if count_asked and (about_count or not self._count_works):
            return replace(fallback, count=False)
        return None

    def worked(self, fallback: Fallback, draft: Draft) -> None:
        """A request with `fallback` was accepted."""
        # Calls that ran beside this one may have learned something else.
        self.fallback = replace(
            self.fallback,
            length=fallback.length or self.fallback.length,
            without=fallback.without | self.fallback.without,
        )
        if draft.schema is not None:
            if not self._json_works:
                self.fallback = replace(self.fallback, json=fallback.json)
            self._json_works = self._json_works or fallback.json > JsonMode.NONE
        if draft.streams:
            if not self._count_works:
                self.fallback = replace(self.fallback, count=fallback.count)
            self._count_works = self._count_works or fallback.count


_LENGTH = re.compile(r"\bmax_(completion_)?tokens\b", re.IGNORECASE)


def _other_length(fallback: Fallback, draft: Draft, words: str) -> str | None:
    """The other field for most tokens, if the refusal is about the one that was sent."""
    if draft.config.most_tokens is None or draft.config.api != "chat" or fallback.length:
        return None
    # A message that names both names the refused one first: "'max_tokens' is not supported, use 'max_completion_tokens'".
    found = _LENGTH.search(words)
    sent = "max_tokens" if draft.config.max_tokens is not None else "max_completion_tokens"
    if found is None or found[0].lower() != sent:
        return None
    return "max_completion_tokens" if sent == "max_tokens" else "max_tokens"


@dataclass(frozen=True)
class Draft:
    """One call's request without its optional parts (`Fallback`)."""

    config: ModelConfig
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec]
    may_call: bool
    schema: JsonSchema | None
    streams: bool

    def encoded(self, fallback: Fallback) -> bytes:
        """The JSON to be sent, in UTF-8."""
        config = self.config
        body: dict[str, object] = {**config.extra, "model": config.model, "stream": self.streams}
        sampling = {
            name: value
            for name in SAMPLING
            if (value := getattr(config, name)) is not None and name not in fallback.without
        }
        form = None
        if self.schema is not None and fallback.json:
            form = _response_format(self.schema, fallback.json)
        if config.api == "responses":
            responses_api.fill(body, self.messages, self.tools, sampling, config.most_tokens, form)
        else:
            self._fill(body, fallback, sampling, form)
        if self.tools and not self.may_call:
            body["tool_choice"] = "none"
        text = _ENCODE(body)
        try:
            return text.encode()
        except UnicodeEncodeError:
            return storable(text).encode()

    def _fill(
        self,
        body: dict[str, object],
        fallback: Fallback,
        sampling: dict[str, JsonValue],
        form: dict[str, JsonValue] | None,
    ) -> None:
        config = self.config
        body["messages"] = [
            {k: v for k, v in message.items() if k != CARRIED} if CARRIED in message else message
            for message in self.messages
        ]
        body |= sampling
        if config.most_tokens is not None:
            usual = "max_tokens" if config.max_tokens is not None else "max_completion_tokens"
            body[fallback.length or usual] = config.most_tokens
        if self.tools:
            body["tools"] = [tool(spec) for spec in self.tools]
        if self.streams and fallback.count:
            body["stream_options"] = {"include_usage": True}
        if form is not None:
            # What a person configured for all calls has precedence.
            body.setdefault("response_format", form)


def _response_format(schema: JsonSchema, mode: JsonMode) -> dict[str, JsonValue]:
    if mode is JsonMode.OBJECT:
        return {"type": "json_object"}
    name = _NO_NAME.sub("_", str(schema.get("title", "")))[:64] or "answer"
    form: dict[str, JsonValue] = {"name": name, "schema": dict(schema), "strict": False}
    return {"type": "json_schema", "json_schema": form}
