"""What is done to tasks of the list, one or many: duplicated, submitted, archived and taken into use again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.session import duplicate_task
from cuecard.annotate.independent_gold.building import refuse_while_building
from cuecard.core.contributions import Retired
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _, joined, ngettext, plural
from cuecard.core.text import one_line
from cuecard.tui.app import CuecardScreen
from cuecard.tui.kit.bulk import to_each
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tasks import TaskLine
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


async def duplicate(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> list[str]:
    """Begin a task of the person's own for each of these; gives their ids."""
    person, made = screen.person, dict[str, str]()

    def begin(ws: Workspace, line: TaskLine) -> None:
        refuse_while_building(ws, line.id, person)
        made[line.id] = duplicate_task(ws, person, line.id)

    await to_each(
        screen,
        lines,
        lambda line: line.title,
        begin,
        lambda n: plural("{n} task was duplicated.", "{n} tasks were duplicated.", n),
        lambda ws, line: ws.drafts.throw_away(made[line.id], person),
    )
    return list(made.values())


async def submit_many(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> bool:
    """Ask why warnings may stay, and put them before reviewers; gives whether that was tried."""
    from cuecard.annotate.review.submitting import check_for_review, submit_checked
    from cuecard.annotate.review.workflow import protocol_of

    person = screen.person
    told = [_("Two other people will review each, blind to each other and to you.")]
    if any(line.draft for line in lines):
        told.append(_("Unsaved changes are not in them."))
    told.append(_("What has errors is refused. Why may warnings stay, where there are any?"))
    question = ngettext("Submit {n} task?", "Submit {n} tasks?", len(lines))
    dialog = AskLine(
        question.format(n=len(lines)),
        joined(told),
        button=_("Submit"),
        placeholder=_("Without a reason, what has warnings is refused."),
        required=False,
    )
    reason = await screen.app.push_screen_wait(dialog)
    if reason is None:
        return False
    protocol = protocol_of(await screen.services.config())

    def submit(ws: Workspace, line: TaskLine) -> None:
        if not line.revision:
            raise NotAllowed(_("It was never saved as a revision"), _("Open it, and save it."))
        warned = check_for_review(ws, line.id, person).unanswered
        submit_checked(ws, line.id, person, protocol, reason if warned else "")

    await to_each(
        screen,
        lines,
        lambda line: line.title,
        submit,
        lambda n: plural("{n} task was submitted.", "{n} tasks were submitted.", n),
        hint(_("{SUBMIT} takes a task out of review again, with a reason.")),
    )
    return True


async def archive(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> bool:
    """Ask why, or of a single one that was never saved whether, and archive them; False if the person left."""
    person, reason, one = screen.person, "", lines[0]
    if len(lines) == 1 and not one.revision:
        question = ConfirmDialog(
            _("Archive this draft?"),
            hint(
                _(
                    "It was never saved as a revision. Among the archived tasks ({REVEAL}) you can have it back."
                )
            ),
            yes=_("Archive"),
        )
        if not await screen.app.push_screen_wait(question):
            return False
    else:
        title = plural("Archive {n} task?", "Archive {n} tasks?", len(lines))
        text = _("They will not be played, reviewed or listed any more. All their history stays.")
        if len(lines) == 1:
            title = _("Archive this task?")
            text = _("“{task}” will not be played, reviewed or listed any more. All its history stays.").format(task=_name(one))  # fmt: skip
        dialog = AskLine(title, text, button=_("Archive"), placeholder=_("Why?"))
        answer = await screen.app.push_screen_wait(dialog)
        if answer is None:
            return False
        reason = answer

    def told(n: int) -> str:
        if len(lines) > 1:
            return plural("{n} task was archived.", "{n} tasks were archived.", n)
        return hint(_("“{task}” is archived; {REVEAL} shows what is."), task=_name(one))

    await to_each(
        screen,
        lines,
        _name,
        lambda ws, line: _archive(ws, line, person, reason),
        told,
        lambda ws, line: _restore(ws, line, person),
    )
    return True


async def restore(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> None:
    """Take tasks into use again where they stood, or drafts that were thrown away."""
    person = screen.person

    def told(n: int) -> str:
        if len(lines) > 1:
            return plural("{n} task is in use again.", "{n} tasks are in use again.", n)
        return _("“{task}” is in use again.").format(task=_name(lines[0]))

    await to_each(
        screen,
        lines,
        _name,
        lambda ws, line: _restore(ws, line, person),
        told,
        lambda ws, line: _archive(ws, line, person),
    )


def _name(line: TaskLine) -> str:
    return one_line(line.title, 60)


def _archive(ws: Workspace, line: TaskLine, person: str, reason: str = "") -> None:
    """A draft that was never saved is thrown away, to be had back. Without a reason, for the one for which it was archived
    before. Raises `CuecardError`.
    """
    from cuecard.annotate.review.workflow import retire

    if line.revision:
        if not reason:
            entries = [entry.body for entry in ws.reviews.log(line.id).contributions]
            reason = [body.reason for body in entries if isinstance(body, Retired)][-1]
        retire(ws, line.id, person, reason)
    else:
        ws.drafts.throw_away(line.id, person)


def _restore(ws: Workspace, line: TaskLine, person: str) -> None:
    from cuecard.annotate.review.workflow import restore as take_back

    if not line.revision:
        ws.drafts.recall(line.thrown or ws.drafts.thrown(person, line.id)[0].id)
    else:
        take_back(ws, line.id, person)
