"""Independent golds that were handed in: who may see them, comparison with the author's, and adjudication."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from cuecard.annotate.agreement.coefficients import set_agreement
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.authoring.edit import TaskEdit, as_task
from cuecard.annotate.families.registry import built_twice
from cuecard.annotate.independent_gold.matching import (
    Alignment,
    Decided,
    Level,
    LevelName,
    Take,
    Takes,
    undecided,
)
from cuecard.core.contributions import GoldBuilt, GoldDecided
from cuecard.core.errors import FileProblems, NotAllowed, NotFound
from cuecard.core.i18n import _, ngettext
from cuecard.core.records import ASIDE
from cuecard.core.review import TaskLog
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.core.records import Revision
    from cuecard.store.workspace import Workspace


def align(author: Gold, second: Gold) -> Alignment:
    """Align two golds of one family. Raises `ValueError` for golds of two families, `MissingPart` for golds of one whose
    gold is not built twice.
    """
    if author.family != second.family:
        raise ValueError("two golds of one family can be compared")
    return built_twice(author.family).align(author, second)


def adjudicated(author: Gold, second: Gold, alignment: Alignment, takes: Takes) -> dict[str, Any]:
    """The author's gold as JSON, changed as decided. Order, stages, sources and notes remain the author's unless it has
    none; what only the second gold has is inserted behind its predecessor there. Raises `ValueError` while an element
    is undecided. The result is not validated: it may be empty.
    """
    if undecided(alignment, takes):
        raise ValueError("something is still to be decided")
    return built_twice(author.family).adjudicated(author, second, Decided(alignment, takes))


class LevelAgreement(Frozen):
    """`precision`: the share of the independent gold's things that the author's has, n: theirs; `recall`: the share of
    the author's that the independent gold has, n: the author's; `f1`: n: both together.
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
    """The independent gold taken as predicted, the author's as reference; F1 = 2 matched / (both sizes) is the same the
    other way round.

    Kappa is undefined: chance agreement needs the things that both left out, and possible triples or rows cannot be
    counted. F1 takes its place: the more such things there are, the nearer kappa comes to it (Hripcsak and Rothschild
    2005, JAMIA 12(3): 296-298).
    """
    reason = _("what both left out cannot be counted; read F1")
    n = levels[0].matched if levels else 0
    kappa = Statistic(name="cohen_kappa", value=None, n=n, reason=reason)
    return GoldAgreement(levels=tuple(map(_of_level, levels)), kappa=kappa)


