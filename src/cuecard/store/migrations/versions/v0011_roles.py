"""Version 11: roles of the database, and who may see what."""

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Nothing yet."""
