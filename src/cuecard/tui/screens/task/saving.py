"""Saving a revision, merging if somebody saved first or revisions are concurrent, and restoring earlier versions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.authoring.changes import Change, changes_between
from cuecard.annotate.authoring.edit import invalid
from cuecard.annotate.authoring.merge import Merging
from cuecard.annotate.authoring.session import (
    Version,
    data_of,
    rename_draft,
    revision_data,
    save_revision,
    versions_of,
)
from cuecard.annotate.authoring.yaml_text import to_yaml
from cuecard.annotate.sharing.merging import Fork, Tip, fork_of, join_fork
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _, joined, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.present.changes import MergeView
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.task.drafting import TaskTitle
from cuecard.tui.screens.task.versions import HistoryPane, VersionDialog

if TYPE_CHECKING:
    from cuecard.core.records import Revision
    from cuecard.store.workspace import Workspace
    from cuecard.tui.screens.task.drafting import DraftingScreen
    from cuecard.tui.screens.task.screen import TaskScreen


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
    screen.cue_app.tell(
        joined((text, await screen.services.ask(lambda ws: _scored(ws, base, revision))))
    )


def _scored(workspace: Workspace, base: int, revision: Revision) -> str:
    """Where scores rest on the gold that the revision corrects; "" if nowhere."""
    if not base or workspace.tasks.revision(revision.task_id, base).task.gold == revision.task.gold:
        return ""
    trials = workspace.runs.trials_of(revision.task_id, base, "grid")
    runs = sorted({trial.run_id for trial in trials if trial.termination is not None})
    told = _("Scores of run {runs} rest on its gold before: {MENU} r there scores it anew.")
    return hint(told, runs=listed(map(str, runs))) if runs else ""


async def _merge(screen: DraftingScreen, message: str) -> None:
    """Merge, because somebody saved first; nothing is saved until every clash is decided."""
    edit, base = screen.edit, screen.edit.base
    newest, revisions = await screen.services.ask(
        lambda ws: (ws.tasks.revision(screen.task_id), ws.tasks.revisions(screen.task_id))
    )
    theirs = newest.task.model_dump(mode="json")
    mine, began = edit.data, edit.saved or {}
    view = await asyncio.to_thread(lambda: MergeView(Merging(began, mine, theirs)))
    from cuecard.tui.screens.task.versions import MergeScreen

    # After a merge of bundles the head need not have the highest number.
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


async def find_forks(screen: TaskScreen, *, tell: bool) -> None:
    """Find out how many concurrent revisions there are, and show it."""
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
            "{n} more revision stands beside the newest, made apart. {MENU} j brings them together.",
            "{n} more revisions stand beside the newest, made apart. {MENU} j brings them together.",
            screen.forks,
        )
        screen.notify(
            hint(text, typing=True, n=screen.forks), severity="warning", timeout=10, markup=False
        )


async def join(screen: TaskScreen) -> None:
    """Three-way merge of two concurrent revisions over their common ancestor, then save. Raises `CuecardError`."""
    edit, person, task_id = screen.edit, screen.author, screen.task_id
    screen.editor.commit()
    await screen.keeper.flush()
    if edit.changed:
        text = _(
            "Save your draft first ({SAVE}), or go back to the saved revision (<task.revert>)."
        )
        screen.notify(hint(text, typing=True), severity="warning", markup=False)
        return
    fork = await screen.services.ask(lambda ws: fork_of(ws, task_id, person))
    if fork is None:
        await find_forks(screen, tell=False)
        return
    merging = await asyncio.to_thread(_merging, fork)
    from cuecard.tui.screens.task.versions import MergeScreen

    screen.app.clear_notifications()
    merged = await screen.app.push_screen_wait(MergeScreen(merging, _joining_told(fork)))
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
    await find_forks(screen, tell=True)


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


def _joining_told(fork: Fork) -> str:
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
        authors=one_line(listed(tip.authors)) or "–",
        time=moment(revision.created_at),
        message=one_line(revision.message, 60) if tip.authors and revision.message else "–",
    )


MOST_COUNTED = 30


async def show_history(screen: DraftingScreen) -> None:
    """List the versions; then count what the newest of them changed. Raises `CuecardError`."""
    task_id, person = screen.task_id, screen.author
    versions = await screen.services.ask(lambda ws: versions_of(ws, task_id, person))
    for pane in screen.query(HistoryPane):
        pane.show(versions)
        screen.cue_app.goes_on()
        counts: dict[Version, int] = {}
        for version in pane.uncounted(versions[:MOST_COUNTED]):
            counts[version] = len(await _changes(screen, version, against_draft=False))
        pane.show_counts(counts)


async def show_changes(screen: DraftingScreen, version: Version, against_draft: bool) -> None:
    """Find what a version changed, or what differs between it and what is edited now."""
    changes = await _changes(screen, version, against_draft=against_draft)
    for pane in screen.query(HistoryPane):
        pane.show_changes(version, against_draft, changes)


async def _changes(
    screen: DraftingScreen, version: Version, *, against_draft: bool
) -> list[Change]:
    task_id, person, now = screen.task_id, screen.author, screen.edit.data

    def find() -> list[Change]:
        ws = screen.services.workspace()
        data = data_of(ws, task_id, person, version)
        if against_draft:
            return changes_between(data, now)
        if version.before:
            return changes_between(revision_data(ws, task_id, version.before), data)
        # A first version is told as what was added to a task of its family with nothing in it.
        return changes_between({"gold": {"family": data["gold"]["family"]}}, data)

    return await screen.services.ask(lambda _ws: find())


async def open_version(screen: DraftingScreen, version: Version) -> None:
    """Show a version as YAML; the person may go on from it."""
    task_id, person = screen.task_id, screen.author
    text = await screen.services.ask(lambda ws: to_yaml(data_of(ws, task_id, person, version)))
    if await screen.app.push_screen_wait(VersionDialog(task_id, version, text)):
        await restore(screen, version)


async def restore(screen: DraftingScreen, version: Version) -> None:
    """Put a version into the editor after a confirmation, as one undo step; nothing is saved."""
    edit, task_id, person = screen.edit, screen.task_id, screen.author
    screen.editor.commit()
    data, began = await screen.services.ask(
        lambda ws: (
            data_of(ws, task_id, person, version),
            revision_data(ws, task_id, version.number),
        )
    )
    if data == edit.data:
        screen.cue_app.tell(_("That is what is in the editor."))
        return
    if not await _confirmed(screen, version):
        return
    ahead = version.kind == "revision" and version.number > edit.base
    behind = version.kind == "thrown" and 0 < version.number < edit.base
    if ahead or behind:
        # Saving it then compares with what others have saved since that revision.
        edit.rebase(data, version.number, began)
    else:
        edit.replace(data)
    screen.editor.reload()
    screen.show_title()
    if version.kind == "revision":
        text = _("You go on from revision {number}; {UNDO} brings back what was here.")
    else:
        text = _("The draft is in the editor again; {UNDO} brings back what was here.")
    screen.cue_app.tell(hint(text, number=version.number))


async def _confirmed(screen: DraftingScreen, version: Version) -> bool:
    """Whether the person means to go on from a version."""
    title = _("Go on from revision {number}?")
    if version.kind == "thrown":
        title = _("Go on from the draft that was thrown away?")
    text = _("It takes the place of what is in the editor now. {UNDO} brings that back; nothing is saved by it.")  # fmt: skip
    return await screen.confirmed(
        title.format(number=version.number), hint(text), _("Go on from it")
    )
