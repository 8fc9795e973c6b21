"""Stage 8: a person answers the decision table. Nothing follows from it by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cuecard.annotate.qc.report import Decided, QcReport
from cuecard.annotate.qc.signals import Signals
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import (
    Contribution,
    QcDecided,
    QcVerdict,
    Standing,
    TaskLog,
    standing_of,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

    from cuecard.store.workspace import Workspace


def decide(
    workspace: Workspace, report: QcReport, by: str, verdict: QcVerdict, reason: str = ""
) -> Contribution:
    """Record what a person makes of the proposal in `report`. Archiving a task that is to be removed is
    a step of its own (`annotate.review.retire`).

    Raises `NotAllowed` without a reason for another verdict than the proposed one, `Conflict` when the
    revision is not the newest any more.
    """
    if verdict != report.proposal.verdict and not reason.strip():
        raise NotAllowed(
            _("Say why"), _("The decision table proposes another verdict: give a reason.")
        )

    def guard(log: TaskLog) -> None:
        head = standing_of(log).head
        if head != report.revision:
            raise Conflict(
                _("There is a newer revision"),
                _("Revision {old} was replaced by revision {new} meanwhile.").format(
                    old=report.revision, new=head
                ),
                _("Look at that one."),
            )

    body = QcDecided(
        verdict=verdict,
        proposed=report.proposal.verdict,
        signals=cast("dict[str, JsonValue]", report.signals.model_dump(mode="json")),
        rules=report.proposal.rules,
        reason=reason.strip(),
    )
    return workspace.reviews.act(report.task_id, by, body, revision=report.revision, guard=guard)


def decisions_for(
    log: TaskLog, standing: Standing, revision: int, person: str, signals: Signals
) -> tuple[Decided, ...]:
    """What people decided on the revision, the newest first, as `person` may read it. A reason may quote
    reviews, and who decides may be a reviewer: while there are reviews that `person` must not see,
    others' reasons and names are left out.
    """
    hides = _has_hidden_reviews(standing, log, person)
    now = signals.model_dump(mode="json")
    found: list[Decided] = []
    for entry in sorted(log.contributions, key=lambda entry: entry.order, reverse=True):
        if entry.revision != revision or not isinstance(entry.body, QcDecided):
            continue
        hidden = hides and entry.by != person
        found.append(
            Decided(
                verdict=entry.body.verdict,
                proposed=entry.body.proposed,
                by="" if hidden else entry.by,
                at=entry.at,
                rules=entry.body.rules,
                reason="" if hidden else entry.body.reason,
                hidden=hidden,
                outdated=entry.body.signals != now,
            )
        )
    return tuple(found)


def _has_hidden_reviews(standing: Standing, log: TaskLog, person: str) -> bool:
    """Whether anybody reviewed a revision of the task so that `person` must not know it yet."""
    wrote = any(person in node.authors for node in log.revisions)
    for revision in standing.revisions:
        of_others = set(revision.reviewers) - {person}
        party = revision.seen == "party" and (wrote or person in revision.reviewers)
        if of_others and revision.seen != "all" and not party:
            return True
    return False
