"""Which contributions a person may see now, as conditions of a query.

What is hidden is not selected. Hidden are, by other people: reviews of a revision until all that it needs
are in (and as long as two disagree, from everybody but its reviewers and the task's authors), who has a
task to review and who gave it back, and a second gold unless one wrote the task or built one too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, or_, select

from cuecard.store.tables import ContributionRow, CosignRow, RevisionRow, StandingRow

_REVIEW_KINDS = ("reviewed", "third_asked")
_LEASE_KINDS = ("claimed", "released")
_HIDDEN_KINDS = (*_REVIEW_KINDS, *_LEASE_KINDS, "gold_built", "answered")


def wrote(person: str) -> Any:
    """The ids of the tasks of which `person` saved a revision."""
    own = select(RevisionRow.task_id).where(RevisionRow.author == person)
    cosigned = (
        select(RevisionRow.task_id)
        .join(CosignRow, col(CosignRow.uid) == RevisionRow.uid)
        .where(CosignRow.author == person)
    )
    return own.union(cosigned)


def written_by(session: Session, person: str) -> frozenset[str]:
    """As `wrote`, read."""
    found: Iterable[str] = session.connection().execute(wrote(person)).scalars()
    return frozenset(found)


def reviewed_by(person: str, task_id: Any, revision: Any) -> Any:
    """Whether `person` handed in a review of this revision."""
    other = aliased(ContributionRow)
    return (
        select(other.uid)
        .where(
            other.task_id == task_id,
            other.revision == revision,
            other.kind == "reviewed",
            other.by == person,
        )
        .exists()
    )


def reviews_open_to(person: str, task_id: Any, revision: Any) -> Any:
    """Whether everybody's reviews of this revision may be read by `person`."""
    party = or_(col(task_id).in_(wrote(person)), reviewed_by(person, task_id, revision))
    # An alias, so that a query over standings can ask it of each of its own rows.
    row = aliased(StandingRow)
    return (
        select(row.number)
        .where(
            row.task_id == task_id,
            row.number == revision,
            or_(row.seen == "all", and_(row.seen == "party", party)),
        )
        .exists()
    )


def may_see(person: str) -> Any:
    """The condition on `ContributionRow` of what `person` may see."""
    row = ContributionRow
    return or_(
        _apart_from_answers(person, row),
        and_(row.kind == "answered", col(row.about).in_(_commented(person))),
    )


def _commented(person: str) -> Any:
    """The entries with comments that `person` may see."""
    row = aliased(ContributionRow)
    kinds = col(row.kind).in_(("reviewed", "commented"))
    return select(row.uid).where(kinds, _apart_from_answers(person, row))


def _apart_from_answers(person: str, row: Any) -> Any:
    built = aliased(ContributionRow)
    also_built = (
        select(built.uid)
        .where(
            built.task_id == row.task_id,
            built.revision == row.revision,
            built.kind == "gold_built",
            built.by == person,
        )
        .exists()
    )
    return or_(
        row.by == person,
        col(row.kind).not_in(_HIDDEN_KINDS),
        and_(col(row.kind).in_(_REVIEW_KINDS), reviews_open_to(person, row.task_id, row.revision)),
        and_(col(row.kind).in_(_LEASE_KINDS), row.about == person),
        and_(row.kind == "gold_built", or_(col(row.task_id).in_(wrote(person)), also_built)),
    )
