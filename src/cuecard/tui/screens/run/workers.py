"""The workers of a run: where they are, what they hold, and what was taken over from whom."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.i18n import N_, _
from cuecard.core.records import Handout, TakeRecord, WorkerRecord
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.grid.cells import GridCell
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.kit.lists import Column
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.runs import handout_line, when
from cuecard.tui.widgets.nav import EmptyState


class RunWorkersScreen(ListScreen[WorkerRecord]):
    """Lists the workers that play this run or may; a pane says what the one under the cursor took over or lost, and why."""

    BINDINGS = keys(Key("run_workers.back", Means.UP_ONE, "leave", N_("Back"), N_("Back")))

    def __init__(self, run_id: int) -> None:
        super().__init__()
        self._run_id = run_id
        self._handout: Handout | None = None

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
        run = _("Run {id}").format(id=self._run_id)
        return f"{run}   {handout_line(self._handout)}" if self._handout else run

    def detail(self, row: WorkerRecord) -> Sequence[Paragraph]:
        if self._handout is None:
            return ()
        names = {one.id: f"{one.host} {one.pid}" for one in self._handout.workers}
        notes = [
            Paragraph(_("It takes nothing of {run}").format(run=each), "bad")
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
