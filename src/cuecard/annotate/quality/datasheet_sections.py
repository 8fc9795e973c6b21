"""Computes the sections of a datasheet: tasks, reviews, agreement and removals."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import get_args
from urllib.parse import urlsplit

from cuecard.annotate.authoring.facts_ops import evidence_of
from cuecard.annotate.independent_gold.comparison import align, pooled
from cuecard.annotate.quality import datasheet_model as sheet
from cuecard.annotate.quality.decision_table import SIGNALS, Sign, reasons_of
from cuecard.annotate.review.figures import DECISION, FiguresReport, spread
from cuecard.annotate.review.workflow import Protocol
from cuecard.core.contributions import (
    REVIEWS_NEEDED,
    Action,
    Commented,
    QcDecided,
    QcVerdict,
    ReviewDecision,
    TaskState,
)
from cuecard.core.i18n import _
from cuecard.core.tasks.models import FAMILIES, Family, Task, content_hash


def pair_lines(report: FiguresReport, masks: sheet.Masks) -> tuple[sheet.PairLine, ...]:
    """Pairs of reviewers, under their names in the datasheet."""
    order = {masks.name(name): at for at, name in enumerate(masks.order)}
    return tuple(sorted(_pairs(report, masks), key=lambda p: (order[p.left], order[p.right])))


def gold_figures(inputs: sheet.DatasheetInputs) -> sheet.GoldFigures:
    golds = [gold for task in inputs.tasks.values() for gold in task.golds]
    levels = pooled(align(gold.author, gold.second).levels for gold in golds).levels
    return sheet.GoldFigures(
        golds=len(golds),
        tasks=sum(bool(task.golds) for task in inputs.tasks.values()),
        levels=levels,
    )


def _pairs(report: FiguresReport, masks: sheet.Masks) -> Iterable[sheet.PairLine]:
    rank = {name: at for at, name in enumerate(masks.order)}
    for pair in report.pairs:
        decision = pair.on(DECISION)
        if decision is not None:
            left, right = sorted(pair.who, key=lambda name: rank[name])
            yield sheet.PairLine(left=masks.name(left), right=masks.name(right), decision=decision)


def task_figures(inputs: sheet.DatasheetInputs) -> sheet.TaskFigures:
    in_use = inputs.in_use
    states = Counter(task.standing.state for task in inputs.tasks.values())
    return sheet.TaskFigures(
        total=len(inputs.tasks),
        in_use=len(in_use),
        approved=states[TaskState.APPROVED],
        by_state={state: states[state] for state in TaskState},
        by_family=_counts(in_use, lambda task: task.family, FAMILIES),
        by_language=_counts(in_use, lambda task: task.language),
        by_domain=_counts(in_use, lambda task: task.domain.strip()),
        by_difficulty=_counts(
            in_use, lambda task: task.difficulty or "", ("easy", "medium", "hard")
        ),
    )


def release_of(inputs: sheet.DatasheetInputs) -> sheet.Release:
    released = tuple(
        sheet.ReleasedTask(
            task_id=task_id,
            family=task.task.family,
            revision=task.standing.head,
            hash=content_hash(task.task),
            uid=next(node.uid for node in task.log.revisions if node.number == task.standing.head),
        )
        for task_id, task in sorted(inputs.tasks.items())
        if task.approved
    )
    lines = "".join(f"{task.task_id}\n{task.hash}\n" for task in released)
    return sheet.Release(tasks=released, hash=hashlib.sha256(lines.encode()).hexdigest())


def effort_lines(inputs: sheet.DatasheetInputs) -> tuple[sheet.EffortLine, ...]:
    """All tasks in use first, then family by family, those that have any."""
    in_use = inputs.in_use
    lines = [_effort(None, in_use)]
    for family in FAMILIES:
        if own := [task for task in in_use if task.task.family == family]:
            lines.append(_effort(family, own))
    return tuple(lines)


def source_figures(inputs: sheet.DatasheetInputs) -> sheet.SourceFigures:
    addresses: set[str] = set()
    sites: defaultdict[str, set[str]] = defaultdict(set)
    tasks: Counter[str] = Counter()
    without = 0
    for task in inputs.in_use:
        own = {e.url for e in evidence_of(task.task.model_dump(mode="json")) if e.sound}
        without += not own
        addresses |= own
        tasks.update({site_of(url) for url in own})
        for url in own:
            sites[site_of(url)].add(url)
    lines = [sheet.Tally(name=site, n=len(urls), tasks=tasks[site]) for site, urls in sites.items()]
    lines.sort(key=lambda line: (-line.tasks, -line.n, line.name))
    return sheet.SourceFigures(addresses=len(addresses), sites=tuple(lines), without=without)


def site_of(url: str) -> str:
    """The host of a web address, without port and a leading `www.`."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return host.removeprefix("www.") or "?"


