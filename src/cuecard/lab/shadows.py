"""Simulators that are asked what they would have said in a trial that somebody else plays."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from cuecard.core.calls import HeardCalls
from cuecard.core.config import Config
from cuecard.core.parts import Dialogue, ModelReply, PlayerRef, UserReply
from cuecard.core.tasks import Task
from cuecard.core.users.registry import build_user

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub


class ShadowTurn(NamedTuple):
    """`calls`: what its model answered, at most one; none for a baseline."""

    reply: UserReply
    calls: tuple[ModelReply, ...]
    player: PlayerRef


def state_of(dialogue: Dialogue) -> str:
    """Names a point of a trial: SHA-256, 16 hex digits, of all that was said and disclosed up to it. Two
    points with the same state put the same question to a simulator.
    """
    told = [
        (m.role, m.turn, m.text, m.act, m.stage, m.checkpoint, m.status) for m in dialogue.messages
    ]
    canonical = json.dumps(told, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


async def shadow_turn(
    task: Task, dialogue: Dialogue, name: str, config: Config, hub: ModelHub
) -> ShadowTurn:
    """What the user `name` of the configuration says after `dialogue`, which ends with the agent's reply.

    Its model is called once: nothing is asked again, mended or replaced. What would be complained of
    stands in `flags`; an answer that cannot be read gives no words, no decision and the flag `unusable`.
    Raises `ConfigError`, `ModelCallError` and `Halt`.
    """
    user = build_user(name, config, task, hub, once=True)
    desk = HeardCalls()
    reply = await user.reply(dialogue, desk)
    return ShadowTurn(reply, tuple(desk.heard), user.ref)
