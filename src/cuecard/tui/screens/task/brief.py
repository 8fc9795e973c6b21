"""The tabs beside the gold: the brief with the guidelines for authors, the persona, problems found in the task, and
reviewers' comments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.ops import can_silence, can_unsilence, silence, unsilence
from cuecard.annotate.authoring.session import guidelines
from cuecard.annotate.authoring.task_data import Path, blank_persona, parse_place
from cuecard.annotate.lint.codes import Finding
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, beside, current_language, listed, plural
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present import task_editor as present
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.review_document import counted as counted_threads
from cuecard.tui.present.review_document import review_paragraphs
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.fields import Form
from cuecard.tui.screens.task.forms import BRIEF, PERSONA
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.review import ThreadList
from cuecard.tui.widgets.text import ChangingText, Paragraphs, PlainText, Prose

if TYPE_CHECKING:
    from cuecard.annotate.review.comments import Comments
    from cuecard.annotate.review.workflow import Protocol
    from cuecard.tui.app import CuecardApp


class Guidelines(VerticalScroll, can_focus=True):
    """What a good task of a family is, as it was read last; it is read anew for each task."""

    _known: ClassVar[dict[tuple[str, str], tuple[str, str]]] = {}
    """By family and language: what is wrong, and the text."""

    def __init__(self) -> None:
        super().__init__(classes="guidelines")
        self._family = ""
        self._shown = "", ""

    def compose(self) -> ComposeResult:
        problem = PlainText(classes="problem")
        problem.display = False
        yield problem
        yield Prose()

    def load(self, edit: TaskEdit) -> None:
        if edit.family != self._family:
            self._family = edit.family
            self._show(*self._known.get((edit.family, current_language()), ("", "")))
            self.run_worker(self._read(edit), group="guidelines", exclusive=True)

    async def _read(self, edit: TaskEdit) -> None:
        language, family = current_language(), edit.family
        problem = ""
        try:
            config = await cast("CuecardApp", self.app).services.config()
            text = await asyncio.to_thread(guidelines, family, language, config)
        except CuecardError as error:
            problem = str(error)
            text = await asyncio.to_thread(guidelines, family, language)
        self._known[family, language] = problem, text
        self._show(problem, text)

    def _show(self, problem: str, text: str) -> None:
        if (problem, text) != self._shown:
            self._shown = problem, text
            told = self.query_one(".problem", PlainText)
            told.load(problem)
            told.display = bool(problem)
            self.query_one(Prose).load(text)


class BriefPane(TaskPane):
    """A wide terminal shows the guidelines beside the form, a narrow one instead of it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._was_writing = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Form(BRIEF)
            yield Guidelines()

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def panel(self) -> Guidelines:
        return self.query_one(Guidelines)

    def load(self, edit: TaskEdit) -> None:
        self.form.load(edit, ())
        self.panel.load(edit)

    def commit(self) -> None:
        self.form.commit()

    def locate(self, path: Path) -> None:
        self.form.locate(path)

    def reveal(self, path: Path) -> None:
        hidden = self.has_class("-reading")
        self.remove_class("-reading")
        if hidden:
            # What is hidden takes no focus.
            self.call_after_refresh(self.form.reveal, path)
        else:
            self.form.reveal(path)

    @property
    def writing(self) -> bool:
        return super().writing and not self.panel.has_focus

    def step_back(self) -> bool:
        if self.panel.has_focus and self._was_writing:
            self.reveal(())
            return True
        self.remove_class("-reading")
        return False

    def show_guidelines(self) -> None:
        """Go to the guidelines; Escape goes back to where the person was."""
        self._was_writing = self.writing
        self.add_class("-reading")
        self.call_after_refresh(self.panel.focus)


class NoPersona(EmptyState, can_focus=True):
    """Says what a persona is for; the key that adds one works here."""


class PersonaPane(TaskPane):
    BINDINGS = keys(
        Key("persona.add", Means.ADD, "add_persona", N_("Add"), N_("Give this task a persona")),
        Key("persona.remove", Means.COMMAND, "remove_persona", N_("Remove"), N_("Take the persona and its stages away; {UNDO} brings them back"), letter="r"),
    )  # fmt: skip

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None

    def compose(self) -> ComposeResult:
        yield Form(PERSONA)
        yield NoPersona(
            _("This task has no persona"),
            _(
                "A persona is whom the user plays: an identity, a vague first query, and stages in"
                " which the rest is disclosed. Without one the user simply asks the query."
            ),
            ("{ADD}", _("add a persona")),
        )

    def load(self, edit: TaskEdit) -> None:
        form, absent = self.query_one(Form), self.query_one(NoPersona)
        self._edit = edit
        form.display = self._present
        absent.display = not self._present
        if self._present:
            form.load(edit, ops.PERSONA)
        else:
            form.unload()
        self.refresh_bindings()

    def commit(self) -> None:
        self.query_one(Form).commit()

    def locate(self, path: Path) -> None:
        if self._present:
            self.query_one(Form).locate(path[1:])

    def reveal(self, path: Path) -> None:
        if self._present:
            self.query_one(Form).reveal(path[1:])
        else:
            self.query_one(NoPersona).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "add_persona":
            return not self._present
        return self._present if action == "remove_persona" else True

    def action_add_persona(self) -> None:
        if self._edit is not None:
            ops.add_persona(self._edit, blank_persona())
            self.load(self._edit)
            self.reveal(())

    def action_remove_persona(self) -> None:
        if self._edit is not None:
            self.commit()
            self.query_one(Form).unload()
            ops.remove_persona(self._edit)
            self.load(self._edit)
            self.reveal(())

    @property
    def _present(self) -> bool:
        return self._edit is not None and isinstance(self._edit.get(ops.PERSONA), dict)


