"""Reading a live session's course: whose turn it is, and from where a turn is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cuecard.core.events import AgentSpoke, Event, Limits, Marked, ModelReplied, UserSpoke
from cuecard.core.marks import Mark


def last_words(course: Sequence[Event]) -> tuple[Event, UserSpoke] | None:
    """The person's last words, with their event; None before they have spoken."""
    for event in reversed(course):
        if isinstance(event.body, UserSpoke):
            return event, event.body
    return None


def last_reply(course: Sequence[Event]) -> AgentSpoke | None:
    """The agent's reply to the person's last words, if it has given one."""
    for event in reversed(course):
        if isinstance(event.body, AgentSpoke):
            return event.body
        if isinstance(event.body, UserSpoke):
            return None
    return None


class Written:
    """What the agent has streamed in its turn so far. What belongs to one model call is a paragraph, as
    in the replies of agents that speak between their tool calls.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._break = False

    @property
    def text(self) -> str:
        return "".join(self._pieces).strip()

    def take(self, piece: str) -> None:
        if self._break and piece.strip():
            self._pieces.append("\n\n")
            self._break = False
        self._pieces.append(piece)

    def follow(self, event: Event) -> None:
        """Words of another turn are none of this one's."""
        match event.body:
            case UserSpoke() | AgentSpoke():
                self.clear()
            case ModelReplied(part="agent", scope=""):
                self._break = bool(self._pieces)
            case _:
                pass

    def clear(self) -> None:
        self._pieces, self._break = [], False


def phase_after(
    course: Sequence[Event], limits: Limits
) -> Literal["yours", "writing", "concluding"]:
    """Whose turn it is, by what is recorded."""
    words = last_words(course)
    if words is None or last_reply(course) is not None:
        return "yours"
    last = words[1].reply.done or words[1].turn >= limits.max_turns
    return "concluding" if last else "writing"


def marked(mark: Mark, course: Sequence[Event]) -> Marked:
    """The body that records a person's mark in the exchange that is under way, behind those that stand."""
    turn, step = next_turn(course), 0
    keys = {event.body.key for event in course}
    while (body := Marked(part="user", turn=turn, step=step, mark=mark)).key in keys:
        step += 1
    return body


def next_turn(course: Sequence[Event]) -> int:
    """The exchange that is under way, or that the person is to open."""
    words = last_words(course)
    if words is None:
        return 0
    return words[1].turn + (last_reply(course) is not None)
