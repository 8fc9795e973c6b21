"""Version 4, for review: contributions in place of moves and reviews, and uids of revisions and trials."""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from cuecard.core.contributions import revision_uid
from cuecard.core.review import standing_of
from cuecard.store.contributions import contribution_values, standing_values
from cuecard.store.migrations.helpers import drop_append_only, make_append_only, old_logs
from cuecard.store.task_tables import metadata

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    _make_tables()
    _name_revisions()
    _name_trials()
    _move_over()
    op.drop_table("move")
    op.drop_table("review")
    make_append_only("contribution", "cosign")


def _make_tables() -> None:
    text, integer = sa.String(), sa.Integer()
    for table in ("revision", "trial"):
        op.add_column(table, sa.Column("uid", text, nullable=False, server_default=""))
    op.add_column("revision", sa.Column("parents", sa.Text(), nullable=False, server_default="[]"))
    op.add_column(
        "revision", sa.Column("tick", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.add_column("task", sa.Column("priority", integer, nullable=False, server_default="0"))
    op.add_column("task", sa.Column("forks", integer, nullable=False, server_default="0"))
    op.create_table(
        "contribution",
        sa.Column("uid", text, nullable=False),
        sa.Column("task_id", text, nullable=True),
        sa.Column("revision", integer, nullable=True),
        sa.Column("kind", text, nullable=False),
        sa.Column("by", text, nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tick", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["by"], ["person.name"], name="fk_contribution_by"),
        sa.ForeignKeyConstraint(
            ["task_id", "revision"],
            ["revision.task_id", "revision.number"],
            name="fk_contribution_task_id_revision",
        ),
        sa.PrimaryKeyConstraint("uid", name="pk_contribution"),
    )
    for column in ("task_id", "kind", "by"):
        op.create_index(f"ix_contribution_{column}", "contribution", [column])
    op.create_table(
        "standing",
        sa.Column("task_id", text, nullable=False),
        sa.Column("number", integer, nullable=False),
        sa.Column("state", text, nullable=False),
        sa.Column("reviews", integer, nullable=False),
        sa.Column("needed", integer, nullable=False),
        sa.Column("seen", text, nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["task_id", "number"],
            ["revision.task_id", "revision.number"],
            name="fk_standing_task_id_number",
        ),
        sa.PrimaryKeyConstraint("task_id", "number", name="pk_standing"),
    )


def _name_revisions() -> None:
    """Give every revision its name; each stood on the one before."""
    connection = op.get_bind()
    drop_append_only("revision")
    rows = connection.execute(
        sa.text("SELECT task_id, number, hash FROM revision ORDER BY task_id, number")
    ).all()
    last: dict[str, str] = {}
    for task_id, number, digest in rows:
        parents = (last[task_id],) if task_id in last else ()
        last[task_id] = revision_uid(task_id, digest, parents)
        connection.execute(
            sa.text(
                "UPDATE revision SET uid = :uid, parents = :parents, tick = :tick"
                " WHERE task_id = :task AND number = :number"
            ),
            {
                "uid": last[task_id],
                "parents": json.dumps(parents),
                "tick": number,
                "task": task_id,
                "number": number,
            },
        )
    op.create_index("ix_revision_uid", "revision", ["uid"], unique=True)
    op.create_table(
        "cosign",
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tick", sa.BigInteger(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("origins", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["uid"], ["revision.uid"], name="fk_cosign_uid"),
        sa.ForeignKeyConstraint(["author"], ["person.name"], name="fk_cosign_author"),
        sa.PrimaryKeyConstraint("uid", "author", "at", name="pk_cosign"),
    )


def _name_trials() -> None:
    """Names that follow from what the trials are, so that copies of a workspace agree on them."""
    connection = op.get_bind()
    query = (
        "SELECT trial.id, trial.created_at, trial.task_id, trial.revision, run.name, run.created_by,"
        " run.created_at FROM trial JOIN run ON run.id = trial.run_id"
    )
    for row in connection.execute(sa.text(query)).all():
        digest = hashlib.sha256(json.dumps([str(part) for part in row]).encode()).hexdigest()[:32]
        connection.execute(
            sa.text("UPDATE trial SET uid = :uid WHERE id = :id"), {"uid": digest, "id": row[0]}
        )
    op.create_index("ix_trial_uid", "trial", ["uid"], unique=True)


def _move_over() -> None:
    """Moves and reviews become contributions, in the order in which they happened."""
    connection = op.get_bind()
    rows: list[dict[str, Any]] = []
    standings: list[dict[str, Any]] = []
    ticks: list[dict[str, Any]] = []
    for log in old_logs(connection):
        rows += map(contribution_values, log.contributions)
        standings += standing_values(standing_of(log))
        ticks += [
            {"task": log.task_id, "number": node.number, "tick": node.tick}
            for node in log.revisions
        ]
    if ticks:
        update = "UPDATE revision SET tick = :tick WHERE task_id = :task AND number = :number"
        connection.execute(sa.text(update), ticks)
    make_append_only("revision")
    for name, values in (("contribution", rows), ("standing", standings)):
        if values:
            connection.execute(metadata.tables[name].insert(), values)
