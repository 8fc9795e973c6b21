"""A session with a harness: its updates and requests during one prompt, and what a trial's log says of the session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from cuecard.core.agents.acp_access import CHANGING, Tool, allows, option_for
from cuecard.core.config_players import Permissions
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Marked,
    ModelReplied,
    ToolAnswered,
)
from cuecard.core.engine.messages import (
    HarnessPermission,
    HarnessSession,
    HarnessTool,
    StartOver,
    ToolCall,
    Usage,
    token_count,
)
from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.llm.replies import MAX_CHARS
from cuecard.core.secrets import ScrubbedStream, scrub
from cuecard.core.text import storable

if TYPE_CHECKING:
    from acp.schema import PermissionOption, RequestPermissionResponse, ToolCallUpdate
    from acp.schema import Usage as AcpUsage


_MOST_TOOLS = 5_000


@dataclass(eq=False)
class Session:
    """A conversation with a harness. `tools`: the names of the trial's own; if there are any, they are its only sources.
    `telling`: collects the updates of the prompt under way. `stopping`: it was told to stop that prompt. `replayed`: the
    user's words that the harness repeated when the session was loaded.
    """

    cwd: str
    tools: tuple[str, ...] = ()
    policy: Permissions = "folder"
    id: str = ""
    telling: PromptUpdates | None = None
    stopping: bool = False
    replayed: list[str] = field(default_factory=list)

    def take(self, update: object) -> None:
        from acp.schema import TextContentBlock, UserMessageChunk

        if self.telling is not None:
            self.telling.take(update)
        elif isinstance(update, UserMessageChunk) and isinstance(update.content, TextContentBlock):
            self.replayed.append(update.content.text)

    def permit(
        self, asked: ToolCallUpdate, options: Sequence[PermissionOption]
    ) -> RequestPermissionResponse:
        """Answer a request for permission, and record it. Between prompts nothing is permitted."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        denied = RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        if self.telling is None:
            return denied
        tool = self.telling.known(asked, options)
        allowed = allows(self.policy, tool, self.cwd, self.tools)
        taken = None if self.stopping else option_for(allowed, options)
        answer: Literal["allowed", "refused", "cancelled"] = "allowed" if allowed else "refused"
        mark = HarnessPermission(
            name=tool.name or "other",
            title=storable(tool.title),
            world=tool.is_worlds(self.tools),
            places=tuple(map(storable, tool.places)),
            input=storable(_written(tool.input)),
            policy=self.policy,
            answer=answer if taken else "cancelled",
            option=storable(taken.name) if taken else "",
        )
        self.telling.asked(mark)
        if taken is None:
            return denied
        outcome = AllowedOutcome(outcome="selected", option_id=taken.option_id)
        return RequestPermissionResponse(outcome=outcome)


class PromptUpdates:
    """Collects the updates of one prompt. `text`: everything the agent said; its messages, and what it said between tool
    calls, are paragraphs. Finished tool calls and answered requests for permission go to the queue `marks` in the order
    in which they came. The future `flood` fails if the harness sends more than a turn may hold. `worlds`: the names of
    the trial's own tools.
    """

    def __init__(
        self,
        worlds: Collection[str],
        world_calls: Callable[[], Sequence[ToolCall]],
        on_text: Callable[[str], None],
    ) -> None:
        self._worlds = worlds
        self._world_calls = world_calls
        self._on_text = ScrubbedStream(on_text)
        self._parts: list[str] = []
        self._message: str | None = None
        self._new_paragraph = False
        self._open: dict[str, Tool] = {}
        self._asked: dict[str, Tool] = {}
        self._chars = self._tools = 0
        self.marks: asyncio.Queue[HarnessTool | HarnessPermission | None] = asyncio.Queue()
        self.flood: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def text(self) -> str:
        return scrub(storable("".join(self._parts))).strip()

    def take(self, update: object) -> None:
        """Take one update, as the library parsed it."""
        from acp.schema import AgentMessageChunk, TextContentBlock, ToolCallProgress, ToolCallStart

        if self.flood.done():
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text), message_id=message):
                self._say(text, message)
            case ToolCallStart() | ToolCallProgress():
                self._tool(update)
            case _:
                pass  # Thoughts, plans and modes, which the user is not told.

    def finish(self) -> None:
        """Called at the end: tool calls that never ended are recorded as they are."""
        self._on_text.flush()
        for tool in self._open.values():
            self._keep(tool)
        self._open.clear()
        self.marks.put_nowait(None)

    def known(self, asked: ToolCallUpdate, options: Sequence[PermissionOption]) -> Tool:
        """The tool call that a request is about: what it was said to be, and what the request says."""
        tool = self._open.get(asked.tool_call_id)
        if tool is None:
            # Some harnesses tell of a call only by asking; it is recorded once they tell how it went.
            tool = self._asked.setdefault(asked.tool_call_id, Tool())
        tool.take(asked)
        tool.labels = tuple(option.name.rpartition(": ")[2] for option in options)
        return tool

    def asked(self, mark: HarnessPermission) -> None:
        """Record a request for permission with its answer."""
        if self._counted():
            self._new_paragraph = True
            self.marks.put_nowait(mark)

    def _say(self, text: str, message: str | None) -> None:
        if self._parts and (self._new_paragraph or message != self._message):
            text = f"\n\n{text}"
        self._message, self._new_paragraph = message, False
        self._chars += len(text)
        if self._chars > MAX_CHARS:
            self._too_much(_("the reply is longer than {n} characters"), MAX_CHARS)
            return
        self._parts.append(text)
        self._on_text(storable(text))

    def _tool(self, update: Any) -> None:
        self._new_paragraph = True
        if update.tool_call_id not in self._open and not self._counted():
            return
        self._on_text.flush()
        tool = self._open.get(update.tool_call_id) or self._asked.pop(update.tool_call_id, Tool())
        self._open[update.tool_call_id] = tool
        tool.take(update)
        if tool.status in ("completed", "failed"):
            del self._open[update.tool_call_id]
            self._keep(tool)

    def _counted(self) -> bool:
        """Count a tool call or a request; whether it is not one too many."""
        self._tools += 1
        if self._tools > _MOST_TOOLS and not self.flood.done():
            self._too_much(_("the reply makes more than {n} tool calls"), _MOST_TOOLS)
        return not self.flood.done()

    def _too_much(self, told: str, most: int) -> None:
        title = _("The harness's answer is too large")
        self.flood.set_exception(ModelCallError(title, told.format(n=f"{most:,}")))

    def _keep(self, tool: Tool) -> None:
        if self._is_worlds(tool):
            return
        output = "\n".join(tool.texts) or _written(tool.output)
        mark = HarnessTool(
            name=tool.name or "other",
            title=storable(tool.title),
            status=tool.status,
            input=storable(_written(tool.input)),
            output=storable(output),
        )
        self.marks.put_nowait(mark)

    def _is_worlds(self, tool: Tool) -> bool:
        """Whether this is a call to the trial's world, which is recorded there."""
        if tool.is_worlds(self._worlds):
            return True
        given: list[object] = [tool.input]
        if isinstance(tool.input, dict):
            given += cast("dict[str, object]", tool.input).values()
        return any(call.arguments in given for call in self._world_calls() if call.arguments)


