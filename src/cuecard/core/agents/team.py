"""An agent that gives pieces of its work to members: the same tools, a conversation of their own."""

from __future__ import annotations

from cuecard.core.agents.notes import Note, say
from cuecard.core.agents.tagged import list_of
from cuecard.core.agents.thread import Thread
from cuecard.core.agents.turn import Answering, Manner, Place, Turn
from cuecard.core.errors import ModelCallError
from cuecard.core.parts import Desk, EmptyReply, ErrorLoop, ToolAnswer, ToolCall, ToolSpec
from cuecard.core.prompts import Prompt

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

    `most`: members in one turn. A member plays one turn in the manner given, on a desk of its own, so
    that a resumed trial goes on inside it; what it does is in the log, what it reports is the answer.
    """

    spec = DELEGATE

    def __init__(self, manner: Manner, prompt: Prompt, tagged: Prompt | None, most: int) -> None:
        self._manner = manner
        self._prompt = prompt
        self._tagged = tagged
        self._most = most
        self._desk: Desk | None = None
        self._count = 0

    def begin(self, call: ToolCall, place: Place) -> Answering:
        if place.desk is not self._desk:
            self._desk, self._count = place.desk, 0
        self._count += 1
        allowed = self._count <= self._most

        async def perform() -> ToolAnswer:
            if not allowed:
                most = str(self._most)
                text = say(self._manner.language, Note.NO_MORE_MEMBERS, n=most)
                return ToolAnswer(text=text, ok=False)
            return await self._report(call, place.desk.scope(f"member/{place.number}"))

        return perform

    async def _report(self, call: ToolCall, desk: Desk) -> ToolAnswer:
        thread = self._thread(desk)
        thread.user(str(call.arguments.get("task", "")), request=True)
        try:
            reply = await Turn(self._manner, thread, desk).play()
        except (EmptyReply, ErrorLoop) as error:
            return self._failed(str(error))
        except ModelCallError as error:
            if not error.context_overflow:
                raise
            return self._failed(str(error))
        return ToolAnswer(text=reply.text)

    def _thread(self, desk: Desk) -> Thread:
        tools = self._manner.tools(desk)
        parts = [self._prompt.render()]
        if self._tagged and tools:
            parts.append(self._tagged.render(tools=list_of(tools)))
        return Thread("\n\n".join(parts), self._manner.wire)

    def _failed(self, reason: str) -> ToolAnswer:
        text = say(self._manner.language, Note.MEMBER_FAILED, reason=reason)
        return ToolAnswer(text=text, ok=False)
