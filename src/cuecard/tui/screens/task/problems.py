"""The tabs of problems found in a task, and of reviewers' comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from cuecard.annotate.authoring.edit import Problem, TaskEdit
from cuecard.annotate.authoring.ops import can_silence, can_unsilence, silence, unsilence
from cuecard.annotate.authoring.task_data import Path, parse_place
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.lists import Column, ListView
from cuecard.tui.present import task_editor as present
from cuecard.tui.present.review_document import counted as counted_threads
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.review import ThreadList

if TYPE_CHECKING:
    from cuecard.annotate.review.comments import Comments
    from cuecard.annotate.review.workflow import Protocol


class ProblemsPane(TaskPane):
    """`show` what was found; the one under the cursor stands below in full."""

    EDITS = False

    BINDINGS = keys(
        Key("problems.open", "enter", "open", N_("Go there"), N_("Go to where this is written"), show=False),
        Key("problems.silence", "s", "silence", N_("Silence"), N_("Leave this be, with a reason")),
        Key("problems.unsilence", "s", "unsilence", N_("Unsilence"), N_("Take the silence back")),
        Key("problems.silenced", "S", "silenced", N_("Silenced"), N_("Show what is silenced, or hide it")),
        Key("problems.filter", "f", "filter", N_("Filter"), N_("Show errors, warnings, or both")),
    )  # fmt: skip

    DEFAULT_CSS = """
    ProblemsPane {
        #counts { height: 1; padding: 0 1; color: $text-muted; }
        #explained { height: auto; max-height: 50%; padding: 0 1; border-top: solid $foreground 20%; }
        #explained Static { height: auto; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._problems: Sequence[Problem] = ()
        self._wanted: present.Wanted = "all"
        self._with_silenced = False
        columns = (
            Column[Problem]("", present.mark_of, raw=True, sort=lambda found: found.severity),
            Column[Problem](N_("Code"), lambda found: found.code),
            Column[Problem](N_("Place"), lambda found: present.place_of(found, self._data), grow=2, least=12),
            Column[Problem](N_("Problem"), present.reason_of, grow=3, least=20),
            Column[Problem](N_("Path"), lambda found: GridCell(found.place, "muted"), grow=1, least=16, spare=1),
        )  # fmt: skip
        self.view = ListView(
            columns, lambda found: (found.code, found.place, found.about), tells=False
        )

    def compose(self) -> ComposeResult:
        yield Static(id="counts", markup=False)
        yield self.view
        with VerticalScroll(id="explained", can_focus=False):
            yield Static(markup=False)
        yield EmptyState(
            _("Nothing is wrong here"),
            _("What you write is checked while you type, finished or not."),
        )

    @property
    def _data(self) -> Mapping[str, Any]:
        return self._edit.data if self._edit is not None else {}

    def load(self, edit: TaskEdit) -> None:
        """Problems are shown when they are found."""
        self._edit = edit

    def show(self, problems: Sequence[Problem]) -> None:
        self._problems = problems
        self._refill()

    def reveal(self, path: Path) -> None:
        self.view.focus()

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        problem = self.view.row
        self.query_one("#explained").display = problem is not None
        if problem is not None:
            self.query_one("#explained Static", Static).update(
                present.explained(problem, self._data)
            )
        self.refresh_bindings()

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.action_open()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        problem = self.view.row
        match action:
            case "open":
                return problem is not None
            case "silence":
                return problem is not None and can_silence(problem)
            case "unsilence":
                return problem is not None and can_unsilence(problem)
            case "silenced":
                return any(problem.silenced for problem in self._problems)
            case "filter":
                return len({problem.severity for problem in self._problems}) > 1
            case _:
                return True

    def action_open(self) -> None:
        if problem := self.view.row:
            self.post_message(self.PlaceWanted(parse_place(problem.place)))

    def action_silence(self) -> None:
        self.to_change(self._silence)

    def _silence(self) -> None:
        problem, edit = self.view.row, self._edit
        if problem is None or edit is None:
            return

        def leave(reason: str | None) -> None:
            if reason:
                silence(edit, problem, reason)

        question = AskLine(
            _("Leave {code} be").format(code=problem.code),
            problem.reason,
            button=_("Silence"),
            placeholder=_("why it is meant"),
        )
        self.app.push_screen(question, leave)

    def action_unsilence(self) -> None:
        problem, edit = self.view.row, self._edit
        if problem is not None and edit is not None:
            self.to_change(lambda: unsilence(edit, problem))

    def action_silenced(self) -> None:
        self._with_silenced = not self._with_silenced
        self._refill()

    def action_filter(self) -> None:
        self._wanted = present.WANTED[
            (present.WANTED.index(self._wanted) + 1) % len(present.WANTED)
        ]
        self._refill()

    def _refill(self) -> None:
        self.view.load(present.shown(self._problems, self._wanted, self._with_silenced))
        something = bool(self._problems)
        self.query_one("#counts", Static).update(
            present.counted(self._problems, self._wanted, self._with_silenced)
        )
        self.query_one("#counts").display = self.view.display = something
        self.query_one(EmptyState).display = not something


class CommentsPane(TaskPane):
    """`show` comments; elements are found wherever they are in what is edited now."""

    EDITS = False

    DEFAULT_CSS = """
    CommentsPane {
        #open { height: 1; padding: 0 1; color: $text-muted; }
        ThreadList { height: 1fr; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._newest: Mapping[str, Any] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="open", markup=False)
        yield ThreadList()

    @property
    def threads(self) -> ThreadList:
        return self.query_one(ThreadList)

    def load(self, edit: TaskEdit) -> None:
        """Comments are shown when they are read."""
        self._edit = edit

    def show(self, comments: Comments, protocol: Protocol) -> None:
        self._newest = comments.data
        self.query_one("#open", Static).update(counted_threads(comments.threads))
        self.threads.load_comments(comments, protocol)

    def reveal(self, path: Path) -> None:
        self.threads.focus()

    def on_thread_list_wanted(self, event: ThreadList.Wanted) -> None:
        event.stop()
        place = event.thread.place
        here = None if place is None else self._now(place)
        if here is None:
            self.notify(_("What this comment is about is gone."), markup=False)
        else:
            self.post_message(self.PlaceWanted(parse_place(here)))

    def _now(self, place: str) -> str | None:
        """Where an element of the newest revision stands in what is edited."""
        from cuecard.annotate.review.comments import Following

        data = self._edit.data if self._edit is not None else self._newest
        return Following(self._newest, data).follow(place)
