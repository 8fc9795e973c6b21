"""The turns behind a number of the Fidelity screen, the worst first, and one turn in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from cuecard.annotate.fidelity.findings import TurnRow, open_to
from cuecard.core.i18n import N_, NP_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.grid import Grid
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.fidelity import (
    cue_paragraphs,
    heading,
    people_paragraphs,
    row_cells,
    simulator_paragraphs,
    simulator_title,
)
from cuecard.tui.screens.dialogs import ConfirmDialog
from cuecard.tui.widgets.lists import FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Paragraphs, PlainText

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class FidelityTurnsScreen(CuecardScreen[None]):
    """The turns behind a number. Only those I played, re-played or labelled, until I ask for all: whoever looks is not
    blind any more.
    """

    CSS_PATH = "fidelity.tcss"
    BINDINGS = keys(
        Key("fidelity_turns.read", "enter", "read", N_("Read"), N_("Both decisions and both texts side by side")),
        Key("fidelity_turns.trial", "o", "trial", N_("Trial"), N_("The whole dialogue, at this turn")),
        Key("fidelity_turns.all", "x", "all", N_("Show all"), N_("Also turns that I have not decided; I can no longer decide them blind")),
        Key("fidelity_turns.back", "escape", "leave", N_("Back"), N_("Back to the figures")),
    )  # fmt: skip

    def __init__(self, title: str, rows: Sequence[TurnRow]) -> None:
        """`rows` in the order in which they are listed."""
        super().__init__()
        self._title, self._every = title, tuple(rows)
        self._rows: tuple[TurnRow, ...] = ()
        players = [row.voice.player for row in self._every]
        self._several = any(player != players[0] for player in players)
        self._all = False

    def compose(self) -> ComposeResult:
        who = (FittedColumn(N_("Simulator"), 10, hidden_below=90),) if self._several else ()
        yield Static("", id="title", markup=False)
        yield ListTable(
            (
                FittedColumn(N_("Task"), 10, grow=1, hidden_below=100),
                FittedColumn(N_("Turn"), 4, right=True),
                FittedColumn(N_("Where"), 12, grow=2),
                *who,
                FittedColumn(N_("People"), 13, grow=1),
                FittedColumn(N_("Simulator says"), 14, grow=1),
                FittedColumn(NP_("what is", "Wrong"), 14, grow=2),
            ),
            id="turns",
        )
        yield Static("", id="hidden", markup=False)
        with VerticalScroll(id="details", can_focus=False):
            yield PlainText(id="detail")
        yield EmptyState(
            _("None of these turns is yours to see yet"),
            _("What was decided in a turn is shown to those who have decided it themselves."),
            ("x", _("Show all: I can no longer decide them blind")),
            ("esc", _("Back to the figures")),
        )
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(EmptyState).display = False
        self.load()

    @guarded("fidelity_turns")
    async def load(self) -> None:
        """Read which turns I may see, and save that their decisions were seen."""
        person, every, all_ = self.person, self._every, self._all

        def work(workspace: Workspace) -> tuple[TurnRow, ...]:
            trials = {row.case.trial_id for row in every}
            labels = workspace.verdicts.item_labels(trials, None)
            known = {(lb.trial_id, lb.item_key) for lb in labels if lb.person == person}
            rows = every if all_ else open_to(every, person, known)
            if person and rows:
                seen = {(row.case.trial_id, row.item) for row in rows}
                workspace.verdicts.note_reveals(seen, person)
            return rows

        self._rows = await self.services.ask(work)
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("read", "trial"):
            return bool(self._rows)
        if action == "all":
            return not self._all and len(self._rows) < len(self._every)
        return True

    def action_read(self) -> None:

        if self._rows:
            row = self.query_one(ListTable).cursor_row
            self.app.push_screen(FidelityTurnScreen(self._rows, row), self._read_to)

    def action_trial(self) -> None:
        from cuecard.tui.screens.trial.screen import TrialScreen

        if row := self._chosen():
            self.app.push_screen(TrialScreen(row.case.trial_id, turn=row.case.turn))

    def action_all(self) -> None:
        hidden = len(self._every) - len(self._rows)
        text = ngettext(
            "You have not decided {n} of these turns. Once you have seen what was decided in it, a decision"
            " of yours is not blind and does not enter agreement.",
            "You have not decided {n} of these turns. Once you have seen what was decided in them,"
            " decisions of yours are not blind and do not enter agreement.",
            hidden,
        ).format(n=hidden)

        def answered(yes: bool | None) -> None:
            if yes:
                self._all = True
                self.load()

        dialog = ConfirmDialog(_("Look without deciding?"), text, _("Show all"))
        self.app.push_screen(dialog, answered)

    def action_leave(self) -> None:
        self.dismiss()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_read()

    def on_grid_cursor_moved(self, event: Grid.CursorMoved) -> None:
        event.stop()
        self._explain()

    def _read_to(self, at: int | None) -> None:
        if at is not None:
            self.query_one(ListTable).move_to(at)

    def _chosen(self) -> TurnRow | None:
        row = self.query_one(ListTable).cursor_row
        return self._rows[row] if row < len(self._rows) else None

    def _show(self) -> None:
        anything, table = bool(self._rows), self.query_one(ListTable)
        for widget in self.query("#turns, #details"):
            widget.display = anything
        self.query_one(EmptyState).display = not anything
        count = ngettext("{n} turn", "{n} turns", len(self._every))
        told = f"{one_line(self._title, 70)} · {count.format(n=f'{len(self._every):,}')}"
        self.query_one("#title", Static).update(told)
        hidden = len(self._every) - len(self._rows)
        said = ngettext(
            "{n} more turn that you have not decided (x shows it)",
            "{n} more turns that you have not decided (x shows them)",
            hidden,
        ).format(n=f"{hidden:,}")
        self.query_one("#hidden", Static).update(said)
        self.query_one("#hidden").display = bool(hidden) and anything
        table.fill([row_cells(row, several=self._several) for row in self._rows])
        if anything:
            table.focus()
        self._explain()

    def _explain(self) -> None:
        row = self._chosen()
        if row is not None:
            reply = one_line(row.case.agent_text, 300)
            lines = (
                heading(row),
                simulator_title(row),
                _("agent: {text}").format(text=reply),
                _("simulator: {text}").format(text=one_line(row.voice.reply.text, 300)),
            )
            self.query_one("#detail", PlainText).load("\n".join(lines))
        self.refresh_bindings()


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
        yield KeyBar()

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
        from cuecard.tui.screens.trial.screen import TrialScreen

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
