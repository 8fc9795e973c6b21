"""A task with two newest revisions: telling so, and making one of both."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.authoring.validity import invalid
from cuecard.annotate.sharing.forks import Fork, Tip, fork_of, join_fork
from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.screens.task.title import TaskTitle
from cuecard.tui.state.merging import MergeView
from cuecard.tui.state.task_list import moment

if TYPE_CHECKING:
    from cuecard.tui.screens.task.screen import TaskScreen


async def look_for_forks(screen: TaskScreen, *, tell: bool) -> None:
    """Have the screen know how many revisions stand beside the newest, and say so."""
    task_id = screen.task_id
    standing = await screen.services.ask(
        lambda ws: ws.reviews.standing(task_id) if ws.tasks.log(task_id) else None
    )
    screen.forks = len(standing.forks) if standing else 0
    screen.query_one(TaskTitle).forks = screen.forks
    screen.show_title()
    screen.refresh_bindings()
    if screen.forks and tell:
        text = ngettext(
            "{n} more revision stands beside the newest, made apart. F12 brings them together.",
            "{n} more revisions stand beside the newest, made apart. F12 brings them together.",
            screen.forks,
        )
        screen.notify(text.format(n=screen.forks), severity="warning", timeout=10, markup=False)


async def join(screen: TaskScreen) -> None:
    """Three-way merge of the two newest revisions, over what both stand on; then save. Raises
    `CuecardError`.
    """
    edit, person, task_id = screen.edit, screen.author, screen.task_id
    screen.editor.commit()
    await screen.keeper.flush()
    if edit.changed:
        text = _("Save your draft first (^s), or go back to the saved revision (^r).")
        screen.notify(text, severity="warning", markup=False)
        return
    fork = await screen.services.ask(lambda ws: fork_of(ws, task_id, person))
    if fork is None:
        await look_for_forks(screen, tell=False)
        return
    merging = await asyncio.to_thread(_merging, fork)
    from cuecard.tui.screens.task.merge import MergeScreen

    screen.app.clear_notifications()
    merged = await screen.app.push_screen_wait(MergeScreen(merging, _told(fork)))
    if merged is None:
        screen.cue_app.tell(_("Nothing was saved. Both revisions stay."))
        return
    head = fork.mine if fork.mine.revision.number == fork.head else fork.theirs
    if problems := await asyncio.to_thread(invalid, merged):
        # Nothing is lost: it is their draft on top of the head, and the other revision stays.
        edit.rebase(merged, fork.head, head.data)
        screen.editor.reload()
        await screen.keeper.flush()
        text = ngettext(
            "{n} problem keeps this from being saved. It is your draft: mend and save it, then join again.",
            "{n} problems keep this from being saved. It is your draft: mend and save it, then join again.",
            len(problems),
        )  # fmt: skip
        screen.notify(text.format(n=len(problems)), severity="warning", markup=False)
        await screen.editor.enter("problems")
        return
    message = await _message(screen, fork)
    if message is None:
        screen.cue_app.tell(_("Nothing was saved. Both revisions stay."))
        return
    revision = await screen.services.ask(lambda ws: join_fork(ws, fork, merged, person, message))
    edit.replace(merged)
    edit.mark_saved(revision.number, revision.task.model_dump(mode="json"))
    screen.keeper.touch()
    await screen.keeper.flush()
    await screen.refresh_state()
    screen.editor.reload()
    text = _("Revision {number} stands on both.").format(number=revision.number)
    screen.cue_app.tell(text)
    await look_for_forks(screen, tell=True)


async def _message(screen: TaskScreen, fork: Fork) -> str | None:
    numbers = sorted((fork.head, fork.other))
    return await screen.app.push_screen_wait(
        AskLine(
            _("Save a revision"),
            _("A revision never changes again. Say in a few words what is new in this one."),
            button=_("Save"),
            value=_("Brings revisions {one} and {other} together").format(
                one=numbers[0], other=numbers[1]
            ),
            required=False,
        )
    )


def _merging(fork: Fork) -> MergeView:
    return MergeView(Merging(fork.base, fork.mine.data, fork.theirs.data))


def _told(fork: Fork) -> str:
    began = (
        _("Both stand on revision {n}.").format(n=fork.base_number)
        if fork.base_number
        else _("They have no revision in common.")
    )
    return "\n".join(
        (
            _("Mine is {revision}").format(revision=_described(fork.mine)),
            _("Theirs is {revision}").format(revision=_described(fork.theirs)),
            began,
        )
    )


def _described(tip: Tip) -> str:
    revision = tip.revision
    text = _("revision {number} by {authors}, {time}: {message}")
    return text.format(
        number=revision.number,
        authors=one_line(", ".join(tip.authors)) or "–",
        time=moment(revision.created_at),
        message=one_line(revision.message, 60) if tip.authors and revision.message else "–",
    )
