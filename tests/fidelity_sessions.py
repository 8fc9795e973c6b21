"""Sessions of people with simulators listening: dialogues as they are written here, without anything having been
played. `careful` says what the person says; `sloppy` errs where `PLANTED` says so, once in a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from cuecard.annotate.samples import load_samples
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Limits,
    Termination,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    Act,
    AgentReply,
    CheckpointStatus,
    Dialogue,
    Flag,
    FlagKind,
    PlayerRef,
    UserReply,
)
from cuecard.core.evaluation.shadows import state_of
from cuecard.core.records import Shadow, TrialCell
from cuecard.core.tasks.models import Task
from cuecard.core.users.responder import ChainRules, read_move
from cuecard.core.users.scripted import ScriptedUser
from cuecard.store.workspace import Workspace

AGENT = PlayerRef(name="seeker", kind="react", model="seeker-1")
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
ANN = PlayerRef(name="Ann", kind="human")
CAREFUL = PlayerRef(name="careful", kind="persona", model="large")
SLOPPY = PlayerRef(name="sloppy", kind="persona", model="small")
AT = datetime(2026, 1, 1, tzinfo=UTC)
Said = str | tuple[str, Act]
Simulated = Callable[[int, Dialogue, UserReply], UserReply]


@dataclass(frozen=True)
class Turn:
    """The person's turn `number` after `before`."""

    number: int
    before: Dialogue
    reply: UserReply


@cache
def samples() -> dict[str, Task]:
    return {task.id: task for task in load_samples()}


def faithful(task: Task, dialogue: Dialogue) -> UserReply:
    """What whoever keeps to the card says; without patience to run out."""
    if task.family != "checkpoints":
        user = ScriptedUser(task, patience=99)
        return user.answer(dialogue) if dialogue.messages else user.opening()
    rules, last = ChainRules(task, None), dialogue.last("agent")
    if last is None:
        return UserReply(text=task.opening)
    move = read_move(last, rules.place(dialogue).step)
    return rules.reply(rules.follow(dialogue, last, move))


def turns_of(
    task: Task, agent: Sequence[Said], user: Callable[[Task, Dialogue], UserReply] = faithful
) -> list[Turn]:
    """The user's turns of a dialogue in which the agent says this, one after the other."""
    found = [Turn(0, Dialogue(), user(task, Dialogue()))]
    for number, said in enumerate(agent):
        text, act = said if isinstance(said, tuple) else (said, Act.REPLY)
        last = found[-1]
        before = last.before.plus(UserSpoke(turn=number, reply=last.reply).message)
        spoke = AgentSpoke(turn=number, reply=AgentReply(text=text, act=act))
        before = before.plus(spoke.message)
        found.append(Turn(number + 1, before, user(task, before)))
    return found


def session(
    workspace: Workspace,
    task: Task,
    turns: Sequence[Turn],
    *,
    user: PlayerRef = ANN,
    agent: PlayerRef = AGENT,
    end: Termination | None = Termination.USER_DONE,
) -> int:
    """Enter a trial with these turns, in a run of its own; its id."""
    saved = workspace.tasks.save(task, author="Eve")
    run = workspace.runs.create(
        name=task.title,
        kind="play" if user.kind == "human" else "grid",
        created_by="Eve",
        samples=1,
        limits=Limits(),
    )
    cell = TrialCell(
        task_id=task.id, revision=saved.number, agent=agent, user=user, world=WORLD, sample=0
    )
    trial = workspace.runs.add_trials(run.id, [cell])[0]
    bodies: list[EventBody] = [
        TrialStarted(
            task_id=task.id,
            revision=saved.number,
            revision_hash=saved.hash,
            agent=agent,
            user=user,
            world=WORLD,
        )
    ]
    for turn in turns:
        last = turn.before.last("agent")
        if last is not None:
            said = AgentReply(text=last.text, act=last.act)
            bodies.append(AgentSpoke(turn=turn.number - 1, reply=said))
        bodies.append(UserSpoke(turn=turn.number, reply=turn.reply))
    if end is not None:
        bodies.append(TrialEnded(termination=end))
    events = [Event(seq=seq, at=AT, body=body) for seq, body in enumerate(bodies)]
    workspace.runs.append_events([(trial.id, event) for event in events])
    return trial.id


def listen(
    workspace: Workspace,
    trial_id: int,
    turns: Sequence[Turn],
    player: PlayerRef,
    replies: Mapping[int, UserReply] | None = None,
    *,
    live: bool = True,
) -> None:
    """Keep what a simulator would have said in each turn: `replies` by turn, else what the person said."""
    for turn in turns:
        if turn.number:
            workspace.shadows.add(
                Shadow(
                    trial_id=trial_id,
                    turn=turn.number,
                    state=state_of(turn.before),
                    player=player,
                    reply=(replies or {}).get(turn.number, turn.reply),
                    live=live,
                    at=AT,
                )
            )


UNUSABLE = UserReply(text="", flags=(Flag(kind=FlagKind.UNUSABLE),))


def met(task: Task, stage: int, text: str = "") -> UserReply:
    """Discloses this stage with its line, or with `text`."""
    assert task.persona is not None
    return UserReply(text=text or task.persona.stages[stage - 1].line, stage=stage, cue_met=True)


def unmet(text: str) -> UserReply:
    return UserReply(text=text, cue_met=False)


def read(status: CheckpointStatus, step: int, text: str) -> UserReply:
    return UserReply(text=text, status=status, checkpoint=step)
