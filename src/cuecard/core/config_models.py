"""What `cuecard.yaml` says of a model: its server and how it is reached, the key, and the fields of each request."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StringConstraints,
    model_validator,
)

from cuecard.core.config_players import BaseUrl, EnvName, extra_fields
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _, listed
from cuecard.core.secrets import guard, passwords_in, secret_fields
from cuecard.core.tasks.base import Frozen, Name

OPENAI_URL = "https://api.openai.com/v1"
_CALL_PATHS = ("/chat/completions", "/completions", "/responses", "/models")


class Price(Frozen):
    """The price of a model's tokens, per million, in the configuration's `currency`. `cached`: of prompt tokens that the
    server had cached; None: the same as others.
    """

    prompt: Annotated[float, Field(ge=0)]
    completion: Annotated[float, Field(ge=0)]
    cached: Annotated[float, Field(ge=0)] | None = None

    def of(self, usage: Usage) -> float:
        """The cost of a call with this usage."""
        cached = min(usage.cached, usage.prompt)
        rate = self.prompt if self.cached is None else self.cached
        fresh = (usage.prompt - cached) * self.prompt
        return (fresh + cached * rate + usage.completion * self.completion) / 1_000_000


class RateLimits(Frozen):
    """Limits on the calls of one model. `in_flight`: concurrent calls; the others are per minute, None for no limit."""

    in_flight: Annotated[int, Field(ge=1, le=4096)] = 64
    calls_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None


def _named_or_literal(text: str) -> str:
    """A text, or `$NAME` for the value of an environment variable (`$$` begins a text with a dollar)."""
    if not text.isprintable():
        raise ValueError(_("must be one line of printable characters"))
    if text.startswith("$") and not text.startswith("$$") and not text[1:].isidentifier():
        raise ValueError(_("after $ stands the name of an environment variable"))
    return text


CapturedRequest = Annotated[
    str, StringConstraints(strip_whitespace=True), AfterValidator(_named_or_literal)
]


class ModelConfig(Frozen):
    """One model behind an OpenAI-compatible server (docs/models.md).

    `api`: chat completions or responses. `base_url`: left out, that of `OPENAI_BASE_URL` or OpenAI's own, with the key in
    `OPENAI_API_KEY`. The key is in one of: the environment variable `api_key_env`, the file `api_key_file`, what
    `api_key_command` prints. `api_key_header`: the header that carries it; left out, `Authorization: Bearer KEY`, or
    `api-key` with `azure_api_version`, which makes the server one of Azure and `base_url` its endpoint. Values of
    `default_headers`, `default_query`, `organization`, `project` and `proxy` may be `$NAME`, a variable of the
    environment. `ca_file`, `client_cert`, `client_key`: PEM files.

    `timeout`: seconds to wait for the next piece of a streamed reply, or for a whole one; `total_timeout`: seconds that a
    call may take with all its attempts. `retries`: further attempts after a passing failure; `give_up_after`: this many
    calls in a row that failed so pause the run. `context`: the context length in tokens. `stream` `auto`: stream
    agents' replies, so that a long one is no time-out, and fetch others whole. `extra`: further fields of the request's JSON, sent as they are.
    """

    api: Literal["chat", "responses"] = "chat"
    base_url: BaseUrl
    model: Name
    api_key_env: EnvName = ""
    api_key_file: str = ""
    api_key_command: tuple[str, ...] = ()
    api_key_header: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]*$")] = ""
    organization: CapturedRequest = ""
    project: CapturedRequest = ""
    azure_api_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]*$")] = ""
    default_headers: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")], CapturedRequest] = {}
    default_query: dict[Name, CapturedRequest] = {}
    ca_file: str = ""
    client_cert: str = ""
    client_key: str = ""
    proxy: CapturedRequest = ""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    seed: int | None = None
    reasoning_effort: Name | None = None
    service_tier: Name | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 120
    total_timeout: Annotated[float, Field(gt=0, le=86400)] = 600
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 5
    context: Annotated[int, Field(ge=256)] = 256_000
    stream: Literal["auto", "always", "never"] = "auto"
    limits: RateLimits = RateLimits()
    price: Price | None = None
    extra: Annotated[dict[str, JsonValue], AfterValidator(extra_fields)] = {}
    _notes: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _mended(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Fills in the server that is meant where none is named, and shortens the address of a call to that of a server."""
        if not isinstance(data, dict):
            return handler(data)
        given = dict(cast(dict[str, Any], data))
        notes: tuple[str, ...] = ()
        if given.get("base_url") is None:
            given["base_url"] = os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
            if not any(given.get(source) for source in _KEY_SOURCES):
                given["api_key_env"] = "OPENAI_API_KEY"
        if isinstance(url := given["base_url"], str):
            bare = url.strip().rstrip("/")
            for path in _CALL_PATHS:
                if bare.endswith(path):
                    given["base_url"] = bare.removesuffix(path)
                    note = _("base_url is taken without its end {path}, which every call adds")
                    notes = (note.format(path=path),)
                    break
        made = handler(given)
        twice = [name for name in (*SAMPLING, *LENGTHS) if name in made.extra]
        if twice:
            note = _("{names} have fields of their own beside extra")
            notes = (*notes, note.format(names=listed(twice)))
        made._notes = notes
        return made

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if sum(bool(getattr(self, source)) for source in _KEY_SOURCES) > 1:
            raise ValueError(_("name one of {names}").format(names=listed(_KEY_SOURCES)))
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise ValueError(_("name one of {names}").format(names=listed(LENGTHS)))
        if self.client_key and not self.client_cert:
            raise ValueError(_("client_key belongs to a client_cert, which is missing"))
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What was mended in this entry, in sentences."""
        return self._notes

    @property
    def most_tokens(self) -> int | None:
        """Most tokens of one reply, under whichever name it is configured."""
        return self.max_completion_tokens or self.max_tokens

    def api_key(self) -> str:
        """The key from the environment or its file; "" if none is configured, or a command makes it.

        Raises `ConfigError` if it is missing or cannot be a key; its value is never shown.
        """
        if self.api_key_file:
            try:
                key = Path(self.api_key_file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(
                    _("A key is missing"),
                    _("the file {file} cannot be read: {reason}").format(
                        file=self.api_key_file, reason=getattr(error, "strerror", "") or error
                    ),
                ) from None
            return checked_key(key, _("the file {name}").format(name=self.api_key_file))
        if not self.api_key_env:
            return ""
        place = _("the environment variable {name}").format(name=self.api_key_env)
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ConfigError(
                _("A key is missing"),
                _("the environment variable {name} is not set").format(name=self.api_key_env),
                _("set it in the shell that starts cuecard"),
            )
        return checked_key(key, place, self.api_key_env)

    def auth_headers(self, key: str) -> dict[str, str]:
        """The header that carries `key`; none for ""."""
        if not key:
            return {}
        header = self.api_key_header or ("api-key" if self.azure_api_version else "Authorization")
        bearer = header.lower() == "authorization"
        return {header: f"Bearer {key}" if bearer else key}

    def headers_sent(self) -> dict[str, str]:
        """The headers of each request beside those for its form and its key. Raises `ConfigError`."""
        named = {"OpenAI-Organization": self.organization, "OpenAI-Project": self.project}
        sent = {name: resolved(text) for name, text in named.items() if text}
        return sent | {name: resolved(text) for name, text in self.default_headers.items()}

    def query_sent(self) -> dict[str, str]:
        """The query of each request's address. Raises `ConfigError`."""
        return {name: resolved(text) for name, text in self.default_query.items()}

    def proxy_url(self) -> str:
        """The proxy of its own, "" without one. Raises `ConfigError`."""
        return resolved(self.proxy)

    def secrets(self, environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What is secret in it, by the names that replace it."""
        references = (self.organization, self.project, self.proxy, *self.default_headers.values())
        for text in (f"${self.api_key_env}", *references, *self.default_query.values()):
            if text.startswith("$") and (value := environ.get(text[1:], "").strip()):
                yield text[1:], (value, *passwords_in(value))
        if values := passwords_in(self.proxy):
            yield "proxy", tuple(values)
        if fields := (*secret_fields(self.extra), *secret_fields(dict(self.default_headers))):
            yield "extra", fields


_KEY_SOURCES = ("api_key_env", "api_key_file", "api_key_command")
LENGTHS = ("max_tokens", "max_completion_tokens")
"""The fields for most tokens of a reply."""
SAMPLING = ("temperature", "top_p", "seed", "reasoning_effort", "service_tier")
"""Optional fields of a request under the names that chat completions use."""


def resolved(text: str, environ: Callable[[str], str | None] = os.environ.get) -> str:
    """The text, or the value of the environment variable that it names as `$NAME`. Raises `ConfigError` if it is unset."""
    if not text.startswith("$"):
        return text
    if text.startswith("$$"):
        return text[1:]
    if value := (environ(text[1:]) or "").strip():
        guard(text[1:], value, *passwords_in(value))
        return value
    raise ConfigError(
        _("A value is missing"),
        _("the environment variable {name} is not set").format(name=text[1:]),
        _("set it in the shell that starts cuecard"),
    )


def checked_key(key: str, place: str, name: str = "key") -> str:
    """The key from `place`, secret from now on under `name`. Raises `ConfigError` if it cannot be a key."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            _("A key cannot be used"),
            _("{place} holds blanks or unusual characters, or nothing").format(place=place),
            _("set it again, to the key alone"),
        )
    guard(name, key)
    return key
