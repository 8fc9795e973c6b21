"""Who holds a run plays, judges and closes it; what killed processes left behind is nobody's."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from sqlalchemy import text as sql

from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ModelJudgeConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import (
    Event,
    RunEvent,
    RunState,
    Termination,
    TrialEnded,
    TurnPlayed,
)
from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_run
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import resume_run, settle_runs, start_run
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.store import leases
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request, text

SOME = ("table-solar-terms-zh", "checkpoints-highest-mountain", "facts-night-train")


def strict_judge(url: str) -> Config:
    """A model judges, and can be reached."""
    return EMBEDDED.model_copy(
        update={
            "models": {"j": ModelConfig(base_url=url, model="j", retries=0)},
            "judges": {**EMBEDDED.judges, "strict": ModelJudgeConfig(kind="model", model="j")},
        }
    )


def left_unjudged(workspace: Workspace, run_id: int) -> None:
    """As if whoever played the run had been killed when its last trial had ended."""
    for trial in workspace.runs.trials(run_id):
        end = Event(seq=0, at=trial.created_at, body=TrialEnded(termination=Termination.USER_DONE))
        workspace.runs.append_events([(trial.id, end)])


async def test_nobody_judges_or_closes_what_somebody_plays(db: Path):
    with Workspace.open(db) as anns, Workspace.open(db) as bens:
        run = create_run(anns, RunPlan(tasks=SOME[:1], name="Ann's"), by="Ann")
        lease = anns.leases.take(run.id, "Ann")
        left_unjudged(anns, run.id)
        assert await settle_runs(bens, by="Ben") == 0
        await start_run(bens, RunPlan(tasks=SOME[1:2]), by="Ben")
        assert bens.verdicts.of_run(run.id) == []
        assert bens.runs.get(run.id).state is RunState.RUNNING
        with pytest.raises(AlreadyPlayed, match="Ann plays it on"):
            await resume_run(bens, run.id, by="Ben")
        # Nor does who plays one run conclude another that lies there.
        anns.leases.release(lease)
        await start_run(bens, RunPlan(tasks=SOME[1:2]), by="Ben")
        assert bens.runs.get(run.id).state is RunState.OPEN
        assert await settle_runs(bens, by="Ben") == 1
        assert bens.runs.get(run.id).state is RunState.DONE
        assert [r.judgement.judge.name for r in bens.verdicts.of_run(run.id)] == ["lexical"]


async def test_what_was_left_behind_is_judged_by_the_judges_that_it_was_begun_with(
    workspace: Workspace,
):
    def same(_request: Request) -> Reply:
        return text('{"reason": "the same", "equivalent": true}')

    async with OpenAIServer(same) as server:
        config = strict_judge(server.url)
        plan = RunPlan(tasks=SOME[2:], settings=RunSettings(judges=("strict", "lexical")))
        run = create_run(workspace, plan, by="Ann", config=config)
        left_unjudged(workspace, run.id)
        session = await PlaySession.start(
            workspace, SOME[2], by="Ann", judge="strict", config=config
        )
        await session.wait_turn()
        await session.close()
        left = workspace.runs.log(session.trial.id)
        end = TrialEnded(termination=Termination.USER_DONE)
        ended = Event(seq=len(left), at=left[-1].at, body=end)
        workspace.runs.append_events([(session.trial.id, ended)])
        # What a model judges costs something: nobody does that to somebody else's, unasked.
        assert await settle_runs(workspace, by="Ben", config=config) == 0
        assert workspace.verdicts.of_run(run.id) == []
        assert await settle_runs(workspace, by="Ann", config=config) == 1
        (record,) = workspace.verdicts.of_run(session.trial.run_id)
        assert record.judgement.judge.name == "strict"
        assert workspace.runs.get(session.trial.run_id).state is RunState.DONE
        assert workspace.runs.get(run.id).state is RunState.OPEN
        # A run is, by whoever goes on with it.
        resumed = await resume_run(workspace, run.id, config=config, by="Ben")
        assert resumed.run.state is RunState.DONE
        names = {r.judgement.judge.name for r in workspace.verdicts.of_run(run.id)}
        assert names == {"strict", "lexical"}


async def test_of_two_who_go_on_with_a_run_one_is_told_who_plays_it(db: Path):
    with Workspace.open(db) as one, Workspace.open(db) as two:
        run = create_run(one, RunPlan(tasks=SOME, samples=2), by="Ann")
        results = await asyncio.gather(
            resume_run(one, run.id, by="Ann"),
            resume_run(two, run.id, by="Ben"),
            return_exceptions=True,
        )
        refused = [r for r in results if isinstance(r, AlreadyPlayed)]
        (played,) = [r for r in results if not isinstance(r, BaseException)]
        assert len(refused) == 1
        assert f"process {os.getpid()}" in refused[0].message
        assert played.run.state is RunState.DONE
        assert (played.summary.problems, played.run.lease) == (0, None)
        assert len(one.verdicts.of_run(run.id)) == 2 * len(SOME)


async def test_a_run_that_was_taken_over_is_left_to_whoever_has_it(db: Path, monkeypatch):
    monkeypatch.setattr(leases, "BEAT", 0.02)
    taken: list[object] = []
    with Workspace.open(db) as one, Workspace.open(db) as two:
        run = create_run(one, RunPlan(tasks=SOME, samples=4), by="Ann")

        def told(event: RunEvent) -> None:
            if isinstance(event, TurnPlayed) and not taken:
                # As if this process had slept on another machine until its lease lapsed.
                with two.leases._database.write() as session:
                    session.connection().execute(sql("DELETE FROM runlease"))
                taken.append(two.leases.take(run.id, "Ben"))
                time.sleep(0.2)

        outcome = await resume_run(one, run.id, by="Ann", on_event=told, concurrency=1)
        assert "played elsewhere" in str(outcome.halt)
        assert outcome.run.finished < outcome.run.trials
        found = one.runs.get(run.id)
        assert (found.state, found.lease and found.lease.person) == (RunState.RUNNING, "Ben")
