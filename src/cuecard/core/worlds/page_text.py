"""The text of a page: what a reader of its main part would read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from urllib.parse import urljoin, urlsplit

from cuecard.core.text import for_display, one_line, storable
from cuecard.core.worlds.page_blocks import Block, Link, read_blocks
from cuecard.core.worlds.page_scan import Tag, scan

_TITLE_CHARS = 300
_LINK_CHARS = 120
_MOST_LINKS = 300
# Below this a region marked as the main part is taken for an empty frame.
_MAIN_CHARS = 200
# What remains of a page without navigation must be at least this share of it.
_KEPT_SHARE = 0.25
_LIST_OF_LINKS = 0.6
_SHORT = 80


class Format(StrEnum):
    HTML = "html"
    XML = "xml"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True)
class PageText:
    """`text`: paragraphs, one a line; headings begin with `#`, items with `-`, cells are divided by
    ` | `. `links`: (text, absolute address) of the main part.
    """

    title: str = ""
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()


def read_page(source: str, kind: Format, address: str) -> PageText:
    """The text of a fetched page; `address` is where relative links start from."""
    match kind:
        case Format.HTML:
            return _html(source, address)
        case Format.XML:
            pieces = (piece.strip() for piece in scan(source, xml=True) if isinstance(piece, str))
            return PageText(text=clean("\n".join(piece for piece in pieces if piece)))
        case Format.JSON:
            return PageText(text=clean(_indented(source)))
        case Format.TEXT:
            return PageText(text=clean(source))


def inline_text(source: str) -> str:
    """A piece of HTML as one line of text."""
    return one_line(storable("".join(p for p in scan(source) if not isinstance(p, Tag))))


def clean(text: str) -> str:
    """`text` with nothing in it that a terminal would act on or a database refuse."""
    return for_display(storable(text)).strip()


def _html(source: str, address: str) -> PageText:
    page = read_blocks(source)
    blocks, around = _main(page.blocks)
    title = one_line(storable(page.title), _TITLE_CHARS)
    if not title:
        headings = (b.text for b in blocks if b.heading)
        title = one_line(storable(next(headings, "")), _TITLE_CHARS)
    text = clean("\n".join(block.line for block in blocks))
    return PageText(title, text, _absolute(around, _joined(address, page.base)))


def _main(blocks: list[Block]) -> tuple[list[Block], list[Block]]:
    """The blocks of the main part: those that the page marks as such, else those outside of its
    frame that are no lists of links; all of them where too little would be left. And the same with
    the lists of links.
    """
    marked = [b for b in blocks if b.main and not b.frame]
    if sum(len(b.text) for b in marked) >= _MAIN_CHARS:
        return marked, marked
    outside = [b for b in blocks if not b.frame]
    body = [b for b in outside if b.heading or not _is_menu(b)]
    for kept in (body, outside):
        if sum(len(b.text) for b in kept) >= _KEPT_SHARE * sum(len(b.text) for b in blocks):
            return kept, outside
    return blocks, blocks


def _is_menu(block: Block) -> bool:
    return len(block.text) < _SHORT and block.linked > _LIST_OF_LINKS * len(block.text)


def _absolute(blocks: list[Block], base: str) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for link in islice((link for block in blocks for link in block.links), _MOST_LINKS):
        address, text = _address(link, base), one_line(storable(link.text), _LINK_CHARS)
        if address and text:
            found.setdefault(address, text)
    return tuple((text, address) for address, text in found.items())


def _joined(address: str, base: str) -> str:
    try:
        return urljoin(address, base)
    except ValueError:
        return address


def _address(link: Link, base: str) -> str:
    try:
        parts = urlsplit(urljoin(base, link.target.strip()))
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return one_line(storable(parts._replace(fragment="").geturl()))


def _indented(source: str) -> str:
    try:
        return json.dumps(json.loads(source), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return source
