"""Harnesses that fail, hang or are told to stop; and what is left of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cuecard.core.agents.process_tree import environment
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import PlayerRef, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.engine.step_context import WorldContext
from cuecard.core.errors import AgentPaused, BudgetSpent, Halt
from cuecard.core.worlds.closed import SEARCH
from harness_bench import HarnessBench, gone, running, until


def pids_in(folder: Path) -> list[int]:
    return json.loads((folder / "pids").read_text())


def file_in(folder: Path, name: str) -> bool:
    return (folder / name).exists()


async def test_a_crash_in_mid_turn_shows_the_last_words_without_secrets(
    bench: HarnessBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_SECRET", "sk-very-secret")

    result = await bench.play("crash", pass_env=("HARNESS_DIR", "HARNESS_SECRET"))

    assert result.termination is Termination.API_ERROR
    assert "The harness ended: exit code 7" in result.detail
    assert "boom <HARNESS_SECRET>" in result.detail
    assert "sk-very-secret" not in str(bench.events)


@pytest.mark.parametrize(
    ("tricks", "fields", "told"),
    [
        (("error",), {}, "out of order"),
        (("silent",), {"turn_timeout": 0.3}, "did not end its turn in time"),
    ],
)
async def test_a_harness_that_fails_ends_its_trial_with_a_reason(
    bench: HarnessBench, tricks: Sequence[str], fields: dict[str, object], told: str
) -> None:
    fields = {"start_timeout": 1.0, **fields}
    result = await bench.play(*tricks, **fields)

    assert result.termination is Termination.API_ERROR
    assert told in result.detail


@pytest.mark.parametrize(
    ("tricks", "fields", "told"),
    [
        (("deaf",), {"start_timeout": 0.3}, "did not answer in time"),
        ((), {"command": ("/no/such/harness",)}, "cannot be started"),
        ((), {"command": ("true",)}, "The harness ended"),
        ((), {"command": ("sh", "-c", "echo not a harness; exec sleep 60")}, "not a harness"),
    ],
)
async def test_a_harness_that_cannot_start_ends_no_trial(
    bench: HarnessBench, tricks: Sequence[str], fields: dict[str, object], told: str
) -> None:
    fields = {"start_timeout": 1.0, **fields}
    with pytest.raises(AgentPaused, match="outside") as caught:
        await bench.play(*tricks, **fields)

    assert told in str(caught.value)
    assert bench.bodies("trial_ended") == []


async def test_a_harness_that_fails_in_every_trial_is_asked_no_more(bench: HarnessBench) -> None:
    for _trial in range(2):
        result = await bench.play("error")
        assert result.termination is Termination.API_ERROR
    with pytest.raises(AgentPaused, match=r"3 .*in a row"):
        await bench.play("error")


async def test_a_harness_that_started_before_may_fail_to_start_once(bench: HarnessBench) -> None:
    assert (await bench.play()).termination is not Termination.API_ERROR
    result = await bench.play("deaf", start_timeout=0.3)
    assert result.termination is Termination.API_ERROR


async def test_what_a_harness_says_in_a_turn_is_bounded(bench: HarnessBench) -> None:
    result = await bench.play("flood")
    assert result.termination is Termination.API_ERROR
    assert "2,000,000 characters" in result.detail


async def test_cancelling_stops_the_harness_and_all_it_started(bench: HarnessBench) -> None:
    trial = asyncio.create_task(bench.play("children", "silent"))
    await until(lambda: file_in(bench.folder, "pids"))
    await until(lambda: bool(bench.marks("harness_session")))
    pids = pids_in(bench.folder)
    assert all(map(running, pids))
    (session,) = bench.marks("harness_session")

    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial

    assert file_in(bench.folder, "cancelled")
    assert [pid for pid in pids if running(pid)] == []
    assert gone(session.cwd)
    assert bench.bodies("trial_ended") == []


async def test_a_shared_harness_outlives_a_cancelled_trial_but_not_the_run(
    bench: HarnessBench,
) -> None:
    trial = asyncio.create_task(bench.play("silent", shared=True))
    await until(lambda: file_in(bench.folder, "prompts"))
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    pid = int(bench.prompts[0][0].partition("-")[2])
    assert file_in(bench.folder, "cancelled")
    assert running(pid)

    await bench.hub.close()

    assert not running(pid)


async def test_a_shared_harness_that_died_is_started_again(bench: HarnessBench) -> None:
    crashed = await bench.play("crash", shared=True)
    assert crashed.termination is Termination.API_ERROR

    again = await bench.play(shared=True)

    assert again.termination is Termination.USER_DONE
    assert len({session for session, _ in bench.prompts}) == 2


class SpentWorld:
    """A world that finds the run's budget spent."""

    ref = PlayerRef(name="spent", kind="closed")
    tools: tuple[ToolSpec, ...] = (SEARCH,)

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        raise BudgetSpent("The budget is used up")


async def test_a_halt_in_the_world_pauses_the_trial_and_ends_the_harness(
    bench: HarnessBench,
) -> None:
    with pytest.raises(Halt):
        await bench.play("search", "http", world=SpentWorld())

    pid = int(bench.prompts[0][0].partition("-")[2])
    assert not running(pid)
    assert bench.bodies("trial_ended") == []


def test_a_harness_sees_only_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.setenv("GIVEN", "y")
    monkeypatch.setenv("LC_TIME", "C")

    seen = environment(("GIVEN", "NOT_SET"))

    assert seen["GIVEN"] == "y"
    assert "SECRET_KEY" not in seen
    assert set(seen) - {"PATH", "HOME", "TERM", "LANG", "LANGUAGE", "GIVEN"} == {
        name for name in seen if name.startswith("LC_")
    }
