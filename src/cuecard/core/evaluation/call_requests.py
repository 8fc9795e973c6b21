"""What was sent for a model call that is in a record. The record keeps answers, not requests: these follow from it, and
are made again by playing, or judging, over the record up to the call. Nothing is sent, and no world is asked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from pydantic import JsonValue

from cuecard.core.archive import Archive
from cuecard.core.config import Config
from cuecard.core.engine.events import Event, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import (
    Dialogue,
    ModelReply,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    UserReply,
)
from cuecard.core.engine.players import HumanUser, NoPlayer, PersonAgent, build_judge
from cuecard.core.engine.step_context import KeyedCalls, RecordedCall, World, WorldContext
from cuecard.core.engine.trial import RecordedLog, close_players, play, prediction_of
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import CuecardError, Halt
from cuecard.core.evaluation.plans import settings_of, setup_for
from cuecard.core.i18n import _
from cuecard.core.llm.client import Call, ChatClient
from cuecard.core.llm.hub import ModelHub
from cuecard.core.llm.requests import Draft, JsonSchema
from cuecard.core.llm.wire import ChatMessage
from cuecard.core.secrets import public_form, scrub_data

if TYPE_CHECKING:
    from cuecard.core.llm.limiter import RateLimiter

_OWN_REQUESTS = ("acp", "http", "human", "python")
_KEPT_WORLDS = ("closed", "parallel")
"""Worlds that look nowhere while they answer."""
_PATIENCE = 30.0


class CapturedRequest(Halt):
    """Raised in place of a call: what would have been sent, and where to."""

    def __init__(self, url: str, body: JsonValue) -> None:
        super().__init__("", url)
        self.url, self.body = url, body


class _Asking(ChatClient):
    async def call(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] | None = None,
        *,
        may_call: bool = True,
        schema: JsonSchema | None = None,
    ) -> Call:
        mode = self.config.stream
        streams = mode == "always" or (mode == "auto" and on_text is not None)
        draft = Draft(self.config, messages, tools, may_call, schema, streams)
        body = json.loads(draft.encoded(self.capabilities.fallback))
        raise CapturedRequest(public_form(self.config.base_url), scrub_data(body))


class _AskingHub(ModelHub):
    """Its clients need no key and send nothing."""

    def client(self, name: str) -> ChatClient:
        keyless = {"api_key_env": "", "api_key_file": "", "api_key_command": ()}
        return _Asking(self._config.model(name).model_copy(update=keyless), name=name)

    @property
    def limiters(self) -> dict[str, RateLimiter]:
        return {}


class _SilentWorld:
    """Answers nothing, in the place of a world that would look things up again."""

    def __init__(self, world: World) -> None:
        self.ref, self.tools = world.ref, world.tools

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        del context
        raise _not_again(call.name)


def _not_again(what: str) -> CuecardError:
    return CuecardError(
        _("The request cannot be made again"),
        _("the record leads elsewhere now: {what}").format(what=what),
        _("The code, the prompts or the configuration have changed since."),
    )


async def request_of(
    workspace: Archive, config: Config, trial_id: int, seq: int
) -> CapturedRequest:
    """What was sent for the model call that is event `seq` of a trial. Raises `CuecardError` where it cannot be told:
    another program sent it, or the players are configured otherwise now.
    """
    trial = workspace.runs.trial(trial_id)
    log = workspace.runs.log(trial_id)
    target = next((event.body for event in log if event.seq == seq), None)
    if not isinstance(target, ModelReplied):
        raise _not_again(str(seq))
    player = {"user": trial.user, "world": trial.world}.get(target.payer, trial.agent)
    own = _OWN_REQUESTS if target.payer != "world" else ()
    if player.kind in own or (target.payer == "world" and player.kind not in _KEPT_WORLDS):
        raise CuecardError(
            _("The request cannot be made again"),
            _("{name} ({kind}) made it by itself, or from what it looked up.").format(
                name=player.name, kind=player.kind
            ),
        )
    run = workspace.runs.get(trial.run_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    setup = setup_for(
        trial,
        task,
        run.limits,
        settings_of(run).player_names(trial.agent.name),
        config,
        _AskingHub(config),
        human=HumanUser(trial.user.name, _nobody) if trial.user.kind == "human" else None,
        human_agent=PersonAgent(NoPlayer(), task.language) if trial.agent.kind == "human" else None,
        notes=RecordedLog(log).notes,
    )
    if target.payer != "world":
        setup = replace(setup, world=_SilentWorld(setup.world))
    past = [event for event in log if _is_visible_to(event, target, seq)]
    try:
        await asyncio.wait_for(
            play(setup, TrialLog(MemorySink(), past), leave_open=True), _PATIENCE
        )
    except CapturedRequest as sent:
        return sent
    except TimeoutError:
        pass
    finally:
        await close_players(setup)
    raise _not_again(target.key)


def _is_visible_to(event: Event, target: ModelReplied, seq: int) -> bool:
    """Whether a call finds this event: one that came before, or was made at the same time in another scope."""
    body = event.body
    if event.seq < seq or not isinstance(body, ModelReplied | ToolAnswered):
        return event.seq < seq
    beside = (body.part, body.turn) == (target.part, target.turn)
    around = f"{target.key}/".startswith(f"{body.key}/")
    return beside and body.scope != target.scope and not around


async def _nobody(_dialogue: Dialogue | None) -> UserReply:
    raise _not_again("user")


async def judge_request(
    workspace: Archive, config: Config, trial_id: int, judge: str, key: str
) -> CapturedRequest:
    """What was sent for a judge's call, known by its key in the newest attempt. Raises `CuecardError` as `request_of`."""
    calls = judge_calls(workspace, trial_id, judge)
    others = {place: reply for place, reply in calls.items() if place != key}
    trial = workspace.runs.trial(trial_id)
    task = workspace.tasks.revision(trial.task_id, trial.revision).task
    prediction = prediction_of(workspace.runs.events(trial_id))

    async def record(call: RecordedCall) -> NoReturn:
        raise _not_again(call.key)

    context = KeyedCalls(others, record, f"{key.partition('/')[0]}/")
    try:
        await build_judge(judge, config, _AskingHub(config)).judge(task, prediction, context)
    except CapturedRequest as sent:
        return sent
    raise _not_again(key)


def judge_calls(workspace: Archive, trial_id: int, judge: str) -> dict[str, ModelReply]:
    """The replies of a judge's model in its newest attempt at a trial, by key."""
    attempt = max(workspace.judge_calls.next_attempt(trial_id, judge) - 1, 0)
    return workspace.judge_calls.of(trial_id, judge, attempt)
