"""Whole trials of external agents: the scripted harness, or any other program."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuecard.core.config_players import AcpAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.players import build_agent
from cuecard.core.engine.step_context import Agent, User, World
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from react_bench import GRAPH, StreamingSink, ticking

HARNESS = Path(__file__).parent / "scripted_harness.py"
EXAMPLES = Path(__file__).parent / "third_party" / "agent_client_protocol"


def harness_config(*tricks: str, **fields: Any) -> AcpAgentConfig:
    command = fields.pop("command", (sys.executable, str(HARNESS), *tricks))
    fields = {"pass_env": ("HARNESS_DIR",), "start_timeout": 20, "turn_timeout": 8, **fields}
    return AcpAgentConfig(command=command, **fields)


class HarnessBench:
    """Trials with harnesses that share a folder (HARNESS_DIR) and a hub."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.config = Config()
        self.hub = ModelHub(self.config)
        self.sink = StreamingSink()
        monkeypatch.setenv("HARNESS_DIR", str(folder))

    def agent(self, agent: AcpAgentConfig, task: Task = GRAPH) -> Agent:
        config = Config(agents={"outside": agent})
        return build_agent("outside", config, task, self.hub)

    async def play(
        self,
        *tricks: str,
        task: Task = GRAPH,
        past: Sequence[Event] = (),
        user: User | None = None,
        world: World | None = None,
        offered: bool = True,
        **fields: Any,
    ) -> TrialResult:
        self.sink = StreamingSink()
        self.sink.events.extend(past)
        setup = TrialSetup(
            task=task,
            agent=self.agent(harness_config(*tricks, world=offered, **fields), task),
            user=user or scripted_user_for(task),
            world=world or ClosedWorld(task),
            limits=Limits(max_turns=6),
        )
        return await play(setup, TrialLog(self.sink, list(past), ticking()))

    @property
    def events(self) -> list[Event]:
        return self.sink.events

    def bodies(self, kind: str) -> list[Any]:
        return [event.body for event in self.sink.events if event.body.type == kind]

    def marks(self, kind: str) -> list[Any]:
        return [body.mark for body in self.bodies("marked") if body.mark.kind == kind]

    def trim_session(self, *, turns: int) -> None:
        """Have the only session that was kept know its first turns only."""
        (kept,) = self.folder.glob("s0-*")
        kept.write_text(json.dumps(json.loads(kept.read_text())[:turns]))

    def forget_sessions(self) -> None:
        for kept in self.folder.glob("s0-*"):
            kept.unlink()

    @property
    def prompts(self) -> list[tuple[str, str]]:
        """Each prompt that a harness got, with its session."""
        lines = (self.folder / "prompts").read_text().splitlines()
        return [(session, words) for session, words in map(json.loads, lines)]


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(path: str) -> bool:
    return not Path(path).exists()


async def until(happened: Callable[[], bool], seconds: float = 15) -> None:
    """Wait for something that another program does."""
    async with asyncio.timeout(seconds):
        while not happened():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.02)
