"""Somebody who plays the agent from a window of their own; also run as programs that may kill themselves.

python wizard_of_oz_players.py agent DB TRIAL MOVES    the agent's part, SIGKILL after that many moves (0: never)
python wizard_of_oz_players.py user DB TASK EVENTS     the user's part, SIGKILL after that many events (0: never)

The user's program begins the session, or goes on with the open one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import Act, ToolCall
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.wizard_of_oz import PlayerView, WizardPlayer, waiting_trials
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.table.gold import Table
from cuecard.core.predictions import AnswerPrediction, Prediction, TablePrediction
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from lab_players import Countdown, play_out

WIZARD_OF_OZ = "wiz"


class Knower:
    """Knows the gold, as no real one may; searches once before each reply."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._lines: list[tuple[Act, str]] = []
        if isinstance(task.gold, CheckpointChain):
            for step in task.gold.steps:
                if step.ambiguity:
                    which = f"Which one: {', '.join(step.ambiguity.candidates)}?"
                    self._lines.append((Act.ASK, which))
                self._lines.append((Act.ANSWER, step.target))

    def move(self, player: WizardPlayer, view: PlayerView) -> None:
        if view.phase == "hand_in":
            player.hand_in(self.prediction)
        elif view.place.endswith("/0"):
            player.search(ToolCall(name="search", arguments={"query": f"turn {view.turn}"}), view)
        elif self._lines:
            act, text = self._lines[min(view.turn, len(self._lines) - 1)]
            player.say(text, act, view)
        else:
            cues = [stage.cue.text for stage in self._task.stages]
            player.say(f"{' '.join(cues)} {self._task.gold.model_dump_json()}?", seen=view)

    @property
    def prediction(self) -> Prediction:
        match self._task.gold:
            case Table() as table:
                rows = tuple(tuple(map(str, row)) for row in table.rows)
                return TablePrediction(columns=table.column_names, rows=rows)
            case CheckpointChain() as chain:
                return AnswerPrediction(answer=chain.final_answer)
            case gold:
                raise ValueError(f"nobody here plays tasks of the family {gold.family}")


def play_agent(
    workspace: Workspace, trial_id: int, told: Callable[[PlayerView], None] | None = None
) -> None:
    """Play until the trial is over. `told` is told of every view before a move."""
    player = WizardPlayer.take(workspace, trial_id, WIZARD_OF_OZ)
    trial = workspace.runs.trial(trial_id)
    knower = Knower(workspace.tasks.revision(trial.task_id, trial.revision).task)
    while (view := player.view()).phase != "over":
        if view.phase in ("yours", "hand_in"):
            knower.move(player, view)
            if told:
                told(view)
        time.sleep(0.02)


def wait_for_user(workspace: Workspace) -> int:
    while not (found := waiting_trials(workspace, WIZARD_OF_OZ)):
        time.sleep(0.02)
    return found[0].trial_id


def _agent(db: Path, trial: str, moves: int) -> None:
    with Workspace.open(db) as workspace:
        told = Countdown(moves) if moves else None
        play_agent(workspace, int(trial) or wait_for_user(workspace), told)


async def play_user(
    workspace: Workspace,
    task_id: str,
    events: int = 0,
    by: str = "ann",
    limits: Limits | None = None,
) -> None:
    told = Countdown(events) if events else None
    trials = workspace.runs.open_trials(created_by=by, kind="play")
    if trials:
        session = await PlaySession.resume(workspace, trials[0].id, by=by, on_event=told)
    else:
        session = await PlaySession.start(
            workspace, task_id, by=by, agent="person", on_event=told, limits=limits
        )
    await play_out(session)


def _user(db: Path, task_id: str, events: int) -> None:
    with Workspace.open(db) as workspace:
        asyncio.run(play_user(workspace, task_id, events))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    what, where, which, count = sys.argv[1:]
    {"agent": _agent, "user": _user}[what](Path(where), which, int(count))
    os._exit(0)
