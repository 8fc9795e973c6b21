"""Which recorded dialogues a person can re-play, and how far they are with each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from cuecard.annotate.fidelity.replay import check_replayable
from cuecard.annotate.fidelity.replay_turns import course_to_replay
from cuecard.core.errors import NotAllowed
from cuecard.core.parts import PlayerRef
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Tell = Callable[[int, int], None]
"""How many of how many dialogues have been read."""
MOST = 300
"""Dialogues that are looked at, the newest first."""


class Replayable(Frozen):
    """A dialogue with `turns` to decide, of which the person has decided `mine`."""

    trial_id: int
    run_id: int
    run: str
    task_id: str
    title: str
    user: PlayerRef
    sample: int
    turns: int
    mine: int

    @property
    def begun(self) -> bool:
        return 0 < self.mine < self.turns


class ReplayChoice(Frozen):
    """Those with something to decide: begun ones first, then those left, the decided ones last. `own`:
    dialogues in which the person had a part; `beyond`: older ones that were not looked at.
    """

    dialogues: tuple[Replayable, ...]
    own: int = 0
    beyond: int = 0


def replayable(
    workspace: Workspace, person: str, run_ids: Collection[int] = (), tell: Tell | None = None
) -> ReplayChoice:
    """The dialogues of these runs, or of all; probes are none. Tells only counts of what was decided."""
    names = {run.id: run.name for run in workspace.runs.all() if run.kind != "probe"}
    wanted = sorted((id for id in names if not run_ids or id in run_ids), reverse=True)
    trials = [trial for run_id in wanted for trial in workspace.runs.trials(run_id)]
    open_to = [trial for trial in trials if _open_to(workspace, trial, person)]
    labels = workspace.verdicts.item_labels([trial.id for trial in open_to[:MOST]], None)
    mine = {(label.trial_id, label.item_key) for label in labels if label.person == person}

    @lru_cache(maxsize=64)
    def task_of(task_id: str, revision: int) -> Task:
        return workspace.tasks.revision(task_id, revision).task

    found: list[Replayable] = []
    for done, trial in enumerate(open_to[:MOST], 1):
        events = workspace.runs.outline(trial.id).events
        turns = course_to_replay(task_of(trial.task_id, trial.revision), events).turns
        items: list[Item] = [turn.item for turn in turns]
        if items:
            found.append(
                Replayable(
                    trial_id=trial.id,
                    run_id=trial.run_id,
                    run=names[trial.run_id],
                    task_id=trial.task_id,
                    title=trial.title,
                    user=trial.user,
                    sample=trial.sample,
                    turns=len(items),
                    mine=sum((trial.id, item.key) in mine for item in items),
                )
            )
        if tell:
            tell(done, min(len(open_to), MOST))
    found.sort(key=lambda each: (not each.begun, each.mine >= each.turns))
    return ReplayChoice(
        dialogues=tuple(found),
        own=len(trials) - len(open_to),
        beyond=max(0, len(open_to) - MOST),
    )


def _open_to(workspace: Workspace, trial: TrialRecord, person: str) -> bool:
    try:
        check_replayable(workspace, trial, person)
    except NotAllowed:
        return False
    return True
