"""Exports runs to files that other programs read: which trials go into which files, and with what."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue
from pydantic_core import to_json

from cuecard.core.engine.events import Event, ModelReplied, effective_log
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import CuecardError, NotFound, system_words
from cuecard.core.evaluation.decisions import decided_items, replies_in, turn_items
from cuecard.core.formats.base import EXPORTS
from cuecard.core.formats.trajectory import Judged, Payment, Trajectory, reads_as
from cuecard.core.i18n import N_, _, beside, headed, listed
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import RunRecord, TrialRecord, UsageRecord
from cuecard.core.scoring.trial_score import score_trial
from cuecard.core.system import replace_file
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family, Task
from cuecard.core.verdicts import Judgement

if TYPE_CHECKING:
    from cuecard.core.archive import Archive, Discretion


_AT_ONCE, _EVENTS = 20, 1000
_TASKS = 32
"""So many tasks stay in memory: trials come task by task, and a workspace may hold more than memory does."""


class TrialReader:
    """Reads the trials of one run, some at a time. `judges`: whose judgements are included, in this order;
    without any, all. `sight`: what the person who gets the files may see.
    """

    def __init__(
        self,
        workspace: Archive,
        run: RunRecord,
        judges: Sequence[str] = (),
        sight: Discretion | None = None,
    ) -> None:
        self._workspace = workspace
        self._run = run
        self._judges = judges
        self._sight = sight
        self._revision = lru_cache(_TASKS)(workspace.tasks.revision)
        self._prompts: dict[str, str | None] = {}

    def trajectories(self, trials: Iterable[TrialRecord]) -> Iterator[Trajectory]:
        """Everything that exports say of trials that have ended, one after the other. Raises `NotFound`."""
        for some in _portions(trials):
            ids = [trial.id for trial in some]
            logs, usage = self._workspace.runs.logs(ids), self._workspace.runs.usage_of(ids)
            judgements: dict[int, list[Judgement]] = {}
            for record in self._workspace.verdicts.newest(ids):
                if not self._judges or record.judgement.judge.name in self._judges:
                    judgements.setdefault(record.trial_id, []).append(record.judgement)
            payments = _by_trial(usage)
            for trial in some:
                log, found = logs.pop(trial.id, []), judgements.pop(trial.id, [])
                yield self._trajectory(trial, log, found, payments.get(trial.id, ()))

    def _trajectory(
        self,
        trial: TrialRecord,
        log: list[Event],
        judgements: list[Judgement],
        payments: tuple[Payment, ...],
    ) -> Trajectory:
        if trial.termination is None or trial.ended_at is None:
            raise ValueError(f"trial {trial.id} has not ended")
        revision = self._revision(trial.task_id, trial.revision)
        events = effective_log(log)
        judged = self._judged(revision.task, events, judgements)
        if self._sight:
            prediction = prediction_of(events)
            decided = [decided_items(each.judgement, prediction) for each in judged]
            for item in chain(*decided, turn_items(replies_in(events))):
                self._sight.may_tell(trial.id, item)
        return Trajectory.from_fields(
            trial,
            run=self._run.name,
            run_uid=self._run.uid,
            task=revision.task,
            revision_hash=revision.hash,
            events=events,
            takes=1 + max((event.take for event in log), default=0),
            judged=judged,
            payments=payments,
            prompts=self._texts(events),
        )

    def _judged(
        self, task: Task, events: Sequence[Event], found: list[Judgement]
    ) -> tuple[Judged, ...]:
        found.sort(key=lambda j: (_place(j.judge.name, self._judges), j.judge.name))
        return tuple(Judged(judgement=j, measures=score_trial(task, events, j)) for j in found)

    def _texts(self, events: Iterable[Event]) -> dict[str, str]:
        hashes = dict.fromkeys(e.body.prompt for e in events if isinstance(e.body, ModelReplied))
        texts = {digest: self._prompt(digest) for digest in hashes if digest}
        return {digest: text for digest, text in texts.items() if text is not None}

    def _prompt(self, digest: str) -> str | None:
        if digest not in self._prompts:
            try:
                self._prompts[digest] = self._workspace.prompts.get(digest)
            except NotFound:
                self._prompts[digest] = None
        return self._prompts[digest]


def _portions(trials: Iterable[TrialRecord]) -> Iterator[list[TrialRecord]]:
    """In order, so many at a time as are read in few queries and still held without trouble."""
    some: list[TrialRecord] = []
    for trial in trials:
        if len(some) >= _AT_ONCE or sum(t.events for t in some) + trial.events > _EVENTS:
            yield some
            some = []
        some.append(trial)
    if some:
        yield some


def _place(name: str, judges: Sequence[str]) -> int:
    return judges.index(name) if name in judges else len(judges)


def _by_trial(usage: Iterable[UsageRecord]) -> dict[int, tuple[Payment, ...]]:
    found: dict[int, tuple[Payment, ...]] = {}
    for used in usage:
        found[used.trial_id] = (*found.get(used.trial_id, ()), Payment.from_fields(used))
    return found


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """A temporary folder beside `folder` to write into; it is renamed to `folder` at the end, and deleted on a failure.

    Raises `CuecardError` for a folder that holds something (an export is never mixed with other files) and for
    one that cannot be written.
    """
    check_new(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.part-", dir=folder.parent))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield draft
        if folder.is_dir():
            folder.rmdir()
        draft.chmod(0o755)
        draft.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        if draft.exists():
            shutil.rmtree(draft, ignore_errors=True)


def check_new(folder: Path) -> None:
    """Raises `CuecardError` if something stands in this place that an export must not be mixed with."""
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise _unwritable(folder, error) from error
    if taken:
        raise CuecardError(
            _("There is something in this place already"),
            str(folder),
            _(
                "Name a folder that is empty or not there yet: an export is mixed with nothing else."
            ),
        )


def append_line(path: Path, data: Mapping[str, JsonValue]) -> None:
    """Append `data` as a line of JSON; NaN and infinities become null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(as_json(data) + b"\n")


