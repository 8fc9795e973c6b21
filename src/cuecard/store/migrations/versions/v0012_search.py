"""Version 12: how far trials are in the index of what was said, and on PostgreSQL the index."""

import sqlalchemy as sa
from alembic import op

from cuecard.store import role_rules
from cuecard.store.trial_tables import LEXEMES

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "searchmark",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("upto", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_searchmark_trial_id"),
        sa.PrimaryKeyConstraint("trial_id", name="pk_searchmark"),
    )
    op.create_table(
        "passage",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("parts", LEXEMES, nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_passage_trial_id"),
        sa.PrimaryKeyConstraint("trial_id", "seq", name="pk_passage"),
    )
    op.create_index("ix_passage_parts", "passage", ["parts"], postgresql_using="gin")
    role_rules.install(op.get_bind())
