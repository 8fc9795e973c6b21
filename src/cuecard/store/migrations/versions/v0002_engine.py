"""Version 2, for the engine: retries of trials, payloads by content, plans of runs, usage, and judges' calls."""

import json
import zlib
from collections import defaultdict
from typing import Any

import sqlalchemy as sa
from alembic import op

from cuecard.store.migrations.helpers import drop_append_only, make_append_only

revision = "0002"
down_revision = "0001"

_COUNTS = ("prompt", "completion", "cached", "reasoning")


def upgrade() -> None:
    op.add_column("run", sa.Column("plan", sa.Text(), nullable=False, server_default="{}"))
    op.add_column("run", sa.Column("reason", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "judgement", sa.Column("trial_hash", sa.String(), nullable=False, server_default="")
    )
    # SQLite rebuilds the table, which drops its triggers too.
    drop_append_only("event")
    with op.batch_alter_table("event") as event:
        event.add_column(sa.Column("take", sa.Integer(), nullable=False, server_default="0"))
        event.drop_constraint("uq_event_trial_id_key", type_="unique")
        event.create_unique_constraint("uq_event_trial_id_take_key", ["trial_id", "take", "key"])
    op.create_table(
        "payload",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("base", sa.String(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["base"], ["payload.hash"], name="fk_payload_base"),
        sa.PrimaryKeyConstraint("hash", name="pk_payload"),
    )
    op.create_table(
        "usage",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("payer", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTS),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("priced", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_usage_trial_id"),
        sa.PrimaryKeyConstraint("trial_id", "payer", "model", name="pk_usage"),
    )
    op.create_table(
        "judgecall",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("packed", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name="fk_judgecall_trial_id"),
        sa.PrimaryKeyConstraint("trial_id", "judge", "attempt", "key", name="pk_judgecall"),
    )
    _count_usage()
    make_append_only("event", "payload", "judgecall")


def _count_usage() -> None:
    """Sum up what the logs so far have spent."""
    connection = op.get_bind()
    sums: dict[tuple[int, str, str], dict[str, Any]] = defaultdict(
        lambda: {"calls": 0, **dict.fromkeys(_COUNTS, 0), "cost": None, "priced": 0}
    )
    replies = connection.execute(
        sa.text("SELECT trial_id, body, packed FROM event WHERE type = 'model_replied'")
    )
    for trial_id, text, packed in replies:
        body = json.loads(zlib.decompress(packed) if packed is not None else text)
        payer = "world" if "tool/" in body.get("scope", "") else body["part"]
        line = sums[trial_id, _clean(payer), _clean(body["model"])]
        line["calls"] += 1
        for name in _COUNTS:
            line[name] += body["reply"].get("usage", {}).get(name, 0)
    if sums:
        columns = ("trial_id", "payer", "model", "calls", *_COUNTS, "cost", "priced")
        names, places = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        connection.execute(
            sa.text(f"INSERT INTO usage ({names}) VALUES ({places})"),
            [
                {"trial_id": trial_id, "payer": payer, "model": model, **line}
                for (trial_id, payer, model), line in sums.items()
            ],
        )


def _clean(name: str) -> str:
    """As the program writes names from then on; see `store.trial_logs.usage_name`."""
    return name.replace("\0", "\ufffd").encode("utf-8", "replace").decode()[:200]
