"""Version 11: roles of the database, and who may see what. What a review decided stands beside it, for policies to read."""

import json

import sqlalchemy as sa
from alembic import op

from cuecard.store import role_rules
from cuecard.store.codec import unpack
from cuecard.store.migrations.helpers import drop_append_only, make_append_only

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
    make_append_only("roleentry")
    connection = op.get_bind()
    _tell_decisions(connection)
    role_rules.install(connection)


def _tell_decisions(connection: sa.Connection) -> None:
    reviews = sa.text("SELECT uid, body, packed FROM contribution WHERE kind = 'reviewed'")
    decided = [
        {"uid": uid, "about": json.loads(unpack(body, packed))["decision"]}
        for uid, body, packed in connection.execute(reviews)
    ]
    if decided:
        drop_append_only("contribution")
        tell = sa.text("UPDATE contribution SET about = :about WHERE uid = :uid")
        connection.execute(tell, decided)
        make_append_only("contribution")
