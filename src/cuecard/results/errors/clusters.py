"""Failed trials by cause, and failures of the machinery by what they said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cuecard.core.i18n import _
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.results.errors.causes import BARS, MACHINERY, Bars, Cause, cause_of
from cuecard.results.errors.groups import By, Group, groups_of
from cuecard.results.errors.rates import Rate, counted, flagged
from cuecard.results.pool import Dimension, Pool

EXAMPLES = 3
_DETAIL = 200
_URL = re.compile(r"\w+://[^\s\"'<>)]+")
_ID = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?:\w[\w-]*_[\w-]*|[\w-]{8,})")
"""Words with a digit that are long or joined by an underscore."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Cluster(Frozen):
    """Trials of one family (and of the same `group`, if asked for) with one cause. `rate`: of all trials of them that
    have ended and of which it can be said whether they failed; of `UNJUDGED` ones, of all that have ended.
    `examples`: the first of each of a few tasks, in the order of the pool.
    """

    cause: Cause
    family: Family
    group: tuple[tuple[Dimension, str], ...]
    name: str
    rate: Rate
    examples: tuple[int, ...]

    @property
    def count(self) -> int:
        return round(self.rate.count)

    @property
    def trials(self) -> tuple[int, ...]:
        return self.rate.trials


class Detail(Frozen):
    """Failures of the machinery that said the same, numbers and ids masked. `example`: what one of them said."""

    cause: Cause
    text: str
    example: str
    trials: tuple[int, ...]


def clusters(
    pool: Pool, by: By = (), bars: Bars = BARS, families: Sequence[Family] = FAMILIES
) -> tuple[Cluster, ...]:
    """Every cause that occurs, family by family and group by group, the most frequent first, those that are no
    failure last. `by`: such as `("agent",)` or `("domain",)`; without it, all trials of a family together.
    """
    found: list[Cluster] = []
    for group in groups_of(pool, by, families):
        mine = _of_group(group, bars)
        found += sorted(mine, key=lambda c: (c.cause is Cause.UNJUDGED, -c.count, c.cause.value))
    return tuple(found)


def details(pool: Pool) -> tuple[Detail, ...]:
    """What the machinery said when it failed, the most frequent first."""
    found: dict[tuple[Cause, str], list[tuple[int, str]]] = {}
    for row in pool.rows:
        end = row.trial.termination
        if end is not None and end in MACHINERY:
            said = one_line(row.trial.detail, _DETAIL)
            found.setdefault((MACHINERY[end], masked(said)), []).append((row.trial.id, said))
    groups = [
        Detail(
            cause=cause,
            text=text,
            example=said[0][1],
            trials=tuple(dict.fromkeys(trial for trial, _said in said)),
        )
        for (cause, text), said in found.items()
    ]
    return tuple(sorted(groups, key=lambda each: (-len(each.trials), each.cause.value, each.text)))


def masked(text: str) -> str:
    """`text` with addresses as `URL`, ids as `ID` and numbers as `N`, so that the same failure reads the same:
    `request req_8f2 failed after 30.2 s` is `request ID failed after N s`.
    """
    return _NUMBER.sub("N", _ID.sub("ID", _URL.sub("URL", text)))


def _of_group(group: Group, bars: Bars) -> list[Cluster]:
    causes = {row.trial.id: cause_of(row, bars) for row in group.rows}
    ended = [row for row in group.rows if row.trial.termination is not None]
    known = [row for row in ended if causes[row.trial.id] is not Cause.UNJUDGED]
    present = dict.fromkeys(cause for cause in causes.values() if cause is not None)
    rates = counted(
        {
            cause: flagged(
                cause.value,
                (
                    (row, causes[row.trial.id] is cause)
                    for row in (ended if cause is Cause.UNJUDGED else known)
                ),
                _("no trial has ended"),
            )
            for cause in present
        }
    )
    return [
        Cluster(
            cause=cause,
            family=group.family,
            group=group.group,
            name=group.name,
            rate=rates[cause],
            examples=_examples(group, causes, cause),
        )
        for cause in present
    ]


def _examples(group: Group, causes: dict[int, Cause | None], cause: Cause) -> tuple[int, ...]:
    first: dict[str, int] = {}
    for row in group.rows:
        if causes[row.trial.id] is cause:
            first.setdefault(row.trial.task_id, row.trial.id)
    return tuple(first.values())[:EXAMPLES]
