"""The dialog for submitting a task for review, with the linter's findings and a reason for remaining warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Static

from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import for_display, one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, CuecardScreen
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.widgets.inputs import LineEditor
from cuecard.tui.widgets.text import PlainText

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cuecard.annotate.lint.codes import Finding
    from cuecard.annotate.review.submitting import Checked

Outcome = Literal["moved", "problems", "left"]
"""`problems`: the person wants to see what was found."""
_MOST = 40


@dataclass(frozen=True)
class SubmitAnswer:
    """`submit` with `reason`, or else go and look at the problems."""

    submit: bool
    reason: str = ""


class SubmitDialog(CuecardDialog["SubmitAnswer | None"]):
    """With errors there is no way to submit; with warnings it takes a reason; else only a yes."""

    DEFAULT_CSS = """
    SubmitDialog { align: center middle; }
    SubmitDialog #found { height: auto; max-height: 9; margin: 1 0; }
    SubmitDialog #found Static { height: auto; }
    SubmitDialog .buttons { height: auto; }
    """
    BINDINGS = keys(
        Key("submit.yes", "ctrl+s", "submit", N_("Submit"), N_("Put this revision before two reviewers"), shown_as="^s"),
        Key("submit.problems", "f2", "problems", N_("Problems"), N_("Go and look at what was found"), shown_as="F2"),
    )  # fmt: skip

    def __init__(self, checked: Checked, *, unsaved: bool = False) -> None:
        super().__init__()
        self._checked = checked
        self._unsaved = unsaved

    def compose(self) -> ComposeResult:
        checked = self._checked
        with Vertical(classes="dialog") as box:
            box.border_title = Text(self._heading())  # a string would be parsed for markup
            yield PlainText(self._explained())
            if found := checked.errors or checked.warnings:
                with VerticalScroll(id="found"):
                    yield Static(_listed(found, checked.places))
            if checked.warnings and not checked.errors:
                yield LineEditor("", placeholder=_("Why may this stay?"), id="reason")
            with Horizontal(classes="buttons"):
                if checked.errors or checked.warnings:
                    yield Button(_("Problems"), id="problems")
                if not checked.errors:
                    yield Button(_("Submit"), variant="primary", id="submit")
        yield KeyBar()

    def on_mount(self) -> None:
        first = self.query("#reason, #submit, #problems").first()
        first.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "submit":
                return not self._checked.errors
            case "problems":
                return bool(self._checked.errors or self._checked.warnings)
            case _:
                return True

    def on_input_submitted(self) -> None:
        self.action_submit()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "submit":
            self.action_submit()
        else:
            self.action_problems()

    def action_submit(self) -> None:
        reason = ""
        if self._checked.warnings:
            reason = self.query_one("#reason", Input).value.strip()
            if not reason:
                self.notify(_("Say in a few words why."), severity="warning", markup=False)
                return
        self.dismiss(SubmitAnswer(submit=True, reason=reason))

    def action_problems(self) -> None:
        self.dismiss(SubmitAnswer(submit=False))

    def _heading(self) -> str:
        return _("Not ready for review") if self._checked.errors else _("Submit for review?")

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
    from cuecard.annotate.review.protocol import protocol_of
    from cuecard.annotate.review.submitting import check_for_review, submit_checked
    from cuecard.annotate.review.workflow import actions_of
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


def _listed(findings: Sequence[Finding], places: Mapping[str, str]) -> Text:
    """One finding a paragraph: its code, place and reason."""
    lines = Text()
    for finding in findings[:_MOST]:
        if lines:
            lines.append("\n")
        lines.append(f"{finding.code} ", style="bold")
        lines.append(f"{one_line(places.get(finding.place) or finding.place)}: ", style="dim")
        lines.append(for_display(finding.reason))
    if (rest := len(findings) - _MOST) > 0:
        lines.append("\n" + ngettext("{n} more", "{n} more", rest).format(n=rest), style="dim")
    return lines
