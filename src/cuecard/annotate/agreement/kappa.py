"""Agreement beyond chance: Cohen's and Fleiss' kappa for nominal labels."""

from __future__ import annotations

from collections import Counter

from cuecard.annotate.agreement.percent import observed
from cuecard.annotate.agreement.ratings import MISSING, Ratings
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.core.i18n import _


def cohen_kappa(ratings: Ratings) -> Statistic:
    """Cohen (1960), unweighted: (p_o - p_e) / (1 - p_e) with p_e from each rater's own marginals,
    over the items that both rated. Defined for exactly two raters.
    """
    name = "cohen_kappa"
    if len(ratings.raters) != 2:
        return Statistic(name=name, value=None, n=0, reason=_("not exactly two raters"))
    pairs = [(row[0], row[1]) for row in ratings.codes if MISSING not in row]
    n = len(pairs)
    if not n:
        return Statistic(name=name, value=None, n=0, reason=_("no item has two ratings"))
    if len({code for pair in pairs for code in pair}) == 1:
        return Statistic(name=name, value=None, n=n, reason=_("only one category used"))
    agreeing = sum(left == right for left, right in pairs) / n
    lefts, rights = (Counter(column) for column in zip(*pairs, strict=True))
    expected = sum(count * rights[code] for code, count in lefts.items()) / (n * n)
    return Statistic(name=name, value=(agreeing - expected) / (1 - expected), n=n)


def fleiss_kappa(ratings: Ratings) -> Statistic:
    """Fleiss (1971): (P - P_e) / (1 - P_e), P_e from the pooled shares of the labels.

    Fleiss asks for the same number of ratings on every item. Where ratings are missing, the
    generalisation of Gwet (Handbook of Inter-Rater Reliability, 4th ed., ch. 2.4) is used: each
    item's agreement over its own pairs, each label's share as the mean over items of its share
    among the item's ratings. Both run over the items with at least two ratings. With a constant
    number of ratings this is exactly Fleiss' kappa.
    """
    name = "fleiss_kappa"
    counts = ratings.paired_counts
    n = len(counts)
    if not n:
        return Statistic(name=name, value=None, n=0, reason=_("no item has two ratings"))
    if int((counts.sum(axis=0) > 0).sum()) == 1:
        return Statistic(name=name, value=None, n=n, reason=_("only one category used"))
    shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = float((shares**2).sum())
    return Statistic(name=name, value=(observed(counts) - expected) / (1 - expected), n=n)
