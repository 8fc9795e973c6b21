"""What the agent's window asks, and the list of sessions that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Footer

from cuecard.core.i18n import N_, NP_, _
from cuecard.core.parts import Act
from cuecard.core.text import one_line
from cuecard.lab.wizard import WaitingSeat, waiting_seats
from cuecard.lab.wizard_view import Briefing
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.glyphs import FAMILY
from cuecard.tui.screens.play.dialogs import ChoiceDialog
from cuecard.tui.state.runs import when
from cuecard.tui.state.wizard_words import told_a_model
from cuecard.tui.widgets.plain import PlainText

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


class ActDialog(ChoiceDialog):
    """Whether a turn is an answer or a question."""

    CSS_PATH = "../play/dialogs.tcss"
    BINDINGS = keys(
        Key("act.answer", "a", f"choose('{Act.ANSWER.value}')", NP_("verb", "Answer"), N_("It answers the user's question"), show=False),
        Key("act.ask", "q", f"choose('{Act.ASK.value}')", N_("Ask"), N_("It asks the user something"), show=False),
    )  # fmt: skip

    def __init__(self, text: str) -> None:
        super().__init__(
            _("Is this an answer or a question?"),
            one_line(text, 300),
            (
                (Act.ANSWER.value, "a", _("I answer the user's question")),
                (Act.ASK.value, "q", _("I ask back before I answer")),
            ),
        )


class BriefDialog(CuecardDialog[None]):
    """What is asked of the person, and all that a model would be told."""

    DEFAULT_CSS = """
    BriefDialog { align: center middle; }
    BriefDialog VerticalScroll { height: auto; max-height: 80%; }
    """
    BINDINGS = keys(
        Key("brief.close", "f2", "dismiss", N_("Close"), N_("Back to the dialogue"), show=False),
    )

    def __init__(self, briefing: Briefing) -> None:
        super().__init__()
        self._briefing = briefing

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("What is asked of you"))
            with VerticalScroll():
                yield PlainText(told_a_model(self._briefing))
        yield Footer(show_command_palette=False)


class WaitingDialog(ChoiceDialog):
    """The sessions that wait for somebody to play their agent."""

    CSS_PATH = "../play/dialogs.tcss"

    def __init__(self, seats: Sequence[WaitingSeat]) -> None:
        super().__init__(
            _("Play the agent"),
            _("These sessions wait for somebody to play the agent."),
            [(str(seat.trial_id), "", waiting_label(seat)) for seat in seats],
        )


def waiting_label(seat: WaitingSeat) -> str:
    glyph, _variable, family = FAMILY[seat.family]
    yours = " · " + _("yours") if seat.mine else ""
    user = one_line(seat.user, 40)
    return f"{user} · {glyph} {_(family)} · {seat.language} · {when(seat.since)}{yours}"


async def play_an_agent(app: CuecardApp) -> None:
    """Ask which session's agent to play, and open its window. Call it from a worker."""
    from cuecard.tui.screens.wizard.screen import WizardScreen

    person = app.person
    seats = await app.services.ask(lambda ws: waiting_seats(ws, person))
    if not seats:
        told = _(
            "No session waits for you to play its agent. Sessions of tasks that you know are left out."
        )
        app.tell(told)
        return
    chosen: str | None = str(seats[0].trial_id)
    if len(seats) > 1:
        chosen = await app.push_screen_wait(WaitingDialog(seats))
    if chosen is not None:
        app.push_screen(WizardScreen(int(chosen)))
