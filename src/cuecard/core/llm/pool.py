"""The connections to model servers: kept alive, shared by all models of a hub."""

from __future__ import annotations

import asyncio
import importlib
from base64 import b64encode
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from cuecard import __version__
from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _

if TYPE_CHECKING:
    from aiohttp import ClientSession

_IDLE_SECONDS = 15.0
# Held until their loop ends: closing takes a while, which a loop does not grant to what is
# collected as garbage just before.
_LIVES: WeakKeyDictionary[asyncio.AbstractEventLoop, set[AsyncGenerator[ClientSession]]] = (
    WeakKeyDictionary()
)


class Pool:
    """One HTTP session, opened at the first call. `close` ends it, and so does the end of the event
    loop, so that nothing is left open where nobody thought of closing.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._life: AsyncGenerator[ClientSession] | None = None
        self._session: ClientSession | None = None

    async def session(self) -> ClientSession:
        """The session of the running loop."""
        session = self._session
        if session is not None and not session.closed and self._loop is _running():
            return session
        # Importing takes a fifth of a second: elsewhere than on the loop that others run on.
        await asyncio.to_thread(importlib.import_module, "aiohttp")
        if self._session is None or self._session.closed or self._loop is not _running():
            # No other task comes in between: `_live` opens the session before it first waits.
            self._loop, self._life = _running(), _live()
            _LIVES.setdefault(self._loop, set()).add(self._life)
            self._session = await anext(self._life)
        return self._session

    async def close(self) -> None:
        """End all connections. A later call opens new ones."""
        life, loop = self._life, self._loop
        self._life = self._session = self._loop = None
        if life is not None and loop is not None and loop is _running():
            _LIVES[loop].discard(life)
            await life.aclose()


def _running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _live() -> AsyncGenerator[ClientSession]:
    """A session for as long as this generator lives. A loop that ends closes its generators first."""
    import aiohttp

    # The gates limit the calls. Cookies would carry something from one trial into another.
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"cuecard/{__version__}"},
    )
    try:
        yield session
    finally:
        await session.close()


class Proxy(NamedTuple):
    """`url` without name and password, which `headers` hold."""

    url: str
    headers: dict[str, str]


def proxy_for(url: str) -> Proxy | None:
    """The proxy that the environment or the system names for `url`.

    aiohttp's own way (`trust_env`) would also look up the server in ~/.netrc, on a thread, at each
    call, and send what it finds. Raises `ConfigError` for a proxy that does not speak HTTP.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or proxy_bypass(parts.hostname or ""):
        return None
    proxy = urlsplit(found if "://" in found else f"http://{found}")
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise ConfigError(
            _("The proxy cannot be used"),
            _("the environment names a proxy of the kind {kind}").format(kind=proxy.scheme),
            _("name an HTTP proxy, or list the model's host in NO_PROXY"),
        )
    bare = urlunsplit((proxy.scheme, proxy.netloc.rpartition("@")[2], "", "", ""))
    if not proxy.username:
        return Proxy(bare, {})
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    # aiohttp makes Proxy-Authorization of it, for the proxy alone.
    return Proxy(bare, {"Authorization": f"Basic {b64encode(words.encode()).decode()}"})
