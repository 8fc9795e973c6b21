"""Version 5, for the meta-evaluation of judges: circumstances of labels, labelling sets, reveals, adjudications."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import drop_append_only, make_append_only

revision = "0005"
down_revision = "0004"

_NEW = ("reveal", "labelset", "setitem", "adjudication")


def upgrade() -> None:
    # SQLite rebuilds the table, which drops its triggers too.
    drop_append_only("label")
    with op.batch_alter_table("label") as label:
        label.alter_column("verdict_id", existing_type=sa.Integer(), nullable=True)
        label.add_column(sa.Column("phase", sa.String(), nullable=False, server_default="blind"))
        label.add_column(sa.Column("seconds", sa.Float(), nullable=False, server_default="0"))
        label.add_column(
            sa.Column("gold_wrong", sa.Boolean(), nullable=False, server_default=sa.false())
        )
        label.add_column(sa.Column("source", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "reveal",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Text(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_reveal_trial_id"),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name="fk_reveal_person"),
        sa.PrimaryKeyConstraint("trial_id", "item_key", "person", name="pk_reveal"),
    )
    op.create_table(
        "labelset",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["person.name"], name="fk_labelset_created_by"),
        sa.PrimaryKeyConstraint("id", name="pk_labelset"),
    )
    op.create_index("ix_labelset_uid", "labelset", ["uid"], unique=True)
    op.create_table(
        "setitem",
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Text(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("raters", sa.Integer(), nullable=False),
        sa.Column("people", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["set_id"], ["labelset.id"], name="fk_setitem_set_id"),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_setitem_trial_id"),
        sa.PrimaryKeyConstraint("set_id", "position", name="pk_setitem"),
    )
    op.create_index("ix_setitem_trial_id_item_key", "setitem", ["trial_id", "item_key"])
    op.create_table(
        "adjudication",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Text(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_adjudication_trial_id"),
        sa.ForeignKeyConstraint(["by"], ["person.name"], name="fk_adjudication_by"),
        sa.PrimaryKeyConstraint("id", name="pk_adjudication"),
    )
    op.create_index("ix_adjudication_trial_id_item_key", "adjudication", ["trial_id", "item_key"])
    make_append_only("label", *_NEW)
