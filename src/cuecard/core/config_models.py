"""What `cuecard.yaml` can say: models, and the players made from them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen, Name

PromptName = Literal[
    "react",
    "react_checkpoints",
    "conclude_graph",
    "conclude_table",
    "conclude_checkpoints",
    "conclude_facts",
]
_PLAYER_NAME = re.compile(r"[\w.\-]{1,60}")
_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# What the client itself puts into a request, and what belongs into the environment.
_RESERVED = {"model", "messages", "tools", "stream", "stream_options", "api_key", "authorization"}


def _player_name(value: str) -> str:
    if not _PLAYER_NAME.fullmatch(value):
        raise ValueError(_("a name may hold letters, digits, '.', '-' and '_', at most 60 of them"))
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


def _extra(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    for key in value:
        if key.lower() in _RESERVED:
            raise ValueError(_("must not set {key}").format(key=key))
    return dict(value)


PlayerName = Annotated[str, AfterValidator(_player_name)]
BaseUrl = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_base_url)]
EnvName = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_env_name)]


class ModelConfig(Frozen):
    """One OpenAI-compatible endpoint and model.

    `api_key_env` names the environment variable that holds the key; without it no key is sent.
    `timeout`: seconds to wait for the next piece of a reply. `retries`: further attempts after a
    failure that may pass. `extra`: further fields of the request's JSON, sent as they are.
    """

    base_url: BaseUrl
    model: Name
    api_key_env: EnvName = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 120
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    extra: Annotated[dict[str, JsonValue], AfterValidator(_extra)] = {}

    def api_key(self) -> str:
        """The key from the environment, or "" where none is wanted.

        Raises `ConfigError` if the variable is unset or cannot be a key; its value is never told.
        """
        if not self.api_key_env:
            return ""
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ConfigError(
                _("A key is missing"),
                _("the environment variable {name} is not set").format(name=self.api_key_env),
                _("set it in the shell that starts cuecard"),
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigError(
                _("A key cannot be used"),
                _("the environment variable {name} holds blanks or unusual characters").format(
                    name=self.api_key_env
                ),
                _("set it again, to the key alone"),
            )
        return key


class OfflineAgentConfig(Frozen):
    """The embedded agent: deterministic, without a model. A baseline."""

    kind: Literal["offline"] = "offline"


class ReactAgentConfig(Frozen):
    """An agent on a model that reasons, calls tools and talks.

    `max_steps`: model calls per turn. `prompts`: files that replace the embedded prompts, read
    relative to the configuration file.
    """

    kind: Literal["react"] = "react"
    model: Name
    max_steps: Annotated[int, Field(ge=1, le=200)] = 20
    prompts: dict[PromptName, Name] = {}


AgentConfig = Annotated[OfflineAgentConfig | ReactAgentConfig, Field(discriminator="kind")]


class ScriptedUserConfig(Frozen):
    """The embedded user: follows the persona's stages by testable cues. A baseline."""

    kind: Literal["scripted"]


class ClosedWorldConfig(Frozen):
    """The embedded world: answers searches from the task's gold alone. A baseline."""

    kind: Literal["closed"]


class LexicalJudgeConfig(Frozen):
    """The embedded judge: normalised and fuzzy matching. A baseline."""

    kind: Literal["lexical"]


class Config(Frozen):
    """Everything by name. The embedded players are always there under their own names."""

    models: dict[PlayerName, ModelConfig] = {}
    agents: dict[PlayerName, AgentConfig] = {}
    users: dict[PlayerName, ScriptedUserConfig] = {}
    worlds: dict[PlayerName, ClosedWorldConfig] = {}
    judges: dict[PlayerName, LexicalJudgeConfig] = {}

    def agent(self, name: str) -> AgentConfig:
        """Raises `ConfigError` that lists the known agents."""
        if name in self.agents:
            return self.agents[name]
        raise ConfigError(
            _("Unknown agent"),
            name,
            _("known agents: {names}").format(names=", ".join(self.agents) or "-"),
        )

    def model(self, name: str) -> ModelConfig:
        """Raises `ConfigError` that lists the known models."""
        if name in self.models:
            return self.models[name]
        raise ConfigError(
            _("Unknown model"),
            name,
            _("known models: {names}").format(names=", ".join(self.models) or "-"),
        )
