"""The trials pane of a run: a mosaic of all trials, and a list that can be sorted and filtered; and the workers that play them."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.message import Message

from cuecard.core.i18n import N_, _, listed
from cuecard.core.records import OfferProgress, TakeRecord, TrialRecord, WorkerRecord
from cuecard.core.text import one_line
from cuecard.core.verdicts import Measures
from cuecard.store.tags import name_in, without_name
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.drawing import Vertical
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.present import run_trials as present
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.run_snapshot import handout_line
from cuecard.tui.present.runs import when
from cuecard.tui.screens.run.actions import TRIALS_KEYS, Keys, refresh_keys
from cuecard.tui.screens.trial.marked import MarkedTrials
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import Lines, Tinted, style_of

_TALL = 32
_LINES, _LINES_TALL = 4, 10


class Mosaic(Tinted):
    """One mark for each trial; hidden for a single one."""

    DEFAULT_CSS = """
    Mosaic { height: auto; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)
        self._trials: Sequence[TrialRecord] = ()
        self._playing: Mapping[int, int] = {}
        self._drawn: object = None

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def load(self, trials: Sequence[TrialRecord], playing: Mapping[int, int]) -> None:
        self._trials, self._playing = trials, playing
        self._draw()

    def _draw(self) -> None:
        width = self.size.width or self.app.size.width - 2
        height = _LINES_TALL if self.app.size.height >= _TALL else _LINES
        lines = present.mosaic(self._trials, self._playing, width, height)
        if lines == self._drawn:
            return
        self._drawn = lines

        def drawing(variables: Mapping[str, str]) -> Text:
            text = Text(no_wrap=True)
            for at, line in enumerate(lines):
                text.append("\n" if at else "")
                for piece in line:
                    text.append(piece.text, style_of(piece.tone, variables))
            return text

        self.display = bool(lines)
        self.draw(drawing)


COLUMNS = (
    Column[present.Entry](N_("Task"), lambda entry: entry.trial.title, grow=3, least=14),
    Column[present.Entry](N_("Name"), lambda entry: name_in(entry.tags), grow=1, quiet=True),
    Column[present.Entry](
        N_("Tags"), lambda entry: listed(without_name(entry.tags)), grow=1, quiet=True
    ),
    Column[present.Entry](N_("Agent"), lambda entry: entry.trial.agent.name, grow=1, tail=True),
    Column[present.Entry](N_("State"), present.state_cell, sort=present.state_order),
    Column[present.Entry](
        N_("Score"), present.outcome, grow=2, least=16, sort=lambda entry: entry.score
    ),
    Column[present.Entry](N_("Turns"), lambda entry: entry.turns, right=True),
    Column[present.Entry](N_("Sample"), lambda entry: str(entry.trial.sample + 1), right=True),
)


class TrialsPane(Vertical, MarkedTrials):
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
        self._list = present.RunTrials()
        self._trials: Sequence[TrialRecord] | None = None
        self._scores: Mapping[int, Measures] = {}
        self._told: tuple[object, ...] = ()
        self._keys: Keys = ()

    def compose(self) -> ComposeResult:
        yield Mosaic()
        yield Lines(id="trials-heading")
        yield ListView(COLUMNS, lambda entry: entry.trial.id, marking=True)

    @property
    def table(self) -> ListView[present.Entry]:
        return cast("ListView[present.Entry]", self.query_one(ListView))

    @property
    def entry(self) -> present.Entry | None:
        """The trial under the cursor."""
        return self.table.row

    @property
    def narrowed(self) -> bool:
        return self._list.narrowed

    @property
    def behind(self) -> present.FigureTrials | None:
        """The figure whose trials are listed."""
        return self._list.behind

    def load(
        self,
        trials: Sequence[TrialRecord],
        playing: Mapping[int, int],
        scores: Mapping[int, Measures],
        problems: Mapping[int, str],
        tags: Mapping[str, tuple[str, ...]],
    ) -> None:
        told = {**playing}, {**problems}, tags
        if trials is self._trials and scores is self._scores and told == self._told:
            return  # Of a large run it would take seconds.
        self._trials, self._scores, self._told = trials, scores, told
        self.query_one(Mosaic).load(trials, playing)
        self._list.entries = present.entries_of(trials, playing, scores, problems, tags)
        self._fill()

    def list_behind(self, behind: present.FigureTrials) -> None:
        """List the trials of a figure, and only those."""
        self._list.clear()
        self._list.behind = behind
        self._fill(first=True)

    def list_all(self) -> None:
        self._list.clear()
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "open" | "pair" | "tags" | "label" | "name" | "export":
                return bool(self.table.rows)
            case "again":
                return bool(present.failed(self.table.rows))
            case _:
                return True

    def on_list_view_moved(self, event: ListView.Moved) -> None:
        event.stop()
        self._keys = refresh_keys(self, ("open", "again", "pair"), self._keys)

    def on_list_view_opened(self, event: ListView.Opened) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        if entry := self.entry:
            self.post_message(self.Opened(entry.trial.id))

    def narrowed_by(self) -> Mapping[str, Any]:
        kind = self._list.show
        return {"kind": "" if kind is present.Show.ALL else kind.value}

    def narrow(self, by: Mapping[str, Any]) -> None:
        kinds = (each for each in present.Show if each.value == by.get("kind"))
        self._list.show = next(kinds, present.Show.ALL)
        self._fill(first=True)

    def action_kind(self) -> None:
        self._list.next_show()
        self._fill(first=True)

    def action_again(self) -> None:
        self.post_message(self.AgainWanted(present.failed(self.table.rows)))

    def _fill(self, *, first: bool = False) -> None:
        rows = self._list.rows
        if first:
            self.table.grid.move_to(0)
        if rows != self.table.every:
            self.table.load(rows, self.table.key(rows[0]) if first and rows else None)
        self.query_one("#trials-heading", Lines).load([self._list.heading()])
        self._keys = refresh_keys(self, ("open", "again", "pair"), self._keys)


