"""People who work apart, for tests: small tasks, empty workspaces quickly, and pictures of workspaces
that are equal where the same was done, whatever their local numbers are.
"""

from __future__ import annotations

import functools
import io
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cuecard.annotate.sharing.bundle import file_of, kept_lines
from cuecard.annotate.sharing.reading import BundleFile, parse_bundle, read_bundles
from cuecard.core.review import TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.store.bundle_kinds import KIND_OF, KINDS
from cuecard.store.bundle_records import MergeReport, Pack
from cuecard.store.workspace import Workspace


def small_task(id: str = "t", title: str = "A task", **fields: Any) -> Task:
    gold = {"family": "graph", "triples": [{"head": "a", "relation": "r", "tail": "b"}]}
    data = {"id": id, "title": title, "language": "en", "query": "Who built it?", "gold": gold}
    return Task.model_validate({**data, **fields})


@functools.cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        Workspace.open(path).close()
        return path.read_bytes()


def fresh(path: Path) -> Workspace:
    """An empty workspace, without migrating one each time."""
    path.write_bytes(_empty())
    return Workspace.open(path)


@contextmanager
def workspaces(count: int) -> Generator[list[Workspace]]:
    """Empty workspaces that are gone afterwards; in memory where the system offers that."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    try:
        with ExitStack() as stack:
            yield [stack.enter_context(fresh(folder / f"{n}.db")) for n in range(count)]
    finally:
        shutil.rmtree(folder)


def picture(workspace: Workspace) -> dict[str, Any]:
    """All logs and standings by uid."""
    return {
        task_id: {
            "log": _log(log),
            "standing": _standing(log),
            "listed": _listed(workspace, task_id, log),
        }
        for task_id, log in workspace.reviews.logs().items()
    }


def _log(log: TaskLog) -> tuple[Any, ...]:
    uids = _uids(log)
    return (
        sorted((n.uid, n.hash, n.parents, n.authors, n.at, n.tick) for n in log.revisions),
        sorted((e.uid, uids[e.revision], e.by, e.at, e.tick, e.body) for e in log.contributions),
    )


def _standing(log: TaskLog) -> dict[str, Any]:
    uids, standing = _uids(log), standing_of(log)
    return {
        "head": uids[standing.head],
        "state": standing.state,
        "priority": standing.priority,
        "forks": [uids[number] for number in standing.forks],
        "revisions": sorted(
            (uids[r.number], r.model_copy(update={"number": 0}).model_dump_json())
            for r in standing.revisions
        ),
        "history": [(uids[m.revision], m.action, m.state, m.by, m.at) for m in standing.history],
        "clashes": [(c.kind, [uids[n] for n in c.revisions], c.people) for c in standing.clashes],
    }


def _listed(workspace: Workspace, task_id: str, log: TaskLog) -> tuple[Any, ...]:
    """What lists show, which the database keeps beside the log."""
    summary = next(s for s in workspace.tasks.summaries(include_retired=True) if s.id == task_id)
    head = workspace.tasks.revision(task_id)
    return summary.title, summary.state, summary.author, _uids(log)[summary.revision], head.hash


def _uids(log: TaskLog) -> dict[int, str]:
    return {node.number: node.uid for node in log.revisions}


@dataclass
class Clock:
    """Every look at it is a second later."""

    now: datetime = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass(frozen=True)
class PausedByPerson:
    """A bundle in memory."""

    person: str
    held: tuple[Any, ...] = ()

    def records(self) -> Iterator[Any]:
        return iter(self.held)

    def of(self, kind: str) -> list[Any]:
        return [record for record in self.held if KIND_OF[type(record)].name == kind]

    def but(self, kind: str, records: Iterable[Any]) -> PausedByPerson:
        """With these of a kind instead, in their place."""
        place = [each.name for each in KINDS].index(kind)
        others = [(KINDS.index(KIND_OF[type(record)]), record) for record in self.held]
        earlier = [record for rank, record in others if rank < place]
        return PausedByPerson(
            self.person, (*earlier, *records, *(record for rank, record in others if rank > place))
        )


def held(bundle: Pack) -> PausedByPerson:
    return PausedByPerson(bundle.person, tuple(bundle.records()))


def packed(bundle: Pack, since: datetime | None = None) -> bytes:
    """The bytes of a bundle's file."""
    with io.BytesIO() as lines:
        header, _found = kept_lines(bundle, lines, since)
        return b"".join(file_of(header, lines))


def unpacked(data: bytes, name: str = "x") -> BundleFile:
    """The validated bundle of a file with these bytes. Raises `FileProblems`."""
    return parse_bundle(io.BytesIO(data), Path(name))


def merge_files(
    workspace: Workspace, paths: Sequence[Path], by: str, *, dry: bool = False
) -> MergeReport:
    """Import these bundles, all or none; with `dry` only report. Raises `FileProblems`."""
    return workspace.exchange.import_(read_bundles(paths), by=by, dry=dry)
