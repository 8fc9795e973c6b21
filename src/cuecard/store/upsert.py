"""Inserts that meet a row that is already there, in the words of either dialect."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.sql.dml import Insert


def insert_new(connection: Connection, table: Table) -> Insert:
    """An insert that passes over rows whose primary key is taken."""
    return _insert_new(connection.dialect.name, table)


@cache
def _insert_new(dialect: str, table: Table) -> Insert:
    # Statements are made once: SQLAlchemy finds what it compiled by the object.
    return insert_of(dialect, table).on_conflict_do_nothing()


def insert_of(dialect: str, table: Table) -> Any:
    """An insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    return insert(table)
