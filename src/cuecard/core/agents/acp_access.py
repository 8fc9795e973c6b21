"""What a harness may do where it asks for permission, and how one that wants a login is logged in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from cuecard.core.agents.mcp_world import SERVER_NAME
from cuecard.core.config_players import Permissions
from cuecard.core.i18n import _, listed
from cuecard.core.secrets import scrub
from cuecard.core.text import one_line, storable

if TYPE_CHECKING:
    from acp.schema import AuthMethodAgent, EnvVarAuthMethod, PermissionOption, TerminalAuthMethod

    AuthMethod = EnvVarAuthMethod | TerminalAuthMethod | AuthMethodAgent

CHANGING: Final = ("edit", "delete", "move")
"""Kinds of tools that change files."""
_READING: Final = ("read", "search", "think")


@dataclass
class Tool:
    """A tool call of the harness, as far as its updates and requests describe it. `name`: its kind; `labels`: names that
    the offered choices of a request end in ("Always allow: search").
    """

    name: str = ""
    title: str = ""
    status: str = ""
    input: object = None
    output: object = None
    places: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    texts: list[str] = field(default_factory=list)

    def take(self, update: Any) -> None:
        """Take what one update, or a request for permission, says of it; what it leaves out stays."""
        self.name = update.kind or self.name
        self.title = update.title or self.title
        self.status = update.status or self.status
        self.input = self.input if update.raw_input is None else update.raw_input
        self.output = self.output if update.raw_output is None else update.raw_output
        if update.locations:
            self.places = tuple(place.path for place in update.locations)
        if update.content is not None:
            inner = (getattr(block, "content", None) for block in update.content)
            self.texts = [text for block in inner if (text := getattr(block, "text", ""))]

    def is_worlds(self, tools: Collection[str]) -> bool:
        """Whether this is a call of one of the trial's own `tools`, as harnesses write them: `mcp__cuecard__search`,
        `mcp.cuecard.search`, `search (cuecard MCP Server)`; some give only `search`, in the title or the choices.
        """
        if not tools:
            return False
        names = "|".join(map(re.escape, tools))
        ours = rf"(?:mcp(?:__|[.:/]))?{SERVER_NAME}(?:__|[.:/]) ?(?:{names})(?![\w./-])"
        if re.match(rf"{ours}|(?:{names}) \({SERVER_NAME}\b", self.title.strip(), re.IGNORECASE):
            return True
        if isinstance(self.input, dict):
            given = cast("dict[str, object]", self.input)
            if SERVER_NAME in (given.get("serverName"), given.get("server_name")):
                return True
        return self.name in ("", "other") and not {self.title.strip(), *self.labels}.isdisjoint(
            tools
        )


def allows(policy: Permissions, tool: Tool, cwd: str, tools: Collection[str]) -> bool:
    """Whether a harness may use `tool`. `tools`: the names of the trial's own, which it always may; with them nothing is
    fetched past the world, unless `policy` is `all`.

    `none`: nothing else. `read`: files of its folder `cwd`. `folder`: to change them, too, and whatever is neither about
    files nor executed. `all`: everything.
    """
    if policy == "all" or tool.is_worlds(tools):
        return True
    if policy == "none" or tool.name == "execute" or (tools and tool.name == "fetch"):
        return False
    if policy == "read" and tool.name not in (*_READING, "fetch"):
        return False
    inside = Path(cwd).resolve()
    if not tool.places:
        return tool.name not in CHANGING
    return all(Path(cwd, place).resolve().is_relative_to(inside) for place in tool.places)


def option_for(allowed: bool, options: Sequence[PermissionOption]) -> PermissionOption | None:
    """The choice that says so, for this once where that is offered; None if there is none."""
    word = "allow" if allowed else "reject"
    found = {option.kind: option for option in reversed(options)}
    return found.get(f"{word}_once") or found.get(f"{word}_always")


@dataclass(frozen=True)
class _Known:
    """How a harness is logged in, where it does not tell that itself: the command, the variable of its key, and an
    argument that it needs besides.
    """

    login: str = ""
    key: str = ""
    argument: str = ""


_KNOWN: Final[Mapping[str, _Known]] = {
    "claude": _Known(key="ANTHROPIC_API_KEY"),
    "codex": _Known(login="codex login"),
    "gemini": _Known(login="gemini", key="GEMINI_API_KEY"),
    "qwen": _Known(login="qwen auth", key="OPENAI_API_KEY", argument="--auth-type=openai"),
}
_VARIABLES: Final = {
    "openai": "OPENAI_API_KEY",
    "google": "GEMINI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}


def asks_late(harness: str) -> bool:
    """Whether a harness of this name opens sessions without a login, and asks for it at the first prompt."""
    return "claude" in harness.casefold()


def login_hint(command: Sequence[str], harness: str, methods: Sequence[AuthMethod]) -> str:
    """What to do about a harness that wants a login, from what it says of itself and what is known of it.

    `harness`: the name that it reports.
    """
    called = f"{harness} {' '.join(command)}".casefold()
    known = next((found for name, found in _KNOWN.items() if name in called), _Known())
    logins, keys = list(_logins(command, methods))[:1], list(_keys(methods))[:1]
    if known.login:
        logins = [_("run `{command}`").format(command=known.login)]
    if known.argument:
        told = _("name {variables} in pass_env and add {argument} to its command")
        keys = [told.format(variables=known.key, argument=known.argument)]
    elif known.key:
        keys = [_("name {variables} in pass_env").format(variables=known.key)]
    if not logins and not keys:
        logins = [_("log in with the harness's own command first")]
    return scrub(storable(_("; or ").join((*logins, *keys))))


def _logins(command: Sequence[str], methods: Sequence[AuthMethod]) -> Iterator[str]:
    for method in methods:
        told = one_line(method.description or "", 200)
        if getattr(method, "type", "") == "terminal":
            # The harness's own command, with these arguments, logs in.
            whole = (*command, *(getattr(method, "args", None) or ()))
            yield _("run `{command}`").format(command=shlex.join(whole))
        elif "`" in told:
            yield told


def _keys(methods: Sequence[AuthMethod]) -> Iterator[str]:
    for method in methods:
        names = [variable.name for variable in getattr(method, "vars", None) or ()]
        about = (method.field_meta or {}).get("api-key")
        if isinstance(about, dict):
            provider = cast("dict[str, object]", about).get("provider")
            names += filter(None, [_VARIABLES.get(str(provider))])
        if names:
            yield _("name {variables} in pass_env and set auth_method: {method}").format(
                variables=listed(names), method=method.id
            )
