"""One number with its n and interval, or the reason why there is none."""

from __future__ import annotations

from cuecard.core.tasks.base import Frozen


class Statistic(Frozen):
    """`n` counts the items that entered. `value` is None exactly when `reason` says why it is
    undefined; it is never NaN. `low` and `high` are the ends of an interval, both or neither;
    `no_interval` says why there is none though it was asked for. `name` is stable (`cohen_kappa`),
    reasons are translated.
    """

    name: str
    value: float | None
    n: int
    reason: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: str = ""

    @property
    def defined(self) -> bool:
        return self.value is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)
