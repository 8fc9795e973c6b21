"""The review queue, and the tasks I reviewed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from cuecard.annotate.review.queue_rows import QueueRow
from cuecard.annotate.review.workflow import EMBEDDED_PROTOCOL, protocol_of
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, joined, listed, plural
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import guarded
from cuecard.tui.kit.bulk import to_each
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.present.entries import ink
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import FAMILY, LANGUAGE_LABEL, TASK_STATE, badge
from cuecard.tui.present.review import QueueSnapshot, queue_snapshot
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.marked_tasks import MarkedTasks
from cuecard.tui.widgets.nav import EmptyState

_HIGHEST, _LOWEST = 2, -2


class ReviewQueueScreen(ListScreen[QueueRow], MarkedTasks):
    """Enter takes and opens the task under the cursor; reviewers see no author and no other reviewer."""

    PLACE = "review"
    MARKING = True
    BINDINGS = keys(
        Key("review.open", Means.OPEN, "open", N_("Open"), N_("Take the task under the cursor and review it, or read it")),
        Key("review.next", Means.NEXT, "next", N_("Next"), N_("Take the task that helps most, and review it")),
        Key("review.skip", Means.COMMAND, "skip", N_("Skip"), N_("Leave this task, or the marked ones, to others, with a reason"), letter="s"),
        Key("review.assign", Means.COMMAND, "assign", N_("Assign"), N_("Give this task to a reviewer, or take it away from one; give the marked ones to one"), letter="g"),
        Key("review.tags", Means.TAGS, "tags", N_("Tags"), N_("Tags of this task, or of the marked ones"), show=False),
        Key("review.export", Means.EXPORT, "export", N_("Export"), N_("Write this task, or the marked ones, into files"), show=False),
        Key("review.sooner", Means.MOVE_UP, "prioritise(1)", N_("Sooner"), N_("Have this task reviewed sooner")),
        Key("review.later", Means.MOVE_DOWN, "prioritise(-1)", N_("Later"), N_("Have this task reviewed later")),
        Key("review.done", Means.VIEW, "turn", N_("Done/to do"), N_("Reviews that are in, or tasks to review")),
        Key("review.skipped", Means.REVEAL, "skipped", N_("Skipped"), N_("Show what you skipped, or hide it")),
        Key("review.sample", Means.COMMAND, "try_sample", N_("Try one"), N_("Put a sample task before reviewers, to try a review alone"), letter="t"),
        Key("review.board", Means.COMMAND, "app.board", N_("Board"), N_("Every task by state, who has what, and how far reviewers agree"), letter="b"),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._snapshot = QueueSnapshot()
        self._tags: dict[str, tuple[str, ...]] = {}
        self._protocol = EMBEDDED_PROTOCOL
        self._reading_done = False
        self._with_skipped = False

    def columns(self) -> Sequence[Column[QueueRow]]:
        return (
            Column("", self._urgency, spare=1, sort=lambda row: -row.priority),
            Column("", lambda row: self._family(row).divide([1])[0]),
            Column(N_("Task"), lambda row: row.task.title, grow=3, least=20),
            Column(N_("Tags"), lambda row: listed(self._tags.get(row.task.id, ())), grow=1, quiet=True),
            Column("", self._note, grow=2, least=17),
            Column(N_("Family"), self._family_name, spare=4),
            Column(N_("Lang"), lambda row: LANGUAGE_LABEL[row.task.language], spare=2),
            Column(N_("Domain"), lambda row: row.task.domain, grow=1, spare=4),
            Column(N_("In"), lambda row: row.reviews, right=True, spare=1, quiet=True),
            Column(N_("Waits"), lambda row: row.waits, right=True, spare=2, quiet=True, sort=lambda row: row.since),
            Column(N_("Rev"), lambda row: str(row.task.revision), right=True, spare=3),
        )  # fmt: skip

    def key(self, row: QueueRow) -> str:
        return row.task.id

    def empty(self) -> EmptyState:
        if self._reading_done:
            return EmptyState(
                _("No reviews to read yet"),
                _("Your own reviews are here, and those of your tasks once both are in."),
                ("{VIEW}", _("Tasks to review")),
            )
        if self._snapshot.coordinates:
            return EmptyState(
                _("Nothing is in review"),
                _("You coordinate: here you see who reviews what, and give tasks to reviewers."),
                ("2", _("Tasks: their authors submit them")),
                ("{REFRESH}", _("Look again")),
            )
        return EmptyState(
            _("No task waits for your review"),
            _(
                "Every task is reviewed by two people who are not its authors and do not see"
                " each other's review until both are in. Both must approve the same revision."
            ),
            ("{MENU} t", _("Try a review on a sample task, alone")),
            ("2", _("Tasks: open one of yours and submit it; others will find it here")),
            ("{VIEW}", _("Reviews that are in: yours, and those of your tasks")),
            ("{REFRESH}", _("Look again")),
        )

    async def read(self) -> Sequence[QueueRow]:
        self._protocol = protocol_of(await self.services.config())
        person, protocol, all_ = self.person, self._protocol, self._with_skipped
        before = self._tags
        self._snapshot, self._tags = await self.services.ask(
            lambda ws: (queue_snapshot(ws, person, protocol, all_), ws.tags.of("task"))
        )
        if self._was_read and before != self._tags:
            self.view.load(self.view.every)
        return self._snapshot.done if self._reading_done else self._snapshot.todo

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        snapshot, row = self._snapshot, self.row
        match action:
            case "open" | "tags" | "export":
                return row is not None
            case "next":
                return bool(snapshot.next_id) and not self._reading_done
            case "skip":
                return row is not None and any(each.can_skip for each in self.view.chosen)
            case "skipped":
                return not self._reading_done and (snapshot.skipped > 0 or self._with_skipped)
            case "try_sample":
                return not (self._snapshot.todo or self._snapshot.coordinates or self._reading_done)
            case "assign" | "prioritise":
                return snapshot.coordinates and not self._reading_done and row is not None
            case _:
                return True

    @guarded("open")
    async def action_open(self) -> None:
        if (row := self.row) is not None:
            await self._open(row.task.id, row.can_take)

    @guarded("open")
    async def action_next(self) -> None:
        await self._open(self._snapshot.next_id, take=True)

    async def _open(self, task_id: str, take: bool) -> None:
        """Show the task; from the queue it is this person's to review from now on."""
        from cuecard.annotate.review.assignment import renew
        from cuecard.annotate.review.assignment import take as take_task
        from cuecard.tui.screens.review import ReviewTaskScreen

        person, protocol = self.person, self._protocol
        if take:
            try:
                if not await self.services.ask(lambda ws: renew(ws, task_id, person, protocol)):
                    await self.services.ask(lambda ws: take_task(ws, task_id, person, protocol))
            except CuecardError:
                self.load()
                raise
        self.app.push_screen(ReviewTaskScreen(task_id))

    @guarded("act")
    async def action_skip(self) -> None:
        from cuecard.annotate.review.assignment import skip

        rows, person = [row for row in self.view.chosen if row.can_skip], self.person
        if not rows:
            return
        n = len(rows)
        reason = await self.app.push_screen_wait(
            AskLine(
                _("Skip this task?") if n == 1 else plural("Skip {n} task?", "Skip {n} tasks?", n),
                _("Others will review it. Only coordinators see why."),
                button=_("Skip"),
                placeholder=_("Why?"),
            )
        )
        if reason is not None:
            await to_each(
                self,
                rows,
                lambda row: row.task.title,
                lambda ws, row: skip(ws, row.task.id, person, reason),
                lambda n: plural("{n} task is left to others.", "{n} tasks are left to others.", n),
                hint(_("{REVEAL} shows what you skipped; opening it takes it after all.")),
            )
            self.load()

    @guarded("act")
    async def action_prioritise(self, by: int) -> None:
        from cuecard.annotate.review.assignment import prioritise

        person, protocol = self.person, self._protocol

        def wanted(row: QueueRow) -> int:
            return min(max(row.priority + by, _LOWEST), _HIGHEST)

        rows = [row for row in self.view.chosen if wanted(row) != row.priority]
        for row in rows:
            await self.services.ask(
                lambda ws, row=row: prioritise(ws, row.task.id, person, wanted(row), protocol)
            )
        if rows:
            self.view.way_back = hint(_("{MOVE_UP} and {MOVE_DOWN} set the priority back."))
            self.load()
        else:
            self.cue_app.tell(_("Its priority is at the end of the scale already."))

    @guarded("act")
    async def action_try_sample(self) -> None:
        from cuecard.annotate.samples import offer_sample

        task_id = await self.services.ask(offer_sample)
        self.cue_app.tell(
            _("A sample task waits for your review. Nothing depends on what you say of it.")
        )
        self.load(task_id)

    def action_turn(self) -> None:
        self._reading_done = not self._reading_done
        self.view.grid.move_to(0)
        self.load()

    def action_skipped(self) -> None:
        self._with_skipped = not self._with_skipped
        self.load()

    def narrowed_by(self) -> Mapping[str, Any]:
        return {"done": self._reading_done, "skipped": self._with_skipped}

    def narrow(self, by: Mapping[str, Any]) -> None:
        self._reading_done, self._with_skipped = by.get("done") is True, by.get("skipped") is True
        self.load()

    def title_words(self) -> str:
        if not self.view.every:
            return ""
        if self._reading_done:
            return _("Reviews that are in: yours, and those of your tasks")
        if self._snapshot.coordinates:
            return _("Tasks in review, and who reviews them")
        return _("Tasks to review, blind to their authors and to other reviewers")

    def note(self) -> str:
        return joined(self.row.about) if self.row else ""

    def _family(self, row: QueueRow) -> Text:
        return badge(FAMILY, row.task.family, self.app.theme_variables)

    def _family_name(self, row: QueueRow) -> Text:
        label = self._family(row).divide([1])[1]
        return Text(label.plain.strip(), label.style)

    def _urgency(self, row: QueueRow) -> Text:
        return Text(row.urgency, ink(self.app.theme_variables, "warning"))

    def _note(self, row: QueueRow) -> Text:
        colours = self.app.theme_variables
        if self._reading_done:
            return badge(TASK_STATE, row.task.state, colours)
        return Text(row.note, ink(colours, "secondary") if row.mine else "")
