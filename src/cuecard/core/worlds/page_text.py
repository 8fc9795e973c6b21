"""Decodes a page's bytes and extracts the text of its main part."""

import codecs
import html
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from urllib.parse import urljoin, urlsplit

from cuecard.core.text import for_display, one_line, storable
from cuecard.core.worlds.html_blocks import Block, Link, Texts, parse, read_blocks

_TITLE_CHARS = 300
_LINK_CHARS = 120
_MOST_LINKS = 300
# With fewer characters a region marked as the main part is considered empty.
_MAIN_CHARS = 200
# What remains of a page without navigation must be at least this share of it.
_KEPT_SHARE = 0.25
_LIST_OF_LINKS = 0.6
_SHORT = 80
# What XML says between its tags. Its tags alone, because feeds on the web are often no XML: expat refuses all of one with an
# `&nbsp;`, libxml2 leaves out that and every bare `&`. No entity of the file's own is resolved.
_XML_TEXT = re.compile(
    r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]?)?[^<>]*>?|<[/?!\w][^<>]*>?|(<|[^<]+)",
    re.DOTALL,
)


class Format(StrEnum):
    HTML = "html"
    XML = "xml"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True)
class PageText:
    """A page's main part. `text`: one paragraph per line; headings begin with `#`, items with `-`, cells are separated by
    ` | `. `links`: (text, absolute address).
    """

    title: str = ""
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()


def read_page(source: str, kind: Format, address: str) -> PageText:
    """The text of a fetched page; `address`: the base of relative links."""
    match kind:
        case Format.HTML:
            return _html(source, address)
        case Format.XML:
            pieces = (m[1] or html.unescape(m[2] or "") for m in _XML_TEXT.finditer(source))
            return PageText(text=clean("\n".join(filter(None, map(str.strip, pieces)))))
        case Format.JSON:
            return PageText(text=clean(_indented(source)))
        case Format.TEXT:
            return PageText(text=clean(source))


def inline_text(source: str) -> str:
    """A piece of HTML as one line of text."""
    found = Texts()
    parse(source, found)
    return one_line("".join(found.pieces))


def clean(text: str) -> str:
    """`text` without characters that a terminal would act on or a database refuse."""
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
    """The blocks of the main part, without and with lists of links. The main part is what the page marks as such, else
    what is outside navigation and the like, else (if too little is left) everything.
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


_SNIFFED = 2048
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:\-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?([\w.:\-]+)", re.IGNORECASE)
_XML = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:\-]+)", re.IGNORECASE)
# Only those that web pages use: Python knows codecs that are no character sets at all.
_KNOWN = re.compile(
    r"utf-?(8|16|32)(-?[lb]e)?|us-ascii|ascii|(iso[-_]?8859|latin)[-_]?\d+|windows-\d+|cp\d+|x-sjis"
    r"|gb2312|gbk|gb18030|big5(-?hkscs)?|euc-?(jp|kr|cn)|shift[-_]?jis|sjis|koi8-[ru]|hz-gb-2312"
    r"|iso-2022-(jp|kr)|tis-620|macintosh",
    re.IGNORECASE,
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Labels that by the WHATWG encoding standard mean a larger character set.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin1": "cp1252"}
_NARROW = ("us-ascii", "ascii")
# Encodings whose bytes may be valid UTF-8, and a byte that all but their shortest texts contain.
_DISGUISED = {"utf-16": b"\0", "utf-32": b"\0", "iso2022": b"\x1b", "hz": b"~{"}
# What is guessed between: what pages were written in before UTF-8. Where a few words fit several, the first.
_GUESSED: list[str] = re.findall(
    r"\S+",
    "gb18030 cp1252 big5 cp932 euc_jp cp949 cp1251 koi8_r cp1250 iso8859_2 cp1253 iso8859_7 cp1254 cp1255 cp1256 cp1257 cp1258"
    " tis_620 big5hkscs",
)
_MARKUP = re.compile(rb"[\0-\x1f<>]+")
_SAMPLE = 20_000
_WRONG_SHARE = 0.02


def format_of(declared: str, data: bytes) -> Format | None:
    """The format of a body with the `Content-Type` `declared`, or None if it is no text."""
    kind = declared.partition(";")[0].strip().lower()
    charset = _CHARSET.search(declared)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        charset is not None and charset[1].lower().startswith(("utf-16", "utf-32"))
    )
    if b"\0" in data[:_SNIFFED] and not wide:
        return None
    if kind in ("text/html", "application/xhtml+xml"):
        return Format.HTML
    if kind in ("application/json", "text/json") or kind.endswith("+json"):
        return Format.JSON
    if kind in ("application/xml", "text/xml") or kind.endswith("+xml"):
        return Format.XML
    if kind.startswith("text/"):
        return Format.TEXT
    if kind not in ("", "application/octet-stream", "binary/octet-stream", "unknown/unknown"):
        return None
    head = data[:_SNIFFED].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return Format.HTML
    return Format.TEXT if not kind and _is_readable(head) else None


def decode(data: bytes, declared: str) -> str:
    """The text of a body, decoded by its byte order mark; as UTF-8 if it is valid UTF-8, whatever is declared; as its
    `Content-Type` or its own head declares; by a guess if none of them fits. Undecodable bytes become
    `\N{REPLACEMENT CHARACTER}`.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, "replace").removeprefix("\ufeff")
    claims = _claims(data, declared)
    first = [
        claim
        for claim in claims
        for prefix, sign in _DISGUISED.items()
        if claim.startswith(prefix) and sign in data
    ]
    for name in (*first, "utf-8", *claims):
        text = _strictly(data, name)
        if text is not None:
            return text
    for name in ("utf-8", *claims):
        text = data.decode(name, "replace")
        if text.count("\ufffd") <= _WRONG_SHARE * (len(text) - len(text.encode("ascii", "ignore"))):
            return text
    return data.decode(_guess(data), "replace")


def _guess(data: bytes) -> str:
    """The encoding that the lines beyond ASCII look like; where they tell nothing, that of Western Europe."""
    from charset_normalizer import from_bytes

    lines = b"\n".join(line for line in _MARKUP.split(data) if not line.isascii())
    if len(lines) > _SAMPLE:  # No character is cut in two.
        lines = b"".join(lines[:_SAMPLE].rsplit(None, 1)[:1])
    found = from_bytes(lines, cp_isolation=_GUESSED)
    best = found.best()
    alike = [m for m in found if best and (m.chaos, m.coherence) == (best.chaos, best.coherence)]
    names = {name for match in alike for name in match.could_be_from_charset}
    return next((name for name in _GUESSED if name in names), "cp1252")


def _claims(data: bytes, declared: str) -> list[str]:
    head = data[:_SNIFFED]
    found = [_CHARSET.search(declared), _META.search(head), _XML.search(head)]
    names: list[str] = []
    for match in found:
        if match is None:
            continue
        raw = match[1]
        name = (raw.decode("ascii", "replace") if isinstance(raw, bytes) else raw).lower()
        if name in _NARROW or not _KNOWN.fullmatch(name):
            continue
        name = _WIDER.get(name, name)
        try:
            names.append(codecs.lookup(name).name)
        except LookupError:
            continue
    return names


def _strictly(data: bytes, name: str) -> str | None:
    """`data` decoded as `name`, or None if it is invalid. An incomplete character at the end is allowed."""
    decoder = codecs.getincrementaldecoder(name)("strict")
    try:
        return decoder.decode(data, final=False)
    except UnicodeError:
        return None


def _is_readable(head: bytes) -> bool:
    controls = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in head)
    return controls == 0
