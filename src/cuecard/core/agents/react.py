"""An agent on a model that reasons, calls tools and talks (ReAct), alone or with a team, and rebuilds its messages from the log;
and how it is made as the configuration says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from pydantic import JsonValue

from cuecard.core.agents.briefing import Note, approach_to, estimate, latest, say
from cuecard.core.agents.calling import NATIVE, TAGGED, list_of
from cuecard.core.agents.thread import PromptLimit, Thread
from cuecard.core.agents.turn import (
    Delegation,
    Turn,
    TurnSettings,
    Voice,
    listed,
    note_tools,
    read_lessons,
)
from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import ModelAgentConfig, ReactAgentConfig, TeamAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, EventBody, Marked, ModelReplied, ToolAnswered
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    Mark,
    Message,
    ModelReply,
    NotesKept,
    NotesRead,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    ToolSpec,
)
from cuecard.core.engine.step_context import StepContext
from cuecard.core.errors import ModelCallError
from cuecard.core.families.common import parse_prediction
from cuecard.core.families.registry import family_of
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.hub import ModelHub
from cuecard.core.predictions import Prediction, UnusablePrediction
from cuecard.core.tasks.models import Family, Task, TaskLanguage


class NotRecorded(LookupError):
    """The log does not hold this step: the turn was played by another agent, or another version."""


def by_key(log: Sequence[Event]) -> dict[str, EventBody]:
    """The event bodies of a log by their keys."""
    return {event.body.key: event.body for event in log}


class PastTurn:
    """A `StepContext` that returns the recorded steps of one turn of the agent and performs nothing.

    `recorded`: the event bodies by their keys. Calls raise `NotRecorded` if the log does not hold them.
    """

    def __init__(
        self,
        log: Sequence[Event],
        recorded: Mapping[str, EventBody],
        turn: int,
        tools: tuple[ToolSpec, ...],
        scope: str = "",
    ) -> None:
        self.log = log
        self.tools = tools
        self._effective = recorded
        self._turn = turn
        self._scope = scope
        self._steps: dict[str, int] = {}

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        body = self._next("model")
        if not isinstance(body, ModelReplied):
            raise NotRecorded
        return body.reply

    async def call_tool(
        self, call: ToolCall, perform: Callable[[], Awaitable[ToolAnswer]] | None = None
    ) -> ToolAnswer:
        """The recorded answer; also raises `NotRecorded` if the recorded call was another one."""
        body = self._next("tool")
        if not isinstance(body, ToolAnswered) or (body.call.name, body.call.arguments) != (
            call.name,
            call.arguments,
        ):
            raise NotRecorded
        return body.answer

    async def mark(self, mark: Mark) -> Mark:
        body = self._next(mark.kind)
        if not isinstance(body, Marked):
            raise NotRecorded
        return body.mark

    @property
    def rewound(self) -> int:
        return 0

    def onward(self) -> PastTurn:
        return self

    def scope(self, name: str) -> PastTurn:
        return PastTurn(self.log, self._effective, self._turn, self.tools, f"{self._scope}{name}/")

    def stream(self, text: str) -> None:
        pass

    def _next(self, kind: str) -> EventBody | None:
        step = self._steps.get(kind, 0)
        self._steps[kind] = step + 1
        return self._effective.get(f"agent/{self._turn}/{self._scope}{kind}/{step}")


_LESSONS_READ = 8
"""Lessons from earlier tasks may take up one part in so many of the context."""


@dataclass(frozen=True)
class ReactPrompts:
    """The prompts of a ReAct agent. `values`: the variables of `system`. `tagged`: describes the tools if calls are
    written as text. `memory`: describes the note tools (local) or the lessons from earlier tasks (lifelong); `lessons`:
    asks for new ones.
    """

    system: Prompt
    conclusion: Prompt
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    tagged: Prompt | None = None
    memory: Prompt | None = None
    lessons: Prompt | None = None
    team: Prompt | None = None

    @property
    def all(self) -> tuple[Prompt, ...]:
        found = (getattr(self, item.name) for item in fields(self))
        return tuple(value for value in found if isinstance(value, Prompt))


@dataclass(frozen=True)
class _Known:
    """A thread, and the dialogue that it represents."""

    thread: Thread
    messages: tuple[Message, ...]


class ReactAgent:
    """Plays an agent's part with one model, in one trial.

    It keeps its messages from turn to turn as long as the dialogue continues. Otherwise (a resumed trial, an edited
    dialogue) it plays the recorded turns again over the log, through the same code, which gives exactly the messages
    that the model saw.

    `lessons`: what it learnt in earlier tasks, oldest first; only used with a prompt for them. `options`: other settings
    that enter its version.
    """

    def __init__(
        self,
        name: str,
        turn_settings: TurnSettings,
        prompts: ReactPrompts,
        family: Family,
        *,
        lessons: tuple[str, ...] = (),
        options: Mapping[str, JsonValue] | None = None,
        kind: str = "react",
    ) -> None:
        self._lifelong = prompts.lessons is not None
        if prompts.memory and not self._lifelong:
            own = (*turn_settings.own_tools, *note_tools(turn_settings.language))
            turn_settings = replace(turn_settings, own_tools=own)
        self._turn_settings = replace(turn_settings, prompt=prompts.system.hash)
        self._prompts = prompts
        self._family: Family = family
        self._lessons = lessons
        self._known: _Known | None = None
        self.ref = PlayerRef(
            name=name,
            kind=kind,
            model=turn_settings.client.config.model,
            version=_version(self._turn_settings, prompts, options or {}),
        )

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        """One turn. Raises `ModelCallError`, `EmptyReply`, `ErrorLoop` or `Halt`."""
        thread = await self._thread(dialogue, context)
        reply = await Turn(self._turn_settings, thread, context).play()
        said = Message(role="agent", turn=dialogue.turn, text=reply.text, act=reply.act)
        self._known = _Known(thread, (*dialogue.messages, said))
        return reply

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        """The model's prediction; if that cannot be parsed, it is asked once more.

        Raises `ModelCallError` and `Halt`.
        """
        thread = await self._thread(dialogue, context)
        voice = Voice(self._turn_settings, thread, context)
        tools = self._turn_settings.tools(context)
        thread.user(self._prompts.conclusion.render())
        prediction = await self._hand_in(thread, voice, tools)
        if isinstance(prediction, UnusablePrediction):
            thread.user(say(self._turn_settings.language, Note.UNREADABLE))
            prediction = await self._hand_in(thread, voice, tools)
        if self._prompts.lessons:
            await self._keep_lessons(self._prompts.lessons, thread, voice, context)
        return prediction

    async def _hand_in(self, thread: Thread, voice: Voice, tools: Sequence[ToolSpec]) -> Prediction:
        spoken = await voice.ask(
            tools, may_call=False, show=False, prompt=self._prompts.conclusion.hash
        )
        if spoken.text.strip():
            thread.reply(spoken)
        return parse_prediction(self._family, spoken.text)

    async def _keep_lessons(
        self, prompt: Prompt, thread: Thread, voice: Voice, context: StepContext
    ) -> None:
        thread.user(prompt.render())
        try:
            spoken = await voice.ask(
                self._turn_settings.tools(context), may_call=False, show=False, prompt=prompt.hash
            )
        except ModelCallError:
            return  # The prediction matters more than the lessons, so their failure is ignored.
        await context.mark(NotesKept(notes=read_lessons(spoken.text)))

    async def _thread(self, dialogue: Dialogue, context: StepContext) -> Thread:
        """The messages up to this turn. A kept thread is not used again if this turn is interrupted."""
        known, self._known = self._known, None
        messages = dialogue.messages
        if known and messages[: len(known.messages)] == known.messages:
            thread, messages = known.thread, messages[len(known.messages) :]
            recorded: dict[str, EventBody] = {}
        else:
            spoken = any(message.role == "agent" for message in messages)
            recorded = by_key(context.log) if spoken else {}
            thread = await self._opened(dialogue, context, recorded)
        for message in messages:
            if message.role == "user":
                thread.user(message.text, request=True)
            else:
                thread = await self._replayed(message, thread, context, recorded)
        return thread

    async def _replayed(
        self,
        message: Message,
        thread: Thread,
        context: StepContext,
        recorded: Mapping[str, EventBody],
    ) -> Thread:
        """The thread after a turn that was played before."""
        again = thread.fork()
        past = PastTurn(context.log, recorded, message.turn, context.tools)
        try:
            reply = await Turn(self._turn_settings, again, past).play()
        except (NotRecorded, EmptyReply, ErrorLoop):
            reply = None
        if reply and (reply.text, reply.act) == (message.text, message.act):
            return again
        # Played by another agent or version: only the words are known.
        thread.said(message.text)
        return thread

    async def _opened(
        self, dialogue: Dialogue, context: StepContext, recorded: Mapping[str, EventBody]
    ) -> Thread:
        """A thread with its system prompt alone."""
        turn_settings, prompts = self._turn_settings, self._prompts
        tools = turn_settings.tools(context)
        parts = [prompts.system.render(**prompts.values)]
        if prompts.team:
            parts.append(prompts.team.render())
        if prompts.tagged and tools:
            parts.append(prompts.tagged.render(tools=list_of(tools)))
        if prompts.memory and not self._lifelong:
            parts.append(prompts.memory.render())
        elif prompts.memory and (notes := await self._read_lessons(dialogue, context, recorded)):
            parts.append(prompts.memory.render(notes=listed(notes)))
        overhead = estimate(list_of(tools)) if turn_settings.wire.native else 0
        return Thread("\n\n".join(parts), turn_settings.wire, overhead)

    async def _read_lessons(
        self, dialogue: Dialogue, context: StepContext, recorded: Mapping[str, EventBody]
    ) -> tuple[str, ...]:
        """What is remembered of earlier tasks, as it was at the first turn of this one."""
        room = self._turn_settings.client.config.context // _LESSONS_READ
        read = NotesRead(notes=latest(self._lessons, room))
        first = dialogue.last("agent") and dialogue.of("agent")[0]
        try:
            turn = PastTurn(context.log, recorded, first.turn, ()) if first else context
            mark = await turn.mark(read)
        except NotRecorded:
            return ()
        return mark.notes if isinstance(mark, NotesRead) else ()


def _version(
    turn_settings: TurnSettings, prompts: ReactPrompts, options: Mapping[str, JsonValue]
) -> str:
    """The agent's version: 12 hex digits that change with everything that shapes its requests."""
    reach = turn_settings.reach
    told = [prompt.hash for prompt in prompts.all]
    if reach:
        told += [
            reach.strategy,
            str(reach.limit),
            str(reach.keep),
            reach.ask.hash,
            reach.stand.hash,
        ]
    tools = [
        tool.name
        for tool in (*turn_settings.turn_tools, *(own.spec for own in turn_settings.own_tools))
    ]
    whole = [told, turn_settings.max_steps, turn_settings.wire.native, tools, dict(options)]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]


