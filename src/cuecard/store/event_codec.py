"""Events as JSON. Large texts are left out of it and stand elsewhere by the hash of their bytes; a stub
in their place says which, and how they begin.

What is left out: a tool's whole answer (all but `ok` and `hit`), a model's text and its reasoning, each
above `LARGE`. Typed as these fields are, a stub cannot be mistaken for a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from cuecard.core.events import EVENT_BODY, EventBody, ModelReplied, ToolAnswered
from cuecard.store.codec import from_json, to_json

LARGE = 2048
"""Bytes up to which a text stays in its event."""
HEAD = 200
"""Characters of a large text that stay in its event."""
_TITLES = 80
_STUB = "$payload"
_MARK = b'"$payload":"'
_TOLD = {"text", "entries"}

Payload = tuple[str, bytes]
"""A content's SHA-256, as 64 hex digits, and the content."""


class Encoded(NamedTuple):
    """`body` is UTF-8 JSON; `payloads` what it refers to."""

    body: bytes
    payloads: tuple[Payload, ...] = ()


def encode(body: EventBody) -> Encoded:
    if isinstance(body, ToolAnswered):
        return _encode_answer(body)
    if isinstance(body, ModelReplied):
        return _encode_reply(body)
    return Encoded(dumped(body))


def decode(payload: bytes, contents: Mapping[str, bytes] | None = None) -> EventBody:
    """The event's body. Without `contents`, large texts are their beginnings with an ellipsis."""
    if _MARK not in payload:
        try:
            return EVENT_BODY.validate_json(payload)
        except ValidationError:
            # Half of a surrogate pair: Python's parser takes what pydantic's refuses.
            return EVENT_BODY.validate_python(from_json(payload))
    data = from_json(payload)
    for parent, name, stub in _stubs(data):
        content = None if contents is None else contents[stub[_STUB]]
        parent[name] = _answer(stub, content) if name == "answer" else _text(stub, content)
    return EVENT_BODY.validate_python(data)


def decode_outline(payload: bytes) -> tuple[EventBody, tuple[str, ...]]:
    """As `decode` without contents, with the hashes of what the event refers to."""
    if _MARK not in payload:
        return decode(payload), ()
    data = from_json(payload)
    hashes: list[str] = []
    for parent, name, stub in _stubs(data):
        hashes.append(stub[_STUB])
        parent[name] = _answer(stub, None) if name == "answer" else _text(stub, None)
    return EVENT_BODY.validate_python(data), tuple(hashes)


def dumped(model: BaseModel, **which: Any) -> bytes:
    """A model as JSON, with half surrogate pairs, which broken model output has, as escapes."""
    try:
        return model.__pydantic_serializer__.to_json(model, **which)
    except PydanticSerializationError:
        return to_json(model.model_dump(mode="json", **which))


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _encode_answer(body: ToolAnswered) -> Encoded:
    answer = body.answer
    if len(answer.text) <= LARGE:
        whole = dumped(body)
        if len(whole) <= LARGE:
            return Encoded(whole)
        content = dumped(answer, include=_TOLD)
        if len(content) <= LARGE:
            return Encoded(whole)
    else:
        content = dumped(answer, include=_TOLD)
    digest = hash_of(content)
    stub = {
        _STUB: digest,
        "size": len(content),
        "head": answer.text[:HEAD],
        "entries": [{"id": e.id[:_TITLES], "title": e.title[:_TITLES]} for e in answer.entries],
        "hit": answer.hit.model_dump(mode="json") if answer.hit else None,
        "ok": answer.ok,
    }
    rest = dumped(body, exclude={"answer"})
    return Encoded(_with(rest, b"answer", to_json(stub)), ((digest, content),))


def _encode_reply(body: ModelReplied) -> Encoded:
    reply = body.reply
    if len(reply.text) + len(reply.reasoning) <= LARGE // 4:
        return Encoded(dumped(body))
    large = {
        name: content
        for name, text in (("text", reply.text), ("reasoning", reply.reasoning))
        if len(content := text.encode("utf-8", "surrogatepass")) > LARGE
    }
    if not large:
        return Encoded(dumped(body))
    inner = dumped(reply, exclude=set(large))
    payloads: list[Payload] = []
    for name, content in large.items():
        digest = hash_of(content)
        payloads.append((digest, content))
        head = getattr(reply, name)[:HEAD]
        stub = {_STUB: digest, "size": len(content), "head": head}
        inner = _with(inner, name.encode(), to_json(stub))
    rest = dumped(body, exclude={"reply"})
    return Encoded(_with(rest, b"reply", inner), tuple(payloads))


def _with(outer: bytes, name: bytes, value: bytes) -> bytes:
    """A JSON object, which is not empty, with one more member."""
    return b'%b,"%b":%b}' % (outer[:-1], name, value)


def _stubs(data: Any) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Places of stubs, as the object they are in, their name there, and the stub."""
    reply = data.get("reply")
    places = [(data, "answer")]
    if isinstance(reply, dict):
        inside = cast(dict[str, Any], reply)
        places += [(inside, "text"), (inside, "reasoning")]
    for parent, name in places:
        stub = parent.get(name)
        if isinstance(stub, dict) and _STUB in stub:
            yield parent, name, cast(dict[str, Any], stub)


def _text(stub: dict[str, Any], content: bytes | None) -> str:
    return f"{stub['head']}…" if content is None else content.decode("utf-8", "surrogatepass")


def _answer(stub: dict[str, Any], content: bytes | None) -> dict[str, Any]:
    told: dict[str, Any]
    if content is None:
        entries = [{**entry, "content": ""} for entry in stub["entries"]]
        told = {"text": f"{stub['head']}…", "entries": entries}
    else:
        told = cast(dict[str, Any], from_json(content))
    return {**told, "hit": stub["hit"], "ok": stub["ok"]}
