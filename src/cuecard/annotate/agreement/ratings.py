"""A matrix of nominal ratings with gaps (items x raters), and the majority as an additional rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _, listed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MISSING = -1


@dataclass(frozen=True)
class Ratings:
    """Nominal ratings, items x raters. `codes[i][r]` indexes `labels`, or is -1 if rater r did not rate item i.

    Items and raters keep the order in which they first occurred.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    codes: tuple[tuple[int, ...], ...]

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[str, str, str | None]], *, domain: Sequence[str] | None = None
    ) -> Ratings:
        """Ratings from rows of (item, rater, label); None or a blank label is a missing rating.

        `domain` declares the possible labels, in order, whether they occur or not; without it they
        are those that occur, sorted, as numbers if all are. Raises `CuecardError` when a rater rates an item twice or
        gives a label outside the domain.
        """
        cells: dict[tuple[str, str], str | None] = {}
        for item, rater, label in rows:
            if (item, rater) in cells:
                raise CuecardError(
                    _("One rater rated one item twice"),
                    _("rater {rater}, item {item}").format(rater=rater, item=item),
                    _("Keep one rating of each rater for each item."),
                )
            cells[item, rater] = label if label is not None and label.strip() else None
        given = {label for label in cells.values() if label is not None}
        labels = tuple(dict.fromkeys(domain)) if domain is not None else _sorted(given)
        if unknown := sorted(given.difference(labels)):
            raise CuecardError(
                _("A label is not one of the declared ones"),
                _("{labels} is not among {domain}").format(
                    labels=listed(unknown), domain=listed(labels)
                ),
            )
        items = tuple(dict.fromkeys(item for item, _rater in cells))
        raters = tuple(dict.fromkeys(rater for _item, rater in cells))
        index = {label: code for code, label in enumerate(labels)}
        codes = tuple(
            tuple(
                MISSING if (label := cells.get((item, rater))) is None else index[label]
                for rater in raters
            )
            for item in items
        )
        return cls(items, raters, labels, codes)

    def of_raters(self, raters: Sequence[str]) -> Ratings:
        """The columns of these raters only; items stay. Raises `KeyError` for an unknown rater."""
        position = {rater: index for index, rater in enumerate(self.raters)}
        columns = [position[rater] for rater in raters]
        codes = tuple(tuple(row[column] for column in columns) for row in self.codes)
        return Ratings(self.items, tuple(raters), self.labels, codes)

    def only(self, used: Sequence[bool]) -> Ratings:
        """The ratings with those of unused items made missing; the items stay, so that groups and weights still fit."""
        gap = (MISSING,) * len(self.raters)
        codes = tuple(row if use else gap for row, use in zip(self.codes, used, strict=True))
        return Ratings(self.items, self.raters, self.labels, codes)

    def complete(self) -> Ratings:
        """The ratings with only items that every rater rated; see `only`."""
        return self.only([MISSING not in row for row in self.codes])

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """Items x raters: `codes`."""
        import numpy as np

        return np.array(self.codes, dtype=np.int64).reshape(len(self.items), len(self.raters))

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Items x labels: how many raters gave the item that label."""
        import numpy as np

        counts = np.zeros((len(self.items), len(self.labels)))
        for code in range(len(self.labels)):
            counts[:, code] = (self.table == code).sum(axis=1)
        return counts


def _sorted(labels: Iterable[str]) -> tuple[str, ...]:
    """By value where all are numbers, so that 10 comes after 9."""
    found = sorted(labels)
    numbers = as_numbers(found)
    if numbers is None:
        return tuple(found)
    return tuple(sorted(found, key=lambda label: numbers[label]))


def as_numbers(labels: Iterable[str]) -> dict[str, float] | None:
    """Each label's number; None where one is none, or not finite."""
    found: dict[str, float] = {}
    for label in labels:
        try:
            found[label] = float(label)
        except ValueError:
            return None
    return found if all(map(isfinite, found.values())) else None


def most_said(labels: Iterable[str]) -> str:
    """The most frequent label; "" for none, or if two are equally frequent."""
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]
