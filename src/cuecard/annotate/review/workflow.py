"""The review protocol (dimensions rated in each family, their version, how long a claim holds), and the steps of a task
through review: who may take which, and under what conditions.
"""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from cuecard.annotate.families.registry import ANNOTATE, Dimension
from cuecard.core.contributions import (
    TRANSITIONS,
    Action,
    Body,
    Contribution,
    Move,
    OnSplit,
    Reopened,
    Restored,
    Retired,
    Submitted,
    TaskState,
    ThirdAsked,
    Withdrawn,
)
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import N_, _
from cuecard.core.review import Standing, TaskLog, standing_of
from cuecard.core.tasks.models import FAMILIES, Family

if TYPE_CHECKING:
    from cuecard.core.config_schema import Config
    from cuecard.store.workspace import Workspace


DIMENSIONS = ANNOTATE.each(lambda family: family.dimensions)


_STAMP_DIGITS = 8


SAMPLES_AUTHOR = "Cuecard"
"""Who wrote the sample tasks: nobody who works here, so that anybody may review them."""


@dataclass(frozen=True)
class Protocol:
    """How tasks are reviewed. `by_family`: the dimensions; `spot_check`: how many gold items each reviewer must check;
    `lease`: how long a claim holds; `coordinators` assign, and therefore do not review.
    """

    version: str = "1"
    by_family: Mapping[Family, tuple[Dimension, ...]] = field(
        default_factory=lambda: MappingProxyType(DIMENSIONS)
    )
    spot_check: int = 5
    on_split: OnSplit = "return"
    lease: timedelta = timedelta(hours=72)
    coordinators: frozenset[str] = frozenset()

    def dimensions(self, family: Family) -> tuple[Dimension, ...]:
        return self.by_family[family]

    @cached_property
    def stamp(self) -> str:
        """An identifier of the protocol in records, such as `1-9f2c01ab`: the version, and a hash over the dimensions
        of all families, which shows changes without a new version.
        """
        asked = [
            [family, [[d.key, d.label, d.help] for d in self.by_family[family]]]
            for family in FAMILIES
        ]
        canonical = json.dumps(asked, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return f"{self.version}-{digest[:_STAMP_DIGITS]}"


EMBEDDED_PROTOCOL = Protocol()


def protocol_of(config: Config) -> Protocol:
    """The protocol of a configuration; families it does not mention have the embedded dimensions."""
    chosen = config.review
    own = {
        family: tuple(Dimension(d.key, d.label, d.help) for d in dimensions)
        for family, dimensions in chosen.dimensions.items()
    }
    # Those that are embedded stay unread until they are asked for: Home asks for none.
    families = ChainMap(own, cast("MutableMapping[Family, tuple[Dimension, ...]]", DIMENSIONS))
    return Protocol(
        version=chosen.version,
        by_family=MappingProxyType(families),
        spot_check=chosen.spot_check,
        on_split=chosen.on_split,
        lease=timedelta(hours=chosen.lease_hours),
        coordinators=frozenset(chosen.coordinators),
    )


_REFUSED = {
    Action.SUBMIT: N_("Only a draft or a returned task can be submitted."),
    Action.WITHDRAW: N_("Only a task in review can be withdrawn."),
    Action.ASK_THIRD: N_("Only a returned task can go to a third person."),
    Action.REOPEN: N_("Only an approved task can be reopened."),
    Action.RETIRE: N_("A task in review must be withdrawn before it can be archived."),
    Action.RESTORE: N_("Only an archived task can be restored."),
}


def submit(
    workspace: Workspace,
    task_id: str,
    by: str,
    reason: str = "",
    *,
    warnings: Sequence[str] = (),
    protocol: Protocol = EMBEDDED_PROTOCOL,
    revision: int | None = None,
    at: datetime | None = None,
) -> Move:
    """Submit the newest revision to two reviewers. `warnings`: codes of remaining warnings, which `reason` explains;
    `protocol`: for this round; `revision`: the one that was checked. The linter is run by `submitting`. Raises
    `NotAllowed`, `NotFound`, `Conflict` if `revision` is not the newest any more.
    """
    body = Submitted(
        reason=reason.strip(),
        warnings=tuple(warnings),
        protocol=protocol.stamp,
        on_split=protocol.on_split,
    )
    return _act(workspace, Action.SUBMIT, task_id, by, body, at, revision)


def withdraw(
    workspace: Workspace, task_id: str, by: str, reason: str, *, at: datetime | None = None
) -> Move:
    """Take a task out of review. Reviews that are in are kept, but decide nothing until it is submitted again."""
    body = Withdrawn(reason=_given(reason))
    return _act(workspace, Action.WITHDRAW, task_id, by, body, at)


def ask_third(
    workspace: Workspace, task_id: str, by: str, reason: str, *, at: datetime | None = None
) -> Move:
    """Have a third person decide where two reviewers disagree, instead of changing the task."""
    body = ThirdAsked(reason=_given(reason))
    return _act(workspace, Action.ASK_THIRD, task_id, by, body, at)


def reopen(
    workspace: Workspace, task_id: str, by: str, reason: str, *, at: datetime | None = None
) -> Move:
    """Return an approved task to work."""
    body = Reopened(reason=_given(reason))
    return _act(workspace, Action.REOPEN, task_id, by, body, at)


def retire(
    workspace: Workspace, task_id: str, by: str, reason: str, *, at: datetime | None = None
) -> Move:
    """Take a task out of use; its revisions, runs and reviews stay."""
    body = Retired(reason=_given(reason))
    return _act(workspace, Action.RETIRE, task_id, by, body, at)


def restore(
    workspace: Workspace, task_id: str, by: str, reason: str = "", *, at: datetime | None = None
) -> TaskState:
    """Bring a retired task back into use; gives its state: the one before, or draft if it was revised meanwhile."""
    body = Restored(reason=reason.strip())
    return _act(workspace, Action.RESTORE, task_id, by, body, at).state


def actions_of(workspace: Workspace, task_id: str, person: str) -> tuple[Action, ...]:
    """What this person may do with the task now, for a screen's keys."""
    log = workspace.reviews.log(task_id)
    if person not in authors_in(log):
        return ()
    standing = standing_of(log)
    return tuple(action for action in _REFUSED if not _objection(action, standing))


def authors_in(log: TaskLog) -> frozenset[str]:
    """Everybody who saved a revision, of any branch."""
    return frozenset(author for node in log.revisions for author in node.authors)


def require(action: Action, log: TaskLog, by: str) -> None:
    """Raises `NotAllowed` unless `by` may do this to the task now."""
    if by.strip() not in authors_in(log):
        raise NotAllowed(
            _title(),
            _("Only an author of {task} may do this.").format(task=log.task_id),
            _("Ask the author, or save a revision of your own first."),
        )
    if objection := _objection(action, standing_of(log)):
        raise NotAllowed(_title(), *objection)


def _act(
    workspace: Workspace,
    action: Action,
    task_id: str,
    by: str,
    body: Body,
    at: datetime | None,
    revision: int | None = None,
) -> Move:
    def guard(log: TaskLog) -> None:
        head = standing_of(log).head
        if revision not in (None, head):
            raise Conflict(
                _("This task has moved on"),
                _("Revision {old} was replaced by revision {new} meanwhile.").format(
                    old=revision, new=head
                ),
                _("Look at the new revision first."),
            )
        require(action, log, by)

    entry = workspace.reviews.act(task_id, by, body, guard=guard, at=at)
    return _last_move(workspace, entry)


def _last_move(workspace: Workspace, entry: Contribution) -> Move:
    """The step that an entry made; it need not be the last one any more."""
    moves = [
        move
        for move in workspace.reviews.history(entry.task_id)
        if move.by == entry.by and move.at == entry.at and move.revision == entry.revision
    ]
    if not moves:
        raise Conflict(_("This task has moved on"), entry.task_id, _("Open the task again."))
    return moves[0]


def _objection(action: Action, standing: Standing) -> tuple[str, ...]:
    """Why a step is impossible, and a hint; empty if it is possible."""
    if standing.state not in TRANSITIONS[action].sources:
        return (_(_REFUSED[action]),)
    round_ = standing.now
    if action is Action.SUBMIT:
        if standing.forks:
            return (
                _("Two newest revisions stand side by side."),
                _("Bring them together first: open the task and merge."),
            )
        if len(round_.reviewers) >= round_.needed:
            return (
                _("Revision {n} already has its reviews.").format(n=standing.head),
                _("Change the task and save a new revision, then submit that."),
            )
    if action is Action.ASK_THIRD and not (round_.split and len(round_.reviewers) == 2):
        return (_("A third person decides only where two reviewers disagree."),)
    return ()


def _given(reason: str) -> str:
    if not reason.strip():
        raise NotAllowed(_title(), _("Please give a reason."))
    return reason.strip()


def _title() -> str:
    return _("This is not possible now")
