"""Version 6, for live sessions: shadow replies, moves of people who play the agent, forms."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "shadow",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("simulator", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("player", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("calls", sa.Text(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_shadow_trial_id"),
        sa.PrimaryKeyConstraint("id", name="pk_shadow"),
        sa.UniqueConstraint(
            "trial_id", "state", "simulator", name="uq_shadow_trial_id_state_simulator"
        ),
    )
    op.create_table(
        "seatmove",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("take", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_seatmove_trial_id"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_seatmove_person"),
        sa.PrimaryKeyConstraint("id", name="pk_seatmove"),
        sa.UniqueConstraint("trial_id", "take", "place", name="uq_seatmove_trial_id_take_place"),
    )
    op.create_table(
        "sessionform",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("questions", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_sessionform_trial_id"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_sessionform_person"),
        sa.PrimaryKeyConstraint("id", name="pk_sessionform"),
    )
    op.create_index("ix_sessionform_trial_id_person", "sessionform", ["trial_id", "person"])
    make_append_only("shadow", "seatmove", "sessionform")
