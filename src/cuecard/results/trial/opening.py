"""What a person who opens a trial reads first, and what is read when it is looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.events import Event
from cuecard.core.prediction import Prediction
from cuecard.core.tasks import Task
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Item, Judgement
from cuecard.lab.scores import LEXICAL
from cuecard.lab.subjects import OF_TURN
from cuecard.store.records import RunRecord, TrialRecord
from cuecard.store.result_records import TrialNote

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class OpenedTrial:
    """A trial's course in outline: of the events numbered in `left_out`, large texts are only the beginning.
    `whole`: not only the beginning of a long course. `waiting`: items of this trial that the person is still to label in labelling sets.
    """

    run: RunRecord
    trial: TrialRecord
    task: Task
    events: tuple[Event, ...]
    left_out: frozenset[int]
    waiting: frozenset[Item]
    whole: bool = True

    @property
    def prediction(self) -> Prediction:
        return prediction_of(self.events)

    @property
    def hides_verdicts(self) -> bool:
        """Whether the person is to label something that judges decide on."""
        return any(item.kind not in OF_TURN for item in self.waiting)

    @property
    def hides_decisions(self) -> bool:
        """Whether the person is to label something that the user part decided."""
        return any(item.kind in OF_TURN for item in self.waiting)


@dataclass(frozen=True)
class Opinions:
    """The newest judgement of each judge, the baseline last; and everybody's notes, oldest first."""

    judgements: tuple[Judgement, ...]
    notes: tuple[TrialNote, ...]


def open_trial(
    workspace: Workspace, trial_id: int, person: str = "", first: int | None = None
) -> OpenedTrial:
    """The trial as `person` may see it; with `first` no more than so many events from its beginning, so that
    there is something to read at once. Raises `NotFound`.
    """
    trial = workspace.runs.trial(trial_id)
    runs = workspace.runs
    outline = runs.outline(trial_id) if first is None else runs.beginning(trial_id, first)
    waiting = workspace.label_sets.waiting(person, trial_id) if person else ()
    return OpenedTrial(
        run=workspace.runs.get(trial.run_id),
        trial=trial,
        task=workspace.tasks.revision(trial.task_id, trial.revision).task,
        events=outline.events,
        left_out=frozenset(outline.left_out),
        waiting=frozenset(waiting),
        whole=first is None or len(outline.events) < first,
    )


def opinions(workspace: Workspace, trial_id: int) -> Opinions:
    newest: dict[str, Judgement] = {}
    for record in workspace.verdicts.of_trial(trial_id):
        newest.setdefault(record.judgement.judge.name, record.judgement)
    judgements = sorted(newest.values(), key=lambda found: found.judge.name == LEXICAL)
    notes = workspace.trial_notes.of([trial_id])
    return Opinions(judgements=tuple(judgements), notes=tuple(notes))


def note_seen(workspace: Workspace, trial_id: int, items: Iterable[Item], person: str) -> None:
    """Remember that `person` has seen what was decided on these: what they label on them later is not blind."""
    if person:
        workspace.verdicts.note_reveals([(trial_id, item) for item in items], person)
