"""Submitting a task for review: with a clean linter, or with a reason for remaining warnings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.lint.codes import Finding, Severity, finding_line
from cuecard.annotate.lint.rules import lint
from cuecard.annotate.review.workflow import Protocol, require, submit
from cuecard.core.contributions import Action, Move, Submitted
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_TOLD = 5


class Checked(Frozen):
    """The newest revision before it is submitted, with the linter's findings that nobody has silenced. `places`: the
    findings' places in words. `answered`: the codes of warnings for which an earlier submission gave `reason`.
    """

    task_id: str
    title: str
    revision: int
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    places: dict[str, str] = {}
    answered: frozenset[str] = frozenset()
    reason: str = ""

    @property
    def unanswered(self) -> tuple[Finding, ...]:
        """The warnings that no earlier submission explained."""
        return tuple(found for found in self.warnings if found.code not in self.answered)


class NotClean(NotAllowed):
    """Raised for errors of the linter, or for warnings without a reason."""

    def __init__(
        self,
        title: str,
        findings: tuple[Finding, ...],
        places: Mapping[str, str],
        hint: str,
        *,
        in_app: str = "",
    ) -> None:
        super().__init__(title, findings_text(findings, places), hint, in_app=in_app)
        self.findings = findings


def check_for_review(
    workspace: Workspace, task_id: str, by: str, today: date | None = None
) -> Checked:
    """The linter's findings in the newest revision. Raises `NotFound`, and `NotAllowed` if `by` may not submit it
    anyway.
    """
    log = workspace.reviews.log(task_id)
    require(Action.SUBMIT, log, by)
    said = [one.body for one in log.contributions if isinstance(one.body, Submitted)]
    last = next((body for body in reversed(said) if body.reason), Submitted())
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
        answered=frozenset(last.warnings),
        reason=last.reason,
    )


def submit_checked(
    workspace: Workspace,
    task_id: str,
    by: str,
    protocol: Protocol,
    reason: str = "",
    *,
    today: date | None = None,
) -> Move:
    """Submit the newest revision to two reviewers, if the linter has no errors and every warning is silenced, or
    explained by `reason` or at an earlier submission; codes and reason are recorded.

    Raises `NotClean`, `NotAllowed`, `Conflict`, `NotFound`.
    """
    checked = check_for_review(workspace, task_id, by, today)
    if checked.errors:
        raise NotClean(
            _("Errors must be mended before review"),
            checked.errors,
            checked.places,
            _("The tab Problems of the task lists them; so does cuecard check."),
            in_app=_("The tab Problems of the task lists them."),
        )
    if checked.warnings and not checked.unanswered:
        reason = reason.strip() or checked.reason
    if checked.warnings and not reason.strip():
        raise NotClean(
            _("Warnings need a reason"),
            checked.unanswered or checked.warnings,
            checked.places,
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
    )


def findings_text(findings: tuple[Finding, ...], places: Mapping[str, str]) -> str:
    """The first few findings, one a line, and how many more there are."""
    lines = [finding_line(found, places.get(found.place, "")) for found in findings[:_TOLD]]
    if (rest := len(findings) - _TOLD) > 0:
        lines.append(ngettext("and {n} more", "and {n} more", rest).format(n=rest))
    return "\n".join(lines)
