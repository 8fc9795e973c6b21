"""A person plays the 10-stage sample to its end by keys alone in a real terminal (tmux), against the offline
agent and against an OpenAI-compatible server that streams; then again with `kill -9` at any point.

python bench/play_flow.py [KILLS] [COLSxROWS]      12 kills, 110x34, some three minutes; needs tmux

The hand at the keys says what the scripted user would say. What the log then holds is compared with a
session that nobody disturbed: no event may be lost or doubled. Exit code 1 if one is.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cuecard.annotate.samples import load_sample
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    TrialEnded,
    TrialStarted,
    UserSpoke,
    dialogue_of,
    effective_log,
)
from cuecard.core.engine.messages import UserReply
from cuecard.core.users.scripted import ScriptedUser
from cuecard.store.workspace import Workspace
from openai_server import Reply, Request, running, stream
from review_flow import Seat
from scripted_brain import thought

SAMPLE = load_sample("graph-astronomy-zh.yaml")
PERSON = "Wilhelmina"
PAUSE = 0.003
PATIENCE = 3
HAND = 0.3
KILLS, SIZE = 12, (110, 34)


def streaming_brain(request: Request) -> Reply:
    """Searches once a turn, then says what the next stage waits for, in pieces of four characters, some
    hundred pieces a second.
    """
    message = thought(request.messages, request.tools)
    if calls := message.get("tool_calls"):
        deltas = [{"role": "assistant", "tool_calls": [{"index": 0, **calls[0]}]}]
        return stream(*deltas, finish="tool_calls", pause=PAUSE)
    words = f"{message['content']}\n\n{_wanted(request)}"
    pieces = [words[at : at + 4] for at in range(0, len(words), 4)]
    return stream(*({"content": piece} for piece in pieces), pause=PAUSE)


def _wanted(request: Request) -> str:
    said = "\n".join(str(m["content"]) for m in request.messages if m["role"] == "user")
    due = next((stage for stage in SAMPLE.stages if stage.line not in said), None)
    if due is None:
        return "都说完了。"
    terms = "、".join(due.cue.terms)
    return f"说到{terms}：{due.cue.text}。要不要再说说{terms}？"


CONFIG = """
models:
  near: {{base_url: "{url}", model: scripted-1, stream: always}}
agents:
  streamed: {{kind: react, model: near}}
"""


@contextmanager
def set_up(folder: Path, agent: str) -> Generator[None]:
    """A workspace with the one sample and, for the streamed agent, its server and configuration."""
    with Workspace.open(folder / "bench.db") as workspace:
        workspace.tasks.save(SAMPLE, author="Author")
    if agent == "offline":
        yield
        return
    with running(streaming_brain) as server:
        (folder / "cuecard.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        yield


class Died(Exception):
    """The program is gone."""


class Player(Seat):
    """Somebody at the Play screen who says what the scripted user would say."""

    script = ScriptedUser(SAMPLE, patience=PATIENCE)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def seen() -> bool:
            if self._is_over():
                raise Died
            return condition()

        super().until(seen, what)

    def kill_in(self, seconds: float) -> threading.Timer:
        pid = int(self._tmux("display-message", "-p", "-t", "it", "#{pane_pid}"))

        def kill() -> None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        timer = threading.Timer(seconds, kill)
        timer.start()
        return timer

    def begin(self, agent: str) -> None:
        self.keys("2")
        self.wait(SAMPLE.title[:5])
        self.keys("p")
        if agent != "offline":
            self.wait("Whom do you want to talk to?")
            self.keys("Home", "Down", "Enter")
        self.wait("You begin")

    def go_on(self) -> None:
        """From Home back into the open session."""
        self.wait("Go on playing")
        self.keys("Enter")
        self.wait("Pause")

    def log(self) -> list[Event] | None:
        """What is recorded; None before there is a session."""
        with Workspace.open(self.db) as workspace:
            trials = [t for run in workspace.runs.all() for t in workspace.runs.trials(run.id)]
            assert len(trials) <= 1, "a second session was begun"
            return workspace.runs.log(trials[0].id) if trials else None

    def due(self) -> UserReply | None:
        """What the script says now; None while it is not the person's turn."""
        effective = effective_log(self.log() or [])
        if not any(isinstance(event.body, UserSpoke) for event in effective):
            return self.script.opening()
        if not isinstance(effective[-1].body, AgentSpoke):
            return None
        return self.script.answer(dialogue_of(effective))

    @property
    def is_through(self) -> bool:
        return any(isinstance(event.body, TrialEnded) for event in self.log() or ())

    def say(self, reply: UserReply) -> None:
        """The mark, then the words, by keys; a hand clears what the mark has put there. An opening stands
        there to be sent.
        """
        if reply == self.script.opening():
            self.wait("You begin")
            self.keys("Enter")
            return
        if reply.done:
            self.keys("F9")
            self.wait("End the dialogue?")
            self.keys("y")
            return
        self.keys("C-l")
        self.wait("Did the agent's last reply")
        self.keys("y" if reply.cue_met else "n")
        self.until(lambda: "Did the agent's last" not in self.screen(), "the mark")
        self._tmux("send-keys", "-t", "it", "-N", "16", "C-u")
        time.sleep(HAND)
        self.type(reply.text)
        time.sleep(HAND)
        self.keys("Enter")


