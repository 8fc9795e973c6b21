"""What families, players and settings are called in a report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from cuecard.core.i18n import N_, _
from cuecard.core.parts import PlayerRef
from cuecard.core.text import one_line

LANGUAGE: dict[str, str] = {"en": N_("English"), "zh": N_("Chinese")}
PAYER: dict[str, str] = {
    "agent": N_("agent"),
    "conclusion": N_("final answer"),
    "user": N_("user"),
    "world": N_("world"),
    "judge": N_("judge"),
}
HUMAN = "human"
# Where something is on somebody's machine or network is nobody's business.
_PLACE = re.compile(r"^(~?[/\\]|[A-Za-z]:[/\\]|\.{1,2}[/\\])|://")


def player_word(ref: PlayerRef, name: str = "") -> str:
    """`alpha (react, alpha-7b, version 1f3a)`, and whether it is an offline baseline."""
    parts = [ref.kind, ref.model]
    if ref.version and ref.version != "1":
        parts.append(_("version {version}").format(version=ref.version))
    if ref.baseline:
        parts.append(_("offline baseline"))
    told = ", ".join(dict.fromkeys(one_line(part, 80) for part in parts if part))
    return f"{one_line(name or ref.name, 60)} ({told})" if told else one_line(name or ref.name, 60)


def settings_lines(described: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """What the configuration said of a player, a line for each setting that was set; addresses and paths left
    out.
    """
    return tuple(
        f"{name}: {told}" for name, value in described.items() if (told := _setting(value))
    )


def listed(items: Iterable[str]) -> str:
    return ", ".join(items)


def _setting(value: JsonValue) -> str:
    """A value in one line; "" for nothing, and for what is a place."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return listed(f"{k} {told}" for k, v in value.items() if (told := _setting(v)))
        case list():
            return listed(told for v in value if (told := _setting(v)))
        case str():
            return "" if _PLACE.search(value) else one_line(value, 200)
        case _:
            return str(value)
