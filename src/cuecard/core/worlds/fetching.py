"""Fetches web pages for an agent: never from the private network, and within limits of size, time and redirects."""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, urljoin, urlsplit

from cuecard import __version__
from cuecard.core.config_players import VisitConfig
from cuecard.core.worlds.blocking import BlockList
from cuecard.core.worlds.page_text import Format, decode, format_of

if TYPE_CHECKING:
    import socket

    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_URL_CHARS = 4000
# Networks that are not public, though not all versions of `ipaddress` know it.
_CLOSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.64.0.0/10",
        "168.63.129.16/32",  # the host of a virtual machine in one large cloud
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


class Forbidden(StrEnum):
    """Why an address is not fetched."""

    SCHEME = "scheme"
    MALFORMED = "malformed"
    CREDENTIALS = "credentials"
    PRIVATE = "private"
    BLOCKED = "blocked"


def check_url(url: str) -> SplitResult | Forbidden:
    """An http(s) address in its parts, or why it is not fetched.

    The host's name is not resolved here: that is done when the connection is made, and `is_public` then checks the
    resulting IP address.
    """
    if len(url) > _URL_CHARS or any(char.isspace() or not char.isprintable() for char in url):
        return Forbidden.MALFORMED
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return Forbidden.MALFORMED
    if parts.scheme not in ("http", "https"):
        return Forbidden.SCHEME
    if "@" in parts.netloc:
        return Forbidden.CREDENTIALS
    if not host or port == 0 or "\\" in url:
        return Forbidden.MALFORMED
    return parts


def is_public(address: str) -> bool:
    """Whether an IP address, as a resolver or a socket writes it, belongs to the public internet.

    An IPv6 address that stands for an IPv4 one (mapped, compatible, NAT64) is public only if both are; 6to4 and Teredo
    addresses never are. A text that is no address is not public.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_open(each) for each in _meant(parsed))


def _meant(address: _Address) -> list[_Address]:
    """The address and the IPv4 addresses within it; for a mapped one the IPv4 address alone."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _NAT64:
        return [last]
    inner: list[_Address] = [address]
    if address in _COMPATIBLE:
        inner.append(last)
    return inner


def _is_open(address: _Address) -> bool:
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not any(address in network for network in _CLOSED)
    )


MOST_REDIRECTS = 5
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MB = 1_000_000
_ACCEPT = "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5"


class FetchFailure(StrEnum):
    """Why there is no page."""

    STATUS = "status"
    REDIRECTS = "redirects"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    BROKEN = "broken"
    PDF = "pdf"
    BINARY = "binary"


