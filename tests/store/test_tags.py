"""Tags on tasks, runs and trials, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from cuecard.core.errors import CuecardError, NotFound
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.store.tags import MAX_TAG
from cuecard.store.workspace import Workspace


def test_tags_are_put_on_and_taken_away_by_anybody(
    workspace: Workspace, make_trial: Callable[..., TrialRecord]
) -> None:
    trial = make_trial()
    other = make_trial()
    tags = workspace.tags
    tags.change("task", trial.task_id, "Ann", [" hard ", "中文"])
    tags.change("task", trial.task_id, "Bo", ["hard", "pilot"], ["中文", "never there"])
    assert tags.of("task") == {trial.task_id: ("hard", "pilot")}
    tags.change("trial", trial.uid, "Bo", ["odd"])
    tags.change("trial", other.uid, "Bo", ["fine"])
    assert tags.of("trial", run=trial.run_id)[trial.uid] == ("odd",)
    assert tags.of("run") == {}
    tags.change("task", trial.task_id, "Ann", (), ["hard", "pilot"])
    assert tags.of("task") == {}
    tags.change("task", trial.task_id, "Ann", ["hard"])
    assert tags.of("task") == {trial.task_id: ("hard",)}


@pytest.mark.parametrize("step", [timedelta(0), timedelta(days=-1)], ids=["still", "set back"])
def test_the_last_change_counts_whatever_the_clock_says(
    workspace: Workspace, make_task: Callable[..., Task], step: timedelta
) -> None:
    workspace.tasks.save(make_task("t"), author="Ann")
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        for n in range(6):
            change: tuple[list[str], list[str]] = (["hard"], []) if n % 2 == 0 else ([], ["hard"])
            workspace.tags.change("task", "t", "Ann", *change)
            assert workspace.tags.of("task") == ({} if n % 2 else {"t": ("hard",)})
            clock.shift(step)


@pytest.mark.parametrize("tag", ["", " ", "a,b", "a\nb", "\x1b[31m", "x" * (MAX_TAG + 1)])
def test_what_cannot_be_a_tag_is_refused(
    workspace: Workspace, make_task: Callable[..., Task], tag: str
) -> None:
    workspace.tasks.save(make_task("t"), author="Ann")
    with pytest.raises(CuecardError, match="cannot be a tag"):
        workspace.tags.change("task", "t", "Ann", ["fine", tag])
    with pytest.raises(NotFound):
        workspace.tags.change("task", "other", "Ann", ["fine"])
    assert workspace.tags.of("task") == {}