def make_agent(
    name: str,
    agent: ReactAgentConfig | TeamAgentConfig,
    config: Config,
    hub: ModelHub,
    task: Task,
    notes: tuple[str, ...],
    *_rest: object,
) -> ReactAgent:
    """The agent for one trial of `task`. `notes`: its lessons of earlier tasks. Raises `ConfigError`."""
    turn_settings = turn_settings_for(agent, config, task, hub.client(agent.model))
    prompts = prompts_for(agent, config, task)
    if isinstance(agent, TeamAgentConfig):
        turn_settings = team_turn_settings_for(agent, turn_settings, config, prompts)
        team = find_prompt("team", task.language, config, agent.prompts)
        prompts = replace(prompts, team=team)
    options = options_of(agent)
    return ReactAgent(
        name, turn_settings, prompts, task.family, lessons=notes, options=options, kind=agent.kind
    )


def prompts_for(agent: ModelAgentConfig, config: Config, task: Task) -> ReactPrompts:
    """The prompts that such an agent needs for a task. Raises `ConfigError`."""

    def find(name: str) -> Prompt:
        return find_prompt(name, task.language, config, agent.prompts)

    approach = approach_to(task, agent.settings)
    memory = {"local": "memory_local", "lifelong": "memory_lifelong"}.get(agent.memory)
    return ReactPrompts(
        system=find(approach.prompt),
        values=approach.values,
        conclusion=find(family_of(task).conclusion),
        tagged=find("react_tagged") if agent.calls == "tagged" else None,
        memory=find(memory) if memory else None,
        lessons=find("memory_lessons") if agent.memory == "lifelong" else None,
    )