class ProblemsPane(TaskPane):
    """`show` what was found; the one under the cursor stands below in full."""

    EDITS = False

    BINDINGS = keys(
        Key("problems.open", Means.OPEN, "open", N_("Go there"), N_("Go to where this is written"), show=False),
        Key("problems.silence", Means.DELETE, "silence", N_("Silence"), N_("Leave this, or the marked ones, be, with a reason")),
        Key("problems.unsilence", Means.DELETE, "unsilence", N_("Unsilence"), N_("Take the silence back")),
        Key("problems.silenced", Means.REVEAL, "silenced", N_("Silenced"), N_("Show what is silenced, or hide it")),
        Key("problems.filter", Means.ONLY, "filter", N_("Filter"), N_("Show errors, warnings, or both")),
    )  # fmt: skip

    DEFAULT_CSS = """
    ProblemsPane {
        #counts { height: 1; padding: 0 1; color: $text-muted; }
        #explained { height: auto; max-height: 50%; padding: 0 1; border-top: solid $foreground 20%; }
        #explained ChangingText { height: auto; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._problems: Sequence[Finding] = []
        self._wanted: present.Wanted = "all"
        self._with_silenced = False
        columns = (
            Column[Finding]("", present.mark_of, raw=True, sort=lambda found: found.severity),
            Column[Finding](N_("Problem"), present.reason_of, grow=3, least=20),
            Column[Finding](N_("Place"), lambda found: present.place_of(found, self._data), grow=2, least=12),
            Column[Finding](N_("Code"), lambda found: GridCell(found.code, "muted")),
            Column[Finding](N_("Path"), lambda found: GridCell(found.place, "muted"), grow=1, least=16, spare=1),
        )  # fmt: skip
        self.view = ListView(
            columns,
            lambda found: (found.code, found.place, found.about),
            marking=True,
            tells=False,
        )

    def compose(self) -> ComposeResult:
        yield ChangingText(id="counts", markup=False)
        yield self.view
        with VerticalScroll(id="explained", can_focus=False):
            yield ChangingText(markup=False)
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

    def show(self, problems: Sequence[Finding]) -> None:
        if problems is not self._problems:
            self._problems = problems
            self._refill()

    def reveal(self, path: Path) -> None:
        self.view.focus()

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        problem = self.view.row
        self.query_one("#explained").display = problem is not None
        if problem is not None:
            self.query_one("#explained ChangingText", ChangingText).tell(
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
                return bool(self._to_silence)
            case "unsilence":
                return problem is not None and can_unsilence(problem) and not self._to_silence
            case "silenced":
                return any(problem.silenced for problem in self._problems)
            case "filter":
                return len({problem.severity for problem in self._problems}) > 1
            case _:
                return True

    def action_open(self) -> None:
        if problem := self.view.row:
            self.post_message(self.PlaceWanted(parse_place(problem.place)))

    @property
    def _to_silence(self) -> list[Finding]:
        return list(filter(can_silence, self.view.chosen))

    def action_silence(self) -> None:
        self.to_change(self._silence)

    def _silence(self) -> None:
        problems, edit = self._to_silence, self._edit
        if not problems or edit is None:
            return

        def leave(reason: str | None) -> None:
            if reason:
                with edit.together(ops.SILENCED):
                    for problem in problems:
                        silence(edit, problem, reason)

        codes = listed(dict.fromkeys(problem.code for problem in problems))
        n = len(problems)
        told = plural("{n} problem gets this reason.", "{n} problems get this reason.", n)
        question = AskLine(
            beside(_("Silence"), codes),
            problems[0].reason if n == 1 else told,
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
        self._wanted = after(self._wanted, present.WANTED)
        self._refill()

    def _refill(self) -> None:
        self.view.load(present.shown(self._problems, self._wanted, self._with_silenced))
        something = bool(self._problems)
        self.query_one("#counts", ChangingText).tell(
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
        #reviews { height: auto; max-height: 40%; padding: 0 1; border-bottom: solid $foreground 20%; }
        ThreadList { height: 1fr; }
    }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None
        self._newest: Mapping[str, Any] = {}
        self._shown: object = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="reviews", can_focus=False):
            yield Paragraphs()
        yield Static(id="open", markup=False)
        yield ThreadList()

    @property
    def threads(self) -> ThreadList:
        return self.query_one(ThreadList)

    def load(self, edit: TaskEdit) -> None:
        """Comments are shown when they are read."""
        self._edit = edit

    def show(self, comments: Comments, protocol: Protocol) -> None:
        # Of the protocol what is shown: to compare all of it would load every family.
        shown = comments, protocol.dimensions(comments.task.family)
        if shown == self._shown:
            return
        self._shown = shown
        self._newest = comments.data
        self.query_one("#open", Static).update(counted_threads(comments.threads))
        self.threads.load_comments(comments, protocol)
        lines = review_paragraphs(comments, protocol)
        self.query_one("#reviews").display = bool(lines)
        self.query_one(Paragraphs).load(lines)

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
        from cuecard.annotate.review.comments import PlaceMapping

        data = self._edit.data if self._edit is not None else self._newest
        return PlaceMapping(self._newest, data).follow(place)
