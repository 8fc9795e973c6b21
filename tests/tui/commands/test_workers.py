"""`cuecard worker`, and who follows a run: asked to leave, and over a restart of the database's server."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forked
import openai_server as fake
import postgres_server
from cuecard.annotate.samples import import_samples
from cuecard.core.config import load_config
from cuecard.core.engine.events import Limits, RunState
from cuecard.core.engine.run_control import RunControl
from cuecard.core.evaluation.ended_work import offer_judging
from cuecard.core.evaluation.plans import RunPlan, create_run, settings_of
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.shadow_replay import shadow_trials
from cuecard.core.evaluation.workers import Worker
from cuecard.store.workspace import Workspace
from cuecard.tui.commands.context import Context
from openai_server import Reply, Request, text
from probe_scripts import answering
from scripted_brain import brain
from simulator_bench import unmet

CONFIG = """
models:
  m: {{base_url: '{url}', model: m}}
agents:
  live: {{kind: react, model: m}}
"""
TASKS = ("espresso", "facts-night-train")
Call = Callable[..., Any]
Started = Callable[..., forked.Popen]


class Gate:
    """A model that holds every call after the first `free` until it is opened."""

    def __init__(self, free: int) -> None:
        self._free = free
        self.reached = threading.Event()
        self.open = threading.Event()

    async def __call__(self, request: Request) -> Reply:
        if request.number >= self._free:
            self.reached.set()
            while not self.open.is_set():  # noqa: ASYNC110 - it is opened on another thread
                await asyncio.sleep(0.02)
        return brain(request)


@pytest.fixture(scope="module")
def server() -> Iterator[postgres_server.Server]:
    """A server that tests stop and start."""
    with postgres_server.own_server() as running:
        yield running


@pytest.fixture
def url(server: postgres_server.Server) -> str:
    name = f"test_{uuid.uuid4().hex}"
    databases = postgres_server.Databases(server.url)
    databases.run(f"CREATE DATABASE {name}")
    databases.close()
    url = databases.base.set(database=name).render_as_string(hide_password=False)
    with Workspace.open(url) as workspace:
        import_samples(workspace, "ann")
    return url


@pytest.fixture
def started(url: str, tmp_path: Path, environment: dict[str, str]) -> Iterator[Started]:
    """`cuecard --db URL ...` in a process of its own, which is gone at the end."""
    processes: list[forked.Popen] = []

    def start(*words: str) -> forked.Popen:
        command = [sys.executable, "-m", "cuecard", "--db", url, "--as", "ann", *words]
        process = forked.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def entered(url: str, folder: Path, model: str, more: str = "") -> int:
    path = folder / "cuecard.yaml"
    config = CONFIG.replace(", model: m}}", f", model: m{more}}}}}", 1)
    path.write_text(config.format(url=model), encoding="utf-8")
    plan = RunPlan(tasks=TASKS, agents=("live",), limits=Limits(max_turns=3))
    with Workspace.open(url) as workspace:
        return create_run(workspace, plan, by="ann", config=load_config(path)).id


def test_who_is_asked_to_leave_gives_back_at_once_and_the_run_goes_on(
    url: str, tmp_path: Path, started: Started
) -> None:
    gate = Gate(free=2)
    with fake.running(gate) as model:
        run = entered(url, tmp_path, model.url)
        follower = started("run", "--resume", str(run), "--workers")
        assert follower.stderr
        assert "2 trials are offered to workers" in follower.stderr.readline()
        worker = started("worker", "--grace", "0")
        assert gate.reached.wait(60)

        follower.send_signal(signal.SIGINT)
        _out, told = follower.communicate(timeout=60)
        assert follower.returncode == 130
        assert "The workers go on. Look on again with: cuecard --db URL --as ann run" in told
        assert f"Stop them with: cuecard --db URL --as ann runs cancel {run}" in told
        assert f"Go on with: cuecard --db URL --as ann run --resume {run} --workers" in told
        assert "Finishing the calls" not in told

        with Workspace.open(url) as workspace:
            assert workspace.runs.get(run).state is RunState.RUNNING
            worker.send_signal(signal.SIGTERM)
            _out, told = worker.communicate(timeout=60)
            assert worker.returncode == 0
            assert told.count("left open") == 2
            handout = workspace.workers.handout(run)
            assert handout is not None
            assert (handout.waiting, handout.held, handout.lost) == (2, 0, ())
            gate.open.set()
            other = Worker(workspace, load_config(tmp_path / "cuecard.yaml"), "Bo", 2)
            asyncio.run(other.work(RunControl(), until_done=True))
            handout = workspace.workers.handout(run)
            assert handout is not None
            assert (handout.done, handout.lost) == (2, ())
            assert workspace.runs.get(run).state is RunState.DONE


def test_workers_and_who_follows_go_on_over_a_restart_of_the_server(
    server: postgres_server.Server, url: str, tmp_path: Path, started: Started
) -> None:
    gate = Gate(free=3)
    with fake.running(gate) as model:
        run = entered(url, tmp_path, model.url)
        follower = started("run", "--resume", str(run), "--workers")
        assert follower.stderr
        assert "offered" in follower.stderr.readline()
        worker = started("worker", "--until-done")
        assert gate.reached.wait(60)
        server.stop(signal.SIGKILL)
        try:
            assert worker.stderr
            noticed = worker.stderr.readline()
            assert "The database cannot be reached" in noticed
            gate.open.set()  # What is answered now waits to be recorded.
        finally:
            server.start()
        told = noticed + worker.communicate(timeout=60)[1]
        said = follower.communicate(timeout=60)[1]
        asked = len(model.requests)
    assert (worker.returncode, follower.returncode) == (0, 0), told + said
    assert "Traceback" not in told + said
    with Workspace.open(url) as workspace:
        assert workspace.runs.get(run).state is RunState.DONE
        assert sum(used.calls for used in workspace.runs.usage(run)) == asked
        trials = [trial.id for trial in workspace.runs.trials(run)]
        assert [len(workspace.verdicts.of_trial(trial)) for trial in trials] == [1, 1]


def test_a_run_goes_on_by_workers_with_a_larger_budget_and_is_judged_by_them(
    url: str, tmp_path: Path, started: Started
) -> None:
    with fake.running(brain) as model:
        run = entered(url, tmp_path, model.url, ", price: {{prompt: 1000, completion: 0}}")
        config = load_config(tmp_path / "cuecard.yaml")
        with Workspace.open(url) as workspace:
            for budget, code, state in ((0.02, 1, RunState.PAUSED), (1000, 0, RunState.DONE)):
                words = "--resume", str(run), "--workers", "--budget", str(budget)
                follower = started("run", *words)
                assert follower.stderr
                assert "2 trials are offered" in follower.stderr.readline()
                working = Worker(workspace, config, "Bo", 1)
                asyncio.run(working.work(RunControl(), until_done=True))
                told = follower.communicate(timeout=60)[1]
                record = workspace.runs.get(run)
                assert (follower.returncode, record.state) == (code, state), told
                assert settings_of(record).budget == budget
            offered = offer_judging(workspace, run, ("lexical",), config, by="ann", again=True)
            assert asyncio.run(offered) == 2
        told = started("worker", "--until-done").communicate(timeout=60)[1]
    assert "2 trials judged." in told
    assert "played" not in told


def test_who_follows_outlasts_a_server_that_goes_away_as_soon_as_trials_are_offered(
    server: postgres_server.Server, url: str, tmp_path: Path, started: Started
) -> None:
    with fake.running(brain) as model:
        run = entered(url, tmp_path, model.url)
        follower = started("run", "--resume", str(run), "--workers")
        assert follower.stderr
        assert "offered" in follower.stderr.readline()
        server.stop(signal.SIGKILL)
        server.start()
        told = started("worker", "--until-done").communicate(timeout=120)[1]
        said = follower.communicate(timeout=120)[1]
    assert follower.returncode == 0, said
    assert "Traceback" not in told + said
    assert "cannot be reached" not in said


def test_a_name_is_asked_of_the_server_once(server: postgres_server.Server, url: str) -> None:
    """Who follows a run over an outage would else need it for a name."""
    ours = Context(db=url, person_option="ann", config_path=None)
    assert ours.person == "ann"
    server.stop(signal.SIGKILL)
    try:
        assert ours.person == "ann"
    finally:
        server.start()
        ours.workspace.close()


def test_a_run_that_was_given_up_without_a_server_is_free_when_that_is_back(
    server: postgres_server.Server, url: str, tmp_path: Path
) -> None:
    run = entered(url, tmp_path, "http://127.0.0.1:9")
    with Workspace.open(url) as workspace:
        lease = workspace.leases.take(run, "ann")
        server.stop(signal.SIGQUIT)
        try:
            workspace.leases.release(lease)
        finally:
            server.start()
        # As long as this process lives, others would take what it left for held.
        until = time.monotonic() + 30
        while workspace.runs.get(run).lease is not None:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_workers_ask_shadows_and_one_that_is_killed_leaves_its_trials_to_another(
    url: str, tmp_path: Path, started: Started
) -> None:
    async def slowly(_request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return text(json.dumps(unmet("Please go on.")))

    names = ("sim", "scripted")
    with fake.running(slowly) as model:
        path = tmp_path / "cuecard.yaml"
        path.write_text(f"""
