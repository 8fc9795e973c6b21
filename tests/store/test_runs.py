from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import (
    Event,
    EventBody,
    Limits,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.engine.messages import ModelReply, PlayerRef, ToolAnswer, ToolCall, UserReply
from cuecard.core.errors import Conflict, CuecardError, NotFound
from cuecard.core.records import RunRecord, TrialCell, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]
At = Callable[[int, EventBody], Event]


def spoke(turn: int, text: str = "hi") -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text))


END = TrialEnded(termination=Termination.API_ERROR, detail="502\x00 \ud800 [red]")


def answered(text: str) -> ToolAnswered:
    call = ToolCall(name="search", arguments={"query": "x"})
    return ToolAnswered(part="agent", turn=1, step=0, call=call, answer=ToolAnswer(text=text))


def test_runs_count_their_trials(workspace: Workspace, make_trial: MakeTrial, at: At) -> None:
    limits = Limits(max_turns=7)
    run = workspace.runs.create(
        name="[b]night", kind="grid", created_by="Ann", samples=3, limits=limits
    )
    assert (run.state, run.limits, run.trials, run.finished) == (RunState.OPEN, limits, 0, 0)
    first, _second = make_trial(run.id), make_trial(run.id, task_id="u")
    play = workspace.runs.create(
        name="p", kind="play", created_by="Bob", samples=1, limits=Limits()
    )
    workspace.runs.append_events([(first.id, at(0, END))])
    workspace.runs.set_state(run.id, RunState.DONE)
    found = workspace.runs.get(run.id)
    assert (found.name, found.state, found.trials, found.finished) == (
        "[b]night",
        RunState.OPEN,  # whatever was marked, a trial is open
        2,
        1,
    )
    assert [r.id for r in workspace.runs.all()] == [play.id, run.id]
    assert workspace.runs.all(kind="play") == [play]


def test_trials_tell_how_they_stand(workspace: Workspace, make_trial: MakeTrial, at: At) -> None:
    trial = make_trial()
    assert (trial.title, trial.family, trial.seed, trial.events) == ("Task t", "graph", 2**40, 0)
    assert workspace.runs.trial(trial.id) == trial
    end = at(1, END)
    workspace.runs.append_events([(trial.id, at(0, spoke(0))), (trial.id, end)])
    run = workspace.runs.get(trial.run_id)
    assert (run.trials, run.finished, run.failed) == (1, 1, 1)
    ended = workspace.runs.trial(trial.id)
    assert (ended.termination, ended.ended_at, ended.events) == (Termination.API_ERROR, end.at, 2)
    # A database cannot hold NUL or half a character; the event itself is exact.
    assert ended.detail == "502\ufffd ? [red]"


