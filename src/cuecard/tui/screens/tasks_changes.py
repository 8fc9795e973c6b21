"""What is done to tasks of the list, one or many: duplicated, submitted, archived and taken into use again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.authoring.session import duplicate_task
from cuecard.annotate.independent_gold.building import refuse_while_building
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
    person, made = screen.person, list[str]()

    def begin(ws: Workspace, line: TaskLine) -> None:
        refuse_while_building(ws, line.id, person)
        made.append(duplicate_task(ws, person, line.id))

    await to_each(
        screen,
        lines,
        lambda line: line.title,
        begin,
        lambda n: plural("{n} task was duplicated.", "{n} tasks were duplicated.", n),
    )
    return made


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
    )
    return True


async def archive(screen: CuecardScreen[Any], line: TaskLine) -> bool:
    """Ask why, or for a task that was never saved whether, and archive it; False if the person left.
    Raises `CuecardError`.
    """
    person, reason = screen.person, ""
    if not line.revision:
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
        answer = await screen.app.push_screen_wait(_why_archive(1, line.title))
        if answer is None:
            return False
        reason = answer
    await screen.services.ask(lambda ws: _archive(ws, line, person, reason))
    text = _("“{task}” is archived; {REVEAL} shows what is.")
    screen.cue_app.tell(hint(text, task=one_line(line.title, 60)))
    return True


async def archive_many(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> bool:
    """Ask why, and archive them; False if the person left."""
    person = screen.person
    reason = await screen.app.push_screen_wait(_why_archive(len(lines)))
    if reason is None:
        return False
    await to_each(
        screen,
        lines,
        lambda line: line.title,
        lambda ws, line: _archive(ws, line, person, reason),
        lambda n: plural("{n} task was archived.", "{n} tasks were archived.", n),
    )
    return True


async def restore(screen: CuecardScreen[Any], line: TaskLine) -> None:
    """Take a task into use again where it stood, or a draft that was thrown away. Raises
    `CuecardError`.
    """
    person = screen.person
    await screen.services.ask(lambda ws: _restore(ws, line, person))
    screen.cue_app.tell(_("“{task}” is in use again.").format(task=one_line(line.title, 60)))


async def restore_many(screen: CuecardScreen[Any], lines: Sequence[TaskLine]) -> None:
    """Take these into use again, as `restore` does one."""
    person = screen.person
    await to_each(
        screen,
        lines,
        lambda line: line.title,
        lambda ws, line: _restore(ws, line, person),
        lambda n: plural("{n} task is in use again.", "{n} tasks are in use again.", n),
    )


def _archive(ws: Workspace, line: TaskLine, person: str, reason: str = "") -> None:
    """A draft that was never saved is thrown away, to be had back. Raises `CuecardError`."""
    from cuecard.annotate.review.workflow import retire

    if line.revision:
        retire(ws, line.id, person, reason)
    else:
        ws.drafts.throw_away(line.id, person)


def _restore(ws: Workspace, line: TaskLine, person: str) -> None:
    from cuecard.annotate.review.workflow import restore as take_back

    if line.thrown:
        ws.drafts.recall(line.thrown)
    else:
        take_back(ws, line.id, person)


def _why_archive(n: int, title_of_one: str = "") -> AskLine:
    """Asks why one task, or so many, are taken out of use."""
    if n == 1:
        title = _("Archive this task?")
        text = _("“{task}” will not be played, reviewed or listed any more. All its history stays.")
    else:
        title = plural("Archive {n} task?", "Archive {n} tasks?", n)
        text = _("They will not be played, reviewed or listed any more. All their history stays.")
    return AskLine(
        title,
        text.format(task=one_line(title_of_one, 60)),
        button=_("Archive"),
        placeholder=_("Why?"),
    )
