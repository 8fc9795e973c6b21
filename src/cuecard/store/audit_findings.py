"""What an audit found in what is stored, and how its parts read: row by row, in constant memory."""

import zlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Table, select

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.base import Frozen
from cuecard.store.engine import Database

Result = TypeVar("Result")

OnAudit = Callable[[str, int], None]
"""Called with the part that is read and how many rows of it were read so far."""
MOST = 50
"""Findings of a part that are told."""
AT_ONCE = 1000
"""Rows that are read at a time,"""
_FEW = 50
"""and of those that may be large."""
_UNREADABLE = (ValueError, KeyError, TypeError, zlib.error, CuecardError)
_RESTORE = N_("Take it from a backup, or from a pack of somebody who has it whole.")
COUNTED = N_("It is counted from what is whole: enter something there again, or take a backup.")
KEPT = N_("Delete this row: it is only kept, and will be counted again.")


class Finding(Frozen):
    """What is wrong with the row `key` of a table, and what can be done."""

    table: str
    key: str
    problem: str
    hint: str


class Part(Frozen):
    """What was read. `found`: how many findings there are; `findings`: the first of them. `note`: what could not be checked."""

    name: str
    read: int
    found: int
    findings: tuple[Finding, ...]
    note: str = ""


class Reading:
    """What is being read as one part: how many rows so far, and what is wrong with them."""

    def __init__(self, name: str, database: Database, told: OnAudit) -> None:
        self.name, self.database, self._told = name, database, told
        self.note = ""
        self.read = self.found = 0
        self.findings: list[Finding] = []

    def count(self, rows: int = 1) -> None:
        self.read += rows
        if self.read % AT_ONCE < rows:
            self._told(self.name, self.read)

    def wrong(self, table: str, key: object, problem: str, hint: str = _RESTORE) -> None:
        self.found += 1
        if len(self.findings) < MOST:
            named = (
                "/".join(map(str, cast(tuple[object, ...], key)))
                if isinstance(key, tuple)
                else str(key)
            )
            self.findings.append(
                Finding(table=table, key=named, problem=problem, hint=_(hint) if hint else "")
            )


def stream(connection: Connection, table: Table, *order: Any) -> Iterator[Any]:
    """All rows in this order, some at a time."""
    options = {"yield_per": _FEW if "data" in table.c else AT_ONCE}
    return iter(connection.execute(select(table).order_by(*order), execution_options=options))


def readable(read: Callable[..., Result], *given: Any) -> Result | None:
    """What it gives of these; None where they cannot be read."""
    try:
        return read(*given)
    except _UNREADABLE:
        return None