class RunWorkersScreen(ListScreen[WorkerRecord]):
    """Lists the workers that play this run or may; a pane says what the one under the cursor took over or lost, and why."""

    BINDINGS = keys(Key("run_workers.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")))

    def __init__(self, run_id: int) -> None:
        super().__init__()
        self._run_id = run_id
        self._handout: OfferProgress | None = None

    def columns(self) -> Sequence[Column[WorkerRecord]]:
        return (
            Column(N_("Machine"), lambda one: f"{one.host} {one.pid}", grow=2, least=12),
            Column(N_("Person"), lambda one: one.person, grow=1, spare=2),
            Column(N_("State"), _state),
            Column(N_("Trials"), lambda one: f"{one.under_way}/{one.concurrency}", right=True),
            Column(N_("Calls"), lambda one: str(one.calls), right=True),
            Column(
                N_("Last beat"),
                lambda one: f"{one.beat_at.astimezone():%H:%M:%S}",
                sort=lambda one: one.beat_at,
            ),
            Column(N_("Since"), lambda one: when(one.since), sort=lambda one: one.since, spare=1),
        )

    def key(self, row: WorkerRecord) -> str:
        return row.id

    async def read(self) -> Sequence[WorkerRecord]:
        run_id = self._run_id
        self._handout = await self.services.ask(lambda ws: ws.workers.handout(run_id))
        return self._handout.workers if self._handout else ()

    def empty(self) -> EmptyState:
        text = _("`cuecard worker` on any machine plays trials of this run.")
        return EmptyState(_("No workers yet"), text, ("esc", _("Back")))

    def title_words(self) -> str:
        return _("Run {id}").format(id=self._run_id)

    def note(self) -> str:
        return handout_line(self._handout) if self._handout else ""

    def detail(self, row: WorkerRecord) -> Sequence[Paragraph]:
        if self._handout is None:
            return ()
        names = {one.id: f"{one.host} {one.pid}" for one in self._handout.workers}
        notes = [
            Paragraph(_("It takes nothing of run {run}").format(run=each), "bad")
            for each in row.note.splitlines()
        ]
        lost = [take for take in self._handout.lost if row.id in (take.worker, take.before)]
        return (
            Paragraph(one_line(names[row.id]), "strong"),
            *notes,
            *(Paragraph(_taken(take, names), "stage") for take in lost),
        )


def _state(one: WorkerRecord) -> GridCell:
    if one.left_at is not None:
        return GridCell(_("left"), "muted")
    return GridCell(_("at work"), "good") if one.alive else GridCell(_("silent"), "bad")


def _taken(take: TakeRecord, names: dict[str, str]) -> str:
    text = _("{time}: {worker} took trial {trial} over from {before}, whose beats had stopped")
    return text.format(
        time=f"{take.at.astimezone():%H:%M:%S}",
        worker=names.get(take.worker, "?"),
        trial=take.trial_id,
        before=names.get(take.before or "", "?"),
    )
