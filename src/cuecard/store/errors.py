"""The errors of opening, reading and writing a database, worded for users."""

import zlib
from collections.abc import Callable, Sequence
from json import JSONDecodeError

from pydantic import ValidationError
from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from cuecard.core.errors import CuecardError, DatabaseAway, NotAllowed, NotFound, install_hint
from cuecard.core.i18n import _, headed
from cuecard.core.text import one_line

_GONE = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "53300")
"""SQLSTATEs, beside those of class 08, with which PostgreSQL ends a session or takes none at present:
https://www.postgresql.org/docs/current/errcodes-appendix.html
"""
_AT_PRESENT = (
    *(
        "starting up",
        "shutting down",
        "recovery mode",
        "not yet accepting",
        "too many",
        "slots are",
    ),
    *("terminating connection", "conflict with recovery"),
)
"""What a server says that takes no connection now, but will later."""
_FOR_GOOD = (
    "fatal:",
    "no password",
    "certificate",
    "ssl was required",
    "invalid port",
    "invalid connection",
    "definition of service",
    "service file",
)
"""What is said of a connection that will be refused again."""


def is_away(error: DBAPIError) -> bool:
    """Whether PostgreSQL could not be reached, or the connection was lost."""
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        return code in _GONE or code.startswith("08")
    if error.connection_invalidated:
        return True
    # Why no connection was made has no code, only words.
    said = str(error.orig).lower()
    if not any(sign in said for sign in _CONNECTING):
        return False
    return any(sign in said for sign in _AT_PRESENT) or not any(s in said for s in _FOR_GOOD)


def is_waiting(error: DBAPIError) -> bool:
    """Whether PostgreSQL gave up waiting for somebody else: a lock was not free in time, or each waits for the other."""
    return getattr(error.orig, "sqlstate", None) in ("55P03", "40P01")


def away(said: str, place: str) -> DatabaseAway:
    """`said`: why, by the driver or the server."""
    reason = said.strip().splitlines()[0] if said.strip() else ""
    return DatabaseAway(
        _("The database cannot be reached"),
        headed(place, reason),
        _("What was saved is safe. Check that the server runs, and its name in the address."),
    )


def database_trouble(said: str, place: str) -> CuecardError:
    """The error to raise for a driver's message `said` about the database at `place` (an address without password)."""
    lowered = said.lower()
    if any(sign in lowered for sign in _CONNECTING):
        why = said.partition("\n")[0].rpartition(" failed: ")[2].removeprefix("FATAL:")
        return CuecardError(
            _("The database does not let you in"),
            headed(place, why.strip()),
            _("Check the name, user and password in the address."),
        )
    for signs, make in _KNOWN:
        if any(sign in lowered for sign in signs):
            return make(place)
    return CuecardError(
        _("The workspace cannot do this"),
        headed(place, said.partition("\n")[0]),
        _("If it happens again, make a copy of the workspace and report the problem."),
    )


UNREADABLE = ValidationError, JSONDecodeError, zlib.error
"""What reading raises where a row holds something else than was written."""


def unreadable_row(error: Exception, place: str) -> CuecardError:
    """`error`: one of `UNREADABLE`."""
    why = str(error)
    if isinstance(error, ValidationError):
        why = headed(error.title.partition("[")[0], error.errors(include_url=False)[0]["msg"])
    return CuecardError(
        _("A record of this workspace is damaged"),
        headed(place, one_line(why, 300)),
        _(
            "`cuecard doctor --deep` names its table and row; take it from a backup, or mend it there."
        ),
    )


def not_a_database(place: str) -> CuecardError:
    return CuecardError(
        _("This is not a Cuecard workspace"),
        place,
        _("Choose another file with --db; a new name makes a new workspace."),
    )


def is_a_folder(place: str) -> CuecardError:
    return CuecardError(
        _("This is a folder, not a workspace"),
        place,
        _("Name a file in it, such as {file}.").format(file=f"{place.rstrip('/')}/cuecard.db"),
    )


def unreadable(place: str, reason: str) -> CuecardError:
    return CuecardError(
        _("The workspace cannot be read"),
        reason,
        _("Ask for permission to read {place}, or choose another with --db.").format(place=place),
    )


def not_made_here(place: str, reason: str, _hint: str) -> CuecardError:
    return CuecardError(
        _("No workspace can be made here"),
        reason,
        _("Choose another place than {place} with --db or CUECARD_DB.").format(place=place),
    )


def changes_beside(place: str, wal: str) -> CuecardError:
    return CuecardError(
        _("The workspace cannot be read where it is"),
        _(
            "{wal} holds changes that are not in {place} yet; they are taken in when the workspace is opened by"
            " somebody who may write it."
        ).format(wal=wal, place=place),
        _("Copy both files to a folder of your own and open the copy."),
    )


def outdated(place: str, version: str, head: str, reason: str, hint: str) -> CuecardError:
    return CuecardError(
        _("This workspace must be brought up to date first, and cannot be written"),
        _("{place} has version {version}, this program needs {head}. {reason}").format(
            place=place, version=version, head=head, reason=reason
        ),
        hint,
    )


def foreign_database(place: str) -> CuecardError:
    return CuecardError(
        _("This database belongs to something else"),
        _("{place} holds tables, but not Cuecard's; nothing was changed.").format(place=place),
        _("Choose another file with --db; a new name makes a new workspace."),
    )


def newer_version(place: str, version: str) -> CuecardError:
    return CuecardError(
        _("This workspace was made by a newer Cuecard"),
        _("{place} has version {version}, which this program does not know.").format(
            place=place, version=version
        ),
        _("Update Cuecard, then open it again."),
    )


