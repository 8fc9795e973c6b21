"""`cuecard export --run`: which trials go into which files, and what stays behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from cuecard.core.errors import NotFound
from cuecard.core.formats.trajectories.model import Trajectory, reads_as
from cuecard.core.i18n import N_, _
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.tasks.base import Frozen
from cuecard.lab.run_exports.folder import check_new, new_folder
from cuecard.lab.run_exports.gathering import Gatherer
from cuecard.store.records import RunRecord, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace

RunFormat = Literal["vibesearch", "widesearch", "jsonl", "inspect", "otel"]
OnWritten = Callable[[int, int], None]
"""Told how many of how many trials are written."""

OPEN = N_("trials that have not ended")
OTHER_FAMILY = N_("trials of other families")
EXAMINED = N_("examinations of tasks")
UNJUDGED = N_("trials without a judgement, which have no scores")
UNLIKE = N_("answers that cannot be written as a text that reads the same")
COVERED = N_("trials of which you are still to label something (--reveal writes them)")
CONTENT = N_("trials without their texts (--content writes them)")


class RunExport(Frozen):
    """What was written. `left_out`: by what it is, in English, with how many there are."""

    format: RunFormat
    folder: Path
    trials: int
    files: tuple[Path, ...]
    left_out: dict[str, int] = {}


@dataclass(frozen=True)
class Options:
    """`content`: whether spans tell what was said (other formats always do)."""

    content: bool = False


@dataclass
class Batch:
    """What one file set is written from: a run's trials of one agent, and in which folder."""

    run: RunRecord
    agent: str
    trials: list[TrialRecord]
    folder: str = ""
    read: Callable[[TrialRecord], Trajectory] = field(repr=False, kw_only=True)

    def trajectories(self) -> Iterator[Trajectory]:
        for trial in self.trials:
            yield self.read(trial)


class Writing(Protocol):
    """A format: writes one batch into a folder. `told` is to be called for every trial that is written. `texts`:
    what was handed in is written as a text, to be read again; `apart`: each agent in a folder of its own.
    """

    @property
    def families(self) -> tuple[Family, ...]: ...

    @property
    def texts(self) -> bool: ...

    @property
    def apart(self) -> bool: ...

    def write(self, batch: Batch, folder: Path, told: Callable[[Trajectory], None]) -> None: ...


def export_runs(
    workspace: Workspace,
    runs: Sequence[int],
    folder: Path,
    format: RunFormat,
    *,
    judges: Sequence[str] = (),
    options: Options = Options(),
    on_written: OnWritten | None = None,
    sight: Sight | None = None,
) -> RunExport:
    """Write the ended trials of `runs` into `folder`, which must be empty or not there; all or nothing.

    `judges`: whose judgements are told (none: everybody's). `sight`: of whoever is given the files; trials of which they are
    still to label something stay behind. Raises `NotFound` for an unknown run and where no
    trial is left to write, `CuecardError` for a folder that holds something or cannot be written.
    """
    from cuecard.lab.run_exports.writers import writer_for

    check_new(folder)
    writing = writer_for(format, options)
    left: Counter[str] = Counter()
    batches = _batches(workspace, runs, writing.families, judges, left, sight)
    total = sum(len(batch.trials) for batch in batches)
    if not total:
        raise NotFound(_("Nothing to export"), _why(left), _("`cuecard runs` lists what there is."))
    done = 0

    def told(trajectory: Trajectory) -> None:
        nonlocal done
        done += 1
        left[UNJUDGED] += not trajectory.judged
        if writing.texts:
            held = reads_as(trajectory.family, trajectory.response, trajectory.prediction)
            left[UNLIKE] += not held
        if on_written:
            on_written(done, total)

    if format == "otel" and not options.content:
        left[CONTENT] = total
    with new_folder(folder) as draft:
        for batch in batches:
            writing.write(batch, draft / batch.folder if writing.apart else draft, told)
        if sight:
            # Before the files are in their place: what cannot be remembered is not told.
            sight.record()
        files = tuple(sorted(p.relative_to(draft) for p in draft.rglob("*") if p.is_file()))
    return RunExport(
        format=format,
        folder=folder,
        trials=total,
        files=tuple(folder / file for file in files),
        left_out={what: n for what, n in left.items() if n},
    )


def _batches(
    workspace: Workspace,
    runs: Sequence[int],
    families: Sequence[Family],
    judges: Sequence[str],
    left: Counter[str],
    sight: Sight | None = None,
) -> list[Batch]:
    """A batch for each run and agent, in folders of their own where there are several runs."""
    from cuecard.core.formats.file_names import folder_names

    records = [workspace.runs.get(run_id) for run_id in dict.fromkeys(runs)]
    over = folder_names([f"{run.name} {run.uid[:8]}" for run in records])
    batches: list[Batch] = []
    for run, above in zip(records, over, strict=True):
        gatherer = Gatherer(workspace, run, judges, sight)
        by_agent: dict[str, list[TrialRecord]] = {}
        for trial in workspace.runs.trials(run.id):
            why = _left_out(trial, families)
            if not why and sight and not sight.may_open(trial.id):
                why = COVERED
            if why:
                left[why] += 1
            else:
                by_agent.setdefault(trial.agent.name, []).append(trial)
        for name, agent in zip(folder_names(list(by_agent)), by_agent, strict=True):
            place = name if len(records) == 1 else f"{above}/{name}"
            trials = sorted(
                by_agent[agent], key=lambda t: (FAMILIES.index(t.family), t.task_id, t.sample)
            )
            batches.append(Batch(run, agent, trials, place, read=gatherer.trajectory))
    return batches


def _left_out(trial: TrialRecord, families: Sequence[Family]) -> str:
    if trial.agent.kind == EXAMINER:
        return EXAMINED
    if trial.termination is None:
        return OPEN
    return "" if trial.family in families else OTHER_FAMILY


def _why(left: Counter[str]) -> str:
    """What there was, in words."""
    return ", ".join(f"{_(what)} ({n})" for what, n in sorted(left.items())) or _("no trials")
