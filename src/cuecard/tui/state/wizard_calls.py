"""One typed line as a call of a world's tool."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from cuecard.core.i18n import _
from cuecard.core.parts import ToolCall, ToolSpec
from cuecard.core.text import one_line, storable

_URL = re.compile(r"https?://[^\s<>\"'，。；]+")


class NotACall(ValueError):
    """The line cannot be read as a call; the text says what is missing."""


def call_from(spec: ToolSpec, line: str, goal: str = "") -> ToolCall:
    """A tool with one text to give gets the line as it is; one that reads pages gets the addresses in it,
    and the rest as what is looked for (`goal` where there is none). Any other wants JSON.

    Raises `NotACall`.
    """
    line = storable(line).strip()
    if not line:
        raise NotACall(_("Type first what you look for."))
    properties = cast(dict[str, dict[str, Any]], spec.parameters.get("properties") or {})
    required = cast(list[str], spec.parameters.get("required") or [])
    if "urls" in properties:
        return ToolCall(name=spec.name, arguments=_pages(line, goal))
    if len(required) == 1 and properties.get(required[0], {}).get("type") == "string":
        return ToolCall(name=spec.name, arguments={required[0]: line})
    try:
        arguments = json.loads(line)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        names = ", ".join(properties)
        raise NotACall(_("{tool} wants a JSON object: {names}").format(tool=spec.name, names=names))
    return ToolCall(name=spec.name, arguments=cast(dict[str, Any], arguments))


def hint_for(spec: ToolSpec) -> str:
    """What to type for a call, in a few words."""
    properties = cast(dict[str, Any], spec.parameters.get("properties") or {})
    if "urls" in properties:
        return _("addresses of pages, and what you want to know from them")
    if "code" in properties:
        return _("a Python program in one line; print what you want")
    return _("one thing at a time: whose what?")


def _pages(line: str, goal: str) -> dict[str, Any]:
    urls = list(dict.fromkeys(_URL.findall(line)))
    if not urls:
        raise NotACall(_("Give the address of a page, beginning with http:// or https://."))
    wanted = one_line(_URL.sub(" ", line)) or one_line(goal, 500) or "-"
    return {"urls": urls, "goal": wanted}
