"""Saving a revision, and what to do when somebody else saved first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.authoring.session import rename_draft, save_revision
from cuecard.annotate.authoring.validity import invalid
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _, ngettext
from cuecard.tui.screens.ask import ConfirmDialog
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.state.merging import MergeView
from cuecard.tui.state.task_list import moment

if TYPE_CHECKING:
    from cuecard.store.records import Revision
    from cuecard.tui.screens.task.drafting import DraftingScreen


async def save(screen: DraftingScreen) -> None:
    """Ask for a message and save what is there as a revision, if it is a task and anything changed.
    Raises `CuecardError`.
    """
    edit = screen.edit
    screen.editor.commit()
    await screen.keeper.flush()
    if await _refused(screen):
        return
    if not edit.changed:
        text = _("Nothing has changed since revision {number}.")
        screen.cue_app.tell(text.format(number=edit.base))
        return
    message = await screen.app.push_screen_wait(
        AskLine(
            _("Save a revision"),
            _("A revision never changes again. Say in a few words what is new in this one."),
            button=_("Save"),
            placeholder=_("optional"),
            required=False,
        )
    )
    if message is not None:
        await _save(screen, message)


async def _save(screen: DraftingScreen, message: str) -> None:
    edit, person = screen.edit, screen.author
    base, data, origins = edit.base, edit.data, edit.origins
    try:
        revision = await screen.services.ask(
            lambda ws: save_revision(ws, person, base, data, message, origins)
        )
    except Conflict as conflict:
        if base:
            await _merge(screen, message)
        else:
            await _taken(screen, conflict)
        return
    edit.mark_saved(revision.number, revision.task.model_dump(mode="json"))
    screen.keeper.touch()
    await screen.keeper.flush()
    await screen.refresh_state()
    screen.editor.reload()
    text = _("Saved as revision {number}.").format(number=revision.number)
    screen.cue_app.tell(text)


async def _merge(screen: DraftingScreen, message: str) -> None:
    """Somebody saved first: nothing is written until the person has decided on every clash."""
    edit, base = screen.edit, screen.edit.base
    newest, revisions = await screen.services.ask(
        lambda ws: (ws.tasks.revision(screen.task_id), ws.tasks.revisions(screen.task_id))
    )
    theirs = newest.task.model_dump(mode="json")
    mine, began = edit.data, edit.saved or {}
    view = await asyncio.to_thread(lambda: MergeView(Merging(began, mine, theirs)))
    from cuecard.tui.screens.task.merge import MergeScreen

    # After a merge of packs the head need not have the highest number.
    told = _told([revision for revision in revisions if revision.number > base] or [newest])
    merged = await screen.app.push_screen_wait(MergeScreen(view, told))
    if merged is None:
        screen.cue_app.tell(_("Nothing was saved. Your draft is kept as it was."))
        return
    edit.rebase(merged, newest.number, theirs)
    screen.editor.reload()
    screen.show_title()
    await screen.keeper.flush()
    if await _refused(screen):
        return
    if edit.changed:
        await _save(screen, message)
    else:
        text = _("That is what revision {number} says already.")
        screen.cue_app.tell(text.format(number=newest.number))


def _told(later: Sequence[Revision]) -> str:
    """Who saved what, newest first."""
    lines = [
        _("{author} saved revision {number} at {time}: {message}").format(
            author=revision.author,
            number=revision.number,
            time=moment(revision.created_at),
            message=revision.message or "–",
        )
        for revision in later
    ]
    return "\n".join(lines)


async def _refused(screen: DraftingScreen) -> bool:
    """Whether it is no task yet; then the problems are shown."""
    problems = await asyncio.to_thread(invalid, screen.edit.data)
    if not problems:
        return False
    await screen.editor.enter("problems")
    text = ngettext(
        "{n} problem keeps this from being saved as a revision. Your draft is on disk.",
        "{n} problems keep this from being saved as a revision. Your draft is on disk.",
        len(problems),
    )
    screen.notify(text.format(n=len(problems)), severity="warning", markup=False)
    return True


async def _taken(screen: DraftingScreen, conflict: Conflict) -> None:
    """A new task's id is somebody else's: it gets another one."""
    told = _("Nothing was overwritten, and your draft is on disk.")
    question = ConfirmDialog(
        conflict.title, f"{conflict.message}\n\n{told}", yes=_("Give mine another id")
    )
    if not await screen.app.push_screen_wait(question):
        screen.cue_app.tell(_("Your draft is kept."))
        return
    answer = await screen.app.push_screen_wait(
        AskLine(
            _("Another id"),
            _("Letters, digits, '.', '_' and '-'."),
            button=_("Rename"),
            value=f"{screen.task_id}-2",
        )
    )
    if answer:
        await screen.keeper.flush()
        person, data = screen.author, screen.edit.data
        renamed = await screen.services.ask(lambda ws: rename_draft(ws, person, data, answer))
        screen.task_id = str(renamed["id"])
        screen.edit.rename(screen.task_id)
        screen.show_title()
