"""HTML and XML as a stream of texts and tags, in linear time whatever a page holds.

Parsers that build a tree, and the standard library's too, can be kept busy for minutes by a small
page made for it (nested or unclosed tags by the ten thousand). Nothing here is ever scanned twice.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TAG = re.compile(
    r"<(/?)([A-Za-z][^\s/><\x00]{0,60}+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>",
)
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
    """`name` in small letters; `raw`: the attributes as they stand."""

    name: str
    closing: bool
    raw: str

    @property
    def attributes(self) -> Mapping[str, str]:
        """By small-letter name; of several with one name the first."""
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.raw[:_ATTRIBUTES_CHARS]):
            value = match[2] or match[3] or match[4] or ""
            found.setdefault(match[1].lower(), unescape(value))
        return found


def unescape(text: str) -> str:
    """Character references read; numbers beyond any character are no reference."""
    if "&" not in text:
        return text
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def scan(source: str, *, xml: bool = False) -> Iterator[str | Tag]:
    """Texts, with their character references read, and tags, in order.

    Comments, declarations and, in HTML, what scripts and styles hold are left out. A tag without an
    end takes what follows it along, as in a browser.
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
                # No tag can end after this: a second look would find none either.
                end = source.find(">", start)
                if end < 0:
                    return
                position = end + 1
                continue
            # A quote that never closes hides all ends: from here on quotes count for nothing.
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
    """Where a comment, declaration or processing instruction that begins at `start` is over."""
    if cdata:
        mark = "]]>"
    elif source.startswith("<!--", start):
        mark = "-->"
    else:
        mark = ">"
    end = source.find(mark, start + 2)
    return end + len(mark) if end >= 0 else len(source)