def test_open_trials_are_found_for_resuming(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    run = workspace.runs.create(name="p", kind="play", created_by="Bob", samples=1, limits=Limits())
    one, two, bobs = make_trial(), make_trial(), make_trial(run.id)
    workspace.runs.append_events([(two.id, at(0, END))])
    runs = workspace.runs
    assert [t.id for t in runs.open_trials()] == [one.id, bobs.id]
    assert [t.id for t in runs.open_trials(created_by="Ann")] == [one.id]
    assert [t.id for t in runs.open_trials(kind="play")] == [bobs.id]
    assert runs.open_trials(created_by="Ann", kind="play") == []


def test_a_grid_is_added_whole_or_not_at_all(workspace: Workspace, make_trial: MakeTrial) -> None:
    run_id = make_trial().run_id
    player = PlayerRef(name="x", kind="react", model="m")

    def cell(revision: int, sample: int) -> TrialCell:
        return TrialCell(
            task_id="t", revision=revision, agent=player, user=player, world=player, sample=sample
        )

    added = workspace.runs.add_trials(run_id, [cell(1, n) for n in range(5)])
    assert [(t.sample, t.agent) for t in added] == [(n, player) for n in range(5)]
    with pytest.raises(NotFound):
        workspace.runs.add_trials(run_id, [cell(1, 5), cell(2, 5)])
    assert [t.id for t in workspace.runs.trials(run_id)][1:] == [t.id for t in added]
    assert workspace.runs.add_trials(run_id, []) == []

    def begun(*cells: TrialCell) -> RunRecord:
        return workspace.runs.create(
            name="r", kind="grid", created_by="Ann", samples=5, limits=Limits(), cells=cells
        )

    run = begun(*(cell(1, n) for n in range(5)))
    assert (run, run.trials) == (workspace.runs.get(run.id), 5)
    assert [t.sample for t in workspace.runs.trials(run.id)] == list(range(5))
    with pytest.raises(NotFound):
        begun(cell(1, 0), cell(2, 0))
    assert [r.id for r in workspace.runs.all()] == [run.id, run_id]


def test_logs_of_several_trials_are_those_of_each(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    first, second, empty = make_trial(), make_trial(), make_trial()
    for trial, large in ((first, "a"), (second, "b")):
        said = [at(0, spoke(0)), at(1, spoke(1, large)), at(2, answered(large * 5000))]
        workspace.runs.append_events([(trial.id, event) for event in said])
    found = workspace.runs.logs([second.id, first.id, empty.id])
    assert found == {trial.id: workspace.runs.log(trial.id) for trial in (first, second)}


def test_what_is_not_there_is_not_found(workspace: Workspace, at: At) -> None:
    runs = workspace.runs
    for call in (
        lambda: runs.get(1),
        lambda: runs.set_state(1, RunState.DONE),
        lambda: runs.add_trials(1, []),
        lambda: runs.trials(1),
        lambda: runs.trial(1),
        lambda: runs.events(1),
        lambda: runs.append_events([(1, at(0, END))]),
    ):
        with pytest.raises(NotFound):
            call()


def test_the_same_event_again_is_passed_over(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    events = [at(0, spoke(0)), at(1, spoke(1)), at(2, END)]
    batch = [(trial, event) for event in events]
    workspace.runs.append_events(batch[:2])
    workspace.runs.append_events([*batch, *batch])
    workspace.runs.append_events(batch)
    assert workspace.runs.events(trial) == events
    assert workspace.runs.events(trial, after=1) == events[2:]
    assert workspace.runs.events(trial, after=2) == []
    workspace.runs.append_events([])


def test_the_same_moment_in_another_zone_is_the_same_event(
    workspace: Workspace, make_trial: MakeTrial
) -> None:
    trial = make_trial().id
    naive = datetime(2026, 1, 2, 3, 4, 5, 678901)
    workspace.runs.append_events([(trial, Event(seq=0, at=naive, body=spoke(0)))])
    workspace.runs.append_events(
        [(trial, Event(seq=0, at=naive.replace(tzinfo=UTC).astimezone(), body=spoke(0)))]
    )
    assert workspace.runs.events(trial)[0].at == naive.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param((1, spoke(1, "other")), id="another event in its place"),
        pytest.param((2, spoke(1, "again")), id="the same key twice"),
        pytest.param((3, spoke(3)), id="a gap"),
    ],
)
def test_what_does_not_follow_is_refused_with_its_whole_batch(
    workspace: Workspace, make_trial: MakeTrial, at: At, bad: tuple[int, EventBody]
) -> None:
    trial, other = make_trial().id, make_trial().id
    recorded = [at(0, spoke(0)), at(1, spoke(1))]
    workspace.runs.append_events([(trial, event) for event in recorded])
    with pytest.raises(Conflict) as caught:
        workspace.runs.append_events([(other, at(0, spoke(0))), (trial, at(*bad))])
    assert caught.value.hint
    assert workspace.runs.events(trial) == recorded
    assert workspace.runs.events(other) == []


def test_nothing_follows_the_end(workspace: Workspace, make_trial: MakeTrial, at: At) -> None:
    trial = make_trial().id
    with pytest.raises(Conflict):
        workspace.runs.append_events([(trial, at(0, END)), (trial, at(1, spoke(0)))])
    workspace.runs.append_events([(trial, at(0, END))])
    with pytest.raises(Conflict):
        workspace.runs.append_events([(trial, at(1, spoke(0)))])


def test_a_trial_stays_with_its_revision(
    workspace: Workspace, make_trial: MakeTrial, make_task: Callable[..., Task]
) -> None:
    trial = make_trial()
    workspace.tasks.save(make_task(title="v2"), author="Ann")
    assert workspace.runs.trial(trial.id).title == "Task t"


def test_values_that_json_does_not_know_stop_no_trial(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    call = ToolCall(name="x", arguments={"n": float("nan"), "\ud83d": 1})
    body = ToolAnswered(part="agent", turn=0, step=0, call=call, answer=ToolAnswer(text="ok"))
    for _ in range(2):
        workspace.runs.append_events([(trial, at(0, body))])
    [event] = workspace.runs.events(trial)
    assert isinstance(event.body, ToolAnswered)
    assert event.body.call.arguments["n"] is None


def test_large_events_are_kept_compressed_and_come_back_exactly(
    workspace: Workspace, make_trial: MakeTrial, at: At
) -> None:
    trial = make_trial().id
    body = ModelReplied(
        part="agent", turn=0, step=0, model="m", reply=ModelReply(text="页" * 100_000 + "\0\x1b")
    )
    workspace.runs.append_events([(trial, at(0, body))])
    assert workspace.runs.events(trial)[0].body == body


@pytest.mark.parametrize("number", [2**40, 2**70])
def test_a_number_that_no_column_holds_is_refused(workspace: Workspace, number: int) -> None:
    with pytest.raises(CuecardError) as refused:
        workspace.runs.get(number)
    assert refused.value.title in ("There is no such run", "This number is too large")
