"""What a run tells while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cuecard.core.errors import Halt
from cuecard.core.events import Termination
from cuecard.core.parts import Usage


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
class CallAnswered:
    """A model answered, for `payer` (agent, user, conclusion, world). `cost` is None without a price."""

    cell: str
    payer: str
    model: str
    usage: Usage
    cost: float | None


@dataclass(frozen=True)
class ToolUsed:
    """The world answered a tool call."""

    cell: str
    name: str


@dataclass(frozen=True)
class TrialFinished:
    """`problem`: why the trial could not begin, or what failed after it (judging, say)."""

    cell: str
    termination: Termination
    detail: str = ""
    problem: str = ""


@dataclass(frozen=True)
class TrialLeftOpen:
    """Cancelled where it stood; its journal resumes it. `cut`: the models and tools that had not answered."""

    cell: str
    cut: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunFinished:
    summary: RunSummary


RunEvent = (
    RunBegan
    | TrialBegan
    | TurnPlayed
    | CallAnswered
    | ToolUsed
    | TrialFinished
    | TrialLeftOpen
    | RunFinished
)


@dataclass(frozen=True)
class RunSummary:
    """Counts of cells: `finished` ones by termination, those with a `problem`, those cancelled in
    the middle and `left_open`, and those `not_begun`. `halt`: why the run stopped before its end,
    where it did not simply get cancelled.
    """

    cells: int
    terminations: Mapping[Termination, int] = field(default_factory=dict[Termination, int])
    problems: int = 0
    left_open: int = 0
    not_begun: int = 0
    cancelled: bool = False
    halt: Halt | None = None

    @property
    def finished(self) -> int:
        return sum(self.terminations.values())
