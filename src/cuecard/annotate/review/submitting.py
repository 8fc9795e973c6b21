"""Handing a task in for review: with a clean linter, or with a reason for what is left."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.lint.codes import Finding, Severity
from cuecard.annotate.lint.rules import lint
from cuecard.annotate.review.protocol import Protocol
from cuecard.annotate.review.workflow import require, submit
from cuecard.core.contributions import Action, Move
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_TOLD = 5


class Checked(Frozen):
    """The newest revision before it is handed in: what the linter finds that nobody has silenced.
    `places`: what the places of the findings are called.
    """

    task_id: str
    title: str
    revision: int
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    places: dict[str, str] = {}


class NotClean(NotAllowed):
    """The linter's errors, or warnings without a reason, stand in the way."""

    def __init__(
        self, title: str, findings: tuple[Finding, ...], hint: str, *, in_app: str = ""
    ) -> None:
        super().__init__(title, told(findings), hint, in_app=in_app)
        self.findings = findings


def check_for_review(
    workspace: Workspace, task_id: str, by: str, today: date | None = None
) -> Checked:
    """What the linter says to the newest revision. Raises `NotFound`, and `NotAllowed` where `by` may
    not submit it in any case.
    """
    require(Action.SUBMIT, workspace.reviews.log(task_id), by)
    revision = workspace.tasks.revision(task_id)
    found = [f for f in lint(revision.task, today or date.today()) if not f.silenced]
    data = revision.task.model_dump(mode="json")
    return Checked(
        task_id=task_id,
        title=revision.task.title,
        revision=revision.number,
        errors=tuple(f for f in found if f.severity is Severity.ERROR),
        warnings=tuple(f for f in found if f.severity is Severity.WARNING),
        places={f.place: place_in_words(f.place, data) for f in found},
    )


def submit_checked(
    workspace: Workspace,
    task_id: str,
    by: str,
    protocol: Protocol,
    reason: str = "",
    *,
    today: date | None = None,
    at: datetime | None = None,
) -> Move:
    """Put the newest revision before two reviewers, if the linter has no errors and every warning is
    silenced or `reason` says why it is handed in all the same; codes and reason are recorded.

    Raises `NotClean`, `NotAllowed`, `Conflict`, `NotFound`.
    """
    checked = check_for_review(workspace, task_id, by, today)
    if checked.errors:
        raise NotClean(
            _("Errors must be mended before review"),
            checked.errors,
            _("The tab Problems of the task lists them; so does cuecard check."),
            in_app=_("The tab Problems of the task lists them."),
        )
    if checked.warnings and not reason.strip():
        raise NotClean(
            _("Warnings need a reason"),
            checked.warnings,
            _("Mend or silence them in the tab Problems, or say why they may stay."),
        )
    return submit(
        workspace,
        task_id,
        by,
        reason,
        warnings=sorted({finding.code for finding in checked.warnings}),
        protocol=protocol,
        revision=checked.revision,
        at=at,
    )


def told(findings: tuple[Finding, ...]) -> str:
    """The first few findings, one a line, and how many more there are."""
    lines = [f"{f.code} {f.place}: {f.reason}" for f in findings[:_TOLD]]
    if (rest := len(findings) - _TOLD) > 0:
        lines.append(ngettext("and {n} more", "and {n} more", rest).format(n=rest))
    return "\n".join(lines)
