"""The screen of one task: editing, saving, playing, submitting for review, and logging search effort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from textual import on

from cuecard.core.contributions import TaskState
from cuecard.core.i18n import N_, _, ngettext
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardApp, guarded
from cuecard.tui.drawing import mounted
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.task_editor import TabId, last_page
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.task.brief import CommentsPane
from cuecard.tui.screens.task.drafting import DraftingScreen
from cuecard.tui.screens.task.editor import TaskEditor
from cuecard.tui.screens.task.evidence import EvidencePane
from cuecard.tui.screens.task.versions import HistoryPane
from cuecard.tui.widgets.inputs import LineEditor, TextEditor
from cuecard.tui.widgets.review import ThreadList

if TYPE_CHECKING:
    from cuecard.annotate.authoring.session import OpenedEdit, Version


_ONLY_WHEN_OPEN = {
    "save",
    "play",
    "qc",
    "revert",
    "yaml",
    "replace",
    "assist",
    "log",
    "turn",
    "join",
}


NEXT = "next task"
"""The screen of the next task, while it waits for it."""
_REST = 0.5
"""Seconds without a key before the screen of the next task is made."""


class TaskScreen(DraftingScreen):
    """Escape goes back one step at a time; nothing typed is ever lost by leaving."""

    CSS_PATH = ["task.tcss", "graph.tcss", "texts.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("task.save", Means.SAVE, "save", N_("Save"), N_("Save a revision, with a message")),
        Key("task.join", Means.COMMAND, "join", N_("Join"), N_("Bring the two newest revisions together, which were made apart"), letter="j"),
        Key("task.leave", Means.UP_ONE, "leave", N_("Back"), N_("One step back; your draft is kept")),
        # The screen's own, so that they are heard while the focus goes from tab to tab.
        Key("editor.previous", Means.VIEW_BEFORE, "turn(-1)", N_("‹ Tab"), N_("The tab to the left"), show=False, priority=True),
        Key("editor.next", Means.VIEW_NEXT, "turn(1)", N_("Tab ›"), N_("The tab to the right"), priority=True),
        # Letters belong to whoever types; function keys do the same from inside a field.
        Key("task.play", Means.PLAY, "play", N_("Play"), N_("Be the user of this task, against an agent")),
        Key("task.play_with", Means.COMMAND, "play(True)", N_("Play with…"), N_("Be the user, and choose who takes the other parts: an agent, or a second person"), show=False, letter="P"),
        Key("task.submit", Means.SUBMIT, "submit", N_("Submit"), N_("Submit the saved revision for review")),
        Key("task.withdraw", Means.SUBMIT, "withdraw", N_("Withdraw"), N_("Take this task out of review, with a reason")),
        Key("task.reopen", Means.SUBMIT, "reopen", N_("Reopen"), N_("Work on this approved task again, with a reason")),
        Key("task.qc", Means.QC, "qc", N_("QC"), N_("Quality control: stages, evidence and verdict of the saved revision"), show=False),
        Key("task.suspects", Means.COMMAND, "suspects", N_("Suspect gold"), N_("What trials on the saved revision speak against in its gold"), show=False, priority=True, letter="k"),
        Key("task.query", Means.COMMAND, "log('query')", N_("Log query"), N_("Log a query that you issued for this task"), show=False, priority=True, letter="q"),
        Key("task.page", Means.COMMAND, "log('page')", N_("Log page"), N_("Log a page that you consulted for this task"), show=False, priority=True, letter="p"),
        Key("task.assist", Means.SUGGEST, "assist", N_("Assist"), N_("Have a model draft something, as a proposal")),
        Key("task.replace", Means.COMMAND, "replace", N_("Replace"), N_("Find words in the whole task and replace them, after a look at each place"), show=False, letter="f"),
        Key("task.yaml", Means.OUTSIDE, "yaml", N_("YAML"), N_("Edit the whole task as YAML in your own editor"), show=False),
        Key("task.revert", Means.COMMAND, "revert", N_("Revert"), N_("Go back to the saved revision"), show=False, letter="v"),
    )  # fmt: skip

    forks = 0  # newest revisions besides the one that counts

    def __init__(
        self, task_id: str, *, place: str = "", comment: str = "", editing: bool = False
    ) -> None:
        """`comment`: the one to go to once comments are shown."""
        super().__init__(task_id, place=place, editing=editing)
        self.comment = comment

    def show(self, task_id: str, *, place: str, comment: str, editing: bool) -> None:
        """As if it had been made for this task."""
        self.task_id, self.begin_at, self._begin_editing = task_id, place, editing
        self.comment = comment
        self.load()

    def on_thread_list_posted(self, event: ThreadList.Posted) -> None:
        self.answer(event)

    @on(HistoryPane.Highlighted)
    def version_highlighted(self, event: HistoryPane.Highlighted) -> None:
        self.compare(event.version, event.against_draft)

    @on(HistoryPane.Restored)
    def chose_version(self, event: HistoryPane.Restored) -> None:
        self.restore(event.version)

    @on(HistoryPane.Opened)
    def opened_version(self, event: HistoryPane.Opened) -> None:
        self.look_at(event.version)

    @on(HistoryPane.IndependentGoldWanted)
    @guarded("look")
    async def compare_golds(self) -> None:
        from cuecard.tui.screens.independent_gold import open_independent_gold

        await open_independent_gold(self, self.task_id)

    @on(TaskEditor.Turned)
    def turned(self, event: TaskEditor.Turned) -> None:
        if event.ahead:
            self.read_ahead(event.tab)
        elif event.tab == "history":
            self.load_history()
        elif event.tab == "sources":
            self.load_effort()
        elif event.tab == "comments":
            self.load_comments()

    @guarded("read_ahead", background=True)
    async def read_ahead(self, tab: TabId) -> None:
        """What a tab tells that nobody asked for yet, so that it is laid out once; it is read anew when it is shown."""
        if tab == "history":
            from cuecard.tui.screens.task.saving import show_history

            await show_history(self)
        elif tab == "sources":
            await show_effort(self)
        elif tab == "comments":
            await show_comments(self)

    async def show_task(self, opened: OpenedEdit) -> None:
        known = self._left_at is not None
        await super().show_task(opened)
        self.find_forks()
        returned = opened.state is TaskState.RETURNED and not known
        self.load_comments(begin=returned or self.begin_at == "comments")

    @guarded("forks", background=True)
    async def find_forks(self) -> None:
        from cuecard.tui.screens.task.saving import find_forks

        await find_forks(self, tell=True)

    @guarded("save")
    async def action_join(self) -> None:
        from cuecard.tui.screens.task.saving import join

        await join(self)

    @guarded("comments")
    async def load_comments(self, *, begin: bool = False) -> None:
        """Read what reviewers say; `begin` with it, if something of it is open."""
        await show_comments(self, begin=begin)

    @guarded("answer")
    async def answer(self, said: ThreadList.Posted) -> None:
        await say(self, said)
        await show_comments(self)

    @guarded("history")
    async def load_history(self) -> None:
        """Read the versions for the tab that shows them."""
        from cuecard.tui.screens.task.saving import show_history

        await show_history(self)

    @guarded("compare")
    async def compare(self, version: Version, against_draft: bool) -> None:
        from cuecard.tui.screens.task.saving import show_changes

        await show_changes(self, version, against_draft)

    @guarded("look")
    async def look_at(self, version: Version) -> None:
        from cuecard.tui.screens.task.saving import open_version

        await open_version(self, version)

    @guarded("look")
    async def restore(self, version: Version) -> None:
        from cuecard.tui.screens.task.saving import restore

        await restore(self, version)

    @guarded("save")
    async def action_save(self) -> None:
        from cuecard.tui.screens.task.saving import save

        await save(self)

    @guarded("play")
    async def action_play(self, choose: bool = False) -> None:
        self.editor.commit()
        await self.keeper.flush()
        if self.edit.base == 0:
            self.notify(_("Save a first revision; that is what can be played."), markup=False)
            return
        from cuecard.tui.screens.play.screen import PlayScreen

        if self.edit.changed:
            text = _("This plays revision {number}; your unsaved changes are not in it.")
            self.cue_app.tell(text.format(number=self.edit.base))
        self.app.push_screen(PlayScreen(self.task_id, self.edit.base, choose=choose))

    def action_qc(self) -> None:
        if self.edit.base == 0:
            self.notify(_("Save a first revision; that is what can be looked at."), markup=False)
            return
        from cuecard.tui.screens.quality import QcScreen

        self.app.push_screen(QcScreen(self.task_id))

    @guarded("suspects")
    async def action_suspects(self) -> None:
        from cuecard.tui.screens.suspects import SuspectsScreen

        task, revision = self.task_id, self.edit.base
        trials = await self.services.ask(lambda ws: ws.runs.trials_of(task, revision, "grid"))
        if not (runs := tuple(dict.fromkeys(trial.run_id for trial in trials))):
            self.notify(_("No run has played the saved revision."), markup=False)
            return
        self.app.push_screen(SuspectsScreen(runs, str(self.edit.get(("title",)) or task), task))

    @guarded("submit")
    async def action_submit(self) -> None:
        from cuecard.tui.screens.review_dialogs import submit_task

        self.editor.commit()
        if self.edit.changed:
            self.notify(
                hint(_("Save a revision first ({SAVE}): reviewers see revisions, never drafts.")),
                severity="warning",
                markup=False,
            )
            return
        outcome = await submit_task(self, self.task_id)
        if outcome == "problems":
            await self.editor.enter("problems")
        elif outcome == "moved":
            await self.refresh_state()

    def action_withdraw(self) -> None:
        self.action_submit()

    def action_reopen(self) -> None:
        self.action_submit()

    @guarded("effort")
    async def action_log(self, kind: Literal["query", "page"]) -> None:

        await log_effort(self, kind)

    @guarded("effort", background=True)
    async def load_effort(self) -> None:
        """Read what is logged for the tab that shows it."""
        await show_effort(self)

    @guarded("assist")
    async def action_assist(self) -> None:
        from cuecard.tui.screens.task.assist import assist

        if await self.agreed():
            await assist(self)

    @guarded("replace")
    async def action_replace(self) -> None:
        from cuecard.tui.screens.task.replacing import find_and_replace

        if await self.agreed():
            await find_and_replace(self)

    @guarded("yaml")
    async def action_yaml(self) -> None:
        from cuecard.tui.screens.task.outside import edit_as_yaml

        if await self.agreed():
            await edit_as_yaml(self)

    @guarded("revert")
    async def action_revert(self) -> None:
        edit, person = self.edit, self.author
        self.editor.commit()
        saved = edit.saved
        if saved is None:
            question = ConfirmDialog(
                _("Throw this task away?"),
                _("It was never saved. Among the archived tasks you can have it back."),
                yes=_("Throw away"),
            )
            if await self.app.push_screen_wait(question):
                self.gone = True
                await self.keeper.flush()
                await self.services.ask(lambda ws: ws.drafts.throw_away(self.task_id, person))
                self.dismiss(None)
        elif edit.changed:
            question = ConfirmDialog(
                _("Throw your changes away?"),
                _("You go back to revision {number}. The history keeps the draft.").format(
                    number=edit.base
                ),
                yes=_("Throw away"),
            )
            if await self.app.push_screen_wait(question):
                await self.keeper.flush()
                await self.services.ask(lambda ws: ws.drafts.throw_away(self.task_id, person))
                edit.replace(saved)
                self.editor.reload()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "join" and not self.forks:
            return False
        if action in ("submit", "withdraw", "reopen"):
            moves = {TaskState.IN_REVIEW.value: "withdraw", TaskState.APPROVED.value: "reopen"}
            return self.loaded and action == moves.get(self._state or "", "submit")
        if action == "yaml" and isinstance(self.focused, LineEditor | TextEditor):
            return False  # there the key is of the field alone, also where it has no editor
        return self.loaded or action not in _ONLY_WHEN_OPEN


def open_task(
    app: CuecardApp, task_id: str, *, place: str = "", comment: str = "", editing: bool = False
) -> None:
    """Show a task: on the screen that was made ahead, once the task is read, else on a new one."""
    if app.is_screen_installed(NEXT):
        screen = cast("TaskScreen", app.get_screen(NEXT))
        app.uninstall_screen(NEXT)
        screen.show(task_id, place=place, comment=comment, editing=editing)
    else:
        app.push_screen(TaskScreen(task_id, place=place, comment=comment, editing=editing))
    make_next(app)


def make_next(app: CuecardApp) -> None:
    """Make the screen of the next task while nobody types: most of what opening one takes."""
    if not any(worker.group == NEXT and not worker.is_finished for worker in app.workers):
        _make_next(app)


@guarded(NEXT, background=True)
async def _make_next(app: CuecardApp) -> None:
    await app.idle(_REST)
    if not app.is_screen_installed(NEXT):
        screen = TaskScreen("")
        await mounted(app, screen)
        await screen.editor.make_ahead()
        for _again in range(2):  # what it is laid out by depends on its size
            await app.idle(0)
            screen.lay_out()
        app.install_screen(screen, NEXT)


async def log_effort(screen: DraftingScreen, kind: Literal["query", "page"]) -> None:
    """Ask what was searched for or which page it was, and enter it. Raises `CuecardError`."""
    task_id, person = screen.task_id, screen.author
    if kind == "query":
        question = AskLine(
            _("Log a query"),
            _("What did you search for? Left empty, the query is only counted."),
            button=_("Log"),
            required=False,
        )
    else:
        entries = await screen.services.ask(lambda ws: ws.effort.of(task_id))
        question = AskLine(
            _("Log a page"),
            _("Which page did you consult, by address or title? Left empty, it is only counted."),
            button=_("Log"),
            value=last_page(entries, person),
            required=False,
        )
    text = await screen.app.push_screen_wait(question)
    if text is None:
        return
    await screen.services.ask(lambda ws: ws.effort.add(task_id, person, kind, 1, text))
    totals = await screen.services.ask(lambda ws: ws.effort.totals(task_id, person))
    if kind == "query":
        told = ngettext("{n} query logged.", "{n} queries logged.", totals.queries)
        screen.cue_app.tell(told.format(n=totals.queries))
    else:
        told = ngettext("{n} page logged.", "{n} pages logged.", totals.pages)
        screen.cue_app.tell(told.format(n=totals.pages))
    await show_effort(screen)


async def show_effort(screen: DraftingScreen) -> None:
    """Tell the evidence tab, if it was opened, what is logged so far."""
    panes = screen.query(EvidencePane)
    if panes:
        task_id, person = screen.task_id, screen.author
        mine, everybody, entries = await screen.services.ask(
            lambda ws: (
                ws.effort.totals(task_id, person),
                ws.effort.totals(task_id),
                ws.effort.of(task_id),
            )
        )
        for pane in panes:
            pane.show_effort(mine, everybody, entries)


async def show_comments(screen: TaskScreen, *, begin: bool = False) -> None:
    """Read the comments and tell how many are open; `begin`: open their tab if any is. Raises
    `CuecardError`.
    """
    from cuecard.annotate.review.comments import comments_for
    from cuecard.annotate.review.workflow import protocol_of

    task_id, person = screen.task_id, screen.author
    comments = await screen.services.ask(lambda ws: comments_for(ws, person, task_id))
    if comments is None or not screen.loaded:
        return
    open_ones = sum(thread.open for thread in comments.threads)
    screen.editor.show_comments(open_ones)
    if begin and (screen.begin_at == "comments" or (open_ones and not screen.begin_at)):
        screen.begin_at = screen.begin_at or "comments"
        await screen.editor.enter("comments")
        return  # opening the tab reads them once more
    protocol = protocol_of(await screen.services.config())
    for pane in screen.query(CommentsPane):
        pane.show(comments, protocol)
        if screen.comment:
            pane.call_after_refresh(pane.threads.go_to, screen.comment)
            screen.comment = ""


async def say(screen: DraftingScreen, said: ThreadList.Posted) -> None:
    """Enter what the person said to a comment. Raises `CuecardError`."""
    comment, person = said.thread.comment, screen.author
    await screen.services.write(
        "answer", comment=comment, by=person, text=said.text, turns=said.turns
    )
