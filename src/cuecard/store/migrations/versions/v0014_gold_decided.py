"""Version 14: who decided between a gold and its second. Earlier versions cannot read that, and on PostgreSQL it is shown to no
more people than the second gold.
"""

from alembic import op

from cuecard.store import role_rules

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    role_rules.install(op.get_bind())
