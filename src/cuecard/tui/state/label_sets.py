"""Labelling sets as lines: how far each is, and what of it waits for me."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuecard.core.i18n import _
from cuecard.store.label_records import LabelSet, RunLabels, SetProgress
from cuecard.tui.widgets.grid.source import GridCell

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class SetLine(NamedTuple):
    """A set and how far it is for one person."""

    set: LabelSet
    progress: SetProgress


class VerdictsLook(NamedTuple):
    """What the Verdicts screen shows. `probes`: runs of quality probes among `runs`, which nobody is asked
    to label unless they are chosen on purpose.
    """

    runs: tuple[RunLabels, ...] = ()
    sets: tuple[SetLine, ...] = ()
    probes: frozenset[int] = frozenset()

    def chosen(self, marked: frozenset[int], cursor: int) -> tuple[RunLabels, ...]:
        """The marked runs by line, or the one under the cursor where none is marked."""
        lines = sorted(marked) or [cursor]
        return tuple(self.runs[line] for line in lines if line < len(self.runs))


def look_at(workspace: Workspace, person: str) -> VerdictsLook:
    """Runs with verdicts and sets, the newest first."""
    runs = tuple(workspace.verdicts.progress(person))
    sets = workspace.label_sets.all()
    return VerdictsLook(
        runs=runs,
        sets=tuple(SetLine(s, workspace.label_sets.progress(s.id, person)) for s in sets),
        probes=frozenset(run.id for run in workspace.runs.all() if run.kind == "probe"),
    )


def run_cells(run: RunLabels, *, probe: bool) -> Sequence[str | GridCell]:
    name = _("{name} (probe)").format(name=run.name) if probe else run.name
    numbers = (f"{n:,}" for n in (run.verdicts, run.mine, run.labels))
    return (name, ", ".join(run.judges), *numbers)


def set_cells(line: SetLine) -> Sequence[str | GridCell]:
    progress = line.progress
    full = progress.given >= progress.wanted
    return (
        line.set.name,
        line.set.created_by,
        f"{progress.items:,}",
        GridCell(f"{progress.given:,}/{progress.wanted:,}", "good" if full else "plain"),
        f"{progress.mine:,}",
        GridCell(f"{progress.left:,}", "strong" if progress.left else "muted"),
        pace(progress),
    )


def pace(progress: SetProgress) -> str:
    """Items an hour at work, of those whose time is known; a dash where none is."""
    if not progress.timed or not progress.seconds:
        return "–"
    return _("{n:,.0f}/h").format(n=progress.timed * 3600 / progress.seconds)
