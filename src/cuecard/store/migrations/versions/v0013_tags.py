"""Version 13: tags of tasks, runs and trials."""

import sqlalchemy as sa
from alembic import op

from cuecard.store import role_rules
from cuecard.store.migrations.helpers import make_append_only

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "tag",
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("about", sa.String(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("off", sa.Boolean(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_tag_person"),
        sa.PrimaryKeyConstraint("uid", name="pk_tag"),
    )
    op.create_index("ix_tag_kind_about", "tag", ["kind", "about"])
    make_append_only("tag")
    role_rules.install(op.get_bind())
