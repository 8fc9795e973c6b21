"""Writes a bundle of what one person did, or of whole runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cuecard.annotate.sharing.bundle import (
    MAX_FILE,
    MAX_UNPACKED,
    SUFFIX,
    Header,
    compressed,
    header_of,
    is_compressed,
    line_of,
)
from cuecard.core.errors import Conflict, CuecardError
from cuecard.core.i18n import _
from cuecard.core.system import replace_file
from cuecard.core.text import slug
from cuecard.store.bundle_kinds import Tally, tally

if TYPE_CHECKING:
    from cuecard.store.bundle_records import Pack
    from cuecard.store.workspace import Workspace

_PIECE = 1 << 16


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle that was written. `size` in bytes; `kinds`: how many entries of each, as in `Arrived`; `drafts`: the
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
) -> WrittenBundle:
    """Write what `person` did (at `since` or later) to `path`, or to a file named after them in the current folder;
    with `runs`, these runs in full instead. An existing bundle is replaced. Raises `CuecardError` if there is nothing
    to pack, it is too large, or the file cannot be written; `NotFound` for an unknown run.
    """
    bundle = (
        workspace.exchange.bundle_of_runs(person, runs)
        if runs
        else workspace.exchange.bundle(person, since=since)
    )
    with cast(BinaryIO, tempfile.TemporaryFile()) as kept:
        header, found = kept_lines(bundle, kept, since)
        if not found.own:
            raise _nothing(person, since)
        path = path or Path(default_name(header, bundle.name))
        size = _replace(path, file_of(header, kept))
    drafts = 0 if runs else len(workspace.drafts.of(person))
    return WrittenBundle(path, header, size, found.own, drafts)


def kept_lines(bundle: Pack, file: BinaryIO, since: datetime | None = None) -> tuple[Header, Tally]:
    """Write the lines of all records into a file, and give their header and what they hold. Raises `CuecardError` if
    there are too many.
    """
    found = Tally(bundle.person, since)
    for record in bundle.records():
        found.add(record)
        file.write(line_of(record))
        if file.tell() > MAX_UNPACKED:
            raise _too_large()
    header = header_of(found)
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
        in_app=_("Is this the right workspace and the right name (6)? Drafts do not travel: save a revision."),
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
            f"{path}: {error.strerror or error}",
            _("Choose another place with -o."),
            in_app=_("Choose another place."),
        ) from error
    return size
