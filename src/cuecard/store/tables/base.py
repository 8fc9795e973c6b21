"""What all tables share: one registry, named constraints, and column types for every dialect."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, MetaData, Text
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.orm import declared_attr, registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)


class Row(SQLModel, registry=registry(metadata=metadata)):
    """The base of all tables: `TaskRow` is table `task`. Rows never leave the store; records do."""

    # Rows are read and written through SQLAlchemy; building validators would only delay the start.
    model_config = {"defer_build": True}

    @declared_attr  # pyright: ignore[reportArgumentType]
    def __tablename__(cls) -> str:  # noqa: N805 # pyright: ignore[reportIncompatibleVariableOverride]
        return cls.__name__.removesuffix("Row").lower()


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC. SQLite keeps no zone, so it is taken off there and put back on."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = in_utc(value)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else in_utc(value)


class FreeText(TypeDecorator[str]):
    """Text from people and models. NUL and lone surrogates, which no database takes, are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean(value)


def in_utc(value: datetime) -> datetime:
    """`value` in UTC; without a zone it is taken to be UTC already."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def clean(text: str) -> str:
    """`text` as a database can hold it."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
