"""Dialogs of a review: writing a comment, choosing a page to open, all comments with their answers; and submitting a task,
with the linter's findings and a reason for remaining warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import Field
from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Button, Select, Static

from cuecard.core.i18n import N_, _, joined, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.kit.forms import AnswerDialog, FormPane
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Entry, Piece
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.review_document import counted
from cuecard.tui.screens.dialogs import AskLine, ChoiceDialog
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.review import ThreadList
from cuecard.tui.widgets.text import HeadLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cuecard.annotate.lint.codes import Finding
    from cuecard.annotate.review.submitting import Checked


@dataclass(frozen=True)
class Pin:
    """Where a comment belongs: an element or a part of it, and the dimension it explains, if any."""

    place: str
    dimension: str = ""


@dataclass(frozen=True)
class Pinned:
    """A comment as it was left; `before`: the pin of the one that was changed, if there was one."""

    pin: Pin
    text: str
    before: Pin | None


class _Comment(Frozen):
    place: Annotated[str, Field(title=N_("On"))]
    dimension: Annotated[str, Field(title=N_("Dimension"))]
    text: Annotated[
        str, Field(title="", description=N_("An empty text takes the comment away.")), Row("text")
    ]


class CommentDialog(AnswerDialog[_Comment, Pinned]):
    """Writes the comment at `pin`; keys pin it to another of `places` or `dimensions`. An empty text
    takes a comment away. `text_at` gives the text that is pinned somewhere already.
    """

    BINDINGS = keys(
        Key("comment.place", Means.EDIT, "turn('place')", N_("Other place"), N_("Pin it to a part of the element, or to the whole task"), priority=True),
        Key("comment.dimension", Means.COMMAND, "turn('dimension')", N_("Dimension"), N_("Which dimension it explains, or none"), priority=True, letter="d"),
    )  # fmt: skip
    BEGINS_AT = "text"

    def __init__(
        self,
        pin: Pin,
        places: Sequence[tuple[str, str]],
        dimensions: Sequence[tuple[str, str]],
        text_at: Callable[[Pin], str],
        ask: str = "",
    ) -> None:
        """`places` and `dimensions`: values with how they are called. `ask`: what is wanted."""
        self._pin, self._text_at, self._found = pin, text_at, text_at(pin)
        self._before = pin if self._found else None
        self._values = {
            "place": [value for value, _label in places],
            "dimension": ["", *(value for value, _label in dimensions)],
        }
        super().__init__(
            _("Comment"),
            _Comment(place=pin.place, dimension=pin.dimension, text=self._found),
            ask=ask,
            button=_("Keep"),
            options={
                "place": [(one_line(label), value) for value, label in places],
                "dimension": [
                    (_("none"), ""),
                    *((one_line(label), value) for value, label in dimensions),
                ],
            },
        )

    async def answer(self, model: _Comment) -> Pinned:
        return Pinned(Pin(model.place, model.dimension), model.text, self._before)

    def action_turn(self, field: str) -> None:
        select = cast("Select[str]", self.query_one(f"#{field}", Select))
        select.value = after(str(select.value), self._values[field])

    @on(FormPane.Changed)
    def move(self) -> None:
        """To another pin: what is typed goes along; where nothing is, what stands there is shown."""
        place, dimension, text = self.pane.values.values()
        pin = Pin(place, dimension)
        if pin == self._pin:
            return
        self._pin, there = pin, self._text_at(pin)
        if text == self._found and (there or self._before is None or not text.strip()):
            self._found, self._before = there, pin if there else None
            self.pane.show(text=there)


def source_dialog(urls: Sequence[str], opened: Sequence[str]) -> ChoiceDialog:
    """Which of several pages to open; those that were opened are marked."""
    options = [(url, "", f"{'✓' if url in opened else ' '} {one_line(url)}") for url in urls]
    fresh = next((url for url in urls if url not in opened), "")
    return ChoiceDialog(_("Open which page?"), "", options, first=fresh)


class ThreadsScreen(CuecardScreen[str | None]):
    """Dismissed with the place of the comment that was chosen, or None."""

    DEFAULT_CSS = """
    ThreadsScreen {
        #title { height: 1; background: $panel; color: $primary; text-style: bold; padding: 0 1; }
        ThreadList { height: 1fr; }
    }
    """
    BINDINGS = keys(
        Key("threads.back", Means.UP_ONE, "back", N_("Back"), N_("Back to the task")),
    )  # fmt: skip

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self._task_id = task_id

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        yield ThreadList()
        yield EmptyState(
            _("No comments"),
            _("What reviewers pin to elements of the task stands here once their reviews are in."),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.load()

    @guarded("threads")
    async def load(self) -> None:
        from cuecard.annotate.review.comments import comments_for
        from cuecard.annotate.review.workflow import protocol_of

        person, task_id = self.person, self._task_id
        protocol = protocol_of(await self.services.config())
        comments = await self.services.ask(lambda ws: comments_for(ws, person, task_id))
        listed, title = self.query_one(ThreadList), _("Comments")
        listed.display = comments is not None
        self.query_one(EmptyState).display = comments is None
        if comments is not None:
            title = " · ".join([title, counted(comments.threads), one_line(comments.task.title)])
            listed.load_comments(comments, protocol)
        self.query_one("#title", Static).update(title)

    def on_thread_list_wanted(self, event: ThreadList.Wanted) -> None:
        event.stop()
        self.dismiss(event.thread.place)

    def on_thread_list_posted(self, event: ThreadList.Posted) -> None:
        event.stop()
        self.say(event)

    @guarded("say")
    async def say(self, said: ThreadList.Posted) -> None:
        person, comment = self.person, said.thread.comment
        await self.services.write(
            "answer", comment=comment, by=person, text=said.text, turns=said.turns
        )
        self.load()

    def action_back(self) -> None:
        self.dismiss(None)


Outcome = Literal["moved", "problems", "left"]
"""`problems`: the person wants to see what was found."""


@dataclass(frozen=True)
class SubmitAnswer:
    """`submit` with `reason`, or else go and look at the problems."""

    submit: bool
    reason: str = ""


class _Reason(Frozen):
    reason: Annotated[str, Field(title="", description=N_("Why may this stay?"))] = ""


class SubmitDialog(AnswerDialog[_Reason, SubmitAnswer]):
    """With errors there is no way to submit; with warnings it takes a reason; else only a yes."""

    DEFAULT_CSS = """
    SubmitDialog #found { height: auto; max-height: 9; }
    """
    BINDINGS = keys(
        Key("submit.problems", Means.DETAILS, "problems", N_("Problems"), N_("Go and look at what was found")),
    )  # fmt: skip

    def __init__(self, checked: Checked, *, unsaved: bool = False) -> None:
        self._checked, self._unsaved = checked, unsaved
        self._warned = bool(checked.warnings and not checked.errors)
        title = _("Not ready for review") if checked.errors else _("Submit for review?")
        button = _("Problems") if checked.errors else _("Submit")
        kept = _Reason(reason=checked.reason if self._warned else "")
        super().__init__(title, kept, ask=self._explained(), button=button)

    def more(self) -> Iterator[Widget]:
        if self._warned:
            yield Button(_("Problems"), id="problems", compact=True)

    def on_mount(self) -> None:
        self.pane.rows[0].display = self._warned

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "problems" or bool(self._checked.errors or self._checked.warnings)

    @on(Button.Pressed, "#problems")
    def action_problems(self) -> None:
        self.dismiss(SubmitAnswer(submit=False))

    async def summary(self, model: _Reason) -> str | list[Entry]:
        """What was found."""
        checked = self._checked
        return _entries(checked.errors or checked.warnings, checked.places) or ""

    def problem(self, model: _Reason) -> str:
        return _("Say in a few words why.") if self._warned and not model.reason else ""

    async def answer(self, model: _Reason) -> SubmitAnswer:
        return SubmitAnswer(submit=not self._checked.errors, reason=model.reason)

    def _explained(self) -> str:
        checked = self._checked
        if checked.errors:
            n = len(checked.errors)
            return ngettext(
                "Revision {number} has {n} error. Mend it and save; then submit again.",
                "Revision {number} has {n} errors. Mend them and save; then submit again.",
                n,
            ).format(number=checked.revision, n=n)
        text = _("Two other people will review revision {number}, blind to each other and to you.")
        told = [text.format(number=checked.revision)]
        if self._unsaved:
            told.append(_("Your unsaved changes are not in it."))
        if checked.warnings and not checked.unanswered:
            told.append(
                _("What is left was answered before; the answer stays unless you change it:")
            )
        elif checked.warnings:
            n = len(checked.warnings)
            told.append(
                ngettext(
                    "{n} warning is left; your reason is recorded:",
                    "{n} warnings are left; one reason for them is recorded:",
                    n,
                ).format(n=n)
            )
        return joined(told)


async def submit_task(
    screen: CuecardScreen[Any], task_id: str, *, unsaved: bool = False
) -> Outcome:
    """Check the newest revision, ask, and submit it; what is in review or approved can be taken back
    instead. `unsaved`: the person has a draft besides. Raises `CuecardError`.
    """
    from cuecard.annotate.review.submitting import check_for_review, submit_checked
    from cuecard.annotate.review.workflow import actions_of, protocol_of
    from cuecard.core.contributions import Action

    person = screen.person
    possible = await screen.services.ask(lambda ws: actions_of(ws, task_id, person))
    if Action.WITHDRAW in possible or Action.REOPEN in possible:
        return await _take_back(screen, task_id, reopen=Action.REOPEN in possible)
    protocol = protocol_of(await screen.services.config())
    checked = await screen.services.ask(lambda ws: check_for_review(ws, task_id, person))
    answer = await screen.app.push_screen_wait(SubmitDialog(checked, unsaved=unsaved))
    if answer is None:
        return "left"
    if not answer.submit:
        return "problems"
    reason = answer.reason
    await screen.services.ask(lambda ws: submit_checked(ws, task_id, person, protocol, reason))
    screen.cue_app.tell(_("Submitted for review."))
    return "moved"


async def _take_back(screen: CuecardScreen[Any], task_id: str, *, reopen: bool) -> Outcome:
    """Withdraw from review, or reopen what is approved, with a reason."""
    from cuecard.annotate.review.workflow import reopen as reopen_task
    from cuecard.annotate.review.workflow import withdraw

    person = screen.person
    if reopen:
        dialog = AskLine(
            _("Reopen this task?"),
            _("It is approved. Then it is a draft again; its next revision takes two reviews."),
            button=_("Reopen"),
            placeholder=_("Why?"),
        )
    else:
        dialog = AskLine(
            _("Withdraw from review?"),
            _("Reviews that are in stay, but decide nothing until it is submitted again."),
            button=_("Withdraw"),
            placeholder=_("Why?"),
        )
    reason = await screen.app.push_screen_wait(dialog)
    if reason is None:
        return "left"
    step = reopen_task if reopen else withdraw
    await screen.services.ask(lambda ws: step(ws, task_id, person, reason))
    screen.cue_app.tell(_("It is a draft again."))
    return "moved"


def _entries(findings: Sequence[Finding], places: Mapping[str, str]) -> list[Entry]:
    """Of each finding its place, reason and code."""
    return [
        Entry(
            "work",
            0,
            (
                Piece(f"{one_line(places.get(finding.place) or finding.place)}{_(': ')}", "strong"),
                Piece(finding.reason),
                Piece(f" [{finding.code}]", "muted"),
            ),
        )
        for finding in findings
    ]
