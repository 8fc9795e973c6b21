"""One rater measured against another as the reference, such as a judge against people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficient import Coefficient, ratio
from cuecard.annotate.agreement.kappa import contingency
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.core.i18n import _

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cuecard.annotate.agreement.coefficient import Of


def against_reference(ratings: Ratings) -> tuple[Coefficient, ...]:
    """The first rater against the second as the reference, over items that both labelled. For each label
    `precision:L` (of what the first labelled L, the share that the reference did too), `recall:L` (the
    other way round), `f1:L` (their harmonic mean, 2 tp / (2 tp + fp + fn)); then `balanced_accuracy` (the
    mean recall over the labels that the reference used; Brodersen et al. 2010) and `mcc` (Matthews 1975;
    for more than two labels the R_K of Gorodkin 2004). Empty unless there are exactly two raters.
    """
    terms, two = contingency(ratings)
    if not two:
        return ()
    n = int(terms.sum())
    found: list[Coefficient] = []
    for code, label in enumerate(ratings.labels):
        found += _of_label(terms, len(ratings.labels), code, label, n)
    nothing = _("no item has two ratings")
    balanced, mcc = _balanced(len(ratings.labels)), _matthews(len(ratings.labels))
    return (
        *found,
        Coefficient("balanced_accuracy", terms, balanced, n, nothing, bounds=(0.0, 1.0)),
        Coefficient("mcc", terms, mcc, n, _("only one category used") if n else nothing),
    )


def _of_label(
    terms: NDArray[np.float64], size: int, code: int, label: str, n: int
) -> list[Coefficient]:
    """Terms are reduced to what the label needs: both, given by the first, given by the reference."""
    import numpy as np

    cells = terms.reshape(len(terms), size, size)
    both = cells[:, code, code]
    given, wanted = cells[:, code, :].sum(axis=1), cells[:, :, code].sum(axis=1)
    never_given = _("the first rater never gave this label")
    never_wanted = _("the reference never has this label")
    neither = _("neither rater gave this label")
    return [
        Coefficient(
            f"precision:{label}",
            np.column_stack([both, given]),
            _share,
            int(given.sum()),
            never_given,
            share=True,
            bounds=(0.0, 1.0),
        ),
        Coefficient(
            f"recall:{label}",
            np.column_stack([both, wanted]),
            _share,
            int(wanted.sum()),
            never_wanted,
            share=True,
            bounds=(0.0, 1.0),
        ),
        Coefficient(
            f"f1:{label}",
            np.column_stack([2 * both, given + wanted]),
            _share,
            n,
            neither,
            bounds=(0.0, 1.0),
        ),
    ]


def _share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])


def _balanced(size: int) -> Of:
    import numpy as np

    def accuracy(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        wanted = cells.sum(axis=-2)
        hits = np.diagonal(cells, axis1=-2, axis2=-1)
        used = wanted > 0
        recalls = np.where(used, hits / np.where(used, wanted, 1), 0)
        return ratio(recalls.sum(axis=-1), used.sum(axis=-1).astype(float))

    return accuracy


def _matthews(size: int) -> Of:
    import numpy as np

    def mcc(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        cells = sums.reshape(*sums.shape[:-1], size, size)
        n = sums.sum(axis=-1)
        hits = np.trace(cells, axis1=-2, axis2=-1)
        given, wanted = cells.sum(axis=-1), cells.sum(axis=-2)
        above = hits * n - (given * wanted).sum(axis=-1)
        below = (n * n - (given**2).sum(axis=-1)) * (n * n - (wanted**2).sum(axis=-1))
        return ratio(above, np.sqrt(np.maximum(below, 0)))

    return mcc
