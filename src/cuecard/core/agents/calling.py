"""One call of an agent's model, as the desk performs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from cuecard.core.errors import ModelCallError
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.wire import ChatMessage
from cuecard.core.parts import ModelReply, ToolSpec

OVERFLOW = "context_overflow"
"""The `finish_reason` of a reply that the server refused because the messages were too long."""


def performing(
    client: ChatClient,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec] = (),
    on_text: Callable[[str], None] | None = None,
    *,
    may_call: bool = True,
    overflow: bool = False,
) -> Callable[[], Awaitable[ModelReply]]:
    """The call, to be made once. With `overflow`, messages that are too long for the server give an
    empty reply that says so: it is recorded, and whoever resumes the trial cuts at the same place.
    """

    async def perform() -> ModelReply:
        try:
            return await client.chat(messages, tools, on_text, may_call=may_call)
        except ModelCallError as error:
            if overflow and error.context_overflow:
                return ModelReply(finish_reason=OVERFLOW, model=client.config.model)
            raise

    return perform
