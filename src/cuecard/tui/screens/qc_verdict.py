"""A person confirms or changes what the decision table proposes; archiving is a step of its own."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Footer, Input

from cuecard.annotate.qc.deciding import decide
from cuecard.annotate.qc.decision import GRAVITY, VERDICT_LABEL
from cuecard.annotate.qc.report import QcReport
from cuecard.annotate.review import Action, actions_of, retire
from cuecard.core.i18n import _
from cuecard.core.review import QcVerdict
from cuecard.tui.base import CuecardDialog, CuecardScreen
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.screens.task.fields import LineEditor
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.state.qc import reasons, verdict_piece
from cuecard.tui.widgets.paragraphs import Paragraphs


class VerdictDialog(CuecardDialog[tuple[QcVerdict, str] | None]):
    """Dismissed with a verdict and a reason, which may be empty only for what is proposed."""

    DEFAULT_CSS = """
    VerdictDialog #why-scroll { height: auto; max-height: 8; margin-bottom: 1; }
    """

    def __init__(self, report: QcReport) -> None:
        super().__init__()
        self._report = report
        self._wanted: QcVerdict = report.proposal.verdict

    def compose(self) -> ComposeResult:
        proposed = self._report.proposal.verdict
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("What becomes of this task?"))
            with VerticalScroll(id="why-scroll", can_focus=False):
                yield Paragraphs(id="why")
            yield LineEditor(
                placeholder=_("Reason; needed for another verdict than the proposed one"),
                id="reason",
            )
            with Horizontal(classes="buttons"):
                for verdict in GRAVITY:
                    kind = "primary" if verdict == proposed else "default"
                    yield Button(Text(verdict_piece(verdict).text), variant=kind, id=verdict)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        proposal = self._report.proposal
        said = _("Proposed: {verdict}").format(verdict=verdict_piece(proposal.verdict).text)
        lines = [Paragraph(said, "strong"), *reasons(self._report, rules=False)]
        if proposal.unknown:
            lines.append(Paragraph(_("Not everything was looked at yet."), "muted"))
        lines.append(Paragraph(_("Confirm it, or choose another verdict."), "muted"))
        self.query_one("#why", Paragraphs).load(lines)
        self.query_one(f"#{proposal.verdict}", Button).focus()

    def on_input_submitted(self) -> None:
        self._accept()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self._wanted = next(verdict for verdict in GRAVITY if verdict == event.button.id)
        self._accept()

    def _accept(self) -> None:
        reason = self.query_one("#reason", Input)
        if self._wanted != self._report.proposal.verdict and not reason.value.strip():
            said = _("Say why “{verdict}”, then press Enter.")
            verdict = _(VERDICT_LABEL[self._wanted])
            self.notify(said.format(verdict=verdict), severity="warning", markup=False)
            reason.focus()
            return
        self.dismiss((self._wanted, reason.value.strip()))


async def give_verdict(screen: CuecardScreen[Any], report: QcReport) -> bool:
    """Ask for the verdict and record it; where it is to remove the task, offer to archive it, as a step
    of its own. False if the person left. Raises `CuecardError`.
    """
    given = await screen.app.push_screen_wait(VerdictDialog(report))
    if given is None:
        return False
    verdict, reason = given
    person, task_id = screen.person, report.task_id
    await screen.services.ask(lambda ws: decide(ws, report, person, verdict, reason))
    if verdict != "remove":
        screen.cue_app.tell(_("Recorded. The task stays where it stands."))
        return True
    may = await screen.services.ask(lambda ws: actions_of(ws, task_id, person))
    if Action.RETIRE not in may:
        screen.cue_app.tell(
            _("Recorded. Nothing is removed by itself: an author can archive the task.")
        )
        return True
    await _archive(screen, report, reason)
    return True


async def _archive(screen: CuecardScreen[Any], report: QcReport, reason: str) -> None:
    question = AskLine(
        _("Archive this task too?"),
        _(
            "Your verdict is recorded. The task is only taken out of use if you archive it; esc leaves it."
        ),
        button=_("Archive"),
        value=reason or " ".join(report.proposal.reasons),
        placeholder=_("Why?"),
    )
    why = await screen.app.push_screen_wait(question)
    if why is None:
        return
    person = screen.person
    await screen.services.ask(lambda ws: retire(ws, report.task_id, person, why))
    screen.cue_app.tell(_("{task} is archived.").format(task=report.task_id))
