"""Splits an HTML page into blocks of text, in linear time for any input."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_TAG = re.compile(r"<(/?)([A-Za-z][^\s/><\x00]{0,60}+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_BARE_TAG = re.compile(r"<(/?)([A-Za-z][^\s/><\x00]{0,60}+)([^>]*+)>")
_ATTRIBUTE = re.compile(
    r"([^\s\"'>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'=<>`]++)))?"
)
_ATTRIBUTES_CHARS = 4000
_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{7,}+);?")
_RAW = {
    name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp")
}


class Tag(NamedTuple):
    """A tag. `name`: in lower case; `raw`: its attributes, not parsed."""

    name: str
    closing: bool
    raw: str

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes by lower-case name; of several with the same name the first."""
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.raw[:_ATTRIBUTES_CHARS]):
            value = match[2] or match[3] or match[4] or ""
            found.setdefault(match[1].lower(), unescape(value))
        return found


def unescape(text: str) -> str:
    """The text with character references resolved; numbers that are no character stay as they are."""
    if "&" not in text:
        return text
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def scan(source: str, *, xml: bool = False) -> Iterator[str | Tag]:
    """Texts (with character references resolved) and tags, in order.

    Comments, declarations and, in HTML, the contents of scripts and styles are left out. A tag that is never closed by
    `>` swallows what follows it, as in a browser.
    """
    position, pattern = 0, _TAG
    while position < len(source):
        start = source.find("<", position)
        if start < 0:
            yield unescape(source[position:])
            return
        if start > position:
            yield unescape(source[position:start])
        follows = source[start + 1 : start + 2]
        if follows in ("!", "?"):
            cdata = source.startswith("<![CDATA[", start)
            if cdata:
                end = source.find("]]>", start)
                yield source[start + 9 : end if end >= 0 else None]
            position = _after_declaration(source, start, cdata=cdata)
            continue
        match = pattern.match(source, start)
        if match is None:
            if not (follows.isalpha() and follows.isascii()) and follows != "/":
                yield "<"
                position = start + 1
                continue
            if pattern is _BARE_TAG:
                # There is no further end of a tag, so that searching again is useless.
                end = source.find(">", start)
                if end < 0:
                    return
                position = end + 1
                continue
            # A quote that never closes would hide all ends of tags: quotes are ignored from here on.
            position, pattern = start, _BARE_TAG
            continue
        tag = Tag(match[2].lower(), bool(match[1]), match[3])
        yield tag
        position = match.end()
        if not xml and not tag.closing and tag.name in _RAW:
            end_tag = _RAW[tag.name].search(source, position)
            if tag.name in ("title", "textarea") and end_tag:
                yield unescape(source[position : end_tag.start()])
            position = end_tag.start() if end_tag else len(source)


def _after_declaration(source: str, start: int, *, cdata: bool) -> int:
    """The index after the comment, declaration or processing instruction that begins at `start`."""
    if cdata:
        mark = "]]>"
    elif source.startswith("<!--", start):
        mark = "-->"
    else:
        mark = ">"
    end = source.find(mark, start + 2)
    return end + len(mark) if end >= 0 else len(source)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = _names("area base br col embed hr img input link meta param source track wbr")
# Tags without an end tag: they break blocks, and are not put on the stack of open elements.
_UNCLOSED = _names("p li dt dd tr td th thead tbody tfoot caption colgroup rp rt body html")
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
_DEEPEST = 400
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
    opened: Counter[str] = field(default_factory=Counter[str])
    too_deep: int = 0
    pieces: list[str] = field(default_factory=list[str])
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

    def text(self, text: str) -> None:
        if not self.top.skipped:
            self.pieces.append(text)
            if self.target is not None:
                self.anchor.append(text)

    def start(self, tag: Tag) -> None:
        name = tag.name
        if name == "base" and not self.found.base:
            self.found.base = tag.attributes.get("href", "")
        if name not in _INLINE:
            self._break(name)
        elif name == "a" and not self.top.skipped:
            self._end_link()
            self.target = tag.attributes.get("href", "")
        if name in _VOID or (tag.raw.endswith("/") and name in _SKIPPED):
            return
        hidden = bool(tag.raw) and _is_hidden(tag)
        if name in _UNCLOSED and not hidden:
            return
        if len(self.open) >= _DEEPEST:
            self.too_deep += 1
            return
        role = tag.attributes.get("role", "").lower() if "role" in tag.raw else ""
        top = self.top
        main = name in _MAIN or role in ("main", "article")
        self.opened[name] += 1
        self.open.append(
            _Open(
                name,
                skipped=top.skipped or hidden or name in _SKIPPED,
                frame=(top.frame and not main)
                or name in _FRAME
                or role in _FRAME_ROLES
                or (name == "header" and not top.main),
                main=top.main or main,
            )
        )

    def end(self, name: str) -> None:
        if name == "a":
            self._end_link()
        if name not in _INLINE:
            self._break("", ending=name)
        if name == "body" or name == "html":
            return
        if self.too_deep:
            self.too_deep -= name not in _UNCLOSED
            return
        # The count is looked up first: a page full of closing tags must not search the stack for each of them.
        while self.opened[name] and self.open:
            last = self.open.pop()
            self.opened[last.name] -= 1
            if last.name == name:
                return

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
    titled = False
    for piece in scan(source):
        if isinstance(piece, Tag):
            titled = piece.name == "title" and not piece.closing
            if piece.closing:
                reader.end(piece.name)
            else:
                reader.start(piece)
        elif titled:
            reader.found.title = reader.found.title or piece.strip()
        else:
            reader.text(piece)
    reader.flush()
    return reader.found


def _is_hidden(tag: Tag) -> bool:
    raw = tag.raw.lower()
    if "hidden" not in raw and "display" not in raw:
        return False
    attributes = tag.attributes
    return (
        attributes.get("hidden", "until-found") != "until-found"
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None
    )
