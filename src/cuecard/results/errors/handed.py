"""What was handed in that could not be read, and where nothing was."""

from __future__ import annotations

from cuecard.core.scoring.trial_figures import HandedIn, TrialFigures
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.results.errors.groups import Judged

_WANTED: dict[Family, HandedIn] = {
    "graph": "triples",
    "table": "table",
    "checkpoints": "answer",
    "facts": "answer",
}


class Unreadable(Frozen):
    """A trial that handed in nothing that could be read. `reason` and the beginning of what came (`raw`) are the
    agent's or a program's text; both are "" where nothing came.
    """

    trial: int
    task: str
    sample: int
    nothing: bool
    reason: str
    raw: str


def unread(family: Family, figures: TrialFigures) -> bool:
    """Something was handed in, but not what the family asks for."""
    return figures.handed_in not in (_WANTED[family], "nothing")


def unreadable(family: Family, judged: Judged) -> tuple[Unreadable, ...]:
    """All of them, in the order of the trials."""
    return tuple(
        Unreadable(
            trial=row.trial.id,
            task=row.trial.task_id,
            sample=row.trial.sample,
            nothing=figures.handed_in == "nothing",
            reason=figures.reason,
            raw=figures.raw,
        )
        for row, figures in judged
        if figures.handed_in == "nothing" or unread(family, figures)
    )
