"""`cuecard backup` and `cuecard move`: the whole workspace as a file, and in another database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cuecard.core.i18n import N_, _, ngettext, pgettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import console, note, say, table
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.store.copies import Copied, OnRows


@verb("cuecard backup /backups/monday.db", "json")
def backup(
    ours: Context,
    file: Annotated[Path, Help(N_("The file to be written"), metavar="FILE")],
    *,
    force: Annotated[bool, N_("In place of a file that is there")] = False,
) -> Result:
    with console(stderr=True).status("") as status:
        found = ours.workspace.copies.back_up(file, _telling(status), force=force)
    size = file.stat().st_size
    place = ours.workspace.public_url
    text = _("{place} is backed up in {file} ({size}); every page of it was read and is whole.")
    shown = text.format(place=place, file=file, size=f"{max(1, round(size / 1024)):,} KB")
    return Result(
        lambda: say(shown),
        lambda: {"from": place, "file": str(file), "size": size, "tables": _json(found)},
    )


@verb("cuecard move --to postgresql://ana@db.example.org/bench", "json")
def move(
    ours: Context,
    *,
    to: Annotated[
        str,
        Help(
            N_("Where it shall be: an empty database or schema of PostgreSQL, or a new file"),
            metavar="URL",
        ),
    ],
) -> Result:
    from cuecard.store.workspace import database_at

    workspace = ours.workspace
    with (
        closing(database_at(to, create=True)) as target,
        console(stderr=True).status("") as status,
    ):
        found = workspace.copies.move(target, _telling(status))
        place = target.public_url
    return Result(
        lambda: _print(found, place),
        lambda: {"from": workspace.public_url, "to": place, "tables": _json(found)},
        remarks=lambda: note(
            _(
                "From now on it is {place}: in --db, in CUECARD_DB. {old} is as it was; nobody should go on working there."
            ).format(place=place, old=workspace.public_url)
        ),
    )


def _telling(status: Status) -> OnRows:
    def told(what: str, done: int, of: int) -> None:
        line = _("Reading {what}: {done} of {all}")
        status.update(line.format(what=what or _("pages"), done=f"{done:,}", all=f"{of:,}"))

    return told


def _print(found: Sequence[Copied], place: str) -> None:
    rows = [(each.table, f"{each.rows:,}") for each in found if each.rows]
    total = sum(each.rows for each in found)
    table("", (_("table"), pgettext("of a table", "rows")), rows, numbers=(1,))
    say(
        ngettext(
            "Moved to {place}: {n} row, the same in number and hash in every table.",
            "Moved to {place}: {n} rows, the same in number and hash in every table.",
            total,
        ).format(place=place, n=f"{total:,}")
    )
    if late := sum(each.changed for each in found):
        text = ngettext(
            "{n} row was written meanwhile and came along.",
            "{n} rows were written meanwhile and came along.",
            late,
        )
        say(text.format(n=f"{late:,}"))


def _json(found: Sequence[Copied]) -> list[dict[str, Any]]:
    return [each._asdict() for each in found]
