"""Triggers that keep a table append-only, for both dialects."""

from __future__ import annotations

from alembic import op

_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION cuecard_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$
"""


def make_append_only(*tables: str) -> None:
    """Have the database refuse every UPDATE and DELETE on these tables."""
    if op.get_bind().dialect.name == "sqlite":
        for table in tables:
            for action in ("update", "delete"):
                op.execute(
                    f"CREATE TRIGGER {table}_no_{action} BEFORE {action.upper()} ON {table} "
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
        return
    op.execute(_POSTGRES_FUNCTION)
    for table in tables:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION cuecard_append_only()"
        )


def drop_append_only(table: str) -> None:
    """Allow changes again, for the rest of a migration that changes the table itself."""
    if op.get_bind().dialect.name == "sqlite":
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER {table}_no_{action}")
        return
    op.execute(f"DROP TRIGGER {table}_append_only ON {table}")
