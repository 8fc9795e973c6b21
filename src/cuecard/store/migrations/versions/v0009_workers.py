"""Version 9: workers, which play a run together, and which of them holds which trial."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "worker",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("machine", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started", sa.String(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("since", moment, nullable=False),
        sa.Column("beat_at", moment, nullable=False),
        sa.Column("left_at", moment, nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("players", sa.String(), nullable=False),
        sa.Column("under_way", sa.Integer(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_worker"),
    )
    op.create_table(
        "claim",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("taken", moment, nullable=True),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_claim_trial_id"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_claim_run_id"),
        sa.ForeignKeyConstraint(["worker"], ["worker.id"], name="fk_claim_worker"),
        sa.PrimaryKeyConstraint("trial_id", name="pk_claim"),
    )
    op.create_index("ix_claim_run_id_done", "claim", ["run_id", "done"])
    op.create_table(
        "take",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("before", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_take_trial_id"),
        sa.ForeignKeyConstraint(["worker"], ["worker.id"], name="fk_take_worker"),
        sa.ForeignKeyConstraint(["before"], ["worker.id"], name="fk_take_before"),
        sa.PrimaryKeyConstraint("trial_id", "fence", name="pk_take"),
    )
    make_append_only("take")
