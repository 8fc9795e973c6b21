"""The turns behind a number of the Fidelity screen, the worst first, and one turn in full."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from cuecard.annotate.fidelity.findings import TurnRow, open_to
from cuecard.annotate.fidelity.tables import decision_word, simulator_word
from cuecard.core.i18n import N_, NP_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, Means, keys
from cuecard.tui.drawing import Horizontal, VerticalScroll
from cuecard.tui.grid import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import BlindListScreen, RowScreen
from cuecard.tui.present import fidelity as present
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.keyboard import hint
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import HeadLine, Paragraphs

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class FidelityTurnsScreen(BlindListScreen[TurnRow]):
    """The turns behind a number: those that I played, re-played or labelled, or all."""

    NEED_ROW = ("open", "trial")
    BINDINGS = keys(
        Key("fidelity_turns.read", Means.OPEN, "open", N_("Read"), N_("Both decisions and both texts side by side")),
        Key("fidelity_turns.trial", Means.DETAILS, "trial", N_("Trial"), N_("The whole dialogue, at this turn")),
        Key("fidelity_turns.all", Means.REVEAL, "all", N_("Show all"), N_("Also turns that I have not decided; I can no longer decide them blind")),
        Key("fidelity_turns.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(self, title: str, rows: Sequence[TurnRow]) -> None:
        """`rows` in the order in which they are listed."""
        super().__init__(rows)
        self._titled = title

    def columns(self) -> Sequence[Column[TurnRow]]:
        players = [row.voice.player for row in self.all_rows]
        several = any(player != players[0] for player in players)
        who = Column[TurnRow](
            N_("Simulator"), lambda row: simulator_word(row.voice.player), spare=1
        )
        return (
            Column(N_("Task"), lambda row: row.case.task.title, grow=1, spare=2),
            Column(N_("Where"), lambda row: present.place_word(row.case), grow=2, least=12),
            *((who,) if several else ()),
            Column(
                N_("People"),
                lambda row: decision_word(row.case.subject, row.reference),
                grow=1,
                least=12,
            ),
            Column(N_("Simulator says"), _said, grow=1, least=12),
            Column(
                NP_("what is", "Wrong"), _wrong, grow=3, least=14, sort=lambda row: -row.severity
            ),
            Column(N_("Turn"), lambda row: str(row.case.turn + 1), right=True),
        )

    def key(self, row: TurnRow) -> Hashable:
        return row.case.trial_id, row.item, row.voice.player

    def empty(self) -> EmptyState:
        return EmptyState(
            _("None of these turns is yours to see yet"),
            _("What was decided in a turn is shown to those who have decided it themselves."),
            ("{REVEAL}", _("Show all: I can no longer decide them blind")),
            ("esc", _("Back to the figures")),
        )

    def see(self, workspace: Workspace, *, all_: bool) -> Sequence[TurnRow]:
        person, every = self.person, self.all_rows
        labels = workspace.verdicts.item_labels({row.case.trial_id for row in every}, None)
        known = {(lb.trial_id, lb.item_key) for lb in labels if lb.person == person}
        rows = every if all_ else open_to(every, person, known)
        if person and rows:
            seen = {(row.case.trial_id, row.item) for row in rows}
            workspace.verdicts.note_reveals(seen, person)
        return rows

    def title_words(self) -> str:
        n = len(self.all_rows)
        count = ngettext("{n} turn", "{n} turns", n).format(n=f"{n:,}")
        return f"{one_line(self._titled, 70)} · {count}"

    def hidden_words(self, n: int) -> str:
        said = ngettext(
            "{n} more turn that you have not decided ({REVEAL} shows it)",
            "{n} more turns that you have not decided ({REVEAL} shows them)",
            n,
        )
        return hint(said, n=f"{n:,}")

    def warning(self, n: int) -> tuple[str, str]:
        text = ngettext(
            "You have not decided {n} of these turns. Once you have seen what was decided in it, a decision"
            " of yours is not blind and does not enter agreement.",
            "You have not decided {n} of these turns. Once you have seen what was decided in them,"
            " decisions of yours are not blind and do not enter agreement.",
            n,
        )
        return _("Look without deciding?"), text.format(n=n)

    def detail(self, row: TurnRow) -> Sequence[Paragraph]:
        reply, said = (one_line(t, 300) for t in (row.case.agent_text, row.voice.reply.text))
        return (
            Paragraph(present.heading(row)),
            Paragraph(present.simulator_title(row)),
            Paragraph(_("agent: {text}").format(text=reply)),
            Paragraph(_("simulator: {text}").format(text=said)),
        )

    def action_open(self) -> None:
        self.read_on(FidelityTurnScreen)

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if row := self.row:
            self.app.push_screen(TrialScreen(row.case.trial_id, turn=row.case.turn))


def _said(row: TurnRow) -> GridCell:
    word = decision_word(row.case.subject, row.decision)
    return GridCell(word, "warn" if row.differs else "plain")


def _wrong(row: TurnRow) -> GridCell:
    return GridCell(present.findings_word(row), "bad" if row.severity >= 4 else "plain")


class FidelityTurnScreen(RowScreen[TurnRow]):
    """What people and the simulator decided in a turn, and said."""

    CSS_PATH = "fidelity.tcss"
    AUTO_FOCUS = "#agent"
    BINDINGS = keys(
        Key("fidelity_turn.next", (Means.NEXT, Means.OPEN), "step(1)", N_("Next"), N_("The next turn of the list")),
        Key("fidelity_turn.before", Means.BEFORE, "step(-1)", N_("Before"), N_("The turn before")),
        Key("fidelity_turn.trial", Means.DETAILS, "trial", N_("Trial"), N_("The whole dialogue, at this turn")),
        Key("fidelity_turn.back", Means.UP_ONE, "leave", N_("Back"), N_("Back to the list")),
    )  # fmt: skip

    def compose(self) -> ComposeResult:
        yield HeadLine("", id="title", markup=False)
        with VerticalScroll(id="agent", classes="pane") as agent:
            agent.border_title = _("Agent's reply")
            yield Paragraphs(id="agent-text")
        with Horizontal(id="sides"):
            with VerticalScroll(id="people", classes="pane") as people:
                people.border_title = _("People")
                yield Paragraphs(id="people-text")
            with VerticalScroll(id="simulator", classes="pane"):
                yield Paragraphs(id="simulator-text")
        yield KeyBar()

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        case = self.row.case
        self.app.push_screen(TrialScreen(case.trial_id, turn=case.turn))

    def show(self) -> None:
        row = self.row
        self.query_one("#title", Static).update(f"{self.place} · {present.heading(row)}")
        reply = Paragraph(row.case.agent_text)
        lines = [*present.cue_paragraphs(row.case), Paragraph(""), reply]
        self.query_one("#agent-text", Paragraphs).load(lines)
        self.query_one("#people-text", Paragraphs).load(present.people_paragraphs(row))
        self.query_one("#simulator-text", Paragraphs).load(present.simulator_paragraphs(row))
        # As text, never as a string: strings of borders are parsed for markup.
        self.query_one("#simulator").border_title = Text(one_line(present.simulator_title(row), 60))
        super().show()
