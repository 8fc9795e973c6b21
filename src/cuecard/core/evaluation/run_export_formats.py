"""The formats in which runs are exported: our own files, logs for `inspect view`, and OpenTelemetry spans."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import JsonValue

from cuecard import __version__
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.evaluation.run_exports import Batch, Options, append_line, as_json, write_json
from cuecard.core.formats import cuecard_files as json_lines
from cuecard.core.formats import inspect_schema as shapes
from cuecard.core.formats import vibesearch, widesearch
from cuecard.core.formats.files import file_names, folder_names
from cuecard.core.formats.inspect_ai import (
    as_data,
    error_of,
    mark,
    sample_of,
    summary_of,
    times,
    usage_by,
)
from cuecard.core.formats.opentelemetry import traces_of
from cuecard.core.formats.trajectory import MEASURES, Payment, Trajectory
from cuecard.core.scoring.aggregate import TrialScore, aggregate
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.verdicts import Measures

Told = Callable[[Trajectory], None]


@dataclass(frozen=True)
class Vibesearch:
    """VibeSearchBench's files: `{agent}/{qid}.jsonl`, and `{agent}/evaluation/{judge}/{qid}_{sample}.json`."""

    options: Options
    families: tuple[Family, ...] = ("graph",)
    texts: bool = True
    apart: bool = True

    def write(self, batch: Batch, folder: Path, told: Told) -> None:
        ids = list(dict.fromkeys(trial.task_id for trial in batch.trials))
        lines = dict(zip(ids, file_names(ids, ".jsonl"), strict=True))
        stems = dict(zip(ids, file_names(ids, ""), strict=True))
        for trajectory in batch.trajectories():
            task = trajectory.task.id
            append_line(folder / lines[task], vibesearch.line_of(trajectory))
            names = folder_names([judged.judgement.judge.name for judged in trajectory.judged])
            for judged, judge in zip(trajectory.judged, names, strict=True):
                file = folder / "evaluation" / judge / f"{stems[task]}_{trajectory.sample}.json"
                write_json(file, vibesearch.evaluation_of(trajectory, judged), indent=2)
            told(trajectory)


@dataclass(frozen=True)
class Widesearch:
    """WideSearch's file: `{agent}/responses.jsonl`."""

    options: Options
    families: tuple[Family, ...] = ("table",)
    texts: bool = True
    apart: bool = True

    def write(self, batch: Batch, folder: Path, told: Told) -> None:
        for trajectory in batch.trajectories():
            append_line(folder / "responses.jsonl", widesearch.line_of(trajectory))
            told(trajectory)


@dataclass(frozen=True)
class JsonLines:
    """`trials.jsonl`, all trials in one file."""

    options: Options
    families: Sequence[Family] = field(default=FAMILIES)
    texts: bool = False
    apart: bool = False

    def write(self, batch: Batch, folder: Path, told: Told) -> None:
        for trajectory in batch.trajectories():
            append_line(folder / "trials.jsonl", json_lines.line_of(trajectory))
            told(trajectory)


