"""Version 11: roles of the database, and who may see what. What a review decided stands beside it, for policies to read."""

import json
import zlib

import sqlalchemy as sa
from alembic import op

from cuecard.store import roles
from cuecard.store.schema import keep_append_only

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "roleentry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("coordinator", sa.Boolean(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_roleentry"),
    )
    connection = op.get_bind()
    keep_append_only(connection, ["roleentry"])
    _tell_decisions(connection)
    roles.install(connection)


def _tell_decisions(connection: sa.Connection) -> None:
    sqlite = connection.dialect.name == "sqlite"
    keeper = "contribution_no_update" if sqlite else "contribution_append_only"
    op.execute(f"DROP TRIGGER {keeper}{'' if sqlite else ' ON contribution'}")
    reviews = sa.text("SELECT uid, body, packed FROM contribution WHERE kind = 'reviewed'")
    decided = [
        {
            "uid": uid,
            "about": json.loads(zlib.decompress(packed) if packed is not None else body)[
                "decision"
            ],
        }
        for uid, body, packed in connection.execute(reviews)
    ]
    if decided:
        tell = sa.text("UPDATE contribution SET about = :about WHERE uid = :uid")
        connection.execute(tell, decided)
    if sqlite:
        op.execute("DROP TRIGGER contribution_no_delete")
    keep_append_only(connection, ["contribution"])
