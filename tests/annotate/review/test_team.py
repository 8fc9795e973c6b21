"""A team works through three rounds: in one database, and apart with packed files going around."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from apart import fresh, picture
from cuecard.annotate.quality.datasheet import datasheet_of
from cuecard.annotate.review.figures import figures_of
from cuecard.core.contributions import Action, TaskState
from cuecard.core.review import standing_of
from cuecard.store.workspace import Workspace
from postgres_server import Databases
from role_stage import own_roles
from team_account import account, check_lawful, seen_by
from team_cast import COORDINATOR, ManyDatabases, OneDatabase, Team
from team_play import Play

TASKS, ROUNDS, SEED = 5, 3, 2
"""`bench/team.py` plays 12 people, 200 tasks and three rounds."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory where the system offers that: what a disk can do is not what is tested here."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def together(folder: Path) -> Iterator[tuple[Workspace, Play]]:
    with fresh(folder / "all.db") as workspace:

        def lawful(step: str) -> None:
            for log in workspace.reviews.logs().values():
                check_lawful(standing_of(log).history)

        team = Team.of(1)
        play = Play(OneDatabase(workspace), team, TASKS, ROUNDS, seed=SEED, after=lawful)
        play.run()
        yield workspace, play


def test_a_team_ends_in_a_consistent_state(together: tuple[Workspace, Play]) -> None:
    workspace, play = together
    states = Counter(line.state for line in workspace.tasks.summaries(include_retired=True))
    assert states.total() == TASKS
    assert states[TaskState.APPROVED] >= 2
    done = Counter(
        move.action for task in play.ids() for move in workspace.reviews.history(task[1])
    )
    assert {Action.SUBMIT, Action.RETURN, Action.REVISE, Action.APPROVE} <= set(done)
    for log in workspace.reviews.logs().values():
        standing = standing_of(log)
        assert standing.forks == ()
        assert [clash.kind for clash in standing.clashes] == []
        for round_ in standing.revisions:
            assert len(round_.reviewers) <= round_.needed
            assert COORDINATOR not in round_.reviewers


def test_the_same_work_apart_comes_to_the_same(
    together: tuple[Workspace, Play], folder: Path
) -> None:
    workspace, first = together
    many = ManyDatabases(folder, first.team.names)
    try:
        second = Play(many, first.team, TASKS, ROUNDS, seed=SEED)
        second.run()
        assert second.acts == first.acts
        viewers = [first.team.names[0], first.team.names[-2]]
        wanted = account(workspace, viewers, first.clock.now)
        sheet = datasheet_of(workspace, at=first.clock.now)
        figures = figures_of(workspace.reviews.logs())
        copies = [many.at(person) for person in first.team.names]
        for copy in copies[1:]:
            assert picture(copy) == picture(copies[0])
        assert account(copies[0], viewers, second.clock.now) == wanted
        assert datasheet_of(copies[-1], at=first.clock.now) == sheet
        assert figures_of(copies[1].reviews.logs()) == figures
    finally:
        many.close()


def test_the_same_work_by_roles_that_see_only_what_they_may_comes_to_the_same(
    together: tuple[Workspace, Play], postgres: Databases
) -> None:
    """So states are folded right by people from whom reviews and names are hidden."""
    workspace, first = together
    with own_roles(postgres, first.team.names, [COORDINATOR]) as stage:
        second = Play(stage, first.team, TASKS, ROUNDS, seed=SEED)
        second.run()
        assert second.acts == first.acts
        now, viewers = first.clock.now, [first.team.names[0], first.team.names[-2]]
        wanted = account(workspace, viewers, now)
        assert account(stage.owner, viewers, now) == wanted
        tasks = [id for _index, id, _domain in first.ids()]
        for person in viewers:
            assert seen_by(stage.at(person), person, now, tasks) == wanted[f"as {person}"]
