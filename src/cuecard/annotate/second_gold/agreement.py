"""How far two golds agree: precision, recall and F1 by level, and why there is no kappa."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from cuecard.annotate.agreement.bootstrap import with_intervals
from cuecard.annotate.agreement.sets import set_agreement
from cuecard.annotate.agreement.statistic import Statistic
from cuecard.annotate.second_gold.elements import Level, LevelName
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen


class LevelAgreement(Frozen):
    """`precision`: which share of the second annotator's things the author has, n theirs; `recall`: which
    share of the author's the second has, n the author's; `f1`: n both together.
    """

    level: LevelName
    matched: int
    author: int
    second: int
    precision: Statistic
    recall: Statistic
    f1: Statistic


class GoldAgreement(Frozen):
    levels: tuple[LevelAgreement, ...]
    kappa: Statistic

    def of(self, level: LevelName) -> LevelAgreement | None:
        return next((found for found in self.levels if found.level == level), None)


def agreement_of(levels: Sequence[Level]) -> GoldAgreement:
    """The second annotator's gold as predicted, the author's as reference; F1 = 2 matched / (both sizes)
    is the same whoever is called the reference.

    Kappa is undefined: chance agreement needs the things that both left out, and what might have
    become a triple or a row is not a countable list. F1 stands in its place: the larger that number,
    the nearer kappa comes to it (Hripcsak and Rothschild 2005, JAMIA 12(3): 296-298).
    """
    reason = _("what both left out cannot be counted; read F1")
    n = levels[0].matched if levels else 0
    kappa = Statistic(name="cohen_kappa", value=None, n=n, reason=reason)
    return GoldAgreement(levels=tuple(map(_of_level, levels)), kappa=kappa)


def pooled(levels: Iterable[Sequence[Level]]) -> GoldAgreement:
    """Over several golds: counts are summed by level, so that a large gold weighs more. With 95% intervals,
    for which golds are drawn.
    """
    sums: dict[LevelName, Level] = {}
    parts: dict[LevelName, list[tuple[int, int, int]]] = defaultdict(list)
    for level in (level for some in levels for level in some):
        known = sums.get(level.name, Level(level.name, 0, 0, 0, level.given))
        sums[level.name] = Level(
            level.name,
            known.matched + level.matched,
            known.author + level.author,
            known.second + level.second,
            level.given,
        )
        parts[level.name].append((level.matched, level.second, level.author))
    found = agreement_of(tuple(sums.values()))
    levels_ = tuple(_with_intervals(level, parts[level.level]) for level in found.levels)
    return found.model_copy(update={"levels": levels_})


def _with_intervals(
    level: LevelAgreement, counts: Sequence[tuple[int, int, int]]
) -> LevelAgreement:
    update: dict[str, Statistic] = {}
    for interval in with_intervals(set_agreement(counts)):
        own: Statistic = getattr(level, interval.name)
        if own.defined:
            ends = {"low": interval.low, "high": interval.high, "no_interval": interval.no_interval}
            update[interval.name] = own.model_copy(update=ends)
    return level.model_copy(update=update)


def _of_level(level: Level) -> LevelAgreement:
    empty = {
        "precision": "" if level.second else _("the second gold has none"),
        "recall": "" if level.author else _("the author's gold has none"),
    }
    if level.given:
        empty = dict.fromkeys(empty, _("they are given with the brief"))
    either = empty["precision"] or empty["recall"]
    return LevelAgreement(
        level=level.name,
        matched=level.matched,
        author=level.author,
        second=level.second,
        precision=_share("precision", level.matched, level.second, empty["precision"]),
        recall=_share("recall", level.matched, level.author, empty["recall"]),
        f1=_share("f1", 2 * level.matched, level.author + level.second, either),
    )


def _share(name: str, part: int, whole: int, reason: str) -> Statistic:
    if reason:
        return Statistic(name=name, value=None, n=whole, reason=reason)
    return Statistic(name=name, value=part / whole, n=whole)
