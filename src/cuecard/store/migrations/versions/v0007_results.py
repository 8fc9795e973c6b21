"""Version 7, for results: uids of runs, cached measures of trials, and people's notes on trials."""

import hashlib

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("run", sa.Column("uid", sa.String(), nullable=False, server_default=""))
    connection = op.get_bind()
    first = "SELECT min(uid) FROM trial WHERE trial.run_id = run.id"
    runs = connection.execute(
        sa.text(f"SELECT id, name, created_by, created_at, ({first}) FROM run")
    ).all()
    for run in runs:
        # Copies of one workspace that go up apart give their runs the same names.
        digest = hashlib.sha256("\n".join(map(str, run)).encode("utf-8", "replace")).hexdigest()
        connection.execute(
            sa.text("UPDATE run SET uid = :uid WHERE id = :id"), {"uid": digest[:32], "id": run[0]}
        )
    op.create_index("ix_run_uid", "run", ["uid"], unique=True)
    op.create_table(
        "trialfigures",
        sa.Column("judgement_id", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("stamp", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judgement_id"], ["judgement.id"], name="fk_trialfigures_judgement_id"
        ),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_trialfigures_trial_id"),
        sa.PrimaryKeyConstraint("judgement_id", "language", name="pk_trialfigures"),
    )
    op.create_index("ix_trialfigures_trial_id", "trialfigures", ["trial_id"])
    op.create_table(
        "trialnote",
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("about", sa.String(), nullable=False, server_default=""),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_trialnote_trial_id"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_trialnote_person"),
        sa.PrimaryKeyConstraint("uid", name="pk_trialnote"),
    )
    op.create_index("ix_trialnote_trial_id", "trialnote", ["trial_id"])
    make_append_only("trialnote")
