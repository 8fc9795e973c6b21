"""What a run tells while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cuecard.core.events import Termination


@dataclass(frozen=True)
class RunBegan:
    cells: int
    concurrency: int


@dataclass(frozen=True)
class TrialBegan:
    """`resumed`: events of it were there already."""

    cell: str
    resumed: bool


@dataclass(frozen=True)
class TurnPlayed:
    """The agent's turn `turn` (from 0) is over. Turns from before a resumption are not told again."""

    cell: str
    turn: int


@dataclass(frozen=True)
class TrialFinished:
    """`problem`: why the trial could not begin, or what failed after it (judging, say)."""

    cell: str
    termination: Termination
    detail: str = ""
    problem: str = ""


@dataclass(frozen=True)
class TrialLeftOpen:
    """Cancelled where it stood; its journal resumes it."""

    cell: str


@dataclass(frozen=True)
class RunFinished:
    summary: RunSummary


RunEvent = RunBegan | TrialBegan | TurnPlayed | TrialFinished | TrialLeftOpen | RunFinished


@dataclass(frozen=True)
class RunSummary:
    """Counts of cells: `finished` ones by termination, those with a `problem`, those cancelled in
    the middle and `left_open`, and those `not_begun`.
    """

    cells: int
    terminations: Mapping[Termination, int] = field(default_factory=dict[Termination, int])
    problems: int = 0
    left_open: int = 0
    not_begun: int = 0
    cancelled: bool = False

    @property
    def finished(self) -> int:
        return sum(self.terminations.values())