models:
  m: {{base_url: '{model.url}', model: m}}
users:
  sim: {{kind: simulator, model: m}}
""")
        config = load_config(path)
        with Workspace.open(url) as workspace:
            plan = RunPlan(tasks=TASKS, samples=3)
            shared, alone = (
                asyncio.run(start_run(workspace, plan, by="ann")).run.id for _each in range(2)
            )
            ids = [trial.id for trial in workspace.runs.trials(alone)]
            asyncio.run(shadow_trials(workspace, ids, names, config))
            once = len(model.requests)
            assert once > 6
            words = [word for name in names for word in ("--user", name)]
            asking = started("shadow", str(shared), *words, "--workers", "--json")
            assert asking.stderr
            assert "6 trials are offered to workers" in asking.stderr.readline()
            first = started("worker", "--concurrency", "2")
            while len(model.requests) < once + 3:
                time.sleep(0.01)
            first.kill()
            told = started("worker", "--until-done").communicate(timeout=120)[1]
            out, said = asking.communicate(timeout=120)
            assert asking.returncode == 0, said + told
            done = json.loads(out)
            assert [(s["name"], s["before"], s["failed"]) for s in done["shadows"]] == [
                (name, 0, 0) for name in names
            ]
            assert len(model.requests) <= 2 * once + 2  # Those under way.
            kept = [
                sorted(
                    (trials.index(s.trial_id), s.state, s.player.name, s.reply.model_dump_json())
                    for s in workspace.shadows.of(trials)
                )
                for trials in ([t.id for t in workspace.runs.trials(r)] for r in (shared, alone))
            ]
            assert kept[0] == kept[1] != []
            record = workspace.runs.get(shared)
            assert (record.state, settings_of(record).judging) == (RunState.DONE, None)
        again = started("shadow", str(shared), *words, "--workers", "--json")
        assert json.loads(again.communicate(timeout=120)[0])["shadows"][0]["asked"] == 0


def test_workers_play_quality_probes_within_the_budget_of_the_command(
    url: str, tmp_path: Path, started: Started
) -> None:
    with fake.running(answering("Final answer: nobody knows")) as model:
        (tmp_path / "cuecard.yaml").write_text(f"""