def pooled(levels: Iterable[Sequence[Level]]) -> GoldAgreement:
    """Agreement over several golds, counts summed by level, so that a large gold weighs more. 95% intervals by
    resampling golds.
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
        "precision": "" if level.second else _("the independent gold has none"),
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


@dataclass(frozen=True)
class IndependentGold:
    """What `by` built of revision `revision`; `seconds` without idle stretches. `decided_by`: who decided between it and the
    author's, the last one, "" while nobody has; `settled`: the revision that has what they decided.
    """

    uid: str
    by: str
    revision: int
    at: datetime
    seconds: float
    note: str
    gold: Gold
    decided_by: str = ""
    settled: int = 0


@dataclass(frozen=True)
class Comparison:
    """An independent gold beside the author's. `agreement`: with the revision it was built from; decisions concern
    `task`, the newest revision (`head`). `others`: all golds to be seen. `obstacle`: why `person` may not decide,
    translated, "" if they may. `takes`: what they have decided so far.
    """

    task: Task
    head: int
    second: IndependentGold
    others: tuple[IndependentGold, ...]
    alignment: Alignment
    agreement: GoldAgreement
    person: str
    obstacle: str
    takes: dict[str, Take]


def independent_golds(
    ws: Workspace, task_id: str, person: str, coordinators: Collection[str] = ()
) -> tuple[IndependentGold, ...]:
    """The independent golds that `person` may see now, oldest first: an author and a coordinator all of
    them, who has built one their own and others of the same revision. Raises `NotFound`.
    """
    log = _log(ws, task_id, person, coordinators)
    entries = sorted(log.contributions, key=lambda entry: entry.order)
    ends = {e.body.gold: (e.by, e.revision) for e in entries if isinstance(e.body, GoldDecided)}
    found: list[IndependentGold] = []
    for entry in entries:
        if isinstance(entry.body, GoldBuilt):
            task = ws.tasks.revision(task_id, entry.revision).task
            decided_by, settled = ends.get(entry.uid, ("", 0))
            # What came in a file from elsewhere need not be a gold of this task.
            with contextlib.suppress(FileProblems):
                whole = as_task({**task.model_dump(mode="json"), "gold": entry.body.gold})
                found.append(
                    IndependentGold(
                        uid=entry.uid,
                        by=entry.by,
                        revision=entry.revision,
                        at=entry.at,
                        seconds=entry.body.seconds,
                        note=entry.body.note,
                        gold=whole.gold,
                        decided_by=decided_by,
                        settled=settled,
                    )
                )
    return tuple(found)


def compare(
    ws: Workspace, task_id: str, person: str, uid: str = "", coordinators: Collection[str] = ()
) -> Comparison:
    """The independent gold `uid`, or the last one, compared with the author's. Raises `NotFound` if there is none that
    `person` may see.
    """
    golds = independent_golds(ws, task_id, person, coordinators)
    chosen = [gold for gold in golds if uid in ("", gold.uid)]
    if not chosen:
        raise NotFound(
            _("There is no independent gold to see"),
            task_id,
            _(
                "Somebody who has not seen the gold can build one: Gold twice in the menu of the list of tasks."
            ),
        )
    second = chosen[-1]
    head = ws.tasks.revision(task_id)
    built_of = ws.tasks.revision(task_id, second.revision)
    if head.task.family != second.gold.family:
        head = built_of
    alignment = align(head.task.gold, second.gold)
    levels = alignment.levels
    if head.number != second.revision:
        levels = align(built_of.task.gold, second.gold).levels
    return Comparison(
        task=head.task,
        head=head.number,
        second=second,
        others=golds,
        alignment=alignment,
        agreement=agreement_of(levels),
        person=person,
        obstacle=may_not_decide(ws.reviews.log(task_id), person, coordinators),
        takes=_kept(ws, task_id, person, second.uid),
    )


def may_not_decide(log: TaskLog, person: str, coordinators: Collection[str] = ()) -> str:
    """Why `person` may not adjudicate, translated; "" if they may."""
    if person in coordinators or any(person in node.authors for node in log.revisions):
        return ""
    return _("An author of the task or a coordinator decides.")


def keep_takes(ws: Workspace, task_id: str, person: str, uid: str, head: int, takes: Takes) -> None:
    """Save the decisions made so far as a draft."""
    data: dict[str, JsonValue] = {"takes": dict(takes)}
    ws.drafts.keep(_key(task_id, uid), person, head, data)


def adjudicate(
    ws: Workspace, comparison: Comparison, takes: Takes, coordinators: Collection[str] = ()
) -> Revision:
    """Save the decided gold as a new revision; none if it equals the newest.

    Raises `NotAllowed` for who may not, or while an element is undecided, `Conflict` if somebody saved since,
    `FileProblems` if the result is no valid gold. The draft of decisions is kept until it is saved.
    """
    task, second, by = comparison.task, comparison.second, comparison.person
    title = _("The gold cannot be decided yet")
    if reason := may_not_decide(ws.reviews.log(task.id), by, coordinators):
        raise NotAllowed(title, reason)
    if left := len(undecided(comparison.alignment, takes)):
        text = ngettext("{n} thing is undecided.", "{n} things are undecided.", left)
        raise NotAllowed(title, text.format(n=left))
    edit = TaskEdit.of(task, comparison.head)
    edit.set(("gold",), adjudicated(task.gold, second.gold, comparison.alignment, takes))
    message = _("Adjudicated with the independent gold of {person}").format(
        person=one_line(second.by)
    )
    revision = ws.tasks.save(edit.task(), author=by, message=message, base=comparison.head)
    ws.reviews.act(task.id, by, GoldDecided(gold=second.uid), revision=revision.number)
    ws.drafts.discard(_key(task.id, second.uid), by)
    return revision


def _log(ws: Workspace, task_id: str, person: str, coordinators: Collection[str]) -> TaskLog:
    if person and person in coordinators:
        return ws.reviews.log(task_id)
    return ws.reviews.seen_log(person, task_id)


def _key(task_id: str, uid: str) -> str:
    return f"{task_id}{ASIDE}decided-{uid}"


def _kept(ws: Workspace, task_id: str, person: str, uid: str) -> dict[str, Take]:
    draft = ws.drafts.get(_key(task_id, uid), person)
    takes = draft.data.get("takes") if draft is not None else None
    return cast(dict[str, Take], takes) if isinstance(takes, dict) else {}