_PLAIN = re.compile(r"\W+", re.ASCII)
_NAME = 60
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class InspectLogs:
    """Logs for `inspect view`: `.eval` archives with one file per sample, so that neither the viewer nor this export
    holds more than one trial in memory. Equal trials give equal bytes.
    """

    options: Options
    families: Sequence[Family] = FAMILIES
    texts: bool = False
    apart: bool = False

    def write(self, batch: Batch, folder: Path, told: Callable[[Trajectory], None]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for family in FAMILIES:
            if any(trial.family == family for trial in batch.trials):
                _write(_Log(batch, family), batch.trajectories(family), folder, told)


def _write(log: _Log, trajectories: Iterable[Trajectory], folder: Path, told: Told) -> None:
    draft = folder / ".log.part"
    with (
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive,
        cast(BinaryIO, tempfile.TemporaryFile()) as summaries,
    ):

        def add(name: str, content: bytes | BinaryIO) -> None:
            entry = zipfile.ZipInfo(name, _ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if isinstance(content, bytes):
                archive.writestr(entry, content)
                return
            entry.file_size = content.tell()
            content.seek(0)
            with archive.open(entry, "w") as file:
                shutil.copyfileobj(content, file)

        for trajectory in trajectories:
            sample = sample_of(trajectory)
            add(f"samples/{sample.id}_epoch_{sample.epoch}.json", as_json(as_data(sample)))
            summaries.write(b"," if summaries.tell() else b"[")
            summaries.write(as_json(as_data(summary_of(sample))))
            log.add(trajectory)
            told(trajectory)
        header = as_data(log.header())
        start = {name: header[name] for name in ("version", "eval", "plan")}
        summaries.write(b"]")
        add("_journal/start.json", as_json(start))
        add("_journal/summaries/1.json", summaries)
        add("summaries.json", summaries)
        add("header.json", as_json(header))
    draft.rename(folder / log.file_name)


class _Log:
    """Gathers what the header of an Inspect log says about its samples."""

    def __init__(self, batch: Batch, family: Family) -> None:
        self.batch = batch
        self._family: Family = family
        self._scores: dict[str, list[TrialScore]] = {}
        self._judges: dict[str, PlayerRef] = {}
        self._payments: list[Payment] = []
        self._spans: list[tuple[datetime, datetime]] = []
        self._ids: dict[str, None] = {}
        self._epochs = 0
        self._completed = 0
        self._first: Trajectory | None = None

    def add(self, trajectory: Trajectory) -> None:
        t = trajectory
        self._first = self._first or t.model_copy(update={"events": ()})
        self._spans.append((t.events[0].at if t.events else t.created_at, t.ended_at))
        self._payments += t.payments
        self._ids[t.task.id] = None
        self._epochs = max(self._epochs, t.sample + 1)
        self._completed += error_of(t) is None
        for judged in t.judged:
            judge = judged.judgement.judge
            self._judges[judge.name] = judge
            told = tuple(m for m in judged.measures if m.name in MEASURES[self._family])
            score = TrialScore(t.task.id, t.sample, told)
            self._scores.setdefault(judge.name, []).append(score)

    @property
    def file_name(self) -> str:
        """The file's name in the order that `inspect view` expects: time, task and an id."""
        started = min(a for a, _b in self._spans).astimezone(UTC)
        run = _PLAIN.sub("-", f"{self._family}-{self.batch.agent}").strip("-")[:_NAME]
        return f"{started:%Y-%m-%dT%H-%M-%S+00-00}_{run}_{self._id}.eval"

    @property
    def _id(self) -> str:
        return mark(self.batch.run.uid, self.batch.agent, self._family)

    def header(self) -> shapes.Header:
        first, run = self._first, self.batch.run
        if first is None:
            raise ValueError("a log of no samples")
        started, ended = times(self._spans)
        task = f"{run.name} · {self._family}"
        names = list(self._measures())
        return shapes.Header(
            eval=shapes.Spec(
                eval_id=self._id,
                run_id=run.uid,
                created=started,
                task=task,
                task_id=mark(run.uid, self._family),
                solver=first.agent.name,
                dataset=shapes.Dataset(
                    name=run.name, samples=len(self._ids), sample_ids=tuple(self._ids)
                ),
                model=first.agent.model or f"{first.agent.kind}/{first.agent.name}",
                config={"epochs": self._epochs},
                packages={"cuecard": __version__},
                metadata=self._metadata(first),
                scorers=tuple(shapes.Scorer(name=name) for name in names),
            ),
            plan=shapes.Plan(
                steps=(
                    shapes.Step(
                        solver=first.agent.name, params=first.agent.model_dump(mode="json")
                    ),
                )
            ),
            results=shapes.Results(
                total_samples=len(self._spans),
                completed_samples=self._completed,
                scores=tuple(self._measures().values()),
            ),
            stats=shapes.Stats(
                started_at=started,
                completed_at=ended,
                model_usage=usage_by(self._payments, "model"),
                role_usage=usage_by(self._payments, "payer"),
            ),
        )

    def _measures(self) -> dict[str, shapes.EvalScore]:
        """The aggregates of `cuecard score`; those of the first judge have their plain names."""
        found: dict[str, shapes.EvalScore] = {}
        for place, (judge, scores) in enumerate(self._scores.items()):
            metrics: dict[str, dict[str, shapes.Metric]] = {}
            for one in aggregate(scores):
                if one.value is not None:
                    metric = shapes.Metric(name=one.statistic.value, value=one.value)
                    metrics.setdefault(one.name, {})[one.statistic.value] = metric
            for name in MEASURES[self._family]:
                if name not in metrics:
                    continue
                scored = _with(name, scores)
                shown = name if place == 0 else f"{name}@{judge}"
                found[shown] = shapes.EvalScore(
                    name=shown,
                    scorer=judge,
                    scored_samples=scored,
                    unscored_samples=len(self._spans) - scored,
                    metrics=metrics[name],
                )
        return found

    def _metadata(self, first: Trajectory) -> dict[str, JsonValue]:
        shown = first.model_dump(mode="json", include={"agent", "user", "world"})
        judges: list[JsonValue] = [j.model_dump(mode="json") for j in self._judges.values()]
        return {"run": first.run, "family": self._family, **shown, "judges": judges}


def _with(name: str, scores: Sequence[TrialScore]) -> int:
    """How many of these trials have the measure."""
    return sum(Measures.of(score.measures).value(name) is not None for score in scores)


@dataclass(frozen=True)
class Spans:
    """OpenTelemetry spans: `traces.jsonl`."""

    options: Options
    families: Sequence[Family] = FAMILIES
    texts: bool = False
    apart: bool = False

    def write(self, batch: Batch, folder: Path, told: Callable[[Trajectory], None]) -> None:
        for trajectory in batch.trajectories():
            data = traces_of(trajectory, __version__, content=self.options.content)
            append_line(folder / "traces.jsonl", data)
            told(trajectory)
