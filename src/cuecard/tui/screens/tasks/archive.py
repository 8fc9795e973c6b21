"""Taking a task out of use, and into use again; nothing is ever deleted."""

from __future__ import annotations

from typing import Any

from cuecard.core.i18n import _
from cuecard.tui.base import CuecardScreen
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.state.task_list import TaskLine


async def archive(screen: CuecardScreen[Any], line: TaskLine) -> bool:
    """Ask why, or for a task that was never saved whether, and archive it; False if the person left.
    Raises `CuecardError`.
    """
    from cuecard.annotate.review import retire

    person = screen.person
    if not line.revision:
        question = ConfirmDialog(
            _("Archive this draft?"),
            _(
                "It was never saved as a revision. Among the archived tasks (a) you can have it back."
            ),
            yes=_("Archive"),
        )
        if not await screen.app.push_screen_wait(question):
            return False
        await screen.services.ask(lambda ws: ws.drafts.throw_away(line.id, person))
    else:
        text = _("{task} will not be played, reviewed or listed any more. All its history stays.")
        reason = await screen.app.push_screen_wait(
            AskLine(
                _("Archive this task?"),
                text.format(task=line.id),
                button=_("Archive"),
                placeholder=_("Why?"),
            )
        )
        if reason is None:
            return False
        await screen.services.ask(lambda ws: retire(ws, line.id, person, reason))
    text = _("{task} is archived; a shows what is.")
    screen.cue_app.tell(text.format(task=line.id))
    return True


async def restore(screen: CuecardScreen[Any], line: TaskLine) -> None:
    """Take a task into use again where it stood, or a draft that was thrown away. Raises
    `CuecardError`.
    """
    from cuecard.annotate.review import restore as take_back

    person = screen.person
    if line.thrown:
        await screen.services.ask(lambda ws: ws.drafts.recall(line.thrown))
    else:
        await screen.services.ask(lambda ws: take_back(ws, line.id, person))
    screen.cue_app.tell(_("{task} is in use again.").format(task=line.id))
