"""The file of an SQLite database: whether it may be read and written, and if not, why, and how it is read then."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL

from cuecard.core.i18n import _
from cuecard.core.secrets import public_form
from cuecard.store import errors as troubles

SIDES = ("-wal", "-shm")
"""What stands beside a database that writes ahead; whoever cannot write these cannot write the database."""


class ReadOnlyReason(NamedTuple):
    """The reason why a workspace can be read but not written, and a hint what to do about it."""

    reason: str
    hint: str


def check_file(url: URL, create: bool) -> ReadOnlyReason | None:
    """Whether the database file can be used: None if it can be written, else why it can only be read. Raises
    `CuecardError` if it cannot be read, or is missing and must not or cannot be created.
    """
    if not url.database or url.database == ":memory:":
        raise troubles.bad_url(public_form(str(url)))
    if url.database.startswith("file:"):
        # SQLite's own kind of URL, with options that only it can judge.
        if url.query.get("mode") == "ro" or url.query.get("immutable") == "1":
            return ReadOnlyReason(
                _("Its address asks for reading only."), _("Take that out of --db.")
            )
        return None
    path = Path(url.database)
    try:
        mode = path.stat().st_mode
    except PermissionError:
        reason = _denied(
            _("{place} belongs to {owner} and has the permissions {mode}: you may not enter it."),
            _closed_folder(path),
        )
        raise troubles.unreadable(str(path), reason) from None
    except (FileNotFoundError, NotADirectoryError):
        _check_new(path, create)
        return None
    if stat.S_ISDIR(mode):
        raise troubles.is_a_folder(str(path))
    if not stat.S_ISREG(mode):
        raise troubles.not_a_database(str(path))
    if not os.access(path, os.R_OK):
        reason = _(
            "{place} belongs to {owner} and has the permissions {mode}: you may not read it."
        )
        raise troubles.unreadable(str(path), _denied(reason, path))
    return _barred(path.resolve())


def reading_uri(path: str) -> str:
    """SQLite's URI for a file that this process may read but not write.

    SQLite in write-ahead mode would create files beside the database. It is told that the file is immutable, unless
    such files are there already because somebody else writes or was killed. Raises `CuecardError` where changes in them
    cannot be read without writing.
    """
    real = Path(path).resolve()
    wal, shm, journal = (Path(f"{real}{end}") for end in (*SIDES, "-journal"))
    options = "mode=ro"
    if _writes_ahead(real) and not journal.exists():
        if not wal.exists() or not wal.stat().st_size:
            options = "immutable=1"
        elif shm.exists():
            options = "mode=ro&readonly_shm=1"
        else:
            raise troubles.changes_beside(path, str(wal))
    return f"{real.as_uri()}?{options}"


def _check_new(path: Path, create: bool) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise troubles.no_folder(str(folder))
    if not create:
        raise troubles.absent(str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise troubles.not_made_here(str(path), *_unwritable(folder))


def _barred(path: Path) -> ReadOnlyReason | None:
    beside = [side for end in SIDES if (side := Path(f"{path}{end}")).exists()]
    for place in (path, path.parent, *beside):
        if not os.access(place, os.W_OK):
            return _unwritable(place)
    return None


def _unwritable(place: Path) -> ReadOnlyReason:
    copy = _("Copy the workspace to a folder of your own and open the copy.")
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return ReadOnlyReason(_("{place} is on a read-only file system.").format(place=place), copy)
    found = place.stat()
    mine = found.st_uid == os.geteuid()
    if os.geteuid() == 0 or (mine and found.st_mode & stat.S_IWUSR):
        reason = _("The system keeps {place} from being changed, whatever its permissions say.")
        return ReadOnlyReason(
            reason.format(place=place), _("See `lsattr`. {copy}").format(copy=copy)
        )
    text = _("{place} belongs to {owner} and has the permissions {mode}: you may not write it.")
    mend = _("`chmod u+w {place}` lets you write it.").format(place=place)
    return ReadOnlyReason(_denied(text, place), mend if mine else copy)


def _denied(text: str, place: Path) -> str:
    """`text` filled in with a place's owner and its permissions, such as `-rw-r--r--`."""
    found = place.stat()
    mode = stat.filemode(found.st_mode)
    return text.format(place=place, owner=owner_of(found.st_uid), mode=mode)


def _closed_folder(path: Path) -> Path:
    """The first folder on the way to `path` that this process may not enter."""
    folders = reversed(path.absolute().parents)
    return next((folder for folder in folders if not os.access(folder, os.X_OK)), path.parent)


def owner_of(uid: int) -> str:
    """The name of a user of this machine, else their number."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _writes_ahead(path: Path) -> bool:
    """Whether the file's header says so: https://www.sqlite.org/fileformat.html, offset 18."""
    with path.open("rb") as file:
        return file.read(20)[18:19] == b"\x02"
