"""An agent on a model: it reasons, calls tools, and talks (ReAct)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from pydantic import JsonValue

from cuecard.core.agents.measuring import estimate, latest
from cuecard.core.agents.memory import listed, note_tools, read_lessons
from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.past import NotRecorded, PastTurn, by_key
from cuecard.core.agents.tagged import list_of
from cuecard.core.agents.thread import Thread
from cuecard.core.agents.turn import Manner, Turn, Voice
from cuecard.core.errors import ModelCallError
from cuecard.core.events import EventBody
from cuecard.core.formats.predictions import parse_prediction
from cuecard.core.marks import NotesKept, NotesRead
from cuecard.core.parts import (
    AgentReply,
    Desk,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    Message,
    PlayerRef,
    ToolSpec,
)
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import Family

_LESSONS_READ = 8
"""The part of the context that lessons from earlier tasks may take: one in so many."""


@dataclass(frozen=True)
class ReactPrompts:
    """`values`: of the system prompt's variables. `tagged` tells of the tools where calls are written as text; `memory` of the note tools (local)
    or of the lessons from earlier tasks (lifelong), and `lessons` asks for new ones.
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
    """A thread, and the dialogue that it holds."""

    thread: Thread
    messages: tuple[Message, ...]


class ReactAgent:
    """Plays an agent's part with one model, in one trial.

    It keeps the thread of messages from turn to turn as long as the dialogue goes on from there.
    Otherwise (a resumed trial, an edited dialogue) it plays the recorded turns again over the log,
    through the same code, which gives the very messages that the model saw.

    `lessons`: what it learnt in earlier tasks, oldest first; only read with a prompt for them.
    `options`: whatever else makes this agent another one, for its version.
    """

    def __init__(
        self,
        name: str,
        manner: Manner,
        prompts: ReactPrompts,
        family: Family,
        *,
        lessons: tuple[str, ...] = (),
        options: Mapping[str, JsonValue] | None = None,
        kind: str = "react",
    ) -> None:
        self._lifelong = prompts.lessons is not None
        if prompts.memory and not self._lifelong:
            own = (*manner.own_tools, *note_tools(manner.language))
            manner = replace(manner, own_tools=own)
        self._manner = replace(manner, prompt=prompts.system.hash)
        self._prompts = prompts
        self._family: Family = family
        self._lessons = lessons
        self._known: _Known | None = None
        self.ref = PlayerRef(
            name=name,
            kind=kind,
            model=manner.client.config.model,
            version=_version(self._manner, prompts, options or {}),
        )

    async def reply(self, dialogue: Dialogue, desk: Desk) -> AgentReply:
        """One turn. Raises `ModelCallError`, `EmptyReply`, `ErrorLoop` or `Halt`."""
        thread = await self._thread(dialogue, desk)
        reply = await Turn(self._manner, thread, desk).play()
        said = Message(role="agent", turn=dialogue.turn, text=reply.text, act=reply.act)
        self._known = _Known(thread, (*dialogue.messages, said))
        return reply

    async def conclude(self, dialogue: Dialogue, desk: Desk) -> Prediction:
        """What the model hands in; where that cannot be read, it is asked once more.

        Raises `ModelCallError` and `Halt`.
        """
        thread = await self._thread(dialogue, desk)
        voice = Voice(self._manner, thread, desk)
        tools = self._manner.tools(desk)
        thread.user(self._prompts.conclusion.render())
        prediction = await self._hand_in(thread, voice, tools)
        if isinstance(prediction, UnusablePrediction):
            thread.user(say(self._manner.language, Note.UNREADABLE))
            prediction = await self._hand_in(thread, voice, tools)
        if self._prompts.lessons:
            await self._keep_lessons(self._prompts.lessons, thread, voice, desk)
        return prediction

    async def _hand_in(self, thread: Thread, voice: Voice, tools: Sequence[ToolSpec]) -> Prediction:
        spoken = await voice.ask(
            tools, may_call=False, show=False, prompt=self._prompts.conclusion.hash
        )
        if spoken.text.strip():
            thread.reply(spoken)
        return parse_prediction(self._family, spoken.text)

    async def _keep_lessons(self, prompt: Prompt, thread: Thread, voice: Voice, desk: Desk) -> None:
        thread.user(prompt.render())
        try:
            spoken = await voice.ask(
                self._manner.tools(desk), may_call=False, show=False, prompt=prompt.hash
            )
        except ModelCallError:
            return  # What was handed in is worth more than what could have been learnt.
        await desk.mark(NotesKept(notes=read_lessons(spoken.text)))

    async def _thread(self, dialogue: Dialogue, desk: Desk) -> Thread:
        """The messages up to here. Nobody else may go on from a kept thread if this turn breaks off."""
        known, self._known = self._known, None
        messages = dialogue.messages
        if known and messages[: len(known.messages)] == known.messages:
            thread, messages = known.thread, messages[len(known.messages) :]
            course: dict[str, EventBody] = {}
        else:
            spoken = any(message.role == "agent" for message in messages)
            course = by_key(desk.log) if spoken else {}
            thread = await self._opened(dialogue, desk, course)
        for message in messages:
            if message.role == "user":
                thread.user(message.text, request=True)
            else:
                thread = await self._replayed(message, thread, desk, course)
        return thread

    async def _replayed(
        self, message: Message, thread: Thread, desk: Desk, course: Mapping[str, EventBody]
    ) -> Thread:
        """The thread after a turn that was played before."""
        again = thread.fork()
        past = PastTurn(desk.log, course, message.turn, desk.tools)
        try:
            reply = await Turn(self._manner, again, past).play()
        except (NotRecorded, EmptyReply, ErrorLoop):
            reply = None
        if reply and (reply.text, reply.act) == (message.text, message.act):
            return again
        # Played by someone else, or by another version: then only the words are known.
        thread.said(message.text)
        return thread

    async def _opened(
        self, dialogue: Dialogue, desk: Desk, course: Mapping[str, EventBody]
    ) -> Thread:
        """A thread with its system prompt alone."""
        manner, prompts = self._manner, self._prompts
        tools = manner.tools(desk)
        parts = [prompts.system.render(**prompts.values)]
        if prompts.team:
            parts.append(prompts.team.render())
        if prompts.tagged and tools:
            parts.append(prompts.tagged.render(tools=list_of(tools)))
        if prompts.memory and not self._lifelong:
            parts.append(prompts.memory.render())
        elif prompts.memory and (notes := await self._read_lessons(dialogue, desk, course)):
            parts.append(prompts.memory.render(notes=listed(notes)))
        overhead = estimate(list_of(tools)) if manner.wire.native else 0
        return Thread("\n\n".join(parts), manner.wire, overhead)

    async def _read_lessons(
        self, dialogue: Dialogue, desk: Desk, course: Mapping[str, EventBody]
    ) -> tuple[str, ...]:
        """What is remembered of earlier tasks, as it was at the first turn of this one."""
        room = self._manner.client.config.context // _LESSONS_READ
        read = NotesRead(notes=latest(self._lessons, room))
        first = dialogue.last("agent") and dialogue.of("agent")[0]
        try:
            turn = PastTurn(desk.log, course, first.turn, ()) if first else desk
            mark = await turn.mark(read)
        except NotRecorded:
            return ()
        return mark.notes if isinstance(mark, NotesRead) else ()


def _version(manner: Manner, prompts: ReactPrompts, options: Mapping[str, JsonValue]) -> str:
    """Twelve hex digits that change whenever the agent would meet a model differently."""
    reach = manner.reach
    told = [prompt.hash for prompt in prompts.all]
    if reach:
        told += [
            reach.strategy,
            str(reach.limit),
            str(reach.keep),
            reach.ask.hash,
            reach.stand.hash,
        ]
    tools = [tool.name for tool in (*manner.turn_tools, *(own.spec for own in manner.own_tools))]
    whole = [told, manner.max_steps, manner.wire.native, tools, dict(options)]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]
