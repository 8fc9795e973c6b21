"""Version 1: the first tables."""

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import make_append_only

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "content",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_content")),
    )
    op.create_table(
        "person",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_person")),
    )
    op.create_table(
        "draft",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("base", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name=op.f("fk_draft_person")),
        sa.PrimaryKeyConstraint("task_id", "person", name=op.f("pk_draft")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("samples", sa.Integer(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["person.name"], name=op.f("fk_run_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("difficulty", sa.String(), nullable=True),
        sa.Column("head", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("search", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author"], ["person.name"], name=op.f("fk_task_author")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
    )
    op.create_index(op.f("ix_task_state"), "task", ["state"], unique=False)
    op.create_table(
        "revision",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author"], ["person.name"], name=op.f("fk_revision_author")),
        sa.ForeignKeyConstraint(["hash"], ["content.hash"], name=op.f("fk_revision_hash")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_revision_task_id")),
        sa.PrimaryKeyConstraint("task_id", "number", name=op.f("pk_revision")),
    )
    op.create_index(op.f("ix_revision_author"), "revision", ["author"], unique=False)
    op.create_index(op.f("ix_revision_hash"), "revision", ["hash"], unique=False)
    op.create_table(
        "move",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["person.name"], name=op.f("fk_move_by")),
        sa.ForeignKeyConstraint(
            ["task_id", "revision"],
            ["revision.task_id", "revision.number"],
            name=op.f("fk_move_task_id_revision"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_move")),
    )
    op.create_index(op.f("ix_move_task_id"), "move", ["task_id"], unique=False)
    op.create_table(
        "review",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.String(), nullable=False),
        sa.Column("ratings", sa.Text(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("comments", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["reviewer"], ["person.name"], name=op.f("fk_review_reviewer")),
        sa.ForeignKeyConstraint(
            ["task_id", "revision"],
            ["revision.task_id", "revision.number"],
            name=op.f("fk_review_task_id_revision"),
        ),
        sa.PrimaryKeyConstraint("task_id", "revision", "reviewer", name=op.f("pk_review")),
    )
    op.create_table(
        "trial",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("world", sa.Text(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("termination", sa.String(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_trial_run_id")),
        sa.ForeignKeyConstraint(
            ["task_id", "revision"],
            ["revision.task_id", "revision.number"],
            name=op.f("fk_trial_task_id_revision"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trial")),
    )
    op.create_index(op.f("ix_trial_run_id"), "trial", ["run_id"], unique=False)
    op.create_index(op.f("ix_trial_termination"), "trial", ["termination"], unique=False)
    op.create_table(
        "event",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_event_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", "seq", name=op.f("pk_event")),
        sa.UniqueConstraint("trial_id", "key", name=op.f("uq_event_trial_id_key")),
    )
    op.create_table(
        "judgement",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("judge_name", sa.String(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("revision_hash", sa.String(), nullable=False),
        sa.Column("prompt_hash", sa.String(), nullable=False),
        sa.Column("table_match", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_judgement_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
    )
    op.create_index(
        op.f("ix_judgement_trial_id_judge_name"),
        "judgement",
        ["trial_id", "judge_name"],
        unique=False,
    )
    op.create_table(
        "verdict",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judgement_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Text(), nullable=False),
        sa.Column("item_kind", sa.String(), nullable=False),
        sa.Column("item_index", sa.Integer(), nullable=False),
        sa.Column("item_column", sa.Text(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("supporting", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("shuffle", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judgement_id"], ["judgement.id"], name=op.f("fk_verdict_judgement_id")
        ),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_verdict_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict")),
        sa.UniqueConstraint(
            "judgement_id", "position", name=op.f("uq_verdict_judgement_id_position")
        ),
    )
    op.create_index(
        op.f("ix_verdict_trial_id_item_key"), "verdict", ["trial_id", "item_key"], unique=False
    )
    op.create_table(
        "label",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("verdict_id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Text(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.name"], name=op.f("fk_label_person")),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_label_trial_id")),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdict.id"], name=op.f("fk_label_verdict_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label")),
    )
    op.create_index(
        op.f("ix_label_trial_id_item_key_person"),
        "label",
        ["trial_id", "item_key", "person"],
        unique=False,
    )
    op.create_table(
        "reviewform",
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["reviewer"], ["person.name"], name=op.f("fk_reviewform_reviewer")),
        sa.ForeignKeyConstraint(
            ["task_id", "revision"],
            ["revision.task_id", "revision.number"],
            name=op.f("fk_reviewform_task_id_revision"),
        ),
        sa.PrimaryKeyConstraint("task_id", "revision", "reviewer", name=op.f("pk_reviewform")),
    )
    make_append_only(
        "content", "revision", "move", "review", "event", "judgement", "verdict", "label"
    )
