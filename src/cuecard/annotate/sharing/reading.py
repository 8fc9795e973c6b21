"""Reads bundles from files, and validates everything in them before anything is imported."""

import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from cuecard.annotate.sharing.bundle import (
    MAX_FILE,
    SUFFIX,
    Header,
    Unreadable,
    lines_in,
    read_header,
    record_in,
    unsealed,
)
from cuecard.annotate.sharing.checking import Seen, name_problem, problems_of_record
from cuecard.core.errors import FileProblem, FileProblems, system_words
from cuecard.core.formats.files import files_among
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen
from cuecard.store.bundle_kinds import KIND_OF

_MOST_PROBLEMS = 10
_MOST_LINES = 3_000_000
_SMALL = 1 << 18


class BundleFile:
    """A bundle that was read and validated. It keeps its file, and reads it again when its records are asked for.
    `for_others`: it holds revisions under other names than its maker's.
    """

    def __init__(self, path: Path, header: Header, file: BinaryIO | None = None) -> None:
        self.path = path
        self.header = header
        self.for_others = False
        self._file = file
        if file is not None:
            weakref.finalize(self, file.close)

    @property
    def person(self) -> str:
        return self.header.person

    def records(self) -> Iterator[Frozen]:
        """Raises `FileProblems` if the file is not what it was."""
        try:
            yield from map(record_in, self.lines())
        except (Unreadable, ValueError) as error:
            raise _refused([FileProblem(str(self.path), "", str(error))]) from error

    def lines(self) -> Iterator[bytes]:
        """The lines of all records, unsealed. Raises `Unreadable`, at their end if they do not have the header's hash."""
        assert self._file is not None
        lines = lines_in(self._file)
        next(lines)
        hasher = self.header.hasher
        key = self.header.key
        for number, line in enumerate(lines):
            hasher.update(line)
            yield unsealed(line, key, number) if key else line
        if hasher.hexdigest() != self.header.sha256:
            raise Unreadable(_("was changed after it was packed; ask for the file again"))


def read_bundles(paths: Sequence[Path]) -> list[BundleFile]:
    """These bundles, and those in folders among `paths`. Raises `FileProblems` with what is wrong in each."""
    bundles: list[BundleFile] = []
    nothing = _("is a folder without packs (*{suffix})").format(suffix=SUFFIX)
    files, problems = files_among(paths, (SUFFIX,), nothing)
    damaged = False
    for path in files:
        try:
            bundles.append(read_bundle(path))
        except FileProblems as error:
            problems += error.problems
            damaged = damaged or bool(error.hint)
    if problems:
        raise _refused(problems, damaged=damaged)
    return bundles


def read_bundle(path: Path) -> BundleFile:
    """One bundle. Raises `FileProblems` with what is wrong, at which entry, and how to fix it."""
    try:
        if path.is_dir():
            raise Unreadable(_("is a folder; name the pack files in it"))
        file = _opened(path)
    except FileNotFoundError as error:
        missing = FileProblem(str(path), "", _("there is no such file"))
        raise _refused([missing], damaged=False) from error
    except (OSError, Unreadable) as error:
        reason = system_words(error) if isinstance(error, OSError) else str(error)
        raise _refused([FileProblem(str(path), "", reason)]) from error
    return parse_bundle(file, path)


def parse_bundle(file: BinaryIO, path: Path) -> BundleFile:
    """The bundle in an open file, which is its own from now on; `path` is for messages. Raises `FileProblems`."""
    problems: list[FileProblem] = []
    try:
        header = read_header(next(lines_in(file), b""))
        bundle = BundleFile(path, header, file)
        if bad := name_problem(header.person):
            raise Unreadable(bad)
        seen = Seen(header.person)
        found: Counter[str] = Counter()
        for number, line in enumerate(bundle.lines(), start=1):
            if number > _MOST_LINES:
                raise Unreadable(_("is too large; no pack is"))
            # The rest is read only for the hash, which goes before any problem.
            if len(problems) < _MOST_PROBLEMS:
                told, kind = _checked(line, seen)
                found[kind] += 1
                where = _("entry {n}").format(n=number)
                problems += [FileProblem(str(path), where, one, number + 1) for one in told]
                if len(problems) >= _MOST_PROBLEMS:
                    more = _("and maybe more; the rest was not read")
                    problems.append(FileProblem(str(path), where, more, number + 1))
        if not problems and found != Counter(header.entries):
            raise Unreadable(_("does not hold as many entries as it says"))
    except Unreadable as error:
        file.close()
        raise _refused([FileProblem(str(path), "", str(error))]) from error
    if problems:
        file.close()
        raise _refused(problems)
    bundle.for_others = seen.for_others
    return bundle


def _checked(line: bytes, seen: Seen) -> tuple[list[str], str]:
    """What is wrong with a line, at most three reasons, and its kind."""
    try:
        record = record_in(line)
    except ValueError as error:
        return [str(error)], ""
    return [*problems_of_record(record, seen)][:3], KIND_OF[type(record)].name


def _opened(path: Path) -> BinaryIO:
    """The file, to be read more than once. What is small is held in memory, for a folder may have more packs than a
    process may have open files; what is a pipe is copied.
    """
    file = path.open("rb")
    if file.seekable() and os.fstat(file.fileno()).st_size > _SMALL:
        return file
    with file:
        kept = cast(BinaryIO, tempfile.SpooledTemporaryFile(_SMALL))  # noqa: SIM115
        left = MAX_FILE + 1
        while left > 0 and (piece := file.read(min(left, 1 << 20))):
            kept.write(piece)
            left -= len(piece)
    return kept


def _refused(problems: Sequence[FileProblem], *, damaged: bool = True) -> FileProblems:
    """`damaged`: a new file would help."""
    if not damaged:
        return FileProblems(_("This pack cannot be merged"), problems)
    return FileProblems(
        _("This pack cannot be merged"),
        problems,
        _("Nothing was merged. Ask whoever packed the file for a new one (`cuecard pack`)."),
        in_app=_(
            "Nothing was merged. Ask whoever packed the file for a new one (<tasks.pack> on the list of tasks)."
        ),
    )
