"""Spans in OTLP's JSON encoding, a trial a line: `traces.jsonl`, as the collector's file receiver reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cuecard import __version__
from cuecard.core.formats.trajectories.model import Trajectory
from cuecard.core.formats.trajectories.spans import traces_of
from cuecard.core.tasks import FAMILIES, Family
from cuecard.lab.run_exports.exporting import Batch
from cuecard.lab.run_exports.folder import append_line


@dataclass(frozen=True)
class Spans:
    content: bool = False
    families: tuple[Family, ...] = FAMILIES
    texts: bool = False
    apart: bool = False

    def write(self, batch: Batch, folder: Path, told: Callable[[Trajectory], None]) -> None:
        for trajectory in batch.trajectories():
            data = traces_of(trajectory, __version__, content=self.content)
            append_line(folder / "traces.jsonl", data)
            told(trajectory)
