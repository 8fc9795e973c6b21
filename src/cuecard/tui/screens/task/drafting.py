"""The base of editor screens: opens an edit, saves its draft, finds problems, and shows whether input is saved."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar
from weakref import WeakSet

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.authoring.edit import TaskEdit, find_problems
from cuecard.annotate.authoring.session import OpenedEdit, WorkedTime
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import KeyBar
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.drawing import Horizontal
from cuecard.tui.present.drafts import DraftKeeper, DraftState
from cuecard.tui.present.labels import FAMILY, TASK_STATE, badge, fork_mark
from cuecard.tui.present.tasks import moment
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.screens.task.editor import TaskEditor, TaskMode, TaskPosition
from cuecard.tui.widgets.text import ChangingText, HeadLine


class TaskTitle(Horizontal):
    """`load` the task on the left; `tell` the state of the draft on the right."""

    forks = 0  # newest revisions besides the one that counts

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="which")
        yield ChangingText("", id="safe")

    def load(self, edit: TaskEdit, state: str | None, label: str = "") -> None:
        family, id, forks = edit.family, edit.task_id, self.forks
        title = one_line(str(edit.get(("title",)) or id))

        def drawing(variables: Mapping[str, str]) -> Text:
            glyph = badge(FAMILY, family, variables)
            line = Text.assemble(" ", Text(glyph.plain[:1], glyph.style), " ")
            if label:
                line.append(f"{_(label)} · ")
            line.append(title, "bold")
            if state:
                line.append("  ").append_text(badge(TASK_STATE, state, variables))
            if forks:
                line.append("  ").append_text(fork_mark(forks, variables))
            line.append(
                f"  {id}" if id != title else "", "dim"
            )  # the first that there is no room for
            line.no_wrap, line.overflow = True, "ellipsis"
            return line

        self.query_one("#which", HeadLine).draw(drawing)

    def tell(
        self, edit: TaskEdit, state: DraftState, at: datetime | None, *, there: bool = True
    ) -> None:
        revision = (
            _("revision {number}").format(number=edit.base) if edit.base else _("never saved")
        )
        match state:
            case DraftState.FAILED:
                text = _("✗ draft NOT on disk")
            case DraftState.WAITING:
                text = _("… writing draft")
            case _ if not there:
                text = _("▲ draft on this machine")
            case _ if edit.changed:
                clock = at.astimezone().strftime("%H:%M:%S") if at else ""
                text = _("✓ draft on disk {time}").format(time=clock).strip()
            case _:
                text = _("✓ saved")
        safe = self.query_one("#safe", ChangingText)
        safe.tell(Text(f"{revision} · {text} "))
        safe.set_class(state is DraftState.FAILED, "-failed")


_ASKED_ABOUT = {
    "approved": (
        N_("Change an approved task?"),
        N_("Revision {number} stays approved as it is. Once you save what you change, the task is a draft again and has to be reviewed anew."),
    ),
    "in_review": (
        N_("Change a task that is in review?"),
        N_("Revision {number} is being reviewed. Once you save what you change, the task is out of review and has to be submitted anew."),
    ),
}  # fmt: skip
CHECK_AFTER = 0.25
CHECK_LONGEST = 0.5
RESTS = 3.0


class DraftingScreen(CuecardScreen[None]):
    """Edits the newest revision of a task, or this person's draft of it; `mode` may edit something else of it. `place`:
    where to begin, for reading unless `editing`.

    Drafts are saved under the name that the person had when the task was opened.
    """

    _open: ClassVar[WeakSet[DraftingScreen]] = WeakSet()

    def __init__(
        self, task_id: str, *, place: str = "", editing: bool = False, mode: TaskMode | None = None
    ) -> None:
        super().__init__()
        self.task_id = task_id
        self.mode = mode or TaskMode()
        self.begin_at = place
        self._begin_editing = editing
        self._was_behind = False  # another screen was in front of it
        self._agreed = False  # that a task is changed which has been approved, or is in review
        self._check_took = 0.0
        self._person = ""
        self._state: str | None = None
        self._written_at: datetime | None = None
        self._there = (
            True  # the draft that was written last is in the workspace, not only on this machine
        )
        self._edit: TaskEdit | None = None
        self.gone = False  # thrown away: neither read nor written any more
        self.keeper = DraftKeeper(self._write_draft, self._draft_noticed)
        self._worked = WorkedTime()

    def crumbs(self) -> Sequence[str]:
        if not self.loaded:
            return [self.task_id]
        title = one_line(str(self.edit.get(("title",)) or self.task_id), 28)
        return [title, *self.editor.crumbs()]

    def compose(self) -> ComposeResult:
        yield TaskTitle()
        yield Static("", id="opening", markup=False)
        editor = TaskEditor(self.mode)
        editor.display = False
        yield editor
        yield KeyBar()

    @property
    def editor(self) -> TaskEditor:
        return self.query_one(TaskEditor)

    @property
    def loaded(self) -> bool:
        """Whether the task is open; nothing but leaving works before."""
        return self._edit is not None

    @property
    def edit(self) -> TaskEdit:
        """The open edit; only once `loaded`."""
        if self._edit is None:
            raise RuntimeError("the task is not open yet")
        return self._edit

    @property
    def author(self) -> str:
        """Under whose name this screen drafts and saves."""
        return self._person

    @property
    def asks_first(self) -> bool:
        """Whether the first change needs a confirmation: if the task was approved or is in review, until the person
        confirmed or has a draft.
        """
        return (
            self._state in _ASKED_ABOUT
            and self.mode.asks_first
            and not self._agreed
            and not self.edit.changed
        )

    def to_change(self, then: Callable[[], object]) -> None:
        """Do `then`, which changes the task or goes where it is changed; see `agreed`."""
        if self.asks_first:
            self._change_if_agreed(then)
        else:
            then()

    async def agreed(self) -> bool:
        """Whether the task may be changed; asks the person where `asks_first`. For workers."""
        if not self.asks_first:
            return True
        title, text = (_(part) for part in _ASKED_ABOUT[self._state or ""])
        text = text.format(number=self.edit.base)
        self._agreed = await self._answer(ConfirmDialog(title, text, yes=_("Change it")))
        return self._agreed

    async def confirmed(self, title: str, text: str, yes: str) -> bool:
        """As `agreed`, for a change that is asked about whatever the task."""
        if self.asks_first:
            _title, about = _ASKED_ABOUT[self._state or ""]
            text = f"{text}\n\n{_(about).format(number=self.edit.base)}"
        answer = await self._answer(ConfirmDialog(title, text, yes=yes))
        self._agreed = self._agreed or answer
        return answer

    async def _answer(self, question: ConfirmDialog) -> bool:
        return bool(await self.app.push_screen_wait(question))

    @guarded("agree")
    async def _change_if_agreed(self, then: Callable[[], object]) -> None:
        if await self.agreed():
            then()

    def on_mount(self) -> None:
        self._open.add(self)
        if self.task_id:
            self.load()

    async def on_unmount(self) -> None:
        self._open.discard(self)
        await self.enter_time()
        with contextlib.suppress(CuecardError):
            await self.keeper.flush()
            if not self.gone and self._edit is not None and self._edit.changed:
                task_id, person = self.task_id, self._person
                await self.services.ask(lambda ws: self.mode.leave(ws, task_id, person), wait=False)

    def on_screen_suspend(self) -> None:
        self._was_behind = True
        self.settle()

    def on_key(self) -> None:
        self._note_work()

    def on_screen_resume(self) -> None:
        if self._was_behind and self.loaded and not self.gone:
            self.catch_up()

    @guarded("settle", background=True)
    async def settle(self) -> None:
        """Save the input now, because another screen comes to the front."""
        if self.loaded:
            self.editor.commit()
        await self.keeper.flush()

    @guarded("settle", background=True)
    async def catch_up(self) -> None:
        """Continue from the draft, which may have been edited on another screen meanwhile."""
        edit, person = self.edit, self._person
        began = edit.base, edit.version
        await self._settle_all()
        opened = await self.services.ask(lambda ws: self.mode.open(ws, self.task_id, person))
        elsewhere = opened.edit
        same = (elsewhere.base, elsewhere.data) == (edit.base, edit.data)
        # What was typed, or saved as a revision, since the draft was read is newer than it.
        gone_on = (edit.base, edit.version) != began or self.keeper.state is DraftState.WAITING
        if same or gone_on:
            return
        edit.replace(elsewhere.data)
        if elsewhere.saved is not None:
            edit.mark_saved(elsewhere.base, elsewhere.saved)
        self._state = opened.state.value if opened.state else None
        self.editor.reload()
        self.show_title()

    async def _settle_all(self) -> None:
        """Bring to disk what any screen of this app has typed into this task."""
        for screen in list(self._open):
            if screen.app is self.app and screen.task_id == self.task_id:
                if screen.loaded:
                    screen.editor.commit()
                await screen.keeper.flush()

    @guarded("open")
    async def load(self) -> None:
        person = self._person = self.person
        ahead = self not in self.app.screen_stack  # made before it was known for which task
        opening = _("Opening {task}…").format(task=self.task_id)
        self.query_one("#opening", Static).update(opening)
        await self._settle_all()
        try:
            opened = await self.services.ask(lambda ws: self.mode.open(ws, self.task_id, person))
        except CuecardError:
            (self.remove if ahead else self.dismiss)()
            raise
        if ahead:
            self.app.push_screen(self)
        await self.show_task(opened)
        if not self.mode.label:
            title = str(opened.edit.data.get("title") or self.task_id)
            self.cue_app.opened("task", title, task_id=self.task_id)
        self._tell_about(opened)

    async def show_task(self, opened: OpenedEdit) -> None:
        """Put the task that was read into its editor."""
        edit = self._edit = opened.edit
        self._state = opened.state.value if opened.state else None
        self._written_at = opened.restored
        edit.listener = self._changed
        left, editor = self._left_at, self.editor
        editor.begin(edit, left)
        self.show_title()
        self.query_one("#opening").display = False
        editor.display = True
        place = parse_place(self.begin_at)
        if self._begin_editing:
            await editor.go_to(place)
        else:
            self.set_focus(editor.tabs)
            if left is not None and not place:
                await editor.come_back(left.tab)
            else:
                await editor.show_place(place)
        self.refresh_bindings()
        self.check()

    @property
    def _left_at(self) -> TaskPosition | None:
        """Where this task was left in this session, unless it is opened at a place."""
        places: dict[tuple[str, str], TaskPosition] = self.cue_app.left_at
        return places.get((self.task_id, type(self.mode).__name__))

    def _tell_about(self, opened: OpenedEdit) -> None:
        edit = opened.edit
        if opened.restored is not None:
            text = _("Your draft of {time} was restored.")
            if opened.crashed:
                text = _("Cuecard ended while you were writing. Your draft of {time} was restored.")
            self.cue_app.tell(text.format(time=moment(opened.restored)), title=_("Draft"))
        if opened.newest is not None and opened.newest.number != edit.base:
            newest = opened.newest
            text = _("{author} has saved revision {number} since you began from revision {base}.")
            self.notify(
                text.format(author=newest.author, number=newest.number, base=edit.base),
                severity="warning",
                timeout=10,
                markup=False,
            )

    def _changed(self, path: Path) -> None:
        """The edit's listener: the draft, the problems and what is shown follow."""
        self.keeper.touch()
        self._note_work()
        self.check()
        self.editor.noticed(path)
        if path in (("title",), ()):
            self.show_title()

    async def refresh_state(self) -> None:
        """Read where the task stands in the workflow, and show it."""
        state = await self.services.ask(lambda ws: ws.reviews.state(self.task_id))
        self._state = state.value
        self.show_title()
        self.refresh_bindings()

    def show_title(self) -> None:
        if self._edit is not None:
            title = self.query_one(TaskTitle)
            title.load(self._edit, self._state, self.mode.label)
            title.tell(self._edit, self.keeper.state, self._written_at, there=self._there)

    async def _write_draft(self) -> None:
        if (edit := self._edit) is not None:
            # What is typed after this write has begun is another step for undo.
            edit.seal()
            person, snapshot, mode = self._person, edit.snapshot, self.mode
            key = mode.key(snapshot)
            self._there = await asyncio.to_thread(
                self.services.put,
                "draft",
                lambda: {
                    "key": key,
                    "person": person,
                    "base": snapshot.base,
                    "changed": snapshot.changed,
                    "data": snapshot.data,
                    "origins": snapshot.origins,
                    "history": snapshot.history(),
                },
                f"{key} {person}",
                lambda ws: mode.keep(ws, person, snapshot),
            )

    def _note_work(self) -> None:
        """A key was pressed: fields keep those that they take in, but then the edit changes."""
        if seconds := self._worked.key(asyncio.get_running_loop().time()):
            self.run_worker(self._record(seconds), group="effort", exit_on_error=False)

    async def enter_time(self) -> None:
        """Enter what was worked so far."""
        await self._record(self._worked.rest())

    async def _record(self, seconds: float) -> None:
        """Enter time that was worked; what cannot be entered now comes with the next."""
        if seconds <= 0 or not self._person or self.gone:
            return
        task_id, person = self.task_id, self._person
        try:
            await self.services.ask(
                lambda ws: self.mode.worked(ws, task_id, person, seconds), wait=False
            )
        except CuecardError:
            self._worked.give_back(seconds)

    def _draft_noticed(self, state: DraftState, error: BaseException | None) -> None:
        if state is DraftState.WRITTEN:
            self._written_at = datetime.now(UTC)
        # The last draft may be written while the screen is being taken down.
        for title in self.query(TaskTitle) if self._edit is not None else ():
            title.tell(self.edit, state, self._written_at, there=self._there)
        if error is not None and not isinstance(error, asyncio.CancelledError):
            self.report(error)

    @guarded("check", background=True)
    async def check(self) -> None:
        """Look for problems once the keys rest; a newer change cancels this. What takes long to
        check waits for a longer rest, since a check that runs slows the typing beside it.
        """
        await asyncio.sleep(max(CHECK_AFTER, RESTS * self._check_took))
        if self._edit is not None:
            began = time.monotonic()
            problems = await asyncio.to_thread(find_problems, self._edit.data)
            self._check_took = min(time.monotonic() - began, CHECK_LONGEST)
            self.editor.show_problems(self.mode.problems(problems))

    async def action_turn(self, by: int) -> None:
        await self.editor.turn(by)

    async def action_leave(self) -> None:
        if self.loaded and self.editor.step_back():
            return
        self.leave()

    @guarded("leave")
    async def leave(self) -> None:
        if self.loaded:
            if (where := self.editor.where()) is not None:
                self.cue_app.left_at[self.task_id, type(self.mode).__name__] = where
            self.editor.commit()
            await self.keeper.flush()
            if self.edit.changed:
                text = _("Your draft of {task} is kept.").format(task=self.task_id)
                self.cue_app.tell(text)
        self.dismiss(None)
