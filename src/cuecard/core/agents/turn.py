"""One turn of a model agent: model calls and tool calls until it replies. Its own tools: notes, and team members."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cuecard.core.agents.briefing import Note, complaint, ending, named_right, say
from cuecard.core.agents.calling import (
    NATIVE,
    OVERFLOW,
    DecodedReply,
    Wire,
    list_of,
    performing,
    split_thoughts,
)
from cuecard.core.agents.thread import Compactor, PromptLimit, Thread
from cuecard.core.config import Prompt
from cuecard.core.engine.messages import (
    AgentReply,
    EmptyReply,
    ErrorLoop,
    ModelReply,
    ToolAnswer,
    ToolCall,
    ToolSpec,
)
from cuecard.core.engine.step_context import StepContext, limits_of
from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.llm.client import ChatClient
from cuecard.core.tasks.models import TaskLanguage
from cuecard.core.text import one_line

SAME_ERROR_LIMIT = 3

Answering = Callable[[], Awaitable[ToolAnswer]]


@dataclass(frozen=True)
class Place:
    """Where an agent's own tool is called. `number`: of the call among the turn's performed tool calls, from 0."""

    context: StepContext
    thread: Thread
    number: int


class OwnTool(Protocol):
    """A tool that the agent answers itself, without the world."""

    @property
    def spec(self) -> ToolSpec: ...

    def begin(self, call: ToolCall, place: Place) -> Answering:
        """Take a call, in the order of the calls, and also when the turn is played again. The returned function is only
        called if no answer is recorded.
        """
        ...


@dataclass(frozen=True)
class TurnSettings:
    """The settings of an agent's turns.

    `max_steps`: most model calls per turn. `prompt`: the hash of the system prompt. `turn_tools` end a turn; `own_tools`
    are answered by the agent itself. Without a `reach` nothing is compacted. `show`: stream the reply to screens.
    """

    client: ChatClient
    language: TaskLanguage
    max_steps: int
    prompt: str = ""
    wire: Wire = NATIVE
    reach: PromptLimit | None = None
    turn_tools: tuple[ToolSpec, ...] = ()
    own_tools: tuple[OwnTool, ...] = ()
    show: bool = True

    def tools(self, context: StepContext) -> tuple[ToolSpec, ...]:
        """All tools that the model is offered."""
        own = (tool.spec for tool in self.own_tools)
        return (*context.tools, *own, *self.turn_tools)


class Voice:
    """Calls the model with `thread`, and compacts the thread when it gets too long."""

    def __init__(self, turn_settings: TurnSettings, thread: Thread, context: StepContext) -> None:
        self._turn_settings = turn_settings
        self._thread = thread
        self._context = context
        self._compactor = (
            Compactor(
                turn_settings.client, turn_settings.reach, turn_settings.language, thread, context
            )
            if turn_settings.reach
            else None
        )

    async def ask(
        self,
        tools: Sequence[ToolSpec],
        *,
        may_call: bool = True,
        show: bool = True,
        prompt: str = "",
    ) -> DecodedReply:
        """The model's reply to the present thread. Raises `ModelCallError`."""
        if self._compactor is not None:
            await self._compactor.make_room()
            reply = await self._call(tools, may_call, show, prompt, overflow=True)
            if reply.finish_reason == OVERFLOW:
                await self._compactor.make_more_room()
                reply = await self._call(tools, may_call, show, prompt, overflow=False)
        else:
            reply = await self._call(tools, may_call, show, prompt, overflow=False)
        return self._turn_settings.wire.decode(reply, tools, may_call=may_call)

    def answered(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add the answers to the calls of the last reply."""
        fitted = self._compactor.fitted(texts) if self._compactor else texts
        self._thread.results(ids, fitted)

    async def _call(
        self, tools: Sequence[ToolSpec], may_call: bool, show: bool, prompt: str, *, overflow: bool
    ) -> ModelReply:
        turn_settings = self._turn_settings
        perform = performing(
            turn_settings.client,
            self._thread.messages,
            tools if turn_settings.wire.native else (),
            turn_settings.wire.shown(self._context.stream) if show and turn_settings.show else None,
            may_call=may_call,
            overflow=overflow,
        )
        return await self._context.call_model(
            turn_settings.client.config.model, perform, prompt=prompt or turn_settings.prompt
        )


class Turn:
    """Plays one turn, adding to `thread`. `context`: that of the trial, a scope of it, or a recorded turn's."""

    def __init__(self, turn_settings: TurnSettings, thread: Thread, context: StepContext) -> None:
        self._turn_settings = turn_settings
        self._thread = thread
        self._context = context
        self._voice = Voice(turn_settings, thread, context)
        self._tools = turn_settings.tools(context)
        self._ending = frozenset(tool.name for tool in turn_settings.turn_tools)
        self._own = {tool.spec.name: tool for tool in turn_settings.own_tools}
        self._calls_left = self._limit = limits_of(context).max_tool_calls_per_turn
        self._errors: Counter[str] = Counter()
        self._was_empty = False

    async def play(self) -> AgentReply:
        """The agent's reply. Raises `EmptyReply`, `ErrorLoop`, and what calling the model or the world raises."""
        for step in range(self._turn_settings.max_steps):
            spoken = await self._reply(last=step == self._turn_settings.max_steps - 1)
            ids = self._thread.reply(spoken)
            if not spoken.calls:
                return AgentReply(text=spoken.text.strip())
            over = next((call for call in spoken.calls if self._ends(call)), None)
            answers = await self._answers(spoken, over)
            self._voice.answered(ids, [answer.text for answer in answers])
            if over and (found := ending(over)):
                act, words = found
                return AgentReply(text=words, act=act)
            self._count_errors(spoken.calls, answers)
        raise ErrorLoop(
            _("The agent did not come to an end"),
            _("it used all {n} steps of a turn without a reply").format(
                n=self._turn_settings.max_steps
            ),
        )

    async def _reply(self, *, last: bool) -> DecodedReply:
        """A reply with text or calls. After an empty one the model is asked again, once per turn."""
        tools, may_call = self._tools, True
        if last:
            self._thread.user(self._say(Note.LAST_STEP))
            tools, may_call = (
                (self._turn_settings.turn_tools or tools),
                bool(self._turn_settings.turn_tools),
            )
        while True:
            spoken = await self._voice.ask(tools, may_call=may_call)
            if spoken.calls:
                calls = tuple(named_right(call, self._tools) for call in spoken.calls)
                return replace(spoken, calls=calls)
            if spoken.text.strip():
                return spoken
            if self._was_empty:
                raise EmptyReply(_("The agent replied with nothing"), _("also when asked again"))
            self._was_empty = True
            self._thread.count(spoken.usage)
            self._thread.user(self._say(Note.CUT_EMPTY if spoken.cut else Note.EMPTY))

    async def _answers(self, spoken: DecodedReply, over: ToolCall | None) -> list[ToolAnswer]:
        """An answer to each call, in order. Calls to the world are made concurrently."""
        answers: list[ToolAnswer | asyncio.Task[ToolAnswer]] = []
        made: list[asyncio.Task[ToolAnswer]] = []
        for call in spoken.calls:
            refusal = self._refusal(call, over, cut=spoken.cut)
            if refusal:
                answers.append(refusal)
                continue
            answering = self._carry_out(call)
            self._calls_left -= 1
            if len(spoken.calls) == 1:
                return [await answering]
            # Tasks start in the order of their creation, which fixes each call's step number.
            made.append(asyncio.create_task(answering))
            answers.append(made[-1])
        # All are awaited even if one fails: none may still be recording when the trial ends.
        for outcome in await asyncio.gather(*made, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome
        return [
            answer.result() if isinstance(answer, asyncio.Task) else answer for answer in answers
        ]

    def _carry_out(self, call: ToolCall) -> Coroutine[None, None, ToolAnswer]:
        own = self._own.get(call.name)
        if own is None:
            return self._context.call_tool(call)
        place = Place(self._context, self._thread, self._limit - self._calls_left)
        return self._context.call_tool(call, own.begin(call, place))

    def _refusal(self, call: ToolCall, over: ToolCall | None, *, cut: bool) -> ToolAnswer | None:
        if over is not None:
            note = Note.DELIVERED if call is over else Note.NOT_CARRIED_OUT
            return ToolAnswer(text=self._say(note))
        problem = complaint(call, self._tools, self._turn_settings.language)
        if call.broken and cut:
            problem = self._say(Note.CUT_CALL)
        elif not problem and call.name in self._ending:
            problem = self._say(Note.NOTHING_SAID)
        elif not problem and self._calls_left <= 0:
            problem = self._say(Note.NO_MORE_CALLS)
        return ToolAnswer(text=problem, ok=False) if problem else None

    def _ends(self, call: ToolCall) -> bool:
        found = ending(call) if call.name in self._ending else None
        return bool(
            found and found[1] and not complaint(call, self._tools, self._turn_settings.language)
        )

    def _count_errors(self, calls: Sequence[ToolCall], answers: Sequence[ToolAnswer]) -> None:
        """Count repeated errors. The same error, or the same failing call, counts once per reply, since the model could
        not react in between.
        """
        failed = [(c, a.text) for c, a in zip(calls, answers, strict=True) if not a.ok]
        repeated = {text: text for _call, text in failed}
        repeated |= {_written(call): text for call, text in failed}
        for what, text in repeated.items():
            self._errors[what] += 1
            if self._errors[what] >= SAME_ERROR_LIMIT:
                raise ErrorLoop(_("The agent keeps making the same mistake"), one_line(text, 200))

    def _say(self, note: Note) -> str:
        return say(self._turn_settings.language, note)


def _written(call: ToolCall) -> str:
    arguments = call.broken or json.dumps(call.arguments, sort_keys=True)
    return f"{call.name} {arguments}"


MAX_LESSONS = 5
_MAX_LESSON = 400
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、．])\s*(.+)")

