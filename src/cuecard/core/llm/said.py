"""A server's own words about a failure, in the many forms in which servers put them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from cuecard.core.text import storable

_MAX_WORDS = 2_000


@dataclass(frozen=True)
class Said:
    """`code` and `type` as the server names them; a numeric code as its digits."""

    words: str = ""
    code: str = ""
    type: str = ""

    @classmethod
    def of(cls, error: object) -> Said:
        """Read the `error` of a JSON answer: an object, a text, or what stands in its place."""
        if not isinstance(error, dict):
            return cls(_words(error))
        found = cast(dict[str, object], error)
        inner = found.get("error")
        if isinstance(inner, (dict, str)) and inner:
            return cls.of(cast(object, inner))
        words = found.get("message") or found.get("detail") or found.get("msg") or found
        return cls(_words(words), _name(found.get("code")), _name(found.get("type")))

    @classmethod
    def from_body(cls, body: bytes) -> Said:
        text = body.decode("utf-8", "replace").strip()
        try:
            return cls.of(json.loads(text))
        except (ValueError, RecursionError):
            return cls("" if text.startswith("<") else _words(text))


class ServerSaid(Exception):
    """The server told of a failure where a reply was to be."""

    def __init__(self, error: object) -> None:
        self.said = Said.of(error)
        super().__init__(self.said.words)


def _words(value: object) -> str:
    if isinstance(value, str):
        return storable(value[:_MAX_WORDS])
    try:
        return storable(json.dumps(value, ensure_ascii=False)[:_MAX_WORDS])
    except (ValueError, RecursionError):
        return ""


def _name(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
