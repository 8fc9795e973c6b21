"""What the History tab asks of the workspace, and going on from a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.authoring.changes import Change, changes_between
from cuecard.annotate.authoring.history import Version, data_of, revision_data, versions_of
from cuecard.annotate.authoring.yaml_text import to_yaml
from cuecard.core.i18n import _
from cuecard.tui.screens.task.history import HistoryPane, VersionDialog

if TYPE_CHECKING:
    from cuecard.tui.screens.task.drafting import DraftingScreen

MOST_COUNTED = 30


async def show_history(screen: DraftingScreen) -> None:
    """List the versions; then count what the newest of them changed. Raises `CuecardError`."""
    task_id, person = screen.task_id, screen.author
    versions = await screen.services.ask(lambda ws: versions_of(ws, task_id, person))
    for pane in screen.query(HistoryPane):
        pane.show(versions)
    for version in versions[:MOST_COUNTED]:
        changes = await _changes(screen, version, against_draft=False)
        for pane in screen.query(HistoryPane):
            pane.show_count(version, len(changes))


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
    """Put a version into the editor after a yes, as one step for undo; nothing is saved by it."""
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
        text = _("You go on from revision {number}; ^z brings back what was here.")
    else:
        text = _("The draft is in the editor again; ^z brings back what was here.")
    screen.cue_app.tell(text.format(number=version.number))


async def _confirmed(screen: DraftingScreen, version: Version) -> bool:
    """Whether the person means to go on from a version."""
    title = _("Go on from revision {number}?")
    if version.kind == "thrown":
        title = _("Go on from the draft that was thrown away?")
    text = _("It takes the place of what is in the editor now. ^z brings that back; nothing is saved by it.")  # fmt: skip
    return await screen.confirmed(title.format(number=version.number), text, _("Go on from it"))
