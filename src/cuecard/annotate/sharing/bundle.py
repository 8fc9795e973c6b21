"""A bundle of what one person did, or of whole runs: its file format (compressed within limits, a header, then a record a
line in a fixed order), and writing one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import operator
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, cast

from pydantic import Field, ValidationError

from cuecard.core.errors import Conflict, CuecardError, system_words
from cuecard.core.i18n import _, headed, ngettext
from cuecard.core.system import replace_file
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line, slug
from cuecard.core.validation import Dialect, problems_of
from cuecard.store.bundle_kinds import KIND_OF, KINDS, NAMED, Tally, tally
from cuecard.store.codec import from_json, to_json

if TYPE_CHECKING:
    from cuecard.store.bundle_records import Pack
    from cuecard.store.workspace import Workspace


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
    `canary`: of the benchmark. `key`: with which the lines are sealed, "" if they are plain; it hides nothing from who
    reads the file, and everything from who searches or trains on text. `sha256`: over the header without it, and the
    lines that follow.
    """

    cuecard: Literal["pack"] = "pack"
    format: int = FORMAT
    person: str
    since: datetime | None = None
    until: datetime | None = None
    entries: dict[str, Annotated[int, Field(ge=0)]] = {}
    canary: str = Field(default="", exclude_if=operator.not_)
    key: Annotated[str, Field(pattern="^([0-9a-f]{32})?$")] = Field(
        default="", exclude_if=operator.not_
    )
    sha256: str = ""

    @property
    def line(self) -> bytes:
        return to_json(self.model_dump(mode="json")) + b"\n"

    @property
    def hasher(self) -> Any:
        """What `sha256` is counted by, ready for the lines that follow."""
        return hashlib.sha256(self.model_copy(update={"sha256": ""}).line)


def header_of(found: Tally, canary: str = "", key: str = "") -> Header:
    """The header, still without its hash."""
    # What came to the format later is counted only where there is some, so that what holds none of it is
    # read by earlier versions.
    order = sorted(KINDS, key=lambda kind: not kind.since_first)
    return Header(
        person=found.person,
        since=found.since,
        until=found.until,
        canary=canary,
        key=key,
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


def key_for(person: str, since: datetime | None, canary: str = "") -> str:
    """The key of a sealed bundle: the same for the same content, so that equal content gives equal bytes."""
    return hashlib.sha256(f"{canary}\n{person}\n{since}".encode()).hexdigest()[:32]


def sealed(line: bytes, key: str, number: int) -> bytes:
    """A line, the `number`-th from 0, as it stands in a bundle that is sealed with `key`."""
    packed = zlib.compress(line)
    return base64.b64encode(_crossed(packed, key, number)) + b"\n"


def unsealed(line: bytes, key: str, number: int) -> bytes:
    """The inverse of `sealed`. Raises `Unreadable`."""
    try:
        packed = _crossed(base64.b64decode(line.rstrip(b"\n"), validate=True), key, number)
        opener = zlib.decompressobj()
        plain = opener.decompress(packed, _LONGEST_LINE)
    except (binascii.Error, zlib.error) as error:
        raise Unreadable(_("is damaged; ask for the file again")) from error
    if not opener.eof:
        raise Unreadable(_("is too large; no pack is"))
    return plain


def _crossed(data: bytes, key: str, number: int) -> bytes:
    """The data combined with a stream of bytes that follows from key and number; twice gives the data again."""
    stream = hashlib.shake_256(f"{key}/{number}".encode()).digest(len(data))
    return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))


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


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written. `size` in bytes; `kinds`: how many entries of each, as in `ImportCount`; `drafts`: the
    person's unsaved edits, which are never packed.
    """

    path: Path
    header: Header
    size: int
    kinds: Mapping[str, int]
    drafts: int = 0


@dataclass(frozen=True)
class Preview:
    """What a bundle would hold, as in `WrittenBundle`, and its file's name."""

    name: str
    kinds: Mapping[str, int]
    drafts: int


def preview_bundle(workspace: Workspace, person: str, since: datetime | None = None) -> Preview:
    """What `write_bundle` would write; no kinds if there is nothing."""
    found = tally(workspace.exchange.bundle(person, since=since), since)
    return Preview(default_name(header_of(found)), found.own, len(workspace.drafts.of(person)))


