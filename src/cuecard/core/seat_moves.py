"""What a person who plays the agent does: one move at a time, like a model's calls and replies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cuecard.core.parts import Act, ToolCall
from cuecard.core.prediction import Prediction
from cuecard.core.tasks.base import Frozen


class ToolMove(Frozen):
    """The person who plays the agent asks the world."""

    kind: Literal["tool"] = "tool"
    call: ToolCall


class ReplyMove(Frozen):
    """The person who plays the agent answers the user."""

    kind: Literal["reply"] = "reply"
    text: str
    act: Act = Act.REPLY


class HandInMove(Frozen):
    """The person who plays the agent hands in."""

    kind: Literal["hand_in"] = "hand_in"
    prediction: Prediction


SeatMove = Annotated[ToolMove | ReplyMove | HandInMove, Field(discriminator="kind")]


def move_place(part: Literal["agent", "conclusion"], turn: int, number: int) -> str:
    """The step of move `number` (from 0) of a turn: `agent/3/move/0`. There is one conclusion."""
    return f"agent/{turn}/move/{number}" if part == "agent" else f"conclusion/move/{number}"
