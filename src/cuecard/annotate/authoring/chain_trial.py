"""How the scripted responder would take what an agent says at a step, tried while the chain is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cuecard.core.parts import Act, CheckpointStatus, Dialogue, Message
from cuecard.core.tasks import AmbiguityType, Checkpoint, CheckpointChain, Task
from cuecard.core.tasks.checkpoints import Ambiguity
from cuecard.core.text import contains_term
from cuecard.core.users.chain_rules import ChainRules
from cuecard.core.users.moves import read_move


@dataclass(frozen=True)
class Taken:
    """`heard` are the names and terms of the step in what was said; `released` the clue is given;
    `says` are the responder's words.
    """

    status: CheckpointStatus
    released: bool
    says: str
    heard: tuple[str, ...]


def try_turn(
    data: Mapping[str, Any],
    index: int,
    said: str,
    *,
    act: Act = Act.REPLY,
    clue_given: bool = False,
) -> Taken | None:
    """What comes of an agent's turn at step `index`, the steps before being done, by the responder's
    own rules. The chain may be unfinished. None where there is no such step or nothing is said.
    """
    chain = _chain(data)
    if not said.strip() or chain is None or not 0 <= index < len(chain.steps):
        return None
    language = "zh" if data.get("language") == "zh" else "en"
    rules = ChainRules(Task.model_construct(gold=chain, language=language), patience=None)
    dialogue = _standing_at(index, clue_given)
    message = Message(role="agent", turn=dialogue.turn, text=said, act=act)
    step = rules.place(dialogue).step
    move = read_move(message, step)
    outcome = rules.follow(dialogue, message, move)
    terms = (
        *step.names,
        *((*step.ambiguity.candidates, *step.ambiguity.terms) if step.ambiguity else ()),
    )
    heard = tuple(dict.fromkeys(term for term in terms if contains_term(said, term)))
    return Taken(
        outcome.status,
        outcome.status is CheckpointStatus.AMBIGUITY_DETECTED,
        rules.words(outcome),
        heard,
    )


def _standing_at(index: int, clue_given: bool) -> Dialogue:
    """A talk in which the steps before `index` are done."""
    opening = Message(role="user", turn=0, text="")
    talk = Dialogue((opening,))
    if index:
        talk = talk.plus(
            Message(
                role="user",
                turn=1,
                text="",
                checkpoint=index - 1,
                status=CheckpointStatus.CORRECT_ANSWER,
            )
        )
    if clue_given:
        talk = talk.plus(
            Message(
                role="user",
                turn=2,
                text="",
                checkpoint=index,
                status=CheckpointStatus.AMBIGUITY_DETECTED,
            )
        )
    return talk


def _chain(data: Mapping[str, Any]) -> CheckpointChain | None:
    """The chain as far as it is written: what is still empty is in no way checked."""
    gold = cast(dict[str, Any], data.get("gold") or {})
    steps = [_step(step) for step in cast(list[dict[str, Any]], gold.get("steps") or [])]
    if gold.get("family") != "checkpoints" or not steps:
        return None
    return CheckpointChain.model_construct(
        opening=str(gold.get("opening") or ""),
        steps=tuple(steps),
        final_answer=str(gold.get("final_answer") or ""),
        final_aliases=_texts(gold.get("final_aliases")),
        forbidden=_texts(gold.get("forbidden")),
    )


def _step(step: Mapping[str, Any]) -> Checkpoint:
    ambiguity = step.get("ambiguity")
    return Checkpoint.model_construct(
        question=str(step.get("question") or ""),
        target=str(step.get("target") or ""),
        aliases=_texts(step.get("aliases")),
        ambiguity=_ambiguity(cast(dict[str, Any], ambiguity))
        if isinstance(ambiguity, dict)
        else None,
    )


def _ambiguity(about: Mapping[str, Any]) -> Ambiguity:
    return Ambiguity.model_construct(
        type=AmbiguityType.ENTITY,
        logic=str(about.get("logic") or ""),
        candidates=_texts(about.get("candidates")),
        clue=str(about.get("clue") or ""),
        terms=_texts(about.get("terms")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    items = cast(list[Any], value) if isinstance(value, list) else []
    return tuple(text for item in items if (text := str(item).strip()))