def half_moved(place: str, source: str) -> CuecardError:
    return CuecardError(
        _("This workspace has not all been moved here yet"),
        _("{place} was begun from {source}.").format(place=place, source=source),
        _("Run `cuecard --db {source} move --to …` once more: it goes on where it was.").format(
            source=source
        ),
    )


def occupied(place: str) -> CuecardError:
    return CuecardError(
        _("Another workspace is there already"),
        _("{place} was not changed.").format(place=place),
        _("Choose an empty database, a new schema or a new file."),
    )


def absent(place: str) -> NotFound:
    return NotFound(
        _("There is no workspace here"),
        place,
        _("`cuecard init` makes one; --db or CUECARD_DB names another place."),
    )


def no_folder(folder: str) -> NotFound:
    return NotFound(
        _("The folder does not exist"), folder, _("Make the folder first, or choose another.")
    )


def bad_url(place: str) -> CuecardError:
    return CuecardError(
        _("This is not the address of a workspace"),
        place,
        _("Give a path such as ./cuecard.db, or postgresql://user@host/name."),
    )


def missing_driver() -> CuecardError:
    return CuecardError(
        _("PostgreSQL needs one more package"),
        "psycopg",
        install_hint("postgres"),
    )


def read_only(reason: str, hint: str = "") -> CuecardError:
    return CuecardError(
        _("The workspace cannot be written"),
        reason,
        hint or _("Change its permissions, or copy it to a folder of your own and open the copy."),
    )


def _found_read_only(place: str) -> CuecardError:
    return read_only(_("{place} or its folder is read-only.").format(place=place))


def unknown_role(role: str) -> NotAllowed:
    return NotAllowed(
        _("The workspace does not know you"),
        _("The database's role {role} stands for nobody.").format(role=role),
        _("Ask its owner for `cuecard people add NAME --role {role}`.").format(role=role),
    )


def _not_granted(_place: str) -> CuecardError:
    return NotAllowed(
        _("The database does not let you do this"),
        _(
            "Its role may write only in the name of the person it stands for, and change no history."
        ),
        _("`cuecard people` shows whom it stands for; a coordinator may do more."),
    )


def busy(place: str) -> DatabaseAway:
    return DatabaseAway(
        _("The workspace is busy"),
        _("Another program is writing to {place} for a long time.").format(place=place),
        _("Close what else uses it, then try again."),
        reads=True,
    )


class Busy(DatabaseAway):
    """Somebody else writes, on PostgreSQL; it may be over in a moment."""


def busy_by(place: str, who: str, idle: float | None) -> Busy:
    """`who` writes, "" if that is not known; `idle`: for how many seconds they have said nothing in the middle of it."""
    if not who:
        who = _("Another program")
    if idle is None:
        said = _("{who} is writing to {place} at this moment.").format(who=who, place=place)
        return Busy(_("The workspace is busy"), said, _("Try again in a moment."), reads=True)
    return Busy(
        _("The workspace is busy"),
        _("{who} stopped in the middle of a write to {place}, {n} s ago.").format(
            who=who, place=place, n=round(idle)
        ),
        _("The server ends that by itself within seconds; then try again."),
        reads=True,
    )


def gone(place: str) -> DatabaseAway:
    return DatabaseAway(
        _("The workspace's file is gone"),
        _("{place} is not the file any more that was opened.").format(place=place),
        _("Put it back where it was, or look whether its disk or share is there."),
    )


def _unsteady(place: str) -> DatabaseAway:
    return DatabaseAway(
        _("The workspace's disk does not answer"),
        place,
        _("Look whether its disk or share is there; `cuecard doctor` checks the file."),
    )


def full(place: str) -> DatabaseAway:
    return DatabaseAway(_("The disk is full"), place, _("Make room, then try again."), reads=True)


def too_large(_place: str) -> CuecardError:
    return CuecardError(
        _("This number is too large"),
        _("The workspace holds no number like it."),
        _("Look whether it has a digit too many."),
    )


def damaged(place: str) -> CuecardError:
    return CuecardError(
        _("The workspace is damaged"), place, _("Restore a backup, or try `sqlite3 FILE .recover`.")
    )


def _cannot_open(place: str) -> CuecardError:
    return CuecardError(
        _("The workspace cannot be opened"),
        place,
        _("Check that this is a file, and that you may read and write it and its folder."),
    )


_CONNECTING = (
    *("connection failed", "could not connect", "connection refused", "could not translate"),
    *("failed to resolve", "server closed the connection", "connection timeout"),
    *("consuming input failed", "the connection is", "password authentication"),
    *("definition of service", "service file"),
)
_KNOWN: Sequence[tuple[Sequence[str], Callable[[str], CuecardError]]] = (
    (("file is not a database", "file is encrypted"), not_a_database),
    # What everybody reads first, who has any rights.
    (
        ("permission denied for table alembic_version",),
        lambda place: unknown_role(make_url(place).username or place),
    ),
    (
        ("permission denied for schema",),
        lambda place: not_made_here(
            place, _("{place} holds none, and its role may make none.").format(place=place), ""
        ),
    ),
    (("row-level security", "permission denied for", "must be owner of"), _not_granted),
    (("readonly", "read-only"), _found_read_only),
    (("database is locked", "table is locked", "locking protocol", "due to lock timeout"), busy),
    (("disk is full", "no space left"), full),
    (("malformed",), damaged),
    (("integer out of range", "bigint out of range"), too_large),
    (("disk i/o error",), _unsteady),
    (("unable to open database file",), _cannot_open),
)