def _written(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


_PARTS = ("agent", "conclusion")
# Kinds of tools that may have left files in the session's folder.
_LEAVING = (*CHANGING, "execute")


def earlier_session(log: Sequence[Event]) -> HarnessSession | None:
    """The trial's session; None if the harness was not started yet.

    Raises `StartOver` if it cannot be resumed: it stopped in the middle of a prompt, whose outcome is unknown, or the
    files that it left are gone.
    """
    steps = [
        e.body
        for e in log
        if isinstance(e.body, AgentSpoke)
        or (isinstance(e.body, ModelReplied | ToolAnswered | Marked) and e.body.part in _PARTS)
    ]
    if not steps:
        return None
    done = [s for s in steps if not isinstance(s, AgentSpoke)]
    if not done or not isinstance(done[-1], ModelReplied) or done[-1].payer == "world":
        raise StartOver(_("The harness was interrupted in the middle of a turn"))
    marks = [step.mark for step in steps if isinstance(step, Marked)]
    session = next((m for m in reversed(marks) if isinstance(m, HarnessSession)), None)
    if session is None:
        raise StartOver(_("The harness's session is not known"))
    if left_files(log) and not Path(session.cwd).is_dir():
        raise StartOver(_("What the harness kept in its folder is gone"))
    return session


def left_files(log: Sequence[Event]) -> bool:
    """Whether the harness may have left something in its session's folder. A tool that was refused has not."""
    marks = [event.body.mark for event in log if isinstance(event.body, Marked)]
    asked = [mark for mark in marks if isinstance(mark, HarnessPermission)]
    refused = {(mark.name, mark.title) for mark in asked if mark.answer != "allowed"}
    leaving = [mark for mark in asked if mark.answer == "allowed" and not mark.world]
    used = [mark for mark in marks if isinstance(mark, HarnessTool)]
    leaving += [mark for mark in used if (mark.name, mark.title) not in refused]
    return any(mark.name in _LEAVING for mark in leaving)


def prompted(log: Sequence[Event]) -> bool:
    """Whether the harness was ever prompted in this trial."""
    return any(isinstance(e.body, ModelReplied) and e.body.payer in _PARTS for e in log)


def usage_of(total: AcpUsage | None, log: Sequence[Event], session: str) -> Usage:
    """Tokens of one prompt, from the protocol's total over the session, less what is recorded; a total lower than that
    began again at 0.
    """
    if total is None:
        return Usage()
    read, written = token_count(total.cached_read_tokens), token_count(total.cached_write_tokens)
    thought = token_count(total.thought_tokens)
    now = Usage(
        prompt=token_count(total.input_tokens) + read + written,
        completion=token_count(total.output_tokens) + thought,
        cached=read,
        reasoning=thought,
    )
    before = Usage()
    for body in _since(log, session):
        if isinstance(body, ModelReplied) and body.payer in _PARTS:
            before = before.plus(body.reply.usage)
    fields = tuple(Usage.model_fields)
    if any(getattr(now, name) < getattr(before, name) for name in fields):
        return now
    return Usage(**{name: getattr(now, name) - getattr(before, name) for name in fields})


def _since(log: Sequence[Event], session: str) -> list[EventBody]:
    """The events since this session was begun."""
    bodies = [event.body for event in log]
    for place, body in enumerate(bodies):
        mark = body.mark if isinstance(body, Marked) else None
        if isinstance(mark, HarnessSession) and mark.session == session:
            return bodies[place:]
    return bodies
