"""Version 15: on PostgreSQL what is said of an item is hidden on copies of its trial, too, as long as it waits for a label."""

from alembic import op

from cuecard.store import role_rules

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    role_rules.install(op.get_bind())
