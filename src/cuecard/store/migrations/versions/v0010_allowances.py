"""Version 10: what workers may use together, and orders to those who play a run."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "allowance",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("party", sa.String(), nullable=False),
        sa.Column("amount", sa.Float(), nullable=False),
        sa.Column("want", sa.Float(), nullable=False),
        sa.Column("until", moment, nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", "party", name="pk_allowance"),
    )
    op.create_table(
        "runorder",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_runorder_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_runorder"),
    )
    op.create_index("ix_runorder_run_id", "runorder", ["run_id"])
    make_append_only("runorder")
