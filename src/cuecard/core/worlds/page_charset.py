"""What a body is by its type and its first bytes, and the characters that its bytes stand for."""

from __future__ import annotations

import codecs
import re

from cuecard.core.worlds.page_text import Format

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
# Labels that by the web's own rules mean their larger relatives.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin1": "cp1252"}
_NARROW = ("us-ascii", "ascii")
# Codecs whose texts may pass for UTF-8, and the byte that all but the shortest of them hold.
_DISGUISED = {"utf-16": b"\0", "utf-32": b"\0", "iso2022": b"\x1b", "hz": b"~{"}
_PAIRS = re.compile(rb"[\xa1-\xfe]{2}")
_HIGH = re.compile(rb"[\x80-\xff]")


def format_of(declared: str, data: bytes) -> Format | None:
    """The format of a body with the header `declared`, or None for what is no text."""
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
    """The text of a body: by its byte order mark; as UTF-8 where it is that, whatever is claimed; as
    its header or its own head claims; else by guess. What cannot be read becomes
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
    guesses = ["gb18030"] if _looks_chinese(data) else []
    for name in (*first, "utf-8", *claims, *guesses):
        text = _strictly(data, name)
        if text is not None:
            return text
    return data.decode(claims[0] if claims else "cp1252", "replace")


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


def _looks_chinese(data: bytes) -> bool:
    """Whether bytes beyond ASCII come in the pairs of GB 2312; those of Western texts stand alone."""
    sample = data[: 50 * _SNIFFED]
    high = len(_HIGH.findall(sample))
    return high > 0 and 2 * len(_PAIRS.findall(sample)) >= 0.9 * high


def _strictly(data: bytes, name: str) -> str | None:
    """`data` as `name`, or None. A character that is cut at the end is no mistake."""
    decoder = codecs.getincrementaldecoder(name)("strict")
    try:
        return decoder.decode(data, final=False)
    except UnicodeError:
        return None


def _is_readable(head: bytes) -> bool:
    controls = sum(byte < 9 or (13 < byte < 32 and byte != 27) for byte in head)
    return controls == 0
