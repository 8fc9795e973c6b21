"""The file format of a bundle: compressed within limits, a header, then a record a line in a fixed order."""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, cast

from pydantic import Field, ValidationError

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.core.validation import Dialect, problems_of
from cuecard.store.bundle_kinds import KIND_OF, KINDS, NAMED, Tally
from cuecard.store.codec import from_json, to_json

SUFFIX = ".cuepack"
MAX_FILE = 128 * 1024 * 1024
MAX_UNPACKED = 512 * 1024 * 1024
FORMAT = 1
"""The format's version that this program writes, and the newest that it reads."""
_LONGEST_LINE = 48 * 1024 * 1024
_LONGEST_HEADER = 1 << 16
_PIECE = 1 << 16
_MAGIC = b"\x1f\x8b"
# Neither time nor system: the same content gives the same bytes everywhere.
_FRAME = _MAGIC + b"\x08\x00\x00\x00\x00\x00\x02\xff"
_FLAT = ("task", "payload")
"""Kinds whose fields stand in the line itself."""
_BRIEF = ("label", "payload")
"""Kinds of which a line leaves out what is at its default: so did versions that did not know those fields."""
_DIALECT = Dialect(title="", shape="")


class Unreadable(Exception):
    """Why a file cannot be read as a bundle, translated."""


class Header(Frozen):
    """The first line of a bundle. `person` made it; `since`: entries from then on, None for all; `until`: the time of
    the newest (instead of the time of packing, so that equal content has an equal header). `entries`: counts by kind.
    `sha256`: over the header without it, and the lines that follow.
    """

    cuecard: Literal["pack"] = "pack"
    format: int = FORMAT
    person: str
    since: datetime | None = None
    until: datetime | None = None
    entries: dict[str, Annotated[int, Field(ge=0)]] = {}
    sha256: str = ""

    @property
    def line(self) -> bytes:
        return to_json(self.model_dump(mode="json")) + b"\n"

    @property
    def hasher(self) -> Any:
        """What `sha256` is counted by, ready for the lines that follow."""
        return hashlib.sha256(self.model_copy(update={"sha256": ""}).line)


def header_of(found: Tally) -> Header:
    """The header, still without its hash."""
    # What came to the format later is counted only where there is some, so that what holds none of it is
    # read by earlier versions.
    order = sorted(KINDS, key=lambda kind: not kind.since_first)
    return Header(
        person=found.person,
        since=found.since,
        until=found.until,
        entries={
            kind.name: found.entries[kind.name]
            for kind in order
            if kind.since_first or found.entries[kind.name]
        },
    )


def read_header(line: bytes) -> Header:
    """Raises `Unreadable`."""
    try:
        raw = from_json(line) if len(line) < _LONGEST_HEADER else None
    except (ValueError, RecursionError):
        raw = None
    version = raw.get("format") if isinstance(raw, dict) and raw.get("cuecard") == "pack" else None
    if not isinstance(version, int):
        raise Unreadable(_("is not a pack"))
    if version > FORMAT:
        text = _("has format {n}, which this Cuecard does not know yet; update Cuecard")
        raise Unreadable(text.format(n=version))
    try:
        return Header.model_validate(raw)
    except ValidationError as error:
        raise Unreadable(_("has a broken header: {why}").format(why=_why(error))) from error


def line_of(record: Frozen) -> bytes:
    """A record as a line."""
    name = KIND_OF[type(record)].name
    told = record.model_dump(mode="json", exclude_defaults=name in _BRIEF)
    return to_json({"entry": name, **(told if name in _FLAT else {name: told})}) + b"\n"


def record_in(text: bytes) -> Frozen:
    """The record of a line. Raises `ValueError` with what is wrong, translated."""
    try:
        raw = from_json(text)
    except RecursionError as error:
        raise ValueError(_("is nested too deeply")) from error
    line: dict[str, Any] = cast(dict[str, Any], raw) if isinstance(raw, dict) else {}
    name = line.pop("entry", None)
    if not isinstance(name, str) or name not in NAMED:
        raise ValueError(_kind_unknown(name))
    told = line if name in _FLAT else line.pop(name, None)
    try:
        record = NAMED[name].rows.record.model_validate(told)
    except ValidationError as error:
        raise ValueError(_why(error)) from error
    if name not in _FLAT and line:
        raise ValueError(_unknown(next(iter(line))))
    return record


def _why(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "union_tag_invalid":
        return _kind_unknown(first.get("ctx", {}).get("tag"))
    if first["type"] == "extra_forbidden":
        return _unknown(first["loc"][-1])
    problem = problems_of(error, "", {}, _DIALECT)[0]
    return one_line(f"{problem.place} {problem.reason}".strip(), 200)


def _kind_unknown(name: object) -> str:
    text = _("is of a kind that this Cuecard does not know: {kind}")
    return text.format(kind=one_line(str(name), 40))


def _unknown(name: object) -> str:
    text = _("says something that this Cuecard does not know: {name}; update Cuecard")
    return text.format(name=one_line(str(name), 40))


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a file with this content, however it is cut into pieces."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    check = size = 0
    yield _FRAME
    for piece in pieces:
        check, size = zlib.crc32(piece, check), size + len(piece)
        yield packer.compress(piece)
    yield packer.flush() + struct.pack("<II", check, size & 0xFFFFFFFF)


def is_compressed(path: Path) -> bool:
    """Whether a file begins as bundles do. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(2) == _MAGIC


def uncompressed(file: BinaryIO, *, limit: int = MAX_UNPACKED) -> Iterator[bytes]:
    """The inverse of `compressed`, at most `limit` bytes, from the file's beginning. Raises `Unreadable`."""
    file.seek(0)
    data = file.read(_PIECE)
    if not data:
        raise Unreadable(_("is empty"))
    if not data.startswith(_MAGIC):
        raise Unreadable(_("is not a pack"))
    opener = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    size, read = 0, len(data)
    while not opener.eof:
        try:
            # Never more than asked for: a small file may claim to hold gigabytes.
            found = opener.decompress(data, _PIECE)
        except zlib.error as error:
            raise Unreadable(_("is damaged; ask for the file again")) from error
        if not data and not found and not opener.eof:
            raise Unreadable(_("ends too early; it was not copied in full"))
        size += len(found)
        if size > limit:
            raise Unreadable(_("unpacks to more than {n} MB; no pack does").format(n=limit >> 20))
        yield found
        data = opener.unconsumed_tail
        if not data and not opener.eof:
            data = file.read(_PIECE)
            read += len(data)
            if read > MAX_FILE:
                raise Unreadable(_("is larger than {n} MB; no pack is").format(n=MAX_FILE >> 20))
    if opener.unused_data or file.read(1):
        raise Unreadable(_("has something behind its end; ask for the file again"))


def lines_in(file: BinaryIO) -> Iterator[bytes]:
    """The header and the lines of a bundle, with their ends. Raises `Unreadable`."""
    begun: list[bytes] = []
    length = 0
    for piece in uncompressed(file):
        *ends, last = piece.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end, b"\n"))
            begun, length = [], 0
        begun.append(last)
        length += len(last)
        if length > _LONGEST_LINE:
            raise Unreadable(_("is too large; no pack is"))
    if length:
        yield b"".join(begun)