@dataclass
class Played:
    """A session as it was left: its log, and how often it was killed."""

    log: list[Event]
    kills: int = 0
    seconds: float = 0
    screens: list[str] = field(default_factory=list[str])

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(m.role, m.text) for m in dialogue_of(effective_log(self.log)).messages]

    @property
    def steps(self) -> list[str]:
        return [event.body.key for event in effective_log(self.log)]


def play_through(player: Player, agent: str, kills: int, rng: random.Random) -> Played:
    """Play to the end, killed `kills` times at any moment on the way."""
    begun, done, screens = time.monotonic(), 0, [""]
    player.start()
    while True:
        timer = player.kill_in(rng.uniform(0.5, 6)) if done < kills else None
        try:
            if player.log() is not None:
                player.go_on()
            else:
                player.begin(agent)
            hand(player)
            screens.append(player.screen())
            break
        except Died:
            done += 1
            player.close()
            player.start()
        finally:
            if timer:
                timer.cancel()
    player.close()
    return Played(player.log() or [], done, time.monotonic() - begun, screens)


def hand(player: Player) -> None:
    spoken = -1
    while not player.is_through:
        player.until(lambda: True, "the program")
        recorded, reply = len(player.log() or ()), player.due()
        if reply is None or recorded == spoken:
            time.sleep(0.1)
            continue
        spoken = recorded
        time.sleep(HAND)
        player.say(reply)


def check(disturbed: Played, whole: Played) -> list[str]:
    """What of a session that was killed is not as it should be."""
    wrong: list[str] = []
    if disturbed.said != whole.said:
        wrong.append("the dialogue is another")
    if disturbed.steps != whole.steps:
        wrong.append("steps are missing or more")
    if [event.seq for event in disturbed.log] != list(range(len(disturbed.log))):
        wrong.append("numbers are missing")
    keys = [(event.take, event.body.key) for event in disturbed.log]
    if len(set(keys)) != len(keys):
        wrong.append("a step stands twice")
    return wrong


def played_by(played: Played) -> str:
    started = played.log[0].body
    return started.agent.name if isinstance(started, TrialStarted) else ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int, nargs="?", default=KILLS)
    parser.add_argument("size", nargs="?", default="x".join(map(str, SIZE)))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    rng, failed = random.Random(options.seed), 0
    for agent in ("offline", "streamed"):
        played: list[Played] = []
        for kills in (0, options.kills):
            with tempfile.TemporaryDirectory() as name, set_up(Path(name), agent):
                player = Player(Path(name), PERSON, (width, height))
                try:
                    played.append(play_through(player, agent, kills, rng))
                finally:
                    player.close()
        whole, disturbed = played
        wrong = check(disturbed, whole)
        assert played_by(whole) == agent
        failed += bool(wrong)
        stages = len(
            {e.body.reply.stage for e in whole.log if e.body.type == "user_spoke"} - {None}
        )
        print(
            f"{agent}: {stages} of {len(SAMPLE.stages)} stages, {len(whole.said)} messages, "
            f"{len(whole.log)} events in {whole.seconds:.0f} s; then {disturbed.kills} kills: "
            f"{'; '.join(wrong) or 'nothing lost, nothing doubled'}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
