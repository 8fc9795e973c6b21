"""Version 10: what workers may spend together, and orders to those who play a run."""

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Nothing yet."""
