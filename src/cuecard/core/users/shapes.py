"""The shapes in which a model gives a user's turn. Lenient in what cannot be misread."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from cuecard.core.users.moves import Move

_YES_NO = {"是": True, "否": False, "": False}
MoveName = Literal["asks_rightly", "asks_otherwise", "right", "wrong", "nothing"]
MOVES: dict[MoveName, Move] = {
    "asks_rightly": Move.ASKS_RIGHTLY,
    "asks_otherwise": Move.ASKS_OTHERWISE,
    "right": Move.RIGHT,
    "wrong": Move.WRONG,
    "nothing": Move.NOTHING,
}


def _bool(value: object) -> object:
    if isinstance(value, str):
        return _YES_NO.get(value.strip(), value.strip())
    return False if value is None else value


def _number(value: object) -> object:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(value: object) -> object:
    return "_".join(value.lower().replace("-", " ").split()) if isinstance(value, str) else value


def _text(value: object) -> object:
    return "" if value is None else value


Bool = Annotated[bool, BeforeValidator(_bool)]
Said = Annotated[str, BeforeValidator(_text)]


def _for_models(schema: dict[str, Any]) -> None:
    """What a server holds a model to: every field. Notes to readers of the code are not for it."""
    schema["required"] = list(schema["properties"])
    schema.pop("description", None)


class _Answer(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", defer_build=True, json_schema_extra=_for_models
    )


class PersonaAnswer(_Answer):
    """One turn of a persona. `stage` is asked for, so that the model commits itself, and corrected to
    what `cue_met` means: the engine counts.
    """

    reason: Said = ""
    cue_met: Bool
    stage: Annotated[int | None, BeforeValidator(_number)] = None
    reply: Said
    done: Bool = False


class FarewellAnswer(_Answer):
    """One turn of a persona that has disclosed every stage."""

    reason: Said = ""
    reply: Said
    done: Bool


class ResponderAnswer(_Answer):
    """One turn of a responder: what the agent's turn was, and words for it."""

    reason: Said = ""
    move: Annotated[MoveName, BeforeValidator(_name)]
    reply: Said = ""
