"""One turn to read: the agent's reply, and below it what people and the simulator made of it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Footer, Static

from cuecard.annotate.fidelity.turns import TurnRow
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardScreen
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.state.fidelity_turns import (
    cue_paragraphs,
    heading,
    people_paragraphs,
    simulator_paragraphs,
    simulator_title,
)
from cuecard.tui.widgets.paragraphs import Paragraphs


class FidelityTurnScreen(CuecardScreen[int]):
    """Walks through a list from the row `at`, and answers at which row it was left."""

    CSS_PATH = "fidelity.tcss"
    AUTO_FOCUS = "#agent"
    BINDINGS = keys(
        Key("fidelity_turn.next", "n,enter", "step(1)", N_("Next"), N_("The next turn of the list"), shown_as="n"),
        Key("fidelity_turn.before", "b", "step(-1)", N_("Before"), N_("The turn before")),
        Key("fidelity_turn.trial", "o", "trial", N_("Trial"), N_("The whole dialogue, at this turn")),
        Key("fidelity_turn.back", "escape", "leave", N_("Back"), N_("Back to the list")),
    )  # fmt: skip

    def __init__(self, rows: Sequence[TurnRow], at: int) -> None:
        super().__init__()
        self._rows, self._at = tuple(rows), at

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with VerticalScroll(id="agent", classes="pane") as agent:
            agent.border_title = _("Agent's reply")
            yield Paragraphs(id="agent-text")
        with Horizontal(id="sides"):
            with VerticalScroll(id="people", classes="pane") as people:
                people.border_title = _("People")
                yield Paragraphs(id="people-text")
            with VerticalScroll(id="simulator", classes="pane"):
                yield Paragraphs(id="simulator-text")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "step":
            return 0 <= self._at + int(str(parameters[0])) < len(self._rows)
        return True

    def action_step(self, by: int) -> None:
        self._at += by
        self._show()

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial import TrialScreen

        case = self._rows[self._at].case
        self.app.push_screen(TrialScreen(case.trial_id, turn=case.turn))

    def action_leave(self) -> None:
        self.dismiss(self._at)

    def _show(self) -> None:
        row = self._rows[self._at]
        place = f"{self._at + 1}/{len(self._rows)}"
        self.query_one("#title", Static).update(f"{place} · {heading(row)}")
        reply = Paragraph(row.case.agent_text)
        lines = [*cue_paragraphs(row.case), Paragraph(""), reply]
        self.query_one("#agent-text", Paragraphs).load(lines)
        self.query_one("#people-text", Paragraphs).load(people_paragraphs(row))
        self.query_one("#simulator-text", Paragraphs).load(simulator_paragraphs(row))
        # As text, never as a string: strings of borders are parsed for markup.
        self.query_one("#simulator").border_title = Text(one_line(simulator_title(row), 60))
        for pane in self.query(".pane"):
            pane.scroll_home(animate=False, immediate=True)
        self.refresh_bindings()