def turn_settings_for(
    agent: ModelAgentConfig, config: Config, task: Task, client: ChatClient
) -> TurnSettings:
    """The `TurnSettings` of an agent with this configuration. Raises `ConfigError`."""
    return TurnSettings(
        client=client,
        language=task.language,
        max_steps=agent.max_steps,
        wire=TAGGED if agent.calls == "tagged" else NATIVE,
        reach=reach_for(agent, config, task.language, client),
        turn_tools=approach_to(task, agent.settings).own_tools,
    )


def team_turn_settings_for(
    agent: TeamAgentConfig, turn_settings: TurnSettings, config: Config, prompts: ReactPrompts
) -> TurnSettings:
    """`manner` with the tool that delegates work to members. Raises `ConfigError`."""
    prompt = find_prompt("team_member", turn_settings.language, config, agent.prompts)
    member = replace(turn_settings, max_steps=agent.member_steps, turn_tools=(), prompt=prompt.hash)
    delegation = Delegation(member, prompt, prompts.tagged, agent.members)
    return replace(turn_settings, own_tools=(*turn_settings.own_tools, delegation))


def reach_for(
    agent: ModelAgentConfig, config: Config, language: TaskLanguage, client: ChatClient
) -> PromptLimit | None:
    """When and how its messages are compacted; None if they never are. Raises `ConfigError`."""
    context = agent.context
    if context.strategy == "none":
        return None
    return PromptLimit(
        strategy=context.strategy,
        limit=int(context.at * client.config.context),
        keep=context.keep,
        ask=find_prompt("compact", language, config, agent.prompts),
        stand=find_prompt("compacted", language, config, agent.prompts),
    )


def options_of(agent: ModelAgentConfig) -> dict[str, JsonValue]:
    """The agent's settings besides its model and prompts, for its version."""
    return agent.model_dump(mode="json", exclude={"model", "prompts"})
