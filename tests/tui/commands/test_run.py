"""Runs from the command line: played, listed, scored, judged again, stopped and resumed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import forked
import openai_server as fake
from apart import fresh
from cuecard.core.config import load_config
from cuecard.core.evaluation.plans import RunPlan, create_run
from cuecard.store.workspace import Workspace
from cuecard.tui.commands.context import Context
from openai_server import OpenAIServer, Reply, Request

CONFIG = """\
models:
  local: {{base_url: "{url}", model: scripted, retries: 0}}
agents:
  live: {{kind: react, model: local}}
"""


@pytest.fixture
def ferry(begun, task_file):
    task_file("ferry", folder="tasks")
    return begun


def test_a_run_on_sample_tasks(cuecard):
    assert cuecard("--as", "Ann", "init").code == 0
    tasks = ("facts-night-train", "table-us-states")
    played = cuecard("--as", "Ann", "run", *tasks, "--samples", "2", "--name", "first", "--json")
    assert played.code == 0
    data = played.data
    assert data["run"]["name"] == "first"
    assert (data["run"]["trials"], data["run"]["open"]) == (4, 0)
    assert (data["stopped"], data["problems"]) == (False, [])
    found = {(r["task_id"], r["sample"]): r for r in data["results"]}
    assert len(found) == 4
    one = found["table-us-states", 1]
    assert one["baseline"] is True
    assert one["termination"] == "answered"
    assert one["n"]["row_f1"] == 50
    assert [(g["agent"], g["family"], g["trials"]) for g in data["groups"]] == [
        ("offline", "table", 2),
        ("offline", "facts", 2),
    ]
    measure = data["groups"][0]["measures"]["row_f1"]
    assert measure["n"] == {"avg": 1, "max": 1}
    assert measure["samples"] == 2
    assert "4/4" in played.err

    listed = cuecard("runs", "--json").data["runs"]
    assert [(r["id"], r["name"], r["state"], r["finished"]) for r in listed] == [
        (1, "first", "done", 4)
    ]
    assert "first" in cuecard("runs").out

    scored = cuecard("score", "1", "--json").data
    assert scored["results"] == data["results"]
    shown = cuecard("score", "1")
    assert "Table tasks: agent offline (offline baseline)" in shown.out
    assert "Avg@2" in shown.out
    assert "n tasks" in shown.out
    assert "judge lexical" in shown.out
    assert all(len(line) <= 80 for line in shown.out.splitlines())

    again = cuecard("judge", "--run", "1", "--json")
    assert again.code == 0
    assert again.data["results"] == data["results"]


def test_tasks_given_as_files_are_imported_first(ferry, task_file):
    assert ferry("run", "tasks/ferry.yaml", "--json").data["results"][0]["task_id"] == "ferry"
    task_file("tram", folder="tasks")
    both = ferry("run", "tasks", "--json").data
    assert [r["task_id"] for r in both["results"]] == ["ferry", "tram"]
    everything = ferry("run", "--json").data
    assert [r["task_id"] for r in everything["results"]] == ["ferry", "tram"]


def test_nothing_is_run_from_a_bad_file(ferry, tmp_path: Path):
    (tmp_path / "tasks" / "bad.yaml").write_text("id: bad\n", encoding="utf-8")
    refused = ferry("run", "tasks")
    assert (refused.code, refused.out) == (1, "")
    assert "tasks/bad.yaml: title: is missing" in refused.err
    assert "Nothing was run." in refused.err
    assert ferry("runs", "--json").data == {"runs": []}


def test_what_is_not_there(ferry):
    empty = ferry("run")
    assert empty.code == 1
    assert "There are no tasks to run" in empty.err
    for words, said in (
        (("run", "ghost"), "ghost (give the id of a task"),
        (("run", "ghost.yaml"), "ghost.yaml"),
        (
            ("run", "tasks", "--agent", "nobody"),
            "nobody (known agents: offline, offline:forgetful, ",
        ),
        (("run", "--resume", "9"), "`cuecard runs`"),
        (("score", "9"), "`cuecard runs`"),
        (("judge", "--run", "9"), "`cuecard runs`"),
    ):
        refused = ferry(*words)
        assert (refused.code, refused.out) == (1, ""), words
        assert said in refused.err
        assert refused.err.count("\n") == 1


class Gate:
    """A model that answers its first `free` calls, and then holds the line until it is opened."""

    def __init__(self, free: int) -> None:
        self.reached = threading.Event()
        self.open = False
        self._free = free

    def __call__(self, request: Request) -> Reply:
        if request.number >= self._free and not self.open:
            self.reached.set()

            async def hold() -> Reply:
                await asyncio.sleep(600)
                return fake.text("too late")

            return hold()  # type: ignore[return-value]
        if not request.tools:
            return fake.text("Final answer: 12 euros")
        return fake.calls(("search", {"query": f"ferry ticket {request.number}"}))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[tuple[Gate, OpenAIServer]]:
    held = Gate(free=2)
    with fake.running(held) as server:
        (tmp_path / "cuecard.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        yield held, server


def test_ctrl_c_leaves_trials_open_and_says_how_to_go_on(
    cuecard, environment, task_file, tmp_path: Path, gate
):
    held, server = gate
    task_file("ferry")
    fresh(tmp_path / "my work.db").close()
    started = forked.Popen(
        [
            *(sys.executable, "-m", "cuecard", "--db", "my work.db", "run", "ferry.yaml"),
            *("--agent", "live", "--samples", "3", "--concurrency", "1", "--json"),
        ],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert held.reached.wait(60)
    # The first asks to finish what is under way, which never ends here; the second does not wait.
    started.send_signal(signal.SIGINT)
    assert started.stderr
    first = started.stderr.readline()
    assert "Finishing the calls under way" in first
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert '"stopped": true' in out
    assert "Run 1: 3 of 3 trials are open" in err
    assert "cuecard --db 'my work.db' run --resume 1" in err
    assert "Traceback" not in err

    listed = cuecard("--db", "my work.db", "runs", "--json").data["runs"]
    assert [(r["state"], r["open"]) for r in listed] == [("cancelled", 3)]
    shown = cuecard("--db", "my work.db", "score", "1")
    assert "3 trials are still open" in shown.err

    held.open = True
    told = len(server.requests)
    went_on = cuecard(
        *("--db", "my work.db", "run", "--resume", "1", "--concurrency", "1", "--json")
    )
    assert went_on.data["run"]["state"] == "done", went_on.err
    assert len(went_on.data["results"]) == 3
    assert {result["agent"] for result in went_on.data["results"]} == {"live"}
    # The two calls that were answered before are not made again.
    assert server.requests[told].messages[-1]["role"] == "tool"


@pytest.mark.usefixtures("begun")
def test_a_trial_that_fails_is_told_and_ends_no_other(cuecard, task_file, tmp_path: Path):
    task_file("ferry")
    with fake.running(lambda request: fake.error(400, "[red]no\x1b[31m such model")) as server:
        (tmp_path / "cuecard.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        words = ("run", "ferry.yaml", "--agent", "live", "--agent", "offline", "--samples", "2")
        played = cuecard(*words)
    assert played.code == 1
    assert "ferry · live · sample 0 and 1 more: API error" in played.err
    assert "[red]no" in played.err
    assert "\x1b" not in played.err
    assert "Fact tasks: agent live" in played.out
    assert "2 trials: 2 ended, 2 of them by a failure; 2 judged." in played.out
    data = cuecard("score", "1", "--json").data
    failed = {group["agent"]: group["failed"] for group in data["groups"]}
    assert failed == {"live": 2, "offline": 0}


@pytest.mark.usefixtures("begun")
def test_a_changed_agent_is_told(cuecard, task_file, tmp_path: Path, gate):
    _held, server = gate
    task_file("ferry")
    cuecard("import", "ferry.yaml")
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        create_run(
            workspace, RunPlan(tasks=("ferry",), agents=("live",)), by="a", config=load_config()
        )
    changed = CONFIG.format(url=server.url).replace("scripted", "another")
    (tmp_path / "cuecard.yaml").write_text(changed, encoding="utf-8")
    refused = cuecard("run", "--resume", "1", "--json")
    assert refused.code == 1
    assert refused.data["problems"][0]["reason"].startswith("The agent live has changed")
    assert "run --resume 1" in refused.err
    assert not server.requests


def test_a_password_is_not_repeated():
    ours = Context("postgresql://u:secret@host/db", "Ann", None)
    assert ours.command("score", "1") == "cuecard --db URL --as Ann score 1"
