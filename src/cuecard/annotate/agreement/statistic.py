"""One number with its n, or the reason why there is none."""

from __future__ import annotations

from cuecard.core.tasks.base import Frozen


class Statistic(Frozen):
    """`n` counts the items that entered. `value` is None exactly when `reason` says why it is
    undefined; it is never NaN. `name` is stable (`cohen_kappa`), `reason` is translated.
    """

    name: str
    value: float | None
    n: int
    reason: str = ""

    @property
    def defined(self) -> bool:
        return self.value is not None
