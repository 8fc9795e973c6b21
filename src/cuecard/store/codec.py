"""JSON payloads as columns: text while small, zlib-compressed bytes when large."""

from __future__ import annotations

import json
import zlib
from typing import cast

from pydantic import JsonValue

PACK_ABOVE = 2048
"""Bytes of JSON up to which a payload stays readable text."""
_PIECE = 200


def pack(payload: bytes) -> tuple[str | None, bytes | None]:
    """UTF-8 JSON as the pair of columns (`body`, `packed`), exactly one of them filled."""
    if len(payload) <= PACK_ABOVE:
        return payload.decode(), None
    return None, zlib.compress(payload, 6)


def unpack(body: str | None, packed: bytes | None) -> bytes:
    """What `pack` was given."""
    return zlib.decompress(packed) if packed is not None else (body or "").encode()


def to_json(value: object) -> bytes:
    """Compact JSON. Lone surrogates, which UTF-8 cannot hold, are written as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def to_json_in_pieces(value: dict[str, JsonValue]) -> bytes:
    """As `to_json`, a stretch of a long list at a time: encoding in one go would keep other threads
    (the screen's) waiting.
    """
    parts: list[bytes] = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            body = to_json_in_pieces(inner)
        elif isinstance(inner, list) and len(inner) > _PIECE:
            pieces = (inner[at : at + _PIECE] for at in range(0, len(inner), _PIECE))
            body = b"[" + b",".join(to_json(piece)[1:-1] for piece in pieces) + b"]"
        else:
            body = to_json(inner)
        parts.append(to_json(key) + b":" + body)
    return b"{" + b",".join(parts) + b"}"


def from_json(payload: bytes | str) -> JsonValue:
    return cast(JsonValue, json.loads(payload))
