"""What people made of the judge's decision once they had seen it."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.annotate.agreement import Statistic, share, with_intervals
from cuecard.annotate.labelling.comparison.material import Case, Material
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Frozen


class Anchoring(Frozen):
    """Of `looked` items that a person (`""`: all people) labelled blind and again with the decision in view:
    `changed`, the share that they then labelled otherwise; `towards`, of those where they had not agreed
    with the judge, the share that they changed to the judge's decision; `away`, of those where they had, the
    share that they left it. Where several judges differ on the item, it counts only in `changed`.
    Intervals by task. A label that was not repeated counts as nothing seen, not as unchanged.
    """

    person: str
    looked: int
    changed: Statistic
    towards: Statistic
    away: Statistic


def anchoring_of(material: Material) -> tuple[Anchoring, ...]:
    """All people together, then each of them who labelled anything after looking; none if nobody did."""
    people = sorted({who for case in material.cases for who in case.revealed if who in case.labels})
    if not people:
        return ()
    rows = [("", people), *((who, [who]) for who in people if len(people) > 1)]
    return tuple(_of(material.cases, name, who) for name, who in rows)


def _of(cases: Iterable[Case], name: str, people: Iterable[str]) -> Anchoring:
    chosen = set(people)
    changed: list[tuple[bool, str]] = []
    towards: list[tuple[bool, str]] = []
    away: list[tuple[bool, str]] = []
    for case in cases:
        judged = set(case.decisions.values())
        for who in chosen & case.revealed.keys() & case.labels.keys():
            before, after = case.labels[who], case.revealed[who]
            changed.append((before != after, case.task))
            if len(judged) != 1:
                continue
            if before in judged:
                away.append((before != after, case.task))
            else:
                towards.append((after in judged, case.task))
    return Anchoring(
        person=name,
        looked=len(changed),
        changed=_share("changed", changed),
        towards=_share("towards", towards),
        away=_share("away", away),
    )


def _share(name: str, flags: list[tuple[bool, str]]) -> Statistic:
    if not flags:
        return Statistic(name=name, value=None, n=0, reason=_("no such item was looked at again"))
    counted = share(name, [flag for flag, _task in flags])
    return with_intervals([counted], [task for _flag, task in flags])[0]
