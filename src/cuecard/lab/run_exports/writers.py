"""The formats of `export_runs`: each writes the trials of one run and agent into a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cuecard.core.formats.file_names import file_names, folder_names
from cuecard.core.formats.trajectories import json_lines, vibesearch, widesearch
from cuecard.core.formats.trajectories.model import Trajectory
from cuecard.core.tasks import FAMILIES, Family
from cuecard.lab.run_exports.exporting import Batch, Options, RunFormat, Writing
from cuecard.lab.run_exports.folder import append_line, write_json

Told = Callable[[Trajectory], None]


def writer_for(format: RunFormat, options: Options) -> Writing:
    match format:
        case "vibesearch":
            return _Vibesearch()
        case "widesearch":
            return _Widesearch()
        case "jsonl":
            return _JsonLines()
        case "inspect":
            from cuecard.lab.run_exports.inspect import InspectLogs

            return InspectLogs()
        case "otel":
            from cuecard.lab.run_exports.otel import Spans

            return Spans(options.content)


@dataclass(frozen=True)
class _Vibesearch:
    """`{agent}/{qid}.jsonl`, and beside it `{agent}/evaluation/{judge}/{qid}_{sample}.json`."""

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
class _Widesearch:
    """`{agent}/responses.jsonl`."""

    families: tuple[Family, ...] = ("table",)
    texts: bool = True
    apart: bool = True

    def write(self, batch: Batch, folder: Path, told: Told) -> None:
        for trajectory in batch.trajectories():
            append_line(folder / "responses.jsonl", widesearch.line_of(trajectory))
            told(trajectory)


@dataclass(frozen=True)
class _JsonLines:
    """`trials.jsonl`, all trials in one file."""

    families: tuple[Family, ...] = field(default=FAMILIES)
    texts: bool = False
    apart: bool = False

    def write(self, batch: Batch, folder: Path, told: Told) -> None:
        for trajectory in batch.trajectories():
            append_line(folder / "trials.jsonl", json_lines.line_of(trajectory))
            told(trajectory)
