"""Which contributions a person may see now, and which items' decisions not yet, as conditions of a query.

What is hidden is not selected. Hidden are, by other people: reviews of a revision until all that it needs
are in (and as long as two disagree, from everybody but its reviewers and the task's authors), who has a
task to review and who gave it back, and a second gold unless one wrote the task or built one too. Of the items of trials, what was decided on those that a
person is still to label in a labelling set (`sight.Sight` asks for verbs and exports).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from sqlalchemy import bindparam
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, func, or_, select

from cuecard.store.tables import (
    ContributionRow,
    CosignRow,
    LabelRow,
    RevisionRow,
    SetItemRow,
    StandingRow,
)

_REVIEW_KINDS = ("reviewed", "third_asked")
_LEASE_KINDS = ("claimed", "released")
_VIEWER = "viewer"
_HIDDEN_KINDS = (*_REVIEW_KINDS, *_LEASE_KINDS, "gold_built", "answered")


def wrote(person: Any) -> Any:
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


def reviewed_by(person: Any, task_id: Any, revision: Any) -> Any:
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


def reviews_open_to(person: Any, task_id: Any, revision: Any) -> Any:
    """Whether everybody's reviews of this revision may be read by `person`."""
    # An alias, so that a query over standings can ask it of each of its own rows. What is asked of the
    # party is asked of this row: a query two levels down is not correlated with the outermost by itself.
    row = aliased(StandingRow)
    party = or_(col(row.task_id).in_(wrote(person)), reviewed_by(person, row.task_id, row.number))
    return (
        select(row.number)
        .where(
            row.task_id == task_id,
            row.number == revision,
            or_(row.seen == "all", and_(row.seen == "party", party)),
        )
        .exists()
    )


def as_viewer(person: str) -> dict[str, str]:
    """The parameters to execute a query with in which `may_see` stands."""
    return {_VIEWER: person}


@cache
def may_see() -> Any:
    """The condition on `ContributionRow` of what the viewer may see (`as_viewer`). It is large, so it is
    built once.
    """
    row = ContributionRow
    person = _given(_VIEWER)
    return or_(
        _apart_from_answers(person, row),
        and_(row.kind == "answered", col(row.about).in_(_commented(person))),
    )


def has_reviewed_and_may_read(session: Session, person: str, task_id: str, revision: int) -> bool:
    """Whether `person` reviewed this revision, and may read what the others said."""
    given = {"task": task_id, "revision": revision, **as_viewer(person)}
    return session.exec(_reviewed_and_open(), params=given).first() is not None


@cache
def _reviewed_and_open() -> Any:
    task, revision = _given("task"), _given("revision")
    person = _given(_VIEWER)
    return select(StandingRow.number).where(
        StandingRow.task_id == task,
        StandingRow.number == revision,
        reviewed_by(person, StandingRow.task_id, StandingRow.number),
        reviews_open_to(person, StandingRow.task_id, StandingRow.number),
    )


def _commented(person: Any) -> Any:
    """The entries with comments that `person` may see."""
    row = aliased(ContributionRow)
    kinds = col(row.kind).in_(("reviewed", "commented"))
    return select(row.uid).where(kinds, _apart_from_answers(person, row))


def _apart_from_answers(person: Any, row: Any) -> Any:
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


def _given(name: str) -> Any:
    """A parameter of the query."""
    return cast(Any, bindparam(name))


def same_item() -> Any:
    """Whether a label is about the item of a set's row."""
    return (col(LabelRow.trial_id) == SetItemRow.trial_id) & (
        col(LabelRow.item_key) == SetItemRow.item_key
    )


def waits_for(person: str) -> tuple[Any, ...]:
    """Conditions on `SetItemRow`: the person has no label on its item, which is theirs or anybody's and still lacks
    labels of others or theirs.
    """
    mine = select(LabelRow.id).where(same_item(), LabelRow.person == person).correlate(SetItemRow)
    others = (
        select(func.count(func.distinct(LabelRow.person)))
        .where(same_item())
        .correlate(SetItemRow)
        .scalar_subquery()
    )
    anybody = (col(SetItemRow.people) == "[]") & (others < col(SetItemRow.raters))
    named = col(SetItemRow.people).contains(json.dumps(person, ensure_ascii=False), autoescape=True)
    return ~mine.exists(), or_(anybody, named)
