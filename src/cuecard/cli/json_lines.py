"""A run's events as JSON, one object a line, for other programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cuecard.core.run_events import (
    CallAnswered,
    RunBegan,
    RunEvent,
    RunFinished,
    ToolUsed,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)

if TYPE_CHECKING:
    from cuecard.store.records import TrialRecord

NAMES: dict[type[object], str] = {
    RunBegan: "run_began",
    TrialBegan: "trial_began",
    TurnPlayed: "turn_played",
    CallAnswered: "call_answered",
    ToolUsed: "tool_used",
    TrialFinished: "trial_finished",
    TrialLeftOpen: "trial_left_open",
    RunFinished: "run_finished",
}


class JsonLines:
    """A listener that prints each event when it comes. Every line holds `event` and `run`; those of a
    trial also `trial`, `task`, `agent` and `sample`.
    """

    def __init__(self, run_id: int, trials: Mapping[str, TrialRecord]) -> None:
        self._run_id = run_id
        self._trials = trials

    def told(self, event: RunEvent) -> None:
        line = {"event": NAMES[type(event)], "run": self._run_id, **self._fields(event)}
        # One write for one line: lines of several threads never mix.
        sys.stdout.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()

    def _fields(self, event: RunEvent) -> dict[str, Any]:
        match event:
            case RunFinished(summary=summary):
                return {
                    "cells": summary.cells,
                    "finished": summary.finished,
                    "terminations": {k.value: n for k, n in summary.terminations.items()},
                    "problems": summary.problems,
                    "left_open": summary.left_open,
                    "not_begun": summary.not_begun,
                    "stopped": summary.cancelled,
                    "reason": str(summary.halt) if summary.halt else "",
                }
            case CallAnswered(usage=usage) as call:
                told = {"payer": call.payer, "model": call.model, "cost": call.cost}
                return {**self._of(call.cell), **told, "usage": usage.model_dump()}
            case RunBegan():
                return asdict(event)
            case _:
                fields = asdict(event)
                return {**self._of(fields.pop("cell")), **fields}

    def _of(self, cell: str) -> dict[str, Any]:
        trial = self._trials.get(cell)
        if trial is None:
            return {"trial": int(cell)}
        return {
            "trial": trial.id,
            "task": trial.task_id,
            "agent": trial.agent.name,
            "sample": trial.sample,
        }
