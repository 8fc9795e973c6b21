"""The HTTP sessions that all models of a run share, and the proxies on the way to their servers."""

from __future__ import annotations

import asyncio
import importlib
from base64 import b64encode
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from cuecard import __version__
from cuecard.core.errors import ConfigError, install_hint
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from aiohttp import ClientSession, TCPConnector, TraceConfig

# llama.cpp, uvicorn (LiteLLM, vLLM) and Node close a connection that rests for five.
_IDLE_SECONDS = 4.0
# Kept until their loop ends, since a session that is garbage-collected just before would not be closed in time.
_LIVES: WeakKeyDictionary[asyncio.AbstractEventLoop, set[AsyncGenerator[ClientSession]]] = (
    WeakKeyDictionary()
)


class Proxy(NamedTuple):
    """A proxy. `url`: without name and password, which are in `headers`, but with them if it speaks SOCKS."""

    url: str
    headers: dict[str, str]
    socks: bool = False


class Pool:
    """HTTP sessions, each opened at its first call: one for all servers, and one for each SOCKS proxy. `close` closes them,
    and so does the end of the event loop, in case nobody called `close`.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: dict[str, tuple[AsyncGenerator[ClientSession], ClientSession]] = {}

    async def session(self, proxy: Proxy | None = None) -> ClientSession:
        """The session of the running loop."""
        socks = proxy.url if proxy is not None and proxy.socks else ""
        known = self._open.get(socks)
        if known is not None and not known[1].closed and self._loop is _running():
            return known[1]
        # Imported in a thread: it takes a fifth of a second, during which the event loop would stand still.
        await asyncio.to_thread(importlib.import_module, "aiohttp")
        if self._loop is not _running():
            self._loop, self._open = _running(), {}
        known = self._open.get(socks)
        if known is None or known[1].closed:
            # No other task comes in between: `_live` opens the session before it first waits.
            life = _live(socks)
            self._open[socks] = known = (life, await anext(life))
            _LIVES.setdefault(_running(), set()).add(life)
        return known[1]

    async def close(self) -> None:
        """End all connections. A later call opens new ones."""
        loop, opened = self._loop, self._open
        self._loop, self._open = None, {}
        if loop is not None and loop is _running():
            for life, _session in opened.values():
                _LIVES[loop].discard(life)
                await life.aclose()


def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


# Names are looked up by the proxy, as its users expect: that is often why they have one.
_SOCKS = {"socks5": "socks5", "socks5h": "socks5", "socks4": "socks4", "socks4a": "socks4"}


def _connector(socks: str) -> TCPConnector:
    import aiohttp

    if not socks:
        return aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS)
    from aiohttp_socks import ProxyConnector

    return ProxyConnector.from_url(socks, limit=0, keepalive_timeout=_IDLE_SECONDS, rdns=True)


def socks_errors() -> tuple[type[Exception], ...]:
    """What connecting by a SOCKS proxy raises beside other errors. Raises `ConfigError` if the package for it is missing."""
    try:
        from aiohttp_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError
    except ImportError:
        raise ConfigError(
            _("The proxy cannot be used"),
            _("for SOCKS a further package is needed"),
            install_hint("socks"),
        ) from None
    return (ProxyError, ProxyConnectionError, ProxyTimeoutError)


def _reuse_trace() -> TraceConfig:
    """Adds a word to the list given as `trace_request_ctx` of a request whose connection was used before."""
    import aiohttp

    async def reused(_session: ClientSession, context: SimpleNamespace, _params: object) -> None:
        if context.trace_request_ctx is not None:
            context.trace_request_ctx.append("reused")

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(reused)
    return trace


async def _live(socks: str) -> AsyncGenerator[ClientSession]:
    """A session that lives as long as this generator. An event loop that ends closes its generators first."""
    import aiohttp

    # The limiters limit the calls. Without cookies, since they would carry state from one trial to another.
    session = aiohttp.ClientSession(
        connector=_connector(socks),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"cuecard/{__version__}"},
        trace_configs=[_reuse_trace()],
    )
    try:
        yield session
    finally:
        await session.close()


def proxy_for(url: str, named: str = "") -> Proxy | None:
    """The proxy on the way to `url`: the one that is `named`, else that of the environment or the system.

    aiohttp's own way (`trust_env`) would also look up the server in ~/.netrc, on a thread, at each
    call, and send what it finds. Raises `ConfigError` for a proxy that speaks neither HTTP nor SOCKS.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    found = named
    if not named:
        proxies = getproxies()
        found = proxies.get(parts.scheme) or proxies.get("all") or ""
        if not found or proxy_bypass(parts.hostname or ""):
            return None
    found = found if "://" in found else f"http://{found}"
    proxy = urlsplit(found)
    if proxy.scheme in _SOCKS and proxy.hostname:
        return Proxy(urlunsplit(proxy._replace(scheme=_SOCKS[proxy.scheme])), {}, socks=True)
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise ConfigError(
            _("The proxy cannot be used"),
            _("a proxy of the kind {kind} is named").format(kind=proxy.scheme),
            _("name an HTTP or SOCKS proxy, or list the model's host in NO_PROXY"),
        )
    bare = urlunsplit((proxy.scheme, proxy.netloc.rpartition("@")[2], "", "", ""))
    if not proxy.username:
        return Proxy(bare, {})
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    # aiohttp makes Proxy-Authorization of it, for the proxy alone.
    return Proxy(bare, {"Authorization": f"Basic {b64encode(words.encode()).decode()}"})
