"""Version 9: workers, which play a run together."""

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Nothing yet."""
