"""The `openai` client of one model, whose requests go over the shared aiohttp session with everything bounded.

Loaded at the first call, beside the event loop, because of its imports. httpx2, on which `openai` stands, reads a refusal
whole and keeps cookies; here a refusal's beginning is read in time, cookies are dropped, and redirects are refused.
"""

from __future__ import annotations

import asyncio
import io
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import httpx2
from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientOSError,
    ClientResponse,
    ClientTimeout,
    ServerDisconnectedError,
)
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    AsyncAzureOpenAI,
    AsyncOpenAI,
    AsyncStream,
    AuthenticationError,
    Omit,
)
from yarl import URL

from cuecard import __version__
from cuecard.core.config_models import checked_key
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _, headed, listed
from cuecard.core.llm.failures import CONNECT_SECONDS
from cuecard.core.llm.pool import Pool, proxy_for, socks_errors
from cuecard.core.secrets import scrub
from cuecard.core.text import one_line
from cuecard.core.validation import read_refusal

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from cuecard.core.config_models import ModelConfig

# aiohttp warns of larger bodies in one piece, which would hold up the loop.
_LARGE_BODY = 2**20
# What aiohttp does by itself: it says which packings it can undo, and undoes them up to a bound.
_ITS_OWN = frozenset({"host", "connection", "accept-encoding", "content-length"})
_UNPACKED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding", b"set-cookie"})
_ANSWER = "cuecard_answer"
_AT_ONCE_SECONDS = 0.5


@dataclass(frozen=True)
class Answer:
    """A server's answer. `body`: still to be read, None for a refusal, of which `said` is the beginning."""

    status: int
    headers: Mapping[str, str]
    body: ClientResponse | None = None
    said: bytes = b""

    @property
    def request_id(self) -> str:
        """The server's name for the request, "" if it has none."""
        found = (self.headers.get(name) for name in _REQUEST_IDS)
        return one_line(scrub(next(filter(None, found), "")), _MOST_ID)


class Connection:
    """Sends requests to one model's server through `openai`. `errors`: what `ask` raises, beside `OSError`. Raises
    `ConfigError` for certificates that cannot be read, proxies that cannot be used, and variables that are not set.
    """

    def __init__(self, config: ModelConfig, pool: Pool) -> None:
        proxy = proxy_for(config.base_url, config.proxy_url())
        route: dict[str, Any] = {}
        if proxy is not None and not proxy.socks:
            route |= {"proxy": proxy.url, "proxy_headers": proxy.headers}
        if tls := _tls(config):
            route["ssl"] = tls
        self.errors: tuple[type[Exception], ...] = (ClientError, APIError, httpx2.HTTPError)
        self._config = config
        self._command = KeyCommand(config.api_key_command) if config.api_key_command else None
        if proxy is not None and proxy.socks:
            self.errors = (*self.errors, *socks_errors())
        transport = Transport(lambda: pool.session(proxy), route, config.timeout)
        self._client = _client(config, httpx2.AsyncClient(transport=transport, trust_env=False))
        self._path = "/responses" if config.api == "responses" else "/chat/completions"

    async def key(self) -> str:
        """The key for the next request. Raises `ConfigError`."""
        return await self._command.key() if self._command else self._config.api_key()

    @asynccontextmanager
    async def ask(self, body: bytes | None, key: str) -> AsyncGenerator[Answer]:
        """The server's answer to one request, whose body can be read inside; without a `body`, to the question which
        models it has. Raises `errors` and `OSError`.
        """
        try:
            try:
                response = await self._send(body, key)
            except AuthenticationError:
                # A token that a command made may have run out.
                fresh = await self._command.anew(key) if self._command else key
                if fresh == key:
                    raise
                response = await self._send(body, fresh)
        except APIStatusError as refusal:
            given = refusal.response
            yield Answer(given.status_code, given.headers, said=given.content)
            return
        except APIConnectionError as error:
            # A certificate's error comes wrapped; aiohttp's own says more.
            raise (error.__cause__ or error) from None
        try:
            yield Answer(response.status_code, response.headers, response.extensions[_ANSWER])
        finally:
            await response.aclose()

    async def _send(self, body: bytes | None, key: str) -> httpx2.Response:
        how: dict[str, Any] = {
            "cast_to": httpx2.Response,
            "options": {"headers": {**_NO_AUTH, **self._config.auth_headers(key)}},
            "stream": True,
            "stream_cls": AsyncStream[object],
        }
        if body is None:
            return cast(httpx2.Response, await self._client.get("/models", **how))
        # `.create` would build models of the answer, which costs more than the rest of the call.
        return cast(httpx2.Response, await self._client.post(self._path, content=body, **how))


_KEY_SECONDS = 300.0
_COMMAND_SECONDS = 60.0


