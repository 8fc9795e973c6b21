"""Large contents, each stored once by the hash of its bytes.

Texts of one trial have many words in common. So the first large content of a trial serves as zlib's
dictionary for those after it, which takes a sixth off their size. Such a base has no base itself.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, bindparam, select
from sqlmodel import col

from cuecard.core.errors import NotFound
from cuecard.core.i18n import _
from cuecard.store.engine import Database
from cuecard.store.event_codec import Payload
from cuecard.store.tables import PayloadRow, metadata
from cuecard.store.upsert import insert_new

LEVEL = 5
_WINDOW = 32_768
_SMALL = 4096
"""Bytes below which a content is no dictionary for others."""
_KNOWN = 8192
_BASES = 128
_AT_ONCE = 400
_TABLE: Table = metadata.tables["payload"]
_PRESENT = select(col(PayloadRow.hash)).where(
    col(PayloadRow.hash).in_(bindparam("hashes", expanding=True))
)
_CONTENT = select(col(PayloadRow.hash), col(PayloadRow.base), col(PayloadRow.data)).where(
    col(PayloadRow.hash).in_(bindparam("hashes", expanding=True))
)


class Ready(NamedTuple):
    """What is to be written in a transaction; `Shelf.kept` is then told of it."""

    rows: list[dict[str, Any]]
    bases: list[tuple[int, str, bytes]]


class Shelf:
    """Puts contents by, and remembers some that are already there. Not for several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[str, None] = OrderedDict()
        self._bases: OrderedDict[int, tuple[str, bytes]] = OrderedDict()

    def ready(self, contents: Iterable[tuple[int, Payload]]) -> Ready:
        """Compress what is not stored yet, of pairs of a trial's id and a content."""
        new: dict[str, tuple[int, bytes]] = {}
        for trial_id, (digest, content) in contents:
            if digest not in self._known:
                new.setdefault(digest, (trial_id, content))
        if not new:
            return Ready([], [])
        with self._database.read() as session:
            for digest in _present(session.connection(), list(new)):
                self._remember(digest)
                del new[digest]
        bases: list[tuple[int, str, bytes]] = []
        rows = [self._row(trial_id, d, content, bases) for d, (trial_id, content) in new.items()]
        return Ready(rows, bases)

    def kept(self, ready: Ready) -> None:
        """The transaction was committed."""
        for row in ready.rows:
            self._remember(row["hash"])
        for trial_id, digest, content in ready.bases:
            self._bases[trial_id] = digest, content[:_WINDOW]
            if len(self._bases) > _BASES:
                self._bases.popitem(last=False)

    def forget(self, trial_id: int) -> None:
        """The trial has ended."""
        self._bases.pop(trial_id, None)

    def _row(
        self, trial_id: int, digest: str, content: bytes, bases: list[tuple[int, str, bytes]]
    ) -> dict[str, Any]:
        base, dictionary = self._bases.get(trial_id, (None, b""))
        if base is None and len(content) >= _SMALL and all(b[0] != trial_id for b in bases):
            bases.append((trial_id, digest, content))
        return {
            "hash": digest,
            "size": len(content),
            "base": base,
            "data": compress(content, dictionary),
        }

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)


def write_payloads(connection: Connection, ready: Ready) -> None:
    """What another process has stored in the meantime is passed over."""
    if ready.rows:
        connection.execute(insert_new(connection, _TABLE), ready.rows)


def read_payloads(connection: Connection, hashes: Sequence[str]) -> dict[str, bytes]:
    """The contents by hash. Raises `NotFound` if one is missing."""
    found: dict[str, bytes] = {}
    based: dict[str, tuple[str, bytes]] = {}
    for some in _parts(dict.fromkeys(hashes)):
        for digest, base, data in connection.execute(_CONTENT, {"hashes": some}):
            if base is None:
                found[digest] = zlib.decompress(data)
            else:
                based[digest] = base, data
    bases = {base for base, _data in based.values()}
    if bases:
        dictionaries = {base: found[base] for base in bases if base in found}
        missing = [base for base in bases if base not in dictionaries]
        dictionaries |= read_payloads(connection, missing)
        for digest, (base, data) in based.items():
            found[digest] = decompress(data, dictionaries[base][:_WINDOW])
    for digest in hashes:
        if digest not in found:
            raise NotFound(_("There is no such content"), digest)
    return found


def compress(content: bytes, dictionary: bytes = b"") -> bytes:
    if not dictionary:
        return zlib.compress(content, LEVEL)
    packer = zlib.compressobj(LEVEL, zdict=dictionary)
    return packer.compress(content) + packer.flush()


def decompress(data: bytes, dictionary: bytes) -> bytes:
    unpacker = zlib.decompressobj(zdict=dictionary)
    return unpacker.decompress(data) + unpacker.flush()


def _present(connection: Connection, hashes: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for some in _parts(hashes):
        found |= set(connection.execute(_PRESENT, {"hashes": some}).scalars())
    return found


def _parts(hashes: Iterable[str]) -> Iterable[list[str]]:
    rest = iter(hashes)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