WRITE_NOTE = ToolSpec(
    name="write_note",
    description=(
        "Write down something that must not be forgotten: it stays in view when older parts of the"
        " conversation are cut. 记下不能忘记的内容；对话较早的部分被截去后，笔记仍然可见。"
    ),
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The note, in a few sentences."}},
        "required": ["text"],
    },
)
READ_NOTES = ToolSpec(
    name="read_notes",
    description="Read all notes that were written so far. 读取目前写下的全部笔记。",
    parameters={"type": "object", "properties": {}},
)


class NoteWriter:
    """The tool `write_note`, which adds to the thread's notes."""

    spec = WRITE_NOTE

    def __init__(self, language: TaskLanguage) -> None:
        self._language: TaskLanguage = language

    def begin(self, call: ToolCall, place: Place) -> Answering:
        given = call.arguments.get("text")
        text = given.strip() if isinstance(given, str) else ""
        if not text:
            missing = say(self._language, Note.MISSING, name="text")
            return _at_once(ToolAnswer(text=missing, ok=False))
        place.thread.notes.append(text)
        number = str(len(place.thread.notes))
        return _at_once(ToolAnswer(text=say(self._language, Note.NOTED, n=number)))


class NoteReader:
    """The tool `read_notes`."""

    spec = READ_NOTES

    def __init__(self, language: TaskLanguage) -> None:
        self._language: TaskLanguage = language

    def begin(self, call: ToolCall, place: Place) -> Answering:
        notes = "\n".join(f"{i}. {note}" for i, note in enumerate(place.thread.notes, 1))
        return _at_once(ToolAnswer(text=notes or say(self._language, Note.NONE)))


