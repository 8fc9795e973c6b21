"""The kinds of values that `cuecard.yaml` holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, JsonValue, StringConstraints

from cuecard.core.i18n import _

PERSON = "person"
"""The name under which a person plays the agent; see `core.agents.person`."""

_PLAYER_NAME = re.compile(r"[\w.\-]{1,60}")
_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# What the client itself puts into a request, and what belongs into the environment.
_RESERVED = {"model", "messages", "tools", "stream", "stream_options", "api_key", "authorization"}


def _player_name(value: str) -> str:
    if not _PLAYER_NAME.fullmatch(value):
        raise ValueError(_("a name may hold letters, digits, '.', '-' and '_', at most 60 of them"))
    return value


def _agent_name(value: str) -> str:
    if value == PERSON:
        raise ValueError(_("{name} is the name under which people play").format(name=value))
    return value


def _base_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(char.isspace() for char in value):
        raise ValueError(_("must be a web address such as http://127.0.0.1:8080/v1"))
    if any(char in value for char in "@?#"):
        raise ValueError(_("must hold neither a password nor a query; keys come from api_key_env"))
    return value.rstrip("/")


def _env_name(value: str) -> str:
    # Capitals only: most keys hold small letters, so a pasted key is refused instead of shown later.
    if value and not _ENV_NAME.fullmatch(value):
        raise ValueError(
            _("must be the name of an environment variable, in capitals, never the key itself")
        )
    return value


def extra_fields(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    for key in value:
        if key.lower() in _RESERVED:
            raise ValueError(_("must not set {key}").format(key=key))
    return dict(value)


PlayerName = Annotated[str, AfterValidator(_player_name)]
AgentName = Annotated[str, AfterValidator(_player_name), AfterValidator(_agent_name)]
BaseUrl = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_base_url)]
EnvName = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_env_name)]
EnvNames = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(map(_env_name, names)))]
