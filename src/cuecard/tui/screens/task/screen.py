"""The screen of one task: saves revisions of it, plays it, submits it for review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from cuecard.annotate.authoring.changes import changes_between
from cuecard.annotate.authoring.session import rename_draft, save_revision
from cuecard.annotate.authoring.validity import invalid
from cuecard.core.errors import Conflict
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import guarded
from cuecard.tui.screens.task.dialogs import AskLine, Choice, Confirm, ConflictDialog
from cuecard.tui.screens.task.drafting import DraftingScreen
from cuecard.tui.screens.task.editor import TaskEditor
from cuecard.tui.screens.task.history import HistoryPane, RevisionDialog
from cuecard.tui.screens.task.problems import ProblemsPane

if TYPE_CHECKING:
    from cuecard.store.records import Revision


class TaskScreen(DraftingScreen):
    """Escape goes back one step at a time; nothing typed is ever lost by leaving."""

    CSS_PATH = ["task.tcss", "graph/graph.tcss", "texts.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("task.save", "ctrl+s", "save", N_("Save"), N_("Save a revision, with a message"), shown_as="^s"),
        Key("task.leave", "escape", "leave", N_("Back"), N_("One step back; your draft is kept")),
        # Letters belong to whoever types; function keys do the same from inside a field.
        Key("task.play", "p", "play", N_("Play"), N_("Be the user of this task, against an agent")),
        Key("task.play_anywhere", "f5", "play", N_("Play"), N_("Be the user of this task, against an agent")),
        Key("task.submit", "u", "submit", N_("Submit"), N_("Submit the saved revision for review")),
        Key("task.submit_anywhere", "f9", "submit", N_("Submit"), N_("Submit the saved revision for review")),
        Key("task.assist", "ctrl+t", "assist", N_("Assist"), N_("Have a model draft something, as a proposal"), shown_as="^t"),
        Key("task.yaml", "ctrl+o", "yaml", N_("YAML"), N_("Edit the whole task as YAML in your own editor"), show=False, shown_as="^o"),
        Key("task.revert", "ctrl+r", "revert", N_("Revert"), N_("Go back to the saved revision"), show=False, shown_as="^r"),
    )  # fmt: skip

    @on(ProblemsPane.Chosen)
    async def go_to_problem(self, event: ProblemsPane.Chosen) -> None:
        await self.editor.go_to(event.path)

    @on(HistoryPane.Chosen)
    def show_revision(self, event: HistoryPane.Chosen) -> None:
        self.look_at(event.revision)

    @on(TaskEditor.Turned)
    def turned(self, event: TaskEditor.Turned) -> None:
        if event.tab == "history":
            self.load_history()

    @guarded("history")
    async def load_history(self) -> None:
        """Read the revisions for the tab that shows them."""
        known = self.edit.base > 0
        revisions = await self.services.ask(
            lambda ws: ws.tasks.revisions(self.task_id) if known else []
        )
        for pane in self.query(HistoryPane):
            pane.show(revisions)

    @guarded("look")
    async def look_at(self, revision: Revision) -> None:
        """Show a revision; the person may go on from it."""
        if await self.app.push_screen_wait(RevisionDialog(revision)):
            data = revision.task.model_dump(mode="json")
            self.editor.commit()
            self.edit.replace(data)
            if revision.number > self.edit.base:
                self.edit.mark_saved(revision.number, data)
            self.editor.reload()
            self.show_title()
            text = _("You go on from revision {number}; ^z brings back what was here.")
            self.cue_app.tell(text.format(number=revision.number))

    @guarded("save")
    async def action_save(self) -> None:
        edit = self.edit
        self.editor.commit()
        await self.keeper.flush()
        if problems := invalid(edit.data):
            await self.editor.enter("problems")
            text = ngettext(
                "{n} problem keeps this from being saved as a revision. Your draft is on disk.",
                "{n} problems keep this from being saved as a revision. Your draft is on disk.",
                len(problems),
            )
            self.notify(text.format(n=len(problems)), severity="warning", markup=False)
            return
        if not edit.changed:
            text = _("Nothing has changed since revision {number}.")
            self.cue_app.tell(text.format(number=edit.base))
            return
        message = await self.app.push_screen_wait(
            AskLine(
                _("Save a revision"),
                _("A revision never changes again. Say in a few words what is new in this one."),
                button=_("Save"),
                placeholder=_("optional"),
                required=False,
            )
        )
        if message is not None:
            await self._save(message, edit.base)

    async def _save(self, message: str, base: int) -> None:
        edit, person, data = self.edit, self.author, self.edit.data
        try:
            revision = await self.services.ask(
                lambda ws: save_revision(ws, person, base, data, message)
            )
        except Conflict as conflict:
            await self._overtaken(conflict, message)
            return
        edit.mark_saved(revision.number, revision.task.model_dump(mode="json"))
        self.keeper.touch()
        await self.keeper.flush()
        await self.refresh_state()
        self.editor.reload()
        text = _("Saved as revision {number}.").format(number=revision.number)
        self.cue_app.tell(text)

    async def _overtaken(self, conflict: Conflict, message: str) -> None:
        """Somebody saved first: nothing is written, the person decides."""
        edit = self.edit
        newest = await self.services.ask(lambda ws: ws.tasks.revision(self.task_id))
        theirs = newest.task.model_dump(mode="json")
        new = edit.base == 0
        changed = [change.place for change in changes_between(edit.saved or {}, theirs)[:12]]
        choice = await self.app.push_screen_wait(ConflictDialog(conflict, changed=changed, new=new))
        match choice:
            case Choice.THEIRS:
                self.look_at(newest)
            case Choice.ON_TOP:
                await self._save(message, newest.number)
            case Choice.RENAME:
                await self._rename()
            case _:
                self.cue_app.tell(_("Your draft is kept."))

    async def _rename(self) -> None:
        answer = await self.app.push_screen_wait(
            AskLine(
                _("Another id"),
                _("Letters, digits, '.', '_' and '-'."),
                button=_("Rename"),
                value=f"{self.task_id}-2",
            )
        )
        if answer:
            await self.keeper.flush()
            person, data = self.author, self.edit.data
            renamed = await self.services.ask(lambda ws: rename_draft(ws, person, data, answer))
            self.task_id = str(renamed["id"])
            self.edit.rename(self.task_id)
            self.show_title()

    @guarded("play")
    async def action_play(self) -> None:
        self.editor.commit()
        await self.keeper.flush()
        if self.edit.base == 0:
            self.notify(_("Save a first revision; that is what can be played."), markup=False)
            return
        from cuecard.tui.screens.play import PlayScreen

        if self.edit.changed:
            text = _("This plays revision {number}; your unsaved changes are not in it.")
            self.cue_app.tell(text.format(number=self.edit.base))
        self.app.push_screen(PlayScreen(task_id=self.task_id, revision=self.edit.base))

    @guarded("submit")
    async def action_submit(self) -> None:
        from cuecard.annotate.review import submit

        edit, person = self.edit, self.author
        self.editor.commit()
        if edit.changed:
            self.notify(
                _("Save a revision first (^s): reviewers see revisions, never drafts."),
                severity="warning",
                markup=False,
            )
            return
        text = _("Two other people will review revision {number}, blind to each other and to you.")
        question = Confirm(
            _("Submit for review?"), text.format(number=edit.base), button=_("Submit")
        )
        if await self.app.push_screen_wait(question):
            await self.services.ask(lambda ws: submit(ws, self.task_id, person))
            await self.refresh_state()
            self.cue_app.tell(_("Submitted for review."))

    @guarded("assist")
    async def action_assist(self) -> None:
        from cuecard.tui.screens.task.proposals import assist

        await assist(self)

    @guarded("yaml")
    async def action_yaml(self) -> None:
        from cuecard.tui.screens.task.outside import edit_as_yaml

        await edit_as_yaml(self)

    @guarded("revert")
    async def action_revert(self) -> None:
        edit, person = self.edit, self.author
        self.editor.commit()
        saved = edit.saved
        if saved is None:
            question = Confirm(
                _("Throw this task away?"),
                _("It was never saved: your draft is all there is of it."),
                button=_("Throw away"),
            )
            if await self.app.push_screen_wait(question):
                await self.keeper.forget()
                await self.services.ask(lambda ws: ws.drafts.discard(self.task_id, person))
                self.dismiss(None)
        elif edit.changed:
            question = Confirm(
                _("Throw your changes away?"),
                _("The draft goes, revision {number} stays.").format(number=edit.base),
                button=_("Throw away"),
            )
            if await self.app.push_screen_wait(question):
                edit.replace(saved)
                self.editor.reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.loaded or action not in ("save", "play", "submit", "revert", "yaml", "assist")

    async def action_leave(self) -> None:
        if self.loaded and self.editor.step_back():
            return
        self.leave()

    @guarded("leave")
    async def leave(self) -> None:
        if self.loaded:
            self.editor.commit()
            await self.keeper.flush()
            if self.edit.changed:
                text = _("Your draft of {task} is kept.").format(task=self.task_id)
                self.cue_app.tell(text)
        self.dismiss(None)