def note_tools(language: TaskLanguage) -> tuple[OwnTool, ...]:
    return NoteWriter(language), NoteReader(language)


def read_lessons(text: str) -> tuple[str, ...]:
    """The lessons in a model's reply: its list items, at most `MAX_LESSONS`."""
    _thoughts, said = split_thoughts(text)
    items = (_BULLET.fullmatch(line) for line in said.splitlines())
    lessons = [one_line(item[1], _MAX_LESSON) for item in items if item]
    return tuple(dict.fromkeys(lesson for lesson in lessons if lesson))[:MAX_LESSONS]


def listed(notes: Sequence[str]) -> str:
    return "\n".join(f"- {note}" for note in notes)


def _at_once(answer: ToolAnswer) -> Answering:
    async def perform() -> ToolAnswer:
        return answer

    return perform


DELEGATE = ToolSpec(
    name="delegate",
    description=(
        "Give one self-contained piece of the work to a helper with the same tools. Helpers know"
        " nothing of the conversation and of each other: say all that they need. Several calls in one"
        " reply are worked on at the same time. Returns the helper's report."
        " 把一件独立的工作交给拥有相同工具的助手，并得到其报告；可以同时发出多个。"
    ),
    parameters={
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "What to find out, complete in itself."}
        },
        "required": ["task"],
    },
)


class Delegation:
    """The tool `delegate` of one agent in one trial.

    `most`: members per turn. A member plays one turn with the settings `manner` in its own scope, so that a resumed
    trial goes on inside it; its steps are in the log, and its report is the tool's answer.
    """

    spec = DELEGATE

    def __init__(
        self, turn_settings: TurnSettings, prompt: Prompt, tagged: Prompt | None, most: int
    ) -> None:
        self._turn_settings = turn_settings
        self._prompt = prompt
        self._tagged = tagged
        self._most = most
        self._context: StepContext | None = None
        self._count = 0

    def begin(self, call: ToolCall, place: Place) -> Answering:
        if place.context is not self._context:
            self._context, self._count = place.context, 0
        self._count += 1
        allowed = self._count <= self._most

        async def perform() -> ToolAnswer:
            if not allowed:
                most = str(self._most)
                text = say(self._turn_settings.language, Note.NO_MORE_MEMBERS, n=most)
                return ToolAnswer(text=text, ok=False)
            return await self._report(call, place.context.scope(f"member/{place.number}"))

        return perform

    async def _report(self, call: ToolCall, context: StepContext) -> ToolAnswer:
        thread = self._thread(context)
        thread.user(str(call.arguments.get("task", "")), request=True)
        try:
            reply = await Turn(self._turn_settings, thread, context).play()
        except (EmptyReply, ErrorLoop) as error:
            return self._failed(str(error))
        except ModelCallError as error:
            if not error.context_overflow:
                raise
            return self._failed(str(error))
        return ToolAnswer(text=reply.text)

    def _thread(self, context: StepContext) -> Thread:
        tools = self._turn_settings.tools(context)
        parts = [self._prompt.render()]
        if self._tagged and tools:
            parts.append(self._tagged.render(tools=list_of(tools)))
        return Thread("\n\n".join(parts), self._turn_settings.wire)

    def _failed(self, reason: str) -> ToolAnswer:
        text = say(self._turn_settings.language, Note.MEMBER_FAILED, reason=reason)
        return ToolAnswer(text=text, ok=False)
