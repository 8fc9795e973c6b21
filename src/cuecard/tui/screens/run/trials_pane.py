"""The trials of a run: the grid at one glance, and a list that is sorted and narrowed by keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from cuecard.core.i18n import N_, _
from cuecard.store.records import TrialRecord
from cuecard.tui.base import guarded
from cuecard.tui.screens.run.bindings import TRIALS_KEYS, Keys, refresh_keys
from cuecard.tui.screens.run.mosaic import Mosaic
from cuecard.tui.state.run_trials import Behind, Entry, RunTrials, Scores, entries_of
from cuecard.tui.widgets.fitted_table import FittedColumn
from cuecard.tui.widgets.grid import Grid
from cuecard.tui.widgets.list_table import ListTable
from cuecard.tui.widgets.pieces import Lines

COLUMNS = (
    FittedColumn(N_("Task"), 14, grow=3),
    FittedColumn(N_("Agent"), 8, grow=1),
    FittedColumn(N_("Sample"), 6, right=True),
    FittedColumn(N_("State"), 13),
    FittedColumn(N_("Turns"), 5, right=True),
    FittedColumn(N_("Score"), 16, grow=2),
)


class TrialsPane(Vertical):
    """`load` how the trials stand; the list keeps its order, what narrows it, and its cursor."""

    BINDINGS = TRIALS_KEYS

    class Opened(Message):
        """A trial is to be read."""

        def __init__(self, trial_id: int) -> None:
            super().__init__()
            self.trial_id = trial_id

    class AgainWanted(Message):
        """These failed trials are to be played again."""

        def __init__(self, trials: tuple[int, ...]) -> None:
            super().__init__()
            self.trials = trials

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._list = RunTrials()
        self._keys: Keys = ()

    def compose(self) -> ComposeResult:
        yield Mosaic()
        yield Lines(id="trials-heading")
        yield ListTable(COLUMNS, id="trials-table")

    @property
    def table(self) -> ListTable:
        return self.query_one(ListTable)

    @property
    def entry(self) -> Entry | None:
        """The trial under the cursor."""
        rows, at = self._list.rows, self.table.cursor_row
        return rows[at] if 0 <= at < len(rows) else None

    @property
    def narrowed(self) -> bool:
        return self._list.narrowed

    @property
    def behind(self) -> Behind | None:
        """The figure whose trials are listed."""
        return self._list.behind

    def load(
        self,
        trials: Sequence[TrialRecord],
        playing: Mapping[int, int],
        scores: Mapping[int, Scores],
        problems: Mapping[int, str],
    ) -> None:
        self.query_one(Mosaic).load(trials, playing)
        self._fill(entries_of(trials, playing, scores, problems))

    def list_behind(self, behind: Behind) -> None:
        """List the trials of a figure, and only those."""
        self._list.clear()
        self._list.behind = behind
        self._fill(first=True)

    def list_all(self) -> None:
        self._list.clear()
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "open":
                return bool(self._list.rows)
            case "again":
                return bool(self._list.failed)
            case _:
                return True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        if entry := self.entry:
            self.post_message(self.Opened(entry.trial.id))

    def action_kind(self) -> None:
        self._list.next_show()
        self._fill(first=True)

    def action_order(self) -> None:
        self._list.next_order()
        self._fill(first=True)

    @guarded("find")
    async def action_find(self) -> None:
        from cuecard.tui.screens.task.dialogs import AskLine

        text = _("Words in the task, the agent or the error; nothing lists all.")
        dialog = AskLine(
            _("Find trials"), text, button=_("Find"), value=self._list.words, required=False
        )
        words = await self.app.push_screen_wait(dialog)
        if words is not None:
            self._list.words = words
            self._fill(first=True)

    def action_again(self) -> None:
        self.post_message(self.AgainWanted(self._list.failed))

    def _fill(self, entries: Sequence[Entry] | None = None, *, first: bool = False) -> None:
        under = self.entry
        changed = self._list.load(entries)
        table = self.table
        if changed is None or table.source is not self._list:
            rows = self._list.rows
            at = next(
                (i for i, row in enumerate(rows) if under and row.trial.id == under.trial.id), 0
            )
            table.load(self._list, cursor=(0 if first else at, 0))
        else:
            for row in changed:
                table.changed(row)
        self.query_one("#trials-heading", Lines).load([self._list.heading()])
        self._keys = refresh_keys(self, ("open", "again"), self._keys)
