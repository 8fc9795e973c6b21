"""Recorded dialogues whose every text is a word of its own, so that a test can tell what shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

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
    AgentReply,
    CheckpointStatus,
    Flag,
    FlagKind,
    PlayerRef,
    UserReply,
)
from cuecard.core.records import TrialCell
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace

ACTOR = PlayerRef(name="actor", kind="persona", model="m-1")
AGENT = PlayerRef(name="offline", kind="offline", baseline=True)
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)


def persona_task(stages: int = 4, id: str = "makers", first: str = "start") -> Task:
    """The first stage belongs to the start of the conversation, the others wait for a mention."""
    kinds = [first, *["mentions"] * (stages - 1)]
    return Task.model_validate(
        {
            "id": id,
            "title": "Makers of machines",
            "language": "en",
            "query": "Since when?",
            "persona": {
                "identity": "a clerk",
                "initial_query": "opening",
                "stages": [
                    {
                        "title": f"title {n}",
                        "cue": {"kind": kind, "text": f"cue of stage {n}"},
                        "line": f"line of stage {n}",
                        "not_met": f"push of stage {n}",
                    }
                    for n, kind in enumerate(kinds, 1)
                ],
            },
            "gold": {
                "family": "graph",
                "triples": [{"head": "maker", "relation": "founded in", "tail": "1901"}],
            },
        }
    )


def said(text: str, stage: int | None = None, met: bool | None = None, **more: object) -> UserReply:
    return UserReply.model_validate({"text": text, "stage": stage, "cue_met": met, **more})


def four_stages() -> list[UserReply]:
    """Disclosed in turns 0, 1, 3 and 4; turn 2 pushes, turn 5 says good-bye without a decision."""
    return [
        said("tulip", 1, True),
        said("bravo", 2, True, reason="because-bravo"),
        said("charlie", None, False, reason="because-charlie"),
        said("delta", 3, True, flags=[Flag(kind=FlagKind.LEAK, found="flag-delta")]),
        said("echo", 4, True, reason="because-echo"),
        said("foxtrot", done=True),
    ]


def checkpoint_task() -> Task:
    """Two steps, the first ambiguous."""
    return Task.model_validate(
        {
            "id": "chain",
            "title": "A chain",
            "language": "en",
            "query": "Which river?",
            "gold": {
                "family": "checkpoints",
                "opening": "Which river?",
                "final_answer": "Rhine",
                "steps": [
                    {
                        "question": "Which bridge?",
                        "target": "Old Bridge",
                        "ambiguity": {
                            "type": "entity",
                            "logic": "two bridges",
                            "candidates": ["Old Bridge", "New Bridge"],
                            "clue": "the older one",
                        },
                    },
                    {"question": "Which river is below?", "target": "Rhine"},
                ],
            },
        }
    )


def two_steps() -> list[UserReply]:
    status = CheckpointStatus
    return [
        said("tulip"),
        said("bravo", status=status.AMBIGUITY_DETECTED, checkpoint=0),
        said("charlie", status=status.CORRECT_ANSWER, checkpoint=0),
        said("delta", status=status.TASK_COMPLETED, checkpoint=1, done=True, answered=True),
    ]


def record(
    workspace: Workspace,
    task: Task,
    replies: Sequence[UserReply],
    *,
    user: PlayerRef = ACTOR,
    agent: PlayerRef = AGENT,
    ended: bool = True,
    name: str = "recorded",
) -> int:
    """A trial in which the user said `replies` and the agent answered `answer-N` after each but the last.
    Returns its id.
    """
    number = workspace.tasks.save(task, author="Ann", message="").number
    run = workspace.runs.create(
        name=name, kind="grid", created_by="Ann", samples=1, limits=Limits()
    )
    cell = TrialCell(
        task_id=task.id, revision=number, agent=agent, user=user, world=WORLD, sample=0
    )
    trial = workspace.runs.add_trials(run.id, [cell])[0]
    started = TrialStarted(
        task_id=task.id, revision=number, revision_hash="", agent=agent, user=user, world=WORLD
    )
    bodies: list[EventBody] = [started]
    for turn, reply in enumerate(replies):
        bodies.append(UserSpoke(turn=turn, reply=reply))
        if not reply.done:
            bodies.append(AgentSpoke(turn=turn, reply=AgentReply(text=f"answer-{turn}")))
    if ended:
        bodies.append(TrialEnded(termination=Termination.USER_DONE))
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    workspace.runs.append_events(
        [(trial.id, Event(seq=seq, at=at, body=body)) for seq, body in enumerate(bodies)]
    )
    return trial.id
