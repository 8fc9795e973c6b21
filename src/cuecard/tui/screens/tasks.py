"""The Tasks screen: its keys, reading the list, and what opens from it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from cuecard.annotate.authoring.session import begin_task
from cuecard.core.i18n import N_, NP_, _, current_language, ngettext
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.present.files import counts_of
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.tasks import TaskFilter, TaskLine, task_lines
from cuecard.tui.screens import tasks_changes
from cuecard.tui.screens.marked_tasks import MarkedTasks
from cuecard.tui.screens.tasks_listing import NewTaskDialog, TaskListing
from cuecard.tui.widgets.nav import NavBar

if TYPE_CHECKING:
    from cuecard.core.tasks.models import Task
    from cuecard.store.workspace import Workspace


_RESTS = 0.06
"""Seconds that the cursor rests before the task under it is read: a held key passes by."""


def _load(workspace: Workspace, person: str) -> list[TaskLine]:
    """All lines of the list; runs in a thread."""
    from cuecard.annotate.independent_gold.building import under_way
    from cuecard.annotate.review.comments import open_comments

    drafts = workspace.drafts.of(person) if person else []
    thrown = workspace.drafts.thrown(person) if person else []
    tasks = workspace.tasks.summaries(viewer=person, include_retired=True)
    back = {task.id for task in tasks if task.state.value == "returned"}
    mine = back & workspace.tasks.written_by(person) if back else back
    comments = open_comments(workspace, person, mine)
    building, tags = under_way(workspace, person), workspace.tags.of("task")
    return task_lines(tasks, drafts, thrown, comments, building, tags)


def _read(workspace: Workspace, line: TaskLine, person: str) -> Task | None:
    """What the list tells of a task: nothing of its sources to who is building its gold independently."""
    from cuecard.annotate.independent_gold.building import is_under_way

    if not line.revision or is_under_way(workspace, line.id, person):
        return None
    return workspace.tasks.revision(line.id).task


class TasksScreen(MarkedTasks):
    """Filters narrow the list as they are typed; a wide terminal shows the task under the cursor."""

    CSS_PATH = "tasks.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    BINDINGS = keys(
        Key("tasks.open", Means.OPEN, "open", N_("Open"), N_("Read and edit this task")),
        Key("tasks.new", Means.ADD, "new", N_("New"), N_("Begin a task")),
        Key("tasks.play", Means.PLAY, "play", N_("Play"), N_("Be the user of this task, against an agent; run the marked ones")),
        Key("tasks.play_with", Means.COMMAND, "play(True)", N_("Play with…"), N_("Be the user, and choose who takes the other parts: an agent, or a second person"), show=False, letter="P"),
        Key("tasks.qc", Means.QC, "qc", N_("QC"), N_("Quality control: stages, evidence and verdict of this task"), show=False),
        Key("tasks.submit", Means.SUBMIT, "submit", N_("Submit"), N_("Submit the newest revision of this task, or of the marked ones, for review")),
        Key("tasks.duplicate", Means.DUPLICATE, "duplicate", N_("Duplicate"), N_("Begin a draft of mine that says the same as this task, or as each marked one"), show=False),
        Key("tasks.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this task, or of the marked ones"), show=False),
        Key("tasks.assign", Means.COMMAND, "assign", N_("Assign"), N_("As a coordinator: say who reviews this task, or the marked ones"), show=False, letter="g"),
        Key("tasks.second_gold", Means.COMMAND, "independent_gold", N_("Gold twice"), N_("Build this task's gold independently, or compare the two"), show=False, letter="b"),
        Key("tasks.withdraw", Means.SUBMIT, "withdraw", N_("Withdraw"), N_("Take this task out of review, with a reason")),
        Key("tasks.reopen", Means.SUBMIT, "reopen", N_("Reopen"), N_("Work on this approved task again, with a reason")),
        Key("tasks.filter", Means.FILTER, "filter", N_("Filter"), N_("Type words that must occur")),
        Key("tasks.clear", Means.COMMAND, "clear", N_("Clear"), N_("Show all tasks again"), letter="c"),
        Key("tasks.samples", Means.COMMAND, "samples", NP_("sample tasks", "Samples"), N_("Add the sample tasks"), letter="s"),
        Key("tasks.import", Means.IMPORT, "import_path", N_("Import"), N_("Bring in tasks from a file or folder")),
        Key("tasks.export", Means.EXPORT, "export", N_("Export"), N_("Write tasks into files: marked, in the list, or all")),
        Key("tasks.merge", Means.COMMAND, "merge", N_("Merge"), N_("Take in what others packed, who work apart"), show=False, letter="m"),
        Key("tasks.pack", Means.COMMAND, "pack", N_("Pack"), N_("Write what you did into a file, for others to merge"), show=False, letter="k"),
        Key("tasks.retire", Means.DELETE, "archive", N_("Archive"), N_("Take this task, or the marked ones, out of use, with a reason"), show=False),
        Key("tasks.restore", Means.DELETE, "restore", N_("Restore"), N_("Take this task, or the marked ones, into use again")),
        Key("tasks.archived", Means.REVEAL, "archived", N_("Archived"), N_("Show what is archived, or what is in use again"), show=False),
        Key("tasks.family", Means.ONLY, "turn('family')", N_("Family"), N_("Only one family; again for the next"), show=False),
        Key("tasks.language", Means.COMMAND, "turn('language')", N_("Language"), N_("Only one language; again for the next"), show=False, letter="l"),
        Key("tasks.state", Means.COMMAND, "turn('state')", N_("State"), N_("Only one state; again for the next"), show=False, letter="t"),
        Key("tasks.back", Means.UP_ONE, "back", N_("Back"), N_("From the filter to the list, then home"), show=False),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[TaskLine] | None = None
        self._told: tuple[TaskLine, str] | None = (
            None  # what stands beside the list, in which colours
        )

    def compose(self) -> ComposeResult:
        yield NavBar("tasks")
        yield TaskListing()
        yield KeyBar()

    @property
    def listing(self) -> TaskListing:
        return self.query_one(TaskListing)

    def task_of(self, row: TaskLine) -> TaskLine:
        return row

    def on_screen_resume(self) -> None:
        self.query_one(NavBar).load(self.person, self.services.url)
        self.load()

    def on_resize(self) -> None:
        self.describe()

    @guarded("tasks")
    async def load(self, then: str = "") -> None:
        """Read the list again, with the cursor on the task `then` or where it was."""
        person = self.person
        async with self.reading():
            lines = await self.services.ask(lambda ws: _load(ws, person))
            if then or lines != self._lines:
                self._lines = lines
                self.listing.load(lines, then)
            else:
                self.describe()

    @on(TaskListing.Moved)
    def moved(self) -> None:
        self.refresh_bindings()
        self.describe(_RESTS)

    @guarded("describe", background=True)
    async def describe(self, after: float = 0.0) -> None:
        """Read the task under the cursor, where there is a pane to show it in; `after` so many seconds without a further move."""
        line = self.listing.line
        if line is None or not self.has_class("-wide"):
            return
        await asyncio.sleep(after)
        told = line, self.app.theme
        if told == self._told:
            return
        person = self.person
        task = await self.services.ask(lambda ws: _read(ws, line, person))
        self.listing.describe(line, task)
        self._told = told

    @on(TaskListing.Opened)
    def opened(self, event: TaskListing.Opened) -> None:
        if event.line.thrown:
            text = hint(_("{DELETE} takes it into use again; then it can be opened."))
            self.notify(text, markup=False)
        else:
            self._open(event.line.id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        line = self.listing.line if self._lines else None
        changes = ("submit", "archive", "restore", "withdraw", "reopen")
        if (many := self._many) and action in changes:
            restoring = all(each.archived for each in many)
            return action == "restore" if restoring else action in ("submit", "archive")
        match action:
            case "open" | "play" | "duplicate":
                return line is not None and not line.thrown
            case "qc" | "independent_gold" | "tags" | "assign":
                return line is not None and bool(line.revision)
            case "withdraw":
                return line is not None and line.state == "in_review"
            case "reopen":
                return line is not None and line.state == "approved"
            case "submit":
                open_states = ("draft", "returned")
                return line is not None and bool(line.revision) and line.state in open_states
            case "archive":
                return line is not None and not line.archived
            case "restore":
                return line is not None and line.archived
            case "samples":
                return self._lines == []
            case "export":
                return bool(self._lines)
            case "clear":
                return self.listing.chosen.active if self._lines else False
            case _:
                return True

    @property
    def _many(self) -> list[TaskLine]:
        """The marked lines, if more than one is."""
        marked = self.listing.view.marked if self.is_mounted else []
        return marked if len(marked) > 1 else []

    def action_open(self) -> None:
        if (line := self.listing.line) is not None:
            self._open(line.id)

    @guarded("new")
    async def action_duplicate(self) -> None:
        made = await tasks_changes.duplicate(self, self.listing.view.chosen)
        if made:
            self.listing.choose(TaskFilter())
            self.load(made[0])

    @guarded("new")
    async def action_new(self) -> None:
        data = await self.app.push_screen_wait(NewTaskDialog(current_language()))
        if data is not None:
            person, task_id = self.person, str(data["id"])
            await self.services.ask(lambda ws: begin_task(ws, person, data))
            self.listing.choose(TaskFilter())
            self.load(task_id)
            self._open(task_id, editing=True)

    def action_play(self, choose: bool = False) -> None:
        line = self.listing.line
        if line is None:
            return
        if self._many:
            self._run_many()
            return
        if not line.revision:
            text = _("Save a first revision; that is what can be played.")
            self.notify(text, severity="warning", markup=False)
            return
        from cuecard.tui.screens.play.screen import PlayScreen

        self.app.push_screen(PlayScreen(line.id, line.revision, choose=choose))

    @guarded("new")
    async def _run_many(self) -> None:
        from cuecard.tui.screens.run.start import begin_run

        await begin_run(self, [line.id for line in self._many])

    def action_qc(self) -> None:
        from cuecard.tui.screens.quality import QcScreen

        if (line := self.listing.line) is not None:
            self.app.push_screen(QcScreen(line.id))

    @guarded("submit")
    async def action_submit(self) -> None:
        from cuecard.tui.screens.review_dialogs import submit_task
        from cuecard.tui.screens.task.screen import open_task

        line = self.listing.line
        if line is None:
            return
        if self._many:
            if await tasks_changes.submit_many(self, self._many):
                self.load()
            return
        outcome = await submit_task(self, line.id, unsaved=line.draft)
        if outcome == "problems":
            open_task(self.cue_app, line.id, place="silenced")
        elif outcome == "moved":
            told = hint(_("{SUBMIT} on the task takes it back."))
            self.listing.view.way_back = "" if line.state == "approved" else told
            self.load()

    @guarded("independent_gold")
    async def action_independent_gold(self) -> None:
        from cuecard.tui.screens.independent_gold import open_independent_gold

        if (line := self.listing.line) is not None:
            await open_independent_gold(self, line.id)

    def action_withdraw(self) -> None:
        self.action_submit()

    def action_reopen(self) -> None:
        self.action_submit()

    def action_filter(self) -> None:
        self.listing.filter_input.focus()

    def action_turn(self, which: str) -> None:
        chosen = self.listing.chosen
        match which:
            case "family":
                self.listing.choose(chosen.next_family())
            case "language":
                self.listing.choose(chosen.next_language())
            case _:
                self.listing.choose(chosen.next_state())

    def action_clear(self) -> None:
        self.listing.choose(TaskFilter())
        self.listing.view.focus()

    def action_back(self) -> None:
        if self.listing.filter_input.has_focus:
            self.listing.view.focus()
        else:
            self.cue_app.action_go("home")

    @guarded("import")
    async def action_samples(self) -> None:
        from cuecard.annotate.samples import import_samples

        added = await self.services.ask(import_samples)
        text = ngettext("{n} sample task added.", "{n} sample tasks added.", len(added))
        self.cue_app.tell(text.format(n=len(added)))
        self.load()

    @guarded("import")
    async def action_import_path(self) -> None:
        from cuecard.tui.screens.tasks_transfer import ImportDialog

        report = await self.app.push_screen_wait(ImportDialog())
        if report is not None:
            self.load()
            self.cue_app.tell(counts_of(report), title=_("Imported"))

    @guarded("export")
    async def action_export(self) -> None:
        from cuecard.tui.screens.tasks_transfer import ALL, HERE, MARKED, SHOWN, export_tasks_of

        listing = self.listing
        used = [line for line in self._lines or () if not line.archived]
        here = [listing.line] if listing.line else []
        groups = {MARKED: listing.view.marked, SHOWN: listing.view.rows, HERE: here, ALL: used}
        await export_tasks_of(self, groups)

    @guarded("import")
    async def action_merge(self) -> None:
        from cuecard.tui.present.files import summary_of
        from cuecard.tui.screens.tasks_transfer import MergeDialog

        report = await self.app.push_screen_wait(MergeDialog())
        if report is not None:
            self.load()
            self.cue_app.tell(summary_of(report), title=_("Merged"))

    @guarded("export")
    async def action_pack(self) -> None:
        from cuecard.tui.screens.tasks_transfer import BundleDialog

        written = await self.app.push_screen_wait(BundleDialog(self.person))
        if written is not None:
            text = _("{file} written.").format(file=written.path)
            self.cue_app.tell(text, title=_("Packed"))

    @guarded("archive")
    async def action_archive(self) -> None:
        lines = self.listing.view.chosen
        if lines and await tasks_changes.archive(self, lines):
            self.load()

    @guarded("archive")
    async def action_restore(self) -> None:
        if lines := self.listing.view.chosen:
            await tasks_changes.restore(self, lines)
            self.load()

    def action_archived(self) -> None:
        self.listing.choose(self.listing.chosen.turned_to_archived())

    def _open(self, task_id: str, *, editing: bool = False) -> None:
        from cuecard.tui.screens.task.screen import open_task

        open_task(self.cue_app, task_id, editing=editing)
