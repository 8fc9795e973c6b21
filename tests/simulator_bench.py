"""Models that play users: honest ones over HTTP, and any answers at all without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import SimulatorConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.messages import Message, ModelReply
from cuecard.core.engine.players import PlayerNames, build_players, build_user
from cuecard.core.engine.step_context import User
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Task
from cuecard.core.users.asking import MOVES
from cuecard.core.users.responder import ChainRules, Move, read_move
from cuecard.core.users.scripted import cue_met
from openai_server import OpenAIServer, Reply, Request, text
from react_bench import ticking

NUMBER = re.compile(r"is number (\d+):|第 (\d+) 件事：")
LAST = re.compile(r"\[(?:Assistant|助手)[^\]\n]*\]\n")
HEADING = re.compile(r"\n# ")


def config_at(url: str, **settings: Any) -> Config:
    model = ModelConfig(base_url=url, model="player", retries=0)
    return Config(
        models={"m": model},
        users={"sim": SimulatorConfig(kind="simulator", model="m", **settings)},
    )


def user_of(task: Task, **settings: Any) -> User:
    """The simulator of a task whose model is only reached through a step context that knows its answers."""
    config = config_at("http://127.0.0.1:9/v1", **settings)
    return build_user("sim", config, task, ModelHub(config))


class ToldContext:
    """A step context whose model gives these texts in turn, then the last one for ever."""

    tools = ()
    log = ()

    def __init__(self, *answers: object) -> None:
        self._answers = [a if isinstance(a, str) else json.dumps(a) for a in answers]
        self.prompts: list[str] = []
        self.calls = 0

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        answer = self._answers[min(self.calls, len(self._answers) - 1)]
        self.calls += 1
        self.prompts.append(prompt)
        return ModelReply(text=answer)

    def scope(self, name: str) -> ToldContext:
        return self


def met(reply: str, **more: Any) -> dict[str, Any]:
    return {"reason": "so", "cue_met": True, "stage": None, "reply": reply, "done": False, **more}


def unmet(reply: str, **more: Any) -> dict[str, Any]:
    return met(reply, **{"cue_met": False, **more})


def move(name: str, reply: str = "") -> dict[str, Any]:
    return {"reason": "so", "move": name, "reply": reply}


def asked(request: Request) -> str:
    """What the model was asked first in a request, without later complaints."""
    return str(request.messages[0]["content"])


def last_said(prompt: str) -> str:
    """The agent's last turn in the transcript of a prompt."""
    place = list(LAST.finditer(prompt))[-1]
    return HEADING.split(prompt[place.end() :])[0].strip()


def honest(task: Task) -> Callable[[Request], Reply]:
    """A model that judges cues and moves as scripts do and puts lines into its own few words."""

    def script(request: Request) -> Reply:
        prompt = asked(request)
        if isinstance(task.gold, CheckpointChain):
            return text(json.dumps(_read(task, prompt)))
        found = NUMBER.search(prompt)
        if found is None:
            thanks = {"reason": "all there", "reply": "Thank you! 谢谢！", "done": True}
            return text(json.dumps(thanks))
        number = int(found[1] or found[2])
        stage = task.stages[number - 1]
        if cue_met(stage.cue, last_said(prompt)):
            return text(json.dumps(met(stage.line, stage=number)))
        return text(json.dumps(unmet(stage.not_met or "Please go on. 请继续。")))

    return script


def _read(task: Task, prompt: str) -> dict[str, Any]:
    """The move of the last turn at the step that the prompt shows."""
    steps = ChainRules(task, None).steps
    step = next(s for s in steps if re.search(rf"[:：] ?{re.escape(s.question)}\n", prompt))
    message = Message(role="agent", turn=0, text=last_said(prompt), act=_act(prompt))
    found = read_move(message, step)
    words = {Move.RIGHT: "Yes, go on. 好，继续。", Move.WRONG: "I don't think so. 不太对。"}
    name = next(name for name, value in MOVES.items() if value is found)
    return move(name, words.get(found, "I leave that to you. 您来定。"))


def _act(prompt: str) -> Any:
    from cuecard.core.engine.messages import Act

    label = list(LAST.finditer(prompt))[-1][0]
    if "asks you" in label or "提问" in label:
        return Act.ASK
    return Act.ANSWER if "answers" in label or "作答" in label else Act.REPLY


async def play_simulated(
    task: Task,
    script: Callable[[Request], Reply],
    *,
    past: Sequence[Event] = (),
    max_turns: int = 40,
    **settings: Any,
) -> tuple[TrialResult, list[Event], OpenAIServer]:
    """A trial of the offline agent in the closed world with a model's user over HTTP."""
    sink = MemorySink()
    sink.events.extend(past)
    async with OpenAIServer(script) as server:
        config = config_at(server.url, **settings)
        config = config.model_copy(update=_embedded())
        hub = ModelHub(config)
        players = build_players(task, PlayerNames(user="sim"), config, hub)
        setup = TrialSetup(
            task=task,
            agent=players.agent,
            user=players.user,
            world=players.world,
            limits=Limits(max_turns=max_turns),
        )
        result = await play(setup, TrialLog(sink, list(past), ticking()))
        await hub.close()
    return result, sink.events, server


def _embedded() -> dict[str, Any]:
    from cuecard.core.config_players import ClosedWorldConfig, OfflineAgentConfig

    return {
        "agents": {"offline": OfflineAgentConfig(kind="offline")},
        "worlds": {"closed": ClosedWorldConfig(kind="closed")},
    }