def write_json(path: Path, data: Mapping[str, JsonValue], indent: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, as_json(data, indent) + b"\n")


def as_json(data: object, indent: int | None = None) -> bytes:
    return to_json(data, indent=indent, inf_nan_mode="null")


def _unwritable(folder: Path, error: OSError) -> CuecardError:
    return CuecardError(_("This folder cannot be written"), headed(folder, system_words(error)))


OnWritten = Callable[[int, int], None]
"""Called with how many trials are written, and how many there are."""

OPEN = N_("trials that have not ended")
OTHER_FAMILY = N_("trials of other families")
EXAMINED = N_("examinations of tasks")
UNJUDGED = N_("trials without a judgement, which have no scores")
UNLIKE = N_("answers that cannot be written as a text that reads the same")
COVERED = N_("trials of which you are still to label something (--reveal writes them)")
CONTENT = N_("trials without their texts (--content writes them)")


class RunExport(Frozen):
    """What was written. `left_out`: how many trials were left out, by the reason (in English)."""

    format: str
    folder: Path
    trials: int
    files: tuple[Path, ...]
    left_out: dict[str, int] = {}


@dataclass(frozen=True)
class Options:
    """`content`: whether OpenTelemetry spans include the texts (other formats always do)."""

    content: bool = False


@dataclass
class Batch:
    """The trials of one agent of a run, which are written together into `folder`."""

    run: RunRecord
    agent: str
    trials: list[TrialRecord]
    folder: str = ""
    read: Callable[[Iterable[TrialRecord]], Iterator[Trajectory]] = field(repr=False, kw_only=True)

    def trajectories(self, family: Family | None = None) -> Iterator[Trajectory]:
        """All of them, or those on tasks of one family."""
        return self.read(t for t in self.trials if family in (None, t.family))


class Writing(Protocol):
    """A format of trials: writes one batch into a folder, calling `told` with every trial that is written. `texts`: the
    prediction is written as text that is parsed when it is read again; `apart`: each agent has its own folder.
    """

    @property
    def families(self) -> Sequence[Family]: ...

    @property
    def texts(self) -> bool: ...

    @property
    def apart(self) -> bool: ...

    def write(self, batch: Batch, folder: Path, told: Callable[[Trajectory], None]) -> None: ...


def export_runs(
    workspace: Archive,
    runs: Sequence[int],
    folder: Path,
    format: str,
    *,
    judges: Sequence[str] = (),
    only: Collection[int] | None = None,
    options: Options = Options(),
    on_written: OnWritten | None = None,
    sight: Discretion | None = None,
) -> RunExport:
    """Write the ended trials of `runs` into `folder`, which must be empty or not exist; all or nothing. `format`: one of
    `core.formats.base.EXPORTS`.

    `judges`: whose judgements are included (none: all). `only`: just these trials. `sight`: what the person who gets the files may see; trials of
    which they are still to label something are left out. Raises `NotFound` for an unknown run and if no trial is left
    to write, `CuecardError` for a folder that holds something or cannot be written.
    """
    check_new(folder)
    writing: Writing = EXPORTS[format](options)
    left: Counter[str] = Counter()
    batches = _batches(workspace, runs, writing.families, judges, left, sight, only)
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
            with EXPORTS.guard(format):
                writing.write(batch, draft / batch.folder if writing.apart else draft, told)
        if sight:
            # Before the files are in place: if this cannot be recorded, nothing is exported.
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
    workspace: Archive,
    runs: Sequence[int],
    families: Sequence[Family],
    judges: Sequence[str],
    left: Counter[str],
    sight: Discretion | None = None,
    only: Collection[int] | None = None,
) -> list[Batch]:
    """A batch for each run and agent; each run has its own folder if there are several."""
    from cuecard.core.formats.files import folder_names

    records = [workspace.runs.get(run_id) for run_id in dict.fromkeys(runs)]
    over = folder_names([f"{run.name} {run.uid[:8]}" for run in records])
    batches: list[Batch] = []
    for run, above in zip(records, over, strict=True):
        gatherer = TrialReader(workspace, run, judges, sight)
        by_agent: dict[str, list[TrialRecord]] = {}
        for trial in workspace.runs.trials(run.id):
            if only is not None and trial.id not in only:
                continue
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
            batches.append(Batch(run, agent, trials, place, read=gatherer.trajectories))
    return batches


def _left_out(trial: TrialRecord, families: Sequence[Family]) -> str:
    if trial.agent.kind == EXAMINER:
        return EXAMINED
    if trial.termination is None:
        return OPEN
    return "" if trial.family in families else OTHER_FAMILY


def _why(left: Counter[str]) -> str:
    """The reasons for leaving trials out, with their numbers, as text."""
    return listed(beside(_(what), str(n)) for what, n in sorted(left.items())) or _("no trials")