def write_bundle(
    workspace: Workspace,
    person: str,
    path: Path | None = None,
    *,
    since: datetime | None = None,
    runs: Sequence[int] = (),
    canary: str = "",
    seal: bool = False,
    told: Callable[[int], None] = lambda _records: None,
) -> WrittenBundle:
    """Write what `person` did (at `since` or later) to `path`, or to a file named after them in the current folder;
    with `runs`, these runs in full instead. An existing bundle is replaced. `canary`: of the benchmark; `seal`: no text
    stands in the file as it is. `told` is called now and then with how many records are read. Raises `CuecardError` if there is nothing to pack, it is too large, or the file cannot be
    written; `NotFound` for an unknown run.
    """
    bundle = (
        workspace.exchange.bundle_of_runs(person, runs)
        if runs
        else workspace.exchange.bundle(person, since=since)
    )
    with cast(BinaryIO, tempfile.TemporaryFile()) as kept:
        key = key_for(person, since, canary) if seal else ""
        header, found = kept_lines(bundle, kept, since, told, canary=canary, key=key)
        if not found.own:
            raise _nothing(person, since)
        path = path or Path(default_name(header, bundle.name))
        size = _replace(path, file_of(header, kept))
    drafts = 0 if runs else len(workspace.drafts.of(person))
    return WrittenBundle(path, header, size, found.own, drafts)


def packing_line(records: int) -> str:
    """How far packing has come."""
    return ngettext("Packing: {n:,} record", "Packing: {n:,} records", records).format(n=records)


def kept_lines(
    bundle: Pack,
    file: BinaryIO,
    since: datetime | None = None,
    told: Callable[[int], None] = lambda _records: None,
    *,
    canary: str = "",
    key: str = "",
) -> tuple[Header, Tally]:
    """Write the lines of all records into a file, sealed with `key` if there is one, and give their header and what
    they hold. Raises `CuecardError` if there are too many.
    """
    found = Tally(bundle.person, since)
    for number, record in enumerate(bundle.records()):
        if number % 100 == 0:
            told(number)
        found.add(record)
        line = line_of(record)
        file.write(sealed(line, key, number) if key else line)
        if file.tell() > MAX_UNPACKED:
            raise _too_large()
    header = header_of(found, canary, key)
    hasher = header.hasher
    for piece in _pieces(file):
        hasher.update(piece)
    return header.model_copy(update={"sha256": hasher.hexdigest()}), found


def file_of(header: Header, lines: BinaryIO) -> Iterator[bytes]:
    """The bytes of a bundle file, by pieces; equal content gives equal bytes."""
    return compressed(chain((header.line,), _pieces(lines)))


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(_PIECE):
        yield piece


def _too_large() -> CuecardError:
    return CuecardError(
        _("This is more than a pack can hold"),
        _("A pack unpacks to at most {n} MB.").format(n=MAX_UNPACKED >> 20),
        _("Pack runs one at a time, or copy the workspace (with the app closed)."),
    )


def _nothing(person: str, since: datetime | None) -> CuecardError:
    return CuecardError(
        _("There is nothing to pack"),
        _("{person} has done nothing in this workspace that could travel.").format(
            person=person
        )
        if since is None
        else _("{person} has done nothing since {time}.").format(
            person=person, time=since.isoformat(timespec="minutes")
        ),
        _("Is this the right workspace (--db) and the right name (--as)? Drafts do not travel: save a revision."),
        in_app=_("Is this the right workspace and the right name (<go.settings>)? Drafts do not travel: save a revision."),
    )  # fmt: skip


def default_name(header: Header, run: str = "") -> str:
    """The file's name, `ana-2026-11-21.cuepack`: the person, or the first run, and the day of the newest entry."""
    day = header.until.strftime("-%Y-%m-%d") if header.until else ""
    return f"{slug(run or header.person)}{day}{SUFFIX}"


def _replace(path: Path, pieces: Iterator[bytes]) -> int:
    """Write the file atomically, and give its size in bytes. Only bundles are replaced. Raises `CuecardError`."""
    size = 0

    def counted() -> Iterator[bytes]:
        nonlocal size
        for piece in pieces:
            size += len(piece)
            if size > MAX_FILE:
                raise _too_large()
            yield piece

    try:
        if path.exists() and (path.is_dir() or not is_compressed(path)):
            raise Conflict(
                _("This is not a pack"),
                _("{path} is something else, and was left as it is.").format(path=path),
                _("Choose another name with -o."),
                in_app=_("Choose another name."),
            )
        replace_file(path, counted())
    except OSError as error:
        raise CuecardError(
            _("The pack cannot be written"),
            headed(path, system_words(error)),
            _("Choose another place with -o."),
            in_app=_("Choose another place."),
        ) from error
    return size
