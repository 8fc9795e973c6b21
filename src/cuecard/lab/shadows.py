"""Simulators that are asked what they would have said in a trial that somebody else plays."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from cuecard.core.calls import HeardCalls
from cuecard.core.config import Config
from cuecard.core.parts import Desk, Dialogue, ModelReply, PlayerRef, User, UserReply
from cuecard.core.tasks import Task
from cuecard.core.users.registry import build_user
from cuecard.store.play_records import Shadow

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.store.workspace import Workspace


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
    return await ask_shadow(shadow_user(name, config, task, hub), dialogue)


def shadow_user(name: str, config: Config, task: Task, hub: ModelHub) -> User:
    """The user `name`, made to be asked and not to play. Raises `ConfigError`."""
    return build_user(name, config, task, hub, once=True)


async def ask_shadow(user: User, dialogue: Dialogue) -> ShadowTurn:
    """As `shadow_turn`, of a user that is made already."""
    desk = HeardCalls()
    # Of all that a desk can do, users that are no people only call models.
    reply = await user.reply(dialogue, cast(Desk, desk))
    return ShadowTurn(reply, tuple(desk.heard), user.ref)


def shadow_of(trial_id: int, dialogue: Dialogue, said: ShadowTurn, *, live: bool) -> Shadow:
    """What is kept of a turn that was asked for after `dialogue`."""
    return Shadow(
        trial_id=trial_id,
        turn=dialogue.turn + 1,
        state=state_of(dialogue),
        player=said.player,
        reply=said.reply,
        calls=said.calls,
        live=live,
        at=datetime.now(UTC),
    )


async def keep_shadow(workspace: Workspace, shadow: Shadow) -> None:
    """Keep what was paid for, also where whoever waits for that is cancelled meanwhile."""
    keeping = asyncio.ensure_future(asyncio.to_thread(workspace.shadows.add, shadow))
    try:
        await asyncio.shield(keeping)
    except asyncio.CancelledError:
        await asyncio.wait({keeping})
        raise