def _effort(family: Family | None, tasks: list[sheet.TaskInputs]) -> sheet.EffortLine:
    told = [task.effort for task in tasks]
    told = [effort for effort in told if effort.seconds or effort.queries or effort.pages]
    return sheet.EffortLine(
        family=family,
        minutes=spread([effort.seconds / 60 for effort in told]),
        queries=spread([effort.queries for effort in told]),
        pages=spread([effort.pages for effort in told]),
    )


def _counts(
    tasks: Iterable[sheet.TaskInputs], key: Callable[[Task], str], order: Sequence[str] = ()
) -> tuple[sheet.Count, ...]:
    """In the given order, then the most frequent first; what does not occur is left out."""
    every: Counter[str] = Counter()
    approved: Counter[str] = Counter()
    for task in tasks:
        every[key(task.task)] += 1
        approved[key(task.task)] += task.approved
    rank = {name: index for index, name in enumerate(order)}
    names = sorted(every, key=lambda name: (rank.get(name, len(rank)), -every[name], name))
    return tuple(sheet.Count(name=name, n=every[name], approved=approved[name]) for name in names)


_NOT_LOOKED: tuple[Sign, ...] = ("open", "off")
_RAISED: tuple[Sign, ...] = ("some", "most", "found")


def retired_tasks(
    inputs: sheet.DatasheetInputs, masks: sheet.Masks
) -> tuple[sheet.RetiredTask, ...]:
    return tuple(
        _retired(task_id, task, masks)
        for task_id, task in sorted(inputs.tasks.items())
        if not task.in_use
    )


def removal_reasons(retired: Iterable[sheet.RetiredTask]) -> tuple[sheet.Tally, ...]:
    """Reasons by frequency: the rules behind a confirmed removal, else the person's words."""
    tasks: defaultdict[str, set[str]] = defaultdict(set)
    for task in retired:
        said = task.reason or _("no reason was given")
        for reason in reasons_of(task.rules) or (said,):
            tasks[reason].add(task.task_id)
    lines = [
        sheet.Tally(name=name, n=len(found), tasks=len(found)) for name, found in tasks.items()
    ]
    return tuple(sorted(lines, key=lambda line: (-line.n, line.name)))


def qc_figures(inputs: sheet.DatasheetInputs) -> sheet.QcFigures:
    newest = [decided for task in inputs.tasks.values() if (decided := _decision(task))]
    verdicts: Counter[QcVerdict] = Counter(decided.verdict for decided in newest)
    return sheet.QcFigures(
        decided=len(newest),
        verdicts={verdict: verdicts[verdict] for verdict in get_args(QcVerdict)},
        overruled=sum(decided.verdict != decided.proposed for decided in newest),
        signals=_signals(newest),
        rules=_tallies(rule for decided in newest for rule in set(decided.rules)),
    )


def _decision(task: sheet.TaskInputs) -> QcDecided | None:
    """The newest one, on whichever revision."""
    bodies = [entry.body for entry in sheet.entries(task.log)]
    return next((body for body in reversed(bodies) if isinstance(body, QcDecided)), None)


def _signals(decisions: Iterable[QcDecided]) -> tuple[sheet.SignalLine, ...]:
    """In the order of the decision table."""
    looked: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    for decided in decisions:
        for name, sign in decided.signals.items():
            if sign not in _NOT_LOOKED:
                looked[name] += 1
                raised[name] += sign in _RAISED
    rank = {name: index for index, name in enumerate(SIGNALS)}
    names = sorted(looked, key=lambda name: (rank.get(name, len(rank)), name))
    return tuple(sheet.SignalLine(name=n, looked=looked[n], raised=raised[n]) for n in names)


def _tallies(names: Iterable[str]) -> tuple[sheet.Tally, ...]:
    found = Counter(names)
    order = sorted(found, key=lambda name: (-found[name], name))
    return tuple(sheet.Tally(name=name, n=found[name], tasks=found[name]) for name in order)


def _retired(task_id: str, task: sheet.TaskInputs, masks: sheet.Masks) -> sheet.RetiredTask:
    moves = [move for move in task.standing.history if move.action is Action.RETIRE]
    last = moves[-1] if moves else None
    decided = _decision(task)
    removed = decided is not None and decided.verdict == "remove"
    return sheet.RetiredTask(
        task_id=task_id,
        family=task.task.family,
        by=masks.name(last.by) if last else "",
        at=last.at if last else None,
        reason=masks.text(last.reason.strip()) if last else "",
        rules=decided.rules if decided and removed else (),
    )


