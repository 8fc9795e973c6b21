"""The trials pane of a run: a mosaic of all trials, and a list that can be sorted and filtered."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static

from cuecard.core.i18n import N_, _
from cuecard.core.records import TrialRecord
from cuecard.tui.app import guarded
from cuecard.tui.grid import Grid
from cuecard.tui.present.run_trials import Behind, Entry, RunTrials, Scores, entries_of, mosaic
from cuecard.tui.screens.run.actions import TRIALS_KEYS, Keys, refresh_keys
from cuecard.tui.widgets.lists import FittedColumn, ListTable
from cuecard.tui.widgets.text import Lines, style_of

_TALL = 32
_LINES, _LINES_TALL = 4, 10


class Mosaic(Static):
    """One mark for each trial; hidden for a single one."""

    DEFAULT_CSS = """
    Mosaic { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._trials: Sequence[TrialRecord] = ()
        self._playing: Mapping[int, int] = {}
        self._drawn: object = None

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._draw(anew=True))

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def load(self, trials: Sequence[TrialRecord], playing: Mapping[int, int]) -> None:
        self._trials, self._playing = trials, playing
        self._draw()

    def _draw(self, *, anew: bool = False) -> None:
        width = self.size.width or self.app.size.width - 2
        height = _LINES_TALL if self.app.size.height >= _TALL else _LINES
        lines = mosaic(self._trials, self._playing, width, height)
        if lines == self._drawn and not anew:
            return
        self._drawn = lines
        variables = self.app.theme_variables
        text = Text(no_wrap=True)
        for at, line in enumerate(lines):
            text.append("\n" if at else "")
            for piece in line:
                text.append(piece.text, style_of(piece.tone, variables))
        self.display = bool(lines)
        self.update(text)


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
        from cuecard.tui.screens.dialogs import AskLine

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
