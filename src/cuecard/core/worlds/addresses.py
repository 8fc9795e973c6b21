"""Which addresses of the internet may be fetched for an agent."""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_URL_CHARS = 4000
# Not for the public, or not by all versions of `ipaddress` known as such.
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


def check_url(url: str) -> SplitResult | Forbidden:
    """An http(s) address in its parts, or why it is not fetched.

    Where it leads is not looked at here: names are resolved when the connection is made, and
    `is_public` judges what they resolve to.
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

    An IPv6 address that stands for an IPv4 one (mapped, compatible, NAT64) is as public as both; 6to4
    and Teredo, which nobody should need any more, never are. What is no address is not public.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_open(each) for each in _meant(parsed))


def _meant(address: _Address) -> list[_Address]:
    """The address, and the IPv4 addresses within it; a mapped one stands for nothing else."""
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
