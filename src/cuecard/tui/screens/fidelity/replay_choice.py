"""The choice of a recorded dialogue to re-play, and the effect of each key on a re-play session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_turns import ReplaySummary, ReplayValue, ReplayView
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardScreen, guarded
from cuecard.tui.grid import Grid
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.present.labels import player_label
from cuecard.tui.widgets.lists import FittedColumn, ListTable
from cuecard.tui.widgets.nav import EmptyState

if TYPE_CHECKING:
    from cuecard.annotate.fidelity.replay import Replayable, ReplayChoice


COLUMNS = (
    FittedColumn(N_("Task"), 16, grow=3),
    FittedColumn(N_("User part"), 14, grow=2),
    FittedColumn(N_("Run"), 10, grow=1, hidden_below=64),
    FittedColumn(N_("Decided"), 8, right=True),
)


class ReplayChoiceScreen(CuecardScreen[None]):
    """The dialogues of these runs, or of all."""

    DEFAULT_CSS = """
    ReplayChoiceScreen {
        #title { height: 1; background: $panel; color: $primary; text-style: bold; padding: 0 1; }
        #body { height: 1fr; padding: 1 1 0 1; }
        #beside { height: auto; color: $muted; padding: 0 1; }
    }
    """
    BINDINGS = keys(
        Key("replay_choice.open", "enter", "open", N_("Re-play"), N_("Decide turn by turn, before I am told what was decided")),
        Key("replay_choice.refresh", "r", "reload", N_("Refresh"), N_("Look again"), show=False),
        Key("replay_choice.leave", "escape", "leave", N_("Back"), N_("Back")),
    )  # fmt: skip

    def __init__(self, run_ids: Sequence[int] = (), name: str = "") -> None:
        super().__init__()
        self._run_ids, self._name = tuple(run_ids), name
        self._choice: ReplayChoice | None = None
        self._done = ""

    def compose(self) -> ComposeResult:
        yield Static("", id="title", markup=False)
        with Vertical(id="body"):
            yield ListTable(COLUMNS, id="dialogues")
            yield Static("", id="beside", markup=False)
            yield EmptyState(
                _("No dialogue to re-play"),
                _(
                    "A re-play shows what a simulator was told and asks you what it was asked: is the"
                    " cue met? It needs a dialogue that you had no part in."
                ),
                ("3", _("Runs: n plays tasks with a simulator, also offline")),
                ("esc", _("Back to where you came from")),
            )
        yield KeyBar()

    def on_mount(self) -> None:
        for widget in self.query("#body > *"):
            widget.display = False
        self.set_interval(0.2, self._tell_progress)

    def on_screen_resume(self) -> None:
        self.load()

    @guarded("replay_choice")
    async def load(self) -> None:
        from cuecard.annotate.fidelity.replay import replayable

        person, run_ids = self.person, self._run_ids

        def read(done: int, of: int) -> None:
            self._done = _("reading dialogues {done}/{all}").format(done=done, all=of)

        try:
            choice = await self.services.ask(lambda ws: replayable(ws, person, run_ids, read))
        finally:
            self._done = ""
        self._choice = choice
        self._show(choice)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._choice and self._choice.dialogues) if action == "open" else True

    def action_open(self) -> None:
        from cuecard.tui.screens.fidelity.replay import ReplayScreen

        row = self.query_one(ListTable).cursor_row
        if self._choice and row < len(self._choice.dialogues):
            self.app.push_screen(ReplayScreen(self._choice.dialogues[row].trial_id))

    def action_reload(self) -> None:
        self.load()

    def action_leave(self) -> None:
        self.dismiss()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def _tell_progress(self) -> None:
        if self._done:
            self.query_one("#title", Static).update(f"{_('Re-play')} · {self._done} …")

    def _show(self, choice: ReplayChoice) -> None:
        table, beside = self.query_one(ListTable), self.query_one("#beside", Static)
        table.display = bool(choice.dialogues)
        self.query_one(EmptyState).display = not choice.dialogues
        turns = sum(each.turns for each in choice.dialogues)
        mine = sum(each.mine for each in choice.dialogues)
        parts = [_("Re-play"), one_line(self._name, 40)]
        parts.append(_("{mine} of {turns} turns decided by me").format(mine=mine, turns=turns))
        self.query_one("#title", Static).update(" · ".join(filter(None, parts)))
        told: list[str] = []
        if choice.own:
            text = ngettext(
                "{n} dialogue is left out: you had a part in it.",
                "{n} dialogues are left out: you had a part in them.",
                choice.own,
            )
            told.append(text.format(n=choice.own))
        if choice.beyond:
            text = ngettext(
                "{n} older dialogue is not listed.",
                "{n} older dialogues are not listed.",
                choice.beyond,
            )
            told.append(text.format(n=choice.beyond))
        beside.update(" ".join(told))
        beside.display = bool(told)
        table.fill([_cells(each) for each in choice.dialogues])
        if choice.dialogues and self.focused is None:
            table.focus()
        self.refresh_bindings()


def _cells(each: Replayable) -> Sequence[str | GridCell]:
    full = each.mine >= each.turns
    tone = "good" if full else "strong" if each.mine else "plain"
    return (
        each.title,
        player_label(each.user),
        each.run,
        GridCell(f"{each.mine}/{each.turns}", tone),
    )


Work = Callable[[ReplaySession], object]


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off. `summary`: only at the end."""

    view: ReplayView | None
    summary: ReplaySummary | None
    total: int
    decided: int


def step_of(session: ReplaySession, work: Work) -> Step:
    """Handle a key."""
    session.touch()
    work(session)
    view = session.current
    return Step(
        view=view,
        summary=session.summary() if view is None else None,
        total=session.total,
        decided=session.decided,
    )


def nothing(session: ReplaySession) -> None:
    """Look at the turn as it stands."""


def deciding(value: ReplayValue) -> Work:
    """Decide on the turn. A key that comes too late, or twice, has no effect."""

    def work(session: ReplaySession) -> None:
        view = session.current
        if view is not None and view.mine is None and value in view.choices:
            session.decide(value)

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def going_to(turn: int) -> Work:
    return lambda session: session.go_to(turn)


def on(session: ReplaySession) -> None:
    """To the next turn, once this one is decided."""
    view = session.current
    if view is not None and view.mine is not None:
        session.next()


def go_on(session: ReplaySession) -> None:
    session.go_on()


def back(session: ReplaySession) -> None:
    session.back()
