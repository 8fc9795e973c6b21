"""How many items to label for an interval of a wanted width."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, sqrt

_Z95 = 1.959963984540054


def width_of(n: float, share: float) -> float:
    """The width of the 95% score interval (Wilson 1927) of a share seen on `n` independent items."""
    spread = _Z95**2 / n
    return 2 * _Z95 * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)


def n_for_width(
    width: float,
    share: float = 0.9,
    *,
    population: int | None = None,
    design_effect: float = 1,
) -> int:
    """The fewest items for a 95% interval at most `width` wide (0 to 1), where about `share` of them will
    agree. `design_effect`: by how much items of one task say less than independent ones, 1 + (m - 1) rho
    for m items a task with correlation rho (Kish 1965). `population`: no more than there are; with the
    finite population correction.

    Raises `ValueError` for a width that is not between 0 and 1, a share outside [0, 1] or a design effect
    below 1.
    """
    if not 0 < width < 1:
        raise ValueError("a width must be between 0 and 1")
    if not 0 <= share <= 1:
        raise ValueError("a share must be between 0 and 1")
    if design_effect < 1:
        raise ValueError("a design effect is at least 1")
    low, high = 1, 2
    while width_of(high, share) > width:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        if width_of(middle, share) > width:
            low = middle + 1
        else:
            high = middle
    n = low * design_effect
    if population is not None:
        n = n / (1 + (n - 1) / population) if population else 0
        return min(ceil(n), population)
    return ceil(n)


def design_effect(items_per_task: float, correlation: float) -> float:
    """1 + (m - 1) rho (Kish 1965), at least 1."""
    return max(1.0, 1 + (items_per_task - 1) * correlation)


def n_in_tasks(
    width: float, share: float, *, tasks: int, items: int, correlation: float = 0
) -> int | None:
    """As `n_for_width`, for a sample spread evenly over `tasks` with `items` in all: the more of them are
    drawn from one task, the less each says. None if even all of them would say too little. Without a
    correlation the finite population correction holds; with one, the tasks are a sample themselves, of
    which no number of items is a census. Raises `ValueError` as `n_for_width` does, and for a correlation outside [0, 1].
    """
    wanted = n_for_width(width, share)
    if not 0 <= correlation <= 1:
        raise ValueError("a correlation must be between 0 and 1")
    if not tasks or not items:
        return None
    if not correlation:
        return n_for_width(width, share, population=items)
    # n / deff(n) = wanted, with deff(n) = 1 + (n / tasks - 1) rho.
    spare = 1 - wanted * correlation / tasks
    n = max(wanted, ceil(wanted * (1 - correlation) / spare)) if spare > 0 else items + 1
    return n if n <= items else None


def effective_size(strata: Iterable[tuple[float, float]]) -> float:
    """How many items drawn with equal chances would say as much as these, of (size, drawn) each: the
    weights' (sum w)^2 / sum w^2 (Kish 1965). Strata from which nothing is drawn are left out.
    """
    known = [(size, drawn) for size, drawn in strata if drawn]
    total = sum(size for size, _drawn in known)
    return total**2 / sum(size**2 / drawn for size, drawn in known) if known else 0.0
