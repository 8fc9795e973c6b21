"""A workspace on a real file, and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apart import fresh
from cuecard.core.contributions import Contribution, PinnedComment, ReviewDecision, Reviewed
from cuecard.core.engine.events import Event, EventBody, Limits
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.records import TrialCell, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_tasks
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from postgres_server import Databases

PLAYER = PlayerRef(name="offline", kind="offline", baseline=True)
SAMPLES = Path(__file__).parents[2] / "src" / "cuecard" / "sample_tasks"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database, or of one with the test's `workspace`."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'cuecard.db'}"
        return
    databases: Databases = request.getfixturevalue("postgres")
    made = "workspace" in request.fixturenames
    with databases.workspace() if made else databases.empty() as address:
        yield address


@pytest.fixture
def workspace(url: str) -> Iterator[Workspace]:
    path = url.removeprefix("sqlite:///")
    with Workspace.open(url) if path == url else fresh(Path(path)) as opened:
        yield opened


@pytest.fixture(scope="session")
def samples() -> tuple[Task, ...]:
    found, problems = load_tasks([SAMPLES])
    assert not problems
    return tuple(task for _path, task in found)


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    """Makes small tasks: `make_task("id", title="…")`."""

    def make(id: str = "t", **fields: Any) -> Task:
        return Task.model_validate(
            {
                "id": id,
                "title": f"Task {id}",
                "language": "en",
                "query": "Who built it?",
                "gold": {
                    "family": "graph",
                    "triples": [{"head": "a", "relation": "r", "tail": "b"}],
                },
                **fields,
            }
        )

    return make


@pytest.fixture
def make_trial(workspace: Workspace, make_task: Callable[..., Task]) -> Callable[..., TrialRecord]:
    """Adds a trial, in a new run if none is named."""

    def make(run_id: int | None = None, *, task_id: str = "t", by: str = "Ann") -> TrialRecord:
        task = workspace.tasks.save(make_task(task_id), author="Ann")
        if run_id is None:
            run_id = workspace.runs.create(
                name="run", kind="grid", created_by=by, samples=1, limits=Limits()
            ).id
        return workspace.runs.add_trials(
            run_id,
            [
                TrialCell(
                    task_id=task_id,
                    revision=task.number,
                    agent=PLAYER,
                    user=PLAYER,
                    world=PLAYER,
                    sample=0,
                    seed=2**40,
                )
            ],
        )[0]

    return make


@pytest.fixture(scope="session")
def at() -> Callable[..., Event]:
    """Makes events: `at(seq, body)`, a second apart."""

    def make(seq: int, body: EventBody) -> Event:
        return Event(seq=seq, at=datetime(2026, 1, 2, 3, 4, seq % 60, 567, tzinfo=UTC), body=body)

    return make


@pytest.fixture(scope="session")
def judged() -> Callable[..., Judgement]:
    """Makes judgements of `n` triples, all decided alike."""

    def make(judge: str, n: int = 5, decision: Decision = Decision.YES) -> Judgement:
        return Judgement(
            judge=PlayerRef(name=judge, kind="lexical"),
            verdicts=tuple(
                Verdict(
                    item=Item(kind=ItemKind.TRIPLE, index=index),
                    decision=decision,
                    supporting=(index,),
                    rationale=f"{judge} says {decision}",
                )
                for index in range(n)
            ),
        )

    return make


@pytest.fixture
def hand_in(workspace: Workspace) -> Callable[..., Contribution]:
    """Hands in a review: `hand_in("Cy", "return", revision=1)`."""

    def make(
        reviewer: str, decision: str = "approve", *, task_id: str = "t", revision: int | None = None
    ) -> Contribution:
        body = Reviewed(
            ratings={"clarity": "pass", "sources": "cannot_judge"},
            decision=ReviewDecision(decision),
            comments=(
                PinnedComment(place="gold.triples[0].tail", text="[red]right?[/]"),
                PinnedComment(place="", text="好", dimension="sources"),
            ),
        )
        return workspace.reviews.act(task_id, reviewer, body, revision=revision)

    return make
