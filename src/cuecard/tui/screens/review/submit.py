"""The dialog for submitting a task for review, with the linter's findings and a reason for remaining warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from textual import on
from textual.widget import Widget
from textual.widgets import Button

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.app import CuecardScreen
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.present.entries import Entry, Piece
from cuecard.tui.screens.dialogs import AskLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cuecard.annotate.lint.codes import Finding
    from cuecard.annotate.review.submitting import Checked

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
    SubmitDialog #found { height: 9; }
    """
    BINDINGS = keys(
        Key("submit.problems", "f2", "problems", N_("Problems"), N_("Go and look at what was found"), shown_as="F2"),
    )  # fmt: skip

    def __init__(self, checked: Checked, *, unsaved: bool = False) -> None:
        self._checked, self._unsaved = checked, unsaved
        self._warned = bool(checked.warnings and not checked.errors)
        title = _("Not ready for review") if checked.errors else _("Submit for review?")
        button = _("Problems") if checked.errors else _("Submit")
        super().__init__(title, _Reason(), ask=self._explained(), button=button)

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
        if checked.warnings:
            n = len(checked.warnings)
            told.append(
                ngettext(
                    "{n} warning is left; your reason is recorded:",
                    "{n} warnings are left; one reason for them is recorded:",
                    n,
                ).format(n=n)
            )
        return " ".join(told)


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
    """Of each finding its code, place and reason."""
    return [
        Entry(
            "work",
            0,
            (
                Piece(f"{finding.code} ", "strong"),
                Piece(f"{one_line(places.get(finding.place) or finding.place)}{_(': ')}", "muted"),
                Piece(finding.reason),
            ),
        )
        for finding in findings
    ]
