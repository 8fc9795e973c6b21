"""A statistic with n and interval (`Statistic`), and the function of sums over items behind it (`Coefficient`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen


class Statistic(Frozen):
    """A value with n and interval. `n` counts the items that entered. `value` is None, never NaN, exactly if `reason`
    says why it is undefined. `low` and `high` are both given or neither; `no_interval` says why one that was asked for
    is missing. `name` is stable (`cohen_kappa`), reasons are translated.
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
    def remark(self) -> str:
        """Why there is no value, or no interval."""
        return self.reason or self.no_interval

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]
    Of = Callable[[Sums], Sums]

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Coefficient:
    """A coefficient as a function of sums over items, so that resampling and weighting need only new sums. `terms`
    (items x terms): what each item adds; `of` maps sums (... x terms) to values (...), NaN where undefined. `n`: items
    that entered. `undefined`: the reason if there is no value. `share`: it is a share of items. `bounds`: where the
    ends of an analytic interval are cut. `entered`: how many groups have something to tell, if others count as drawn
    without adding anything; None: all that add anything.
    """

    name: str
    terms: NDArray[np.float64]
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    n: int
    undefined: str
    share: bool = False
    bounds: tuple[float, float] = (-1.0, 1.0)
    entered: int | None = None

    def weighted(self, weights: NDArray[np.float64]) -> Coefficient:
        """The coefficient with a weight for each item, such as the inverse probability of having been drawn; `n` still
        counts items. Raises `ValueError` unless there is one weight for each item.
        """
        if len(weights) != len(self.terms):
            raise ValueError("not a weight for each item")
        return replace(self, terms=self.terms * weights[:, None])

    @property
    def statistic(self) -> Statistic:
        """Its value, without an interval."""
        value = float(self.of(self.terms.sum(axis=0))) if self.n else float("nan")
        if value != value:
            return Statistic(name=self.name, value=None, n=self.n, reason=self.undefined)
        return Statistic(name=self.name, value=value, n=self.n)


def pooled(parts: Sequence[Coefficient]) -> Coefficient:
    """One coefficient over the items of several, such as all dimensions of a review. They have the same name and
    labels, and equal rows are resampled together. Raises `ValueError` for none.
    """
    if not parts:
        raise ValueError("nothing to pool")
    defined = [part for part in parts if part.n]
    first = (defined or list(parts))[0]
    return Coefficient(
        name=first.name,
        terms=sum((part.terms for part in parts[1:]), parts[0].terms),
        of=first.of,
        n=sum(part.n for part in parts),
        undefined=first.undefined,
        share=first.share,
        bounds=first.bounds,
    )


def share(name: str, flags: Sequence[bool]) -> Coefficient:
    """The share of items that have the flag."""
    import numpy as np

    terms = np.array([[float(flag), 1.0] for flag in flags]).reshape(len(flags), 2)
    return Coefficient(
        name=name,
        terms=terms,
        of=lambda sums: ratio(sums[..., 0], sums[..., 1]),
        n=len(flags),
        undefined=_("nothing to count"),
        share=True,
        bounds=(0.0, 1.0),
    )


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """NaN where there is nothing to divide by."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > _TINY, above / below, np.nan)


def quotient(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first sum over the second."""
    return ratio(sums[..., 0], sums[..., 1])


def beyond_chance(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p_o - p_e) / (1 - p_e), NaN where p_e is 1."""
    return ratio(observed - expected, 1 - expected)
