"""What `cuecard.yaml` can say: models, and the players made from them."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from cuecard.core.config_agents import AgentConfig
from cuecard.core.config_fields import (
    PERSON,
    AgentName,
    BaseUrl,
    EnvName,
    PlayerName,
    extra_fields,
)
from cuecard.core.config_play import PlayConfig
from cuecard.core.config_players import JudgeConfig, UserConfig, WorldConfig
from cuecard.core.config_review import QcConfig, ReviewConfig
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _
from cuecard.core.parts import Usage
from cuecard.core.scrubbing import guard
from cuecard.core.tasks.base import Frozen, Name


class Price(Frozen):
    """What a model's tokens cost, per million. `cached`: of prompt tokens that the server had cached;
    without it they cost as much as others.
    """

    prompt: Annotated[float, Field(ge=0)]
    completion: Annotated[float, Field(ge=0)]
    cached: Annotated[float, Field(ge=0)] | None = None

    def of(self, usage: Usage) -> float:
        """What a call with this usage costs."""
        cached = min(usage.cached, usage.prompt)
        rate = self.prompt if self.cached is None else self.cached
        fresh = (usage.prompt - cached) * self.prompt
        return (fresh + cached * rate + usage.completion * self.completion) / 1_000_000


class RateLimits(Frozen):
    """`in_flight`: calls at the same time. The others are per minute; None means no limit."""

    in_flight: Annotated[int, Field(ge=1, le=4096)] = 64
    calls_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None


class ModelConfig(Frozen):
    """One OpenAI-compatible endpoint and model.

    `api_key_env` names the environment variable that holds the key; without it no key is sent.
    `timeout`: seconds to wait for a further word of a streamed reply, or for a whole one; `total_timeout`:
    seconds that a call may take with all its attempts, however it goes on. `retries`: further attempts after a failure that may pass; `give_up_after` calls in a row that failed so pause
    the run. `context`: tokens that the model can read. `stream` `auto`: only where somebody looks on.
    `extra`: further fields of the request's JSON, sent as they are.
    """

    base_url: BaseUrl
    model: Name
    api_key_env: EnvName = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 120
    total_timeout: Annotated[float, Field(gt=0, le=86400)] = 600
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 5
    context: Annotated[int, Field(ge=256)] = 256_000
    stream: Literal["auto", "always", "never"] = "auto"
    limits: RateLimits = RateLimits()
    price: Price | None = None
    extra: Annotated[dict[str, JsonValue], AfterValidator(extra_fields)] = {}

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
        guard(self.api_key_env, key)
        return key


class AuthoringConfig(Frozen):
    """Who helps authors. `model`: a name from `models`; "" for the first one."""

    model: str = ""


class Config(Frozen):
    """Everything by name. The embedded players are always there under their own names.

    `prompts`: a folder whose `NAME.LANGUAGE.md` files replace embedded prompts, for all players.
    `guidelines`: a Markdown file that authors see instead of the embedded guidelines. `currency`: of
    all prices.
    """

    models: dict[PlayerName, ModelConfig] = {}
    agents: dict[AgentName, AgentConfig] = {}
    users: dict[PlayerName, UserConfig] = {}
    worlds: dict[PlayerName, WorldConfig] = {}
    judges: dict[PlayerName, JudgeConfig] = {}
    authoring: AuthoringConfig = AuthoringConfig()
    review: ReviewConfig = ReviewConfig()
    qc: QcConfig = QcConfig()
    play: PlayConfig = PlayConfig()
    prompts: str = ""
    guidelines: str = ""
    currency: str = "USD"

    @property
    def author_model(self) -> str:
        """The name of the model that helps authors; "" where there is no model at all."""
        return self.authoring.model or next(iter(self.models), "")

    def agent(self, name: str) -> AgentConfig:
        """Raises `ConfigError` that lists the known agents. `person` is none of them: see `core.seats`."""
        if name in self.agents:
            return self.agents[name]
        if name == PERSON:
            raise ConfigError(
                _("A person plays only in live sessions"),
                _("The agent {name} cannot play by itself.").format(name=name),
                _("Choose it when you begin to play a task yourself."),
            )
        known = _("known agents: {names}").format(names=", ".join(self.agents) or "-")
        raise ConfigError(_("Unknown agent"), name, known)

    def user(self, name: str) -> UserConfig:
        """Raises `ConfigError` that lists the known users."""
        if name in self.users:
            return self.users[name]
        known = _("known users: {names}").format(names=", ".join(self.users) or "-")
        raise ConfigError(_("Unknown user"), name, known)

    def world(self, name: str) -> WorldConfig:
        """Raises `ConfigError` that lists the known worlds."""
        if name in self.worlds:
            return self.worlds[name]
        known = _("known worlds: {names}").format(names=", ".join(self.worlds) or "-")
        raise ConfigError(_("Unknown world"), name, known)

    def judge(self, name: str) -> JudgeConfig:
        """Raises `ConfigError` that lists the known judges."""
        if name in self.judges:
            return self.judges[name]
        known = _("known judges: {names}").format(names=", ".join(self.judges) or "-")
        raise ConfigError(_("Unknown judge"), name, known)

    def model(self, name: str) -> ModelConfig:
        """Raises `ConfigError` that lists the known models."""
        if name in self.models:
            return self.models[name]
        known = _("known models: {names}").format(names=", ".join(self.models) or "-")
        raise ConfigError(_("Unknown model"), name, known)
