"""Version 3, for authors: what a model drafted, discarded drafts, and the effort spent."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    # Columns with a default are added in place, so the triggers of these tables stay.
    for table in ("revision", "draft"):
        op.add_column(table, sa.Column("origins", sa.Text(), nullable=False, server_default="[]"))
    op.add_column("draft", sa.Column("left_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "throwndraft",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.Column("origins", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("thrown_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_throwndraft_person"),
        sa.PrimaryKeyConstraint("id", name="pk_throwndraft"),
    )
    op.create_index("ix_throwndraft_task_id", "throwndraft", ["task_id"], unique=False)
    op.create_index("ix_throwndraft_person", "throwndraft", ["person"], unique=False)
    op.create_table(
        "effort",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("amount", sa.Float(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_effort_person"),
        sa.PrimaryKeyConstraint("id", name="pk_effort"),
    )
    op.create_index("ix_effort_task_id", "effort", ["task_id"], unique=False)
    make_append_only("throwndraft", "effort")