models:
  m: {{base_url: '{model.url}', model: m, price: {{prompt: 1000, completion: 0}}}}
  n: {{base_url: '{model.url}', model: n, price: {{prompt: 1000, completion: 0}}}}
qc: {{closed_book: 4}}
""")
        words = ("qc", *TASKS, "--stage", "closed_book", "--workers", "--json", "--budget")
        for budget, whole in (("0.03", False), ("1000", True)):
            probing = started(*words, budget)
            workers = [started("worker", "--concurrency", "2") for _each in range(2)]
            out, said = probing.communicate(timeout=120)
            for each in workers:
                each.send_signal(signal.SIGTERM)
                each.communicate(timeout=120)
                assert each.returncode == 0
            data = json.loads(out)
            assert ("budget" in data["stopped"]) is not whole, said
        asked = len(model.requests)
    with Workspace.open(url) as workspace:
        runs = workspace.runs.all("probe")
        assert [(run.state, run.finished, run.trials) for run in runs] == [(RunState.DONE, 16, 16)]
        handout = workspace.workers.handout(runs[0].id)
        assert handout is not None
        assert (handout.waiting, handout.held) == (0, 0)
        assert sum(used.calls for used in workspace.runs.usage(runs[0].id)) == asked


@pytest.mark.parametrize("words", [("runs",), ("worker", "--until-done"), ("score", "1")])
def test_a_verb_over_a_server_that_is_not_there_says_so(
    cuecard: Call, words: tuple[str, ...]
) -> None:
    told = cuecard("--db", "postgresql://ann@127.0.0.1:9/x", *words)
    assert told.code == 1
    assert told.out == ""
    assert "The database cannot be reached: postgresql://ann@127.0.0.1:9/x" in told.err
    assert "Traceback" not in told.err