def round_figures(
    inputs: sheet.DatasheetInputs, rounds: Sequence[sheet.Round], report: FiguresReport
) -> sheet.RoundFigures:
    approved = sum(round_.approved for round_ in rounds)
    seconds = [body.seconds for round_ in rounds for _name, body in round_.reviews]
    return sheet.RoundFigures(
        rounds=len(rounds),
        approved=approved,
        returned=len(rounds) - approved,
        waiting=sum(task.standing.now.state is TaskState.IN_REVIEW for task in inputs.in_use),
        third=sum(len(round_.reviews) > REVIEWS_NEEDED for round_ in rounds),
        reviews=report.overall.reviews,
        return_rate=report.overall.returned,
        minutes=spread([value / 60 for value in seconds if value > 0]),
        until_approval=dict(report.approvals.counts),
    )


def rating_lines(rounds: Sequence[sheet.Round]) -> tuple[sheet.RatingLine, ...]:
    """The dimensions, the one that failed most often first."""
    ratings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    returned: Counter[str] = Counter()
    tasks: defaultdict[str, set[str]] = defaultdict(set)
    for round_ in rounds:
        for _name, body in round_.reviews:
            for key, rating in body.ratings.items():
                ratings[key][rating] += 1
                tasks[key].add(round_.task_id)
                if rating == "fail" and body.decision is ReviewDecision.RETURN:
                    returned[key] += 1
    lines = [
        sheet.RatingLine(
            key=key,
            passed=given["pass"],
            failed=given["fail"],
            cannot_judge=given["cannot_judge"],
            returned=returned[key],
            tasks=len(tasks[key]),
        )
        for key, given in ratings.items()
    ]
    return tuple(sorted(lines, key=lambda line: (-line.failed, line.key)))


def protocol_lines(
    rounds: Sequence[sheet.Round], protocol: Protocol
) -> tuple[sheet.ProtocolLine, ...]:
    submitted = Counter(round_.protocol for round_ in rounds)
    reviews = Counter(
        body.protocol or round_.protocol for round_ in rounds for _name, body in round_.reviews
    )
    return tuple(
        sheet.ProtocolLine(
            stamp=stamp,
            current=stamp == protocol.stamp,
            rounds=submitted[stamp],
            reviews=reviews[stamp],
        )
        for stamp in sorted({*submitted, *reviews})
    )


def dimension_lines(
    inputs: sheet.DatasheetInputs, protocol: Protocol
) -> tuple[sheet.DimensionLine, ...]:
    """Of the families that there are tasks of."""
    used = {task.task.family for task in inputs.tasks.values()}
    return tuple(
        sheet.DimensionLine(
            family=family, key=d.key, label=_(d.label), help=_(d.help) if d.help else ""
        )
        for family in FAMILIES
        if family in used
        for d in protocol.dimensions(family)
    )


def active_people(
    inputs: sheet.DatasheetInputs, rounds: Sequence[sheet.Round]
) -> dict[str, Counter[str]]:
    """What everybody did, by real name; see `PersonLine`. Work that must stay blind is left out."""
    did: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for task in inputs.tasks.values():
        for node in task.log.revisions:
            for name in node.authors:
                did[name]["revisions"] += 1
        for name in {name for node in task.log.revisions for name in node.authors}:
            did[name]["tasks"] += 1
        for entry in sheet.entries(task.log):
            match entry.body:
                case Commented():
                    did[entry.by]["comments"] += 1
                case QcDecided():
                    did[entry.by]["qc_decisions"] += 1
                case _:
                    pass
        for gold in task.golds:
            did[gold.by]["golds"] += 1
    for round_ in rounds:
        for name, body in round_.reviews:
            did[name]["reviews"] += 1
            did[name]["returned"] += body.decision is ReviewDecision.RETURN
            did[name]["comments"] += len(body.comments)
    return dict(did)


def person_lines(did: dict[str, Counter[str]], masks: sheet.Masks) -> tuple[sheet.PersonLine, ...]:
    return tuple(
        sheet.PersonLine(
            name=masks.name(name),
            tasks=did[name]["tasks"],
            revisions=did[name]["revisions"],
            reviews=did[name]["reviews"],
            returned=did[name]["returned"],
            comments=did[name]["comments"],
            golds=did[name]["golds"],
            qc_decisions=did[name]["qc_decisions"],
        )
        for name in masks.order
    )
