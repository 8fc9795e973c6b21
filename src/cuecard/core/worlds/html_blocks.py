"""Splits an HTML page into blocks of text, in linear time for any input."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from cuecard.core.text import storable

_PIECE = 16_384
# Nothing nested deeper is read, nor what follows it: libxml2 compares every end tag with all open elements, which would take
# hours for a page that opens a million. Browsers nest no deeper than 512.
_DEEPEST = 1_000


class Target(Protocol):
    """What is told of a page. Elements begin and end in pairs, those too whose tags the page leaves out.
    `depth`: how many are open.
    """

    @property
    def depth(self) -> int: ...

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...

    def close(self) -> None: ...


def parse(source: str, target: Target) -> None:
    """Tell `target` what stands in an HTML page."""
    etree: Any = import_module("lxml.etree")
    data = storable(source).encode()
    parser: Any = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    # In pieces, because libxml2 cannot be stopped within one.
    for start in range(0, len(data), _PIECE):
        parser.feed(data[start : start + _PIECE])
        if target.depth > _DEEPEST:
            return
    with suppress(etree.XMLSyntaxError):  # There was no element.
        parser.close()


@dataclass
class Texts:
    """The target of a page whose text alone matters."""

    depth: int = 0
    pieces: list[str] = field(default_factory=list[str])

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1

    def end(self, tag: str) -> None:
        self.depth -= 1

    def data(self, text: str) -> None:
        self.pieces.append(text)

    def close(self) -> None: ...


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INLINE = _names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rb ruby"
    " rp rt s samp small span strike strong sub sup time tt u var wbr script style template noscript"
)
_SKIPPED = _names(
    "script style template svg math iframe object embed canvas audio video noscript select datalist"
    " button textarea head map noembed noframes xmp dialog"
)
_FRAME = _names("nav aside footer form menu")
_MAIN = _names("main article")
_FRAME_ROLES = _names("navigation banner contentinfo complementary search menu menubar")
_HEADINGS = {f"h{n}": "#" * n for n in range(1, 7)}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_MOST_BLOCKS = 50_000


@dataclass(frozen=True)
class Link:
    text: str
    target: str


@dataclass(frozen=True)
class Block:
    """A block of text. `frame`: within navigation, a footer or the like; `main`: within the element that the page marks
    as its main part; `linked`: how many of its characters belong to links; `mark`: `#` for a heading, `-` for an item.
    """

    text: str
    mark: str
    heading: bool
    frame: bool
    main: bool
    linked: int
    links: tuple[Link, ...]

    @property
    def line(self) -> str:
        return f"{self.mark} {self.text}" if self.mark else self.text


@dataclass
class Blocks:
    title: str = ""
    base: str = ""
    blocks: list[Block] = field(default_factory=list["Block"])


@dataclass(frozen=True)
class _Open:
    name: str
    skipped: bool
    frame: bool
    main: bool


@dataclass
class _Reader:
    found: Blocks = field(default_factory=Blocks)
    open: list[_Open] = field(default_factory=list[_Open])
    pieces: list[str] = field(default_factory=list[str])
    titling: bool = False
    mark: str = ""
    heading: bool = False
    row: bool = False
    pre: int = 0
    linked: int = 0
    links: list[Link] = field(default_factory=list[Link])
    target: str | None = None
    anchor: list[str] = field(default_factory=list[str])

    @property
    def top(self) -> _Open:
        return self.open[-1] if self.open else _Open("", skipped=False, frame=False, main=False)

    @property
    def depth(self) -> int:
        return len(self.open)

    def data(self, text: str) -> None:
        top = self.top
        if top.name == "title":
            self.found.title += text if self.titling else ""
        elif not top.skipped:
            self.pieces.append(text)
            if self.target is not None:
                self.anchor.append(text)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        top = self.top
        if tag == "base" and not self.found.base:
            self.found.base = attributes.get("href", "")
        if tag == "title":  # A picture's (SVG) is none of the page.
            self.titling = not self.found.title and (top.name == "head" or not top.skipped)
        if tag not in _INLINE:
            self._break(tag)
        elif tag == "a" and not top.skipped:
            self._end_link()
            self.target = attributes.get("href", "")
        role = attributes.get("role", "").lower()
        main = tag in _MAIN or role in ("main", "article")
        self.open.append(
            _Open(
                tag,
                skipped=top.skipped or tag in _SKIPPED or _is_hidden(attributes),
                frame=(top.frame and not main)
                or tag in _FRAME
                or role in _FRAME_ROLES
                or (tag == "header" and not top.main),
                main=top.main or main,
            )
        )

    def end(self, tag: str) -> None:
        if tag == "a":
            self._end_link()
        if tag not in _INLINE and tag != "br":
            self._break("", ending=tag)
        self.open.pop()

    def close(self) -> None: ...

    def _break(self, name: str, ending: str = "") -> None:
        """Handle a tag that ends a block and may determine what the next block is."""
        if name == "br" and self.pre:
            self.pieces.append("\n")
            return
        if self.row and (name in ("td", "th") or ending in ("td", "th", "p", "div")):
            # The cells of a row form one line, even if they contain paragraphs.
            self.pieces.append(" | " if name else " ")
            return
        if self.row and name in ("p", "div", "br", "ul", "li"):
            self.pieces.append(" ")
            return
        if self.flush() or name not in ("p", "div"):
            self.mark = _HEADINGS.get(name, "-" if name == "li" else "")
            self.heading = name in _HEADINGS
        self.row = name == "tr"
        if name == "pre":
            self.pre += 1
        elif ending == "pre":
            self.pre = max(0, self.pre - 1)

    def _end_link(self) -> None:
        if self.target is None:
            return
        text = _SPACES.sub(" ", "".join(self.anchor)).strip()
        if text:
            self.linked += len(text)
            self.links.append(Link(text, self.target))
        self.target, self.anchor = None, []

    def flush(self) -> bool:
        """End the block; returns whether it held anything."""
        if not self.pieces:
            return False
        target = self.target
        self._end_link()
        self.target = target  # A link may go on in the next block.
        raw, self.pieces = "".join(self.pieces), []
        text = raw.strip("\n") if self.pre else _SPACES.sub(" ", raw).strip(" |")
        links, self.links = tuple(self.links), []
        linked, self.linked = self.linked, 0
        if not text.strip():
            return False
        if len(self.found.blocks) < _MOST_BLOCKS:
            top = self.top
            self.found.blocks.append(
                Block(text, self.mark, self.heading, top.frame, top.main, linked, links)
            )
        return True


def read_blocks(source: str) -> Blocks:
    """Title, base address and blocks of a page, in order; what a browser would not show is left out."""
    reader = _Reader()
    parse(source, reader)
    reader.flush()
    return reader.found


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    return (
        attributes.get("hidden", "until-found") != "until-found"
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None
    )