class FetchError(Exception):
    """A page could not be fetched. `detail`: an HTTP status, a media type or a redirect's target."""

    def __init__(self, reason: FetchFailure | Forbidden, detail: str = "") -> None:
        super().__init__(reason.value, detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class Page:
    """A fetched page. `address`: after redirects. `cut`: the page is longer than the limit; the rest is left out."""

    address: str
    source: str
    format: Format
    cut: bool = False


class PageSource(Protocol):
    async def fetch(self, url: str) -> Page: ...

    async def close(self) -> None: ...


class _PrivateAddress(OSError):
    """A connection that leads into the own machine or network."""


class Fetcher:
    """Fetches pages within the limits of its configuration.

    The address is checked where the socket is made, so that it is the one really connected to,
    whatever a name resolved to before. Proxies of the environment are not used: behind a proxy
    nobody could check that. Cookies are not kept. `allowed` judges an IP address. Nothing is asked of
    addresses that `blocked` holds, nor where a redirect leads to one.
    """

    def __init__(
        self,
        config: VisitConfig,
        language: str = "en",
        resolver: AbstractResolver | None = None,
        allowed: Callable[[str], bool] = is_public,
        blocked: BlockList | None = None,
    ) -> None:
        self._config = config
        self._language = language
        self._resolver = resolver
        self._allowed = allowed
        self._blocked = blocked or BlockList(())
        self._session: ClientSession | None = None

    async def fetch(self, url: str) -> Page:
        """The page at `url`. Raises `FetchError`."""
        await asyncio.to_thread(importlib.import_module, "aiohttp")
        try:
            async with asyncio.timeout(self._config.timeout):
                return await self._follow(url)
        except TimeoutError as error:
            raise FetchError(FetchFailure.TIMEOUT, f"{self._config.timeout:g}") from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _follow(self, url: str) -> Page:
        for _hop in range(MOST_REDIRECTS + 1):
            parts = check_url(url)
            if isinstance(parts, Forbidden):
                raise FetchError(parts, url)
            if self._blocked.blocks(url):
                raise FetchError(Forbidden.BLOCKED, url)
            found = await self._get(url)
            if isinstance(found, Page):
                return found
            url = found
        raise FetchError(FetchFailure.REDIRECTS, str(MOST_REDIRECTS))

    async def _get(self, url: str) -> Page | str:
        """A page, or the address that the server names instead."""
        import aiohttp

        try:
            async with self._open().get(url, allow_redirects=False) as response:
                return await self._read(url, response)
        except aiohttp.InvalidURL as error:
            raise FetchError(Forbidden.MALFORMED, url) from error
        except (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch) as error:
            raise FetchError(FetchFailure.CERTIFICATE, url) from error
        except aiohttp.ClientConnectorError as error:
            private = isinstance(error.os_error, _PrivateAddress)
            raise FetchError(
                Forbidden.PRIVATE if private else FetchFailure.UNREACHABLE, url
            ) from error
        except TimeoutError as error:
            raise FetchError(FetchFailure.TIMEOUT, f"{self._config.timeout:g}") from error
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            raise FetchError(FetchFailure.BROKEN, url) from error

    async def _read(self, url: str, response: ClientResponse) -> Page | str:
        target = response.headers.get("Location", "")
        if response.status in _REDIRECTS and target:
            try:
                return urljoin(url, target)
            except ValueError as error:
                raise FetchError(Forbidden.MALFORMED, target) from error
        if response.status != 200:
            raise FetchError(FetchFailure.STATUS, str(response.status))
        declared = response.headers.get("Content-Type", "")
        if "application/pdf" in declared.lower():
            raise FetchError(FetchFailure.PDF)
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        body = bytearray()
        limit = int(self._config.max_mb * _MB)
        async for piece in _unpacked(response, encoding, limit):
            body += piece
            if len(body) > limit:
                break
        data = bytes(body[:limit])
        if data.startswith(b"%PDF-"):
            raise FetchError(FetchFailure.PDF)
        kind = format_of(declared, data)
        if kind is None:
            raise FetchError(FetchFailure.BINARY, declared.partition(";")[0].strip())
        source = await asyncio.to_thread(decode, data, declared)
        return Page(url, source, kind, cut=len(body) > limit)

    def _open(self) -> ClientSession:
        import aiohttp

        if self._session is None:
            connector = aiohttp.TCPConnector(
                resolver=self._resolver,
                # Caching DNS answers would save little: a host is rarely asked twice in a short time.
                use_dns_cache=False,
                socket_factory=None if self._config.private else self._socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                # Decompressed here, in pieces of bounded size.
                auto_decompress=False,
                trust_env=False,
                headers={
                    "User-Agent": f"Mozilla/5.0 (compatible; cuecard/{__version__})",
                    "Accept": _ACCEPT,
                    "Accept-Encoding": "gzip, deflate",
                    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"
                    if self._language == "zh"
                    else "en,*;q=0.5",
                },
            )
        return self._session

    def _socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """The socket for an address that a connection is about to be made to."""
        import socket

        family, kind, protocol = info[:3]
        host: object = info[4][0]
        if not (isinstance(host, str) and self._allowed(host)):
            raise _PrivateAddress("not a public address")
        return socket.socket(family, kind, protocol)


async def _unpacked(response: ClientResponse, encoding: str, limit: int) -> AsyncIterator[bytes]:
    """The decompressed body in pieces of at most `limit` + 1 bytes."""
    unpack = None
    if encoding in ("gzip", "x-gzip"):
        unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
    elif encoding not in ("", "identity", "deflate"):
        raise FetchError(FetchFailure.BINARY, encoding)
    async for piece in response.content.iter_any():
        if encoding == "deflate" and unpack is None:
            # `deflate` means data with a zlib header to some servers, and without one to others.
            headed = piece[:1] and piece[0] & 0x0F == 8
            unpack = zlib.decompressobj(zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)
        while piece:
            if unpack is None:
                yield piece
                break
            yield unpack.decompress(piece, limit + 1)
            piece = unpack.unconsumed_tail
            if unpack.eof:
                return