class KeyCommand:
    """The key that a command prints, for five minutes or until a server refuses it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._key = ""
        self._until = 0.0
        self._lock = asyncio.Lock()

    async def key(self) -> str:
        """Raises `ConfigError` if the command fails; what it printed is never shown."""
        async with self._lock:
            if monotonic() >= self._until:
                self._key = checked_key(await self._run(), _("what api_key_command prints"))
                self._until = monotonic() + _KEY_SECONDS
        return self._key

    async def anew(self, refused: str) -> str:
        """A key made after `refused`, which a server did not take. Raises as `key`."""
        if refused == self._key:
            self._until = 0.0
        return await self.key()

    async def _run(self) -> str:
        reason = ""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
        else:
            try:
                async with asyncio.timeout(_COMMAND_SECONDS):
                    printed, trouble = await process.communicate()
                if process.returncode == 0:
                    return printed.decode("utf-8", "replace").strip()
                said = one_line(scrub(trouble.decode("utf-8", "replace")), 200)
                reason = _("it ended with code {n}: {words}").format(
                    n=process.returncode, words=said or "-"
                )
            except TimeoutError:
                reason = _("it did not end within {n} seconds").format(n=f"{_COMMAND_SECONDS:g}")
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        raise ConfigError(
            _("A key is missing"),
            headed(self._command[0], reason),
            _("run api_key_command in a shell: it must print the key alone"),
        )


_REQUEST_IDS = (
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-ms-request-id",
    "x-litellm-call-id",
)
_MOST_ID = 100
_NO_AUTH: dict[str, Any] = {"Authorization": Omit(), "api-key": Omit()}


def _client(config: ModelConfig, http: httpx2.AsyncClient) -> AsyncOpenAI:
    # These variables are read by `openai` and meant for its own server. Here an entry asks for what it sends.
    ambient = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    headers: dict[str, Any] = {line.partition(":")[0].strip(): Omit() for line in ambient}
    headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    headers |= {"User-Agent": f"cuecard/{__version__}", "Content-Type": "application/json"}
    headers |= {"Accept": "application/json, text/event-stream", **config.headers_sent()}
    # Keys are in the headers of each request, never in the client.
    shared: dict[str, Any] = {
        "api_key": "-",
        "max_retries": 0,
        "timeout": config.timeout,
        "default_headers": headers,
        "default_query": config.query_sent() or None,
        "http_client": http,
    }
    if config.azure_api_version:
        return AsyncAzureOpenAI(
            azure_endpoint=config.base_url,
            # The other API has no address for each deployment.
            azure_deployment=config.model if config.api == "chat" else None,
            api_version=config.azure_api_version,
            **shared,
        )
    return AsyncOpenAI(base_url=config.base_url, **shared)


def _tls(config: ModelConfig) -> ssl.SSLContext | None:
    """None: the system's certificates. One's own are trusted beside those."""
    if not (config.ca_file or config.client_cert):
        return None
    context = ssl.create_default_context()
    try:
        if config.ca_file:
            context.load_verify_locations(config.ca_file)
        if config.client_cert:
            context.load_cert_chain(config.client_cert, config.client_key or None)
    except (OSError, ssl.SSLError) as error:
        files = listed(filter(None, (config.ca_file, config.client_cert, config.client_key)))
        raise ConfigError(
            _("A certificate cannot be read"),
            headed(files, error),
            _("the files hold PEM; a key with a password cannot be used"),
        ) from error
    return context


class Transport(httpx2.AsyncBaseTransport):
    """httpx2's requests over an aiohttp session. `route`: arguments of each request (proxy, certificates). `patience`:
    seconds of the call's time-out. What aiohttp raises is not translated: it tells more.
    """

    def __init__(
        self,
        session: Callable[[], Awaitable[ClientSession]],
        route: dict[str, Any],
        patience: float,
    ) -> None:
        self._session = session
        self._route = route
        self._patience = patience
        self._timeout = ClientTimeout(
            total=None, connect=CONNECT_SECONDS, sock_connect=CONNECT_SECONDS
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        kept, began = list[str](), monotonic()
        try:
            answer = await self._sent(request, kept)
        except (ClientOSError, ServerDisconnectedError) as error:
            # llama.cpp closes a connection after each stream, and others after some idle seconds, in the moment in which it
            # may be used again. What was never read is sent anew; what breaks later was read, and may be charged.
            late = monotonic() - began > _AT_ONCE_SECONDS
            if late or not kept or isinstance(error, ClientConnectorError):
                raise
            answer = await self._sent(request, kept)
        headers = [(k, v) for k, v in answer.raw_headers if k.lower() not in _UNPACKED]
        if answer.status // 100 == 2:
            stream = _Body(answer)
            return httpx2.Response(
                answer.status, headers=headers, stream=stream, extensions={_ANSWER: answer}
            )
        async with answer:
            said = await read_refusal(answer, self._patience)
        return httpx2.Response(answer.status, headers=headers, content=said)

    async def _sent(self, request: httpx2.Request, kept: list[str]) -> ClientResponse:
        """The answer's beginning. `kept` grows if the connection had been used before."""
        session, body = await self._session(), request.content
        return await session.request(
            request.method,
            URL(str(request.url), encoded=True),
            data=body if len(body) < _LARGE_BODY else io.BytesIO(body),
            headers=[(k, v) for k, v in request.headers.multi_items() if k not in _ITS_OWN],
            timeout=self._timeout,
            # A redirect would carry the key to wherever it points.
            allow_redirects=False,
            trace_request_ctx=kept,
            **self._route,
        )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.content.iter_any():
            yield piece

    async def aclose(self) -> None:
        await self._answer.__aexit__(None, None, None)
