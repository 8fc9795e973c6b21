"""Figures over reviews: rounds, ratings, who did how much. Only decided rounds enter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cuecard.annotate.datasheet.material import Material, Round, entries
from cuecard.annotate.datasheet.model import (
    DimensionLine,
    PersonLine,
    ProtocolLine,
    RatingLine,
    RoundFigures,
)
from cuecard.annotate.datasheet.people import Masks
from cuecard.annotate.review.figures import FiguresReport, spread
from cuecard.annotate.review.protocol import Protocol
from cuecard.core.i18n import _
from cuecard.core.review import (
    REVIEWS_NEEDED,
    Commented,
    QcDecided,
    ReviewDecision,
    TaskState,
)
from cuecard.core.tasks import FAMILIES


def round_figures(
    material: Material, rounds: Sequence[Round], report: FiguresReport
) -> RoundFigures:
    approved = sum(round_.approved for round_ in rounds)
    seconds = [body.seconds for round_ in rounds for _name, body in round_.reviews]
    return RoundFigures(
        rounds=len(rounds),
        approved=approved,
        returned=len(rounds) - approved,
        waiting=sum(task.standing.now.state is TaskState.IN_REVIEW for task in material.in_use),
        third=sum(len(round_.reviews) > REVIEWS_NEEDED for round_ in rounds),
        reviews=report.overall.reviews,
        return_rate=report.overall.returned,
        minutes=spread([value / 60 for value in seconds if value > 0]),
        until_approval=dict(report.approvals.counts),
    )


def rating_lines(rounds: Sequence[Round]) -> tuple[RatingLine, ...]:
    """The dimension that was failed most first."""
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
        RatingLine(
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


def protocol_lines(rounds: Sequence[Round], protocol: Protocol) -> tuple[ProtocolLine, ...]:
    submitted = Counter(round_.protocol for round_ in rounds)
    reviews = Counter(
        body.protocol or round_.protocol for round_ in rounds for _name, body in round_.reviews
    )
    return tuple(
        ProtocolLine(
            stamp=stamp,
            current=stamp == protocol.stamp,
            rounds=submitted[stamp],
            reviews=reviews[stamp],
        )
        for stamp in sorted({*submitted, *reviews})
    )


def dimension_lines(material: Material, protocol: Protocol) -> tuple[DimensionLine, ...]:
    """Of the families that there are tasks of."""
    used = {task.task.family for task in material.tasks.values()}
    return tuple(
        DimensionLine(family=family, key=d.key, label=_(d.label), help=_(d.help) if d.help else "")
        for family in FAMILIES
        if family in used
        for d in protocol.dimensions(family)
    )


def active_people(material: Material, rounds: Sequence[Round]) -> dict[str, Counter[str]]:
    """What everybody did, by real name; see `PersonLine`. Nobody is listed for what is still blind."""
    did: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for task in material.tasks.values():
        for node in task.log.revisions:
            for name in node.authors:
                did[name]["revisions"] += 1
        for name in {name for node in task.log.revisions for name in node.authors}:
            did[name]["tasks"] += 1
        for entry in entries(task.log):
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


def person_lines(did: dict[str, Counter[str]], masks: Masks) -> tuple[PersonLine, ...]:
    return tuple(
        PersonLine(
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
