"""Addresses that a web world keeps from agents: the homes of benchmarks, where tasks and gold are published."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from cuecard.core.errors import ConfigError
from cuecard.core.i18n import _, headed

HOMES = (
    "huggingface.co",
    "hf.co",
    "hf-mirror.com",
    "modelscope.cn",
    "modelscope.ai",
    "kaggle.com/datasets",
    "zenodo.org",
    "paperswithcode.com",
    r"re:^https?://(www\.)?(github\.com|raw\.githubusercontent\.com|gitlab\.com|gitee\.com)/[^/]+/[^/]*"
    r"(vibe-?search-?bench|wide-?search|disco-?bench|mind-?para-?world)",
    r"re:^https?://[^/]*(vibesearchbench|widesearch|discobench|paraworld)[^/]*\.(github|gitlab)\.io(/|$)",
)
"""Entries of `BlockList` for hosts that publish data, and for the homes of the benchmarks whose tasks run here."""

_PATTERN = "re:"
_LAYERS = 4
"""Addresses within addresses are followed this deep."""
_HOST = re.compile(r"(?:[\w-]+\.)+[^\W\d_][\w-]*\.?(?::\d+)?", re.UNICODE)
_CARRIERS = (
    "archive.org",
    "archive.is",
    "archive.li",
    "archive.md",
    "archive.ph",
    "archive.today",
    "archive.vn",
    "ghostarchive.org",
    "googleusercontent.com",
    "jina.ai",
    "translate.google.com",
    "12ft.io",
    "allorigins.win",
    "corsproxy.io",
)
"""Hosts that show the page whose address stands within their own."""
_TRANSLATED = ".translate.goog"


@dataclass(frozen=True)
class _Place:
    """An address to compare: its host as ASCII in lower case, its path's segments decoded, and the whole of it."""

    host: str
    segments: tuple[str, ...]
    whole: str


class BlockList:
    """Entries are hosts (`example.org`, with all below it), a host with the beginning of a path
    (`example.org/data`, whole segments), or `re:` and a regular expression that is searched in the whole address,
    decoded, whatever its case.

    Raises `ConfigError` for an entry that is none of these.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(dict.fromkeys(entries))
        self._hosts: list[tuple[str, _Place]] = []
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        for entry in self.entries:
            if entry.startswith(_PATTERN):
                try:
                    pattern = re.compile(entry.removeprefix(_PATTERN), re.IGNORECASE)
                except re.error as error:
                    raise _unusable(entry, str(error)) from error
                self._patterns.append((entry, pattern))
            elif (place := _place(_with_scheme(entry))) and "." in place.host:
                self._hosts.append((entry, place))
            else:
                raise _unusable(entry, _("it names no host"))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def blocks(self, address: str) -> str:
        """The entry that keeps this address from agents, also where it stands within the address of an archive, a
        cache, a reader or a translation; "" if none does.
        """
        return next((entry for place in _places(address) if (entry := self._entry(place))), "")

    def _entry(self, place: _Place) -> str:
        for entry, blocked in self._hosts:
            below = place.host == blocked.host or place.host.endswith("." + blocked.host)
            if below and place.segments[: len(blocked.segments)] == blocked.segments:
                return entry
        return next((e for e, pattern in self._patterns if pattern.search(place.whole)), "")


def _unusable(entry: str, why: str) -> ConfigError:
    return ConfigError(
        _("An address cannot be blocked"),
        headed(entry, why),
        _("give a host, a host with the beginning of a path, or re: and a regular expression"),
    )


def _with_scheme(address: str) -> str:
    return address if re.match(r"https?://", address, re.IGNORECASE) else f"https://{address}"


def _places(address: str, layers: int = _LAYERS) -> Iterator[_Place]:
    """The address itself, and those within it where its host shows the pages of others."""
    place = _place(address)
    if place is None:
        return
    yield place
    if not layers:
        return
    if place.host.endswith(_TRANSLATED):
        # Dots are written as one hyphen there, and hyphens as two.
        inner = place.host.removesuffix(_TRANSLATED).replace("--", "\0").replace("-", ".")
        yield from _places(
            "/".join((f"https://{inner}".replace("\0", "-"), *place.segments)), layers - 1
        )
    elif any(place.host == host or place.host.endswith("." + host) for host in _CARRIERS):
        for within in _within(address):
            yield from _places(within, layers - 1)


def _within(address: str) -> Iterator[str]:
    """What may be an address in the path or the query of another."""
    text = address
    for _layer in range(_LAYERS):
        _scheme, _slashes, rest = text.partition("://")
        for found in re.finditer(r"https?:/{1,2}", rest, re.IGNORECASE):
            yield "https://" + rest[found.end() :]
        for found in re.finditer(r"(?<=[/=:])" + _HOST.pattern + r"(?=[/?&#]|$)", rest):
            yield "https://" + rest[found.start() :]
        if (decoded := unquote(text)) == text:
            return
        text = decoded


def _place(address: str) -> _Place | None:
    parts = _parts(address)
    host = parts.hostname if parts else None
    if not parts or not host:
        return None
    host = unquote(host).rstrip(".").casefold()
    with suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    path = parts.path
    for _layer in range(_LAYERS):
        if (decoded := unquote(path)) == path:
            break
        path = decoded
    path = posixpath.normpath("/" + path.lstrip("/"))
    segments = tuple(part.casefold() for part in path.split("/") if part)
    query = f"?{unquote(parts.query)}" if parts.query else ""
    return _Place(host, segments, f"{parts.scheme}://{host}{path}{query}")


def _parts(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address.strip())
        return parts if parts.hostname else None
    except ValueError:
        return None
