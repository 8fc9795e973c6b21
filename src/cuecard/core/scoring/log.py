"""What scores read from a trial's log."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import AgentSpoke, Event, ModelReplied, ToolAnswered, UserSpoke

_USER = "user"


def agent_tool_answers(events: Sequence[Event]) -> list[ToolAnswered]:
    """Every tool call of the agent, refused ones included: it made them."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ToolAnswered) and event.body.part != _USER
    ]


def agent_model_replies(events: Sequence[Event]) -> list[ModelReplied]:
    """Every model call of the agent (a model that plays the user is not its cost)."""
    return [
        event.body
        for event in events
        if isinstance(event.body, ModelReplied) and event.body.part != _USER
    ]


def is_search(answered: ToolAnswered) -> bool:
    """Whether a tool call was a search: by what it gave, or by its name when it gave nothing."""
    answer = answered.answer
    return bool(answer.entries) or answer.hit is not None or "search" in answered.call.name.lower()


def user_turns(events: Sequence[Event]) -> list[UserSpoke]:
    return [event.body for event in events if isinstance(event.body, UserSpoke)]


def agent_turns(events: Sequence[Event]) -> list[AgentSpoke]:
    return [event.body for event in events if isinstance(event.body, AgentSpoke)]
