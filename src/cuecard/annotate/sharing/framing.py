"""A pack as bytes: gzip of a fixed form, opened within limits."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from cuecard.core.i18n import _

SUFFIX = ".cuepack"
MAX_FILE = 128 * 1024 * 1024
MAX_UNPACKED = 512 * 1024 * 1024
_MAGIC = b"\x1f\x8b"
# Neither time nor system: the same content gives the same bytes everywhere.
_FRAME = _MAGIC + b"\x08\x00\x00\x00\x00\x00\x02\xff"


class Unreadable(Exception):
    """Why a file cannot be opened as a pack, translated."""


def compressed(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(data) + packer.flush()
    return _FRAME + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def is_compressed(path: Path) -> bool:
    """Whether a file begins as packs do. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(2) == _MAGIC


def opened(path: Path, *, limit: int = MAX_UNPACKED) -> bytes:
    """What the file holds, at most `limit` bytes. Raises `Unreadable`."""
    try:
        if path.is_dir():
            raise Unreadable(_("is a folder; name the pack files in it"))
        with path.open("rb") as file:
            # As much as there is, not as the file says: it may be a pipe.
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise Unreadable(_("is larger than {n} MB; no pack is").format(n=MAX_FILE >> 20))
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    return uncompressed(data, limit=limit)


def uncompressed(data: bytes, *, limit: int = MAX_UNPACKED) -> bytes:
    """The inverse of `compressed`. Raises `Unreadable`."""
    if not data:
        raise Unreadable(_("is empty"))
    if not data.startswith(_MAGIC):
        raise Unreadable(_("is not a pack"))
    opener = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        # Never more than asked for: a small file may claim to hold gigabytes.
        found = opener.decompress(data, limit + 1)
    except zlib.error as error:
        raise Unreadable(_("is damaged; ask for the file again")) from error
    if len(found) > limit:
        raise Unreadable(_("unpacks to more than {n} MB; no pack does").format(n=limit >> 20))
    if not opener.eof:
        raise Unreadable(_("ends too early; it was not copied in full"))
    if opener.unused_data:
        raise Unreadable(_("has something behind its end; ask for the file again"))
    return found
