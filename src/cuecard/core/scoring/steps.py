"""What an agent did at each checkpoint it reached, read from the log (FORMATS: discobench)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.events import Event, UserSpoke
from cuecard.core.parts import CheckpointStatus
from cuecard.core.scoring.log import agent_tool_answers, is_search, user_turns
from cuecard.core.tasks import CheckpointChain

ASKED = frozenset((CheckpointStatus.AMBIGUITY_DETECTED, CheckpointStatus.WRONG_AMBIGUITY_DETECTED))
ADVANCED = frozenset(
    (
        CheckpointStatus.CORRECT_ANSWER,
        CheckpointStatus.MISSED_AMBIGUITY_CORRECT,
        CheckpointStatus.TASK_COMPLETED,
    )
)


@dataclass(frozen=True)
class StepRecord:
    """One reached checkpoint of one trial.

    `asks`: turns that the responder read as asking; `right_asks`: those about this ambiguity.
    `searches_before_ask`: None without an ask. `advanced`: at any turn, before an ask or after it.
    """

    checkpoint: int
    ambiguous: bool
    searches: int
    asks: int
    right_asks: int
    searches_before_ask: int | None
    advanced: bool

    @property
    def asked(self) -> bool:
        """At least one turn was read as asking, rightly or not; several asks at a checkpoint are one."""
        return self.asks > 0

    @property
    def asked_rightly(self) -> bool:
        """At least one ask was about its ambiguity."""
        return self.right_asks > 0


def steps_of(chain: CheckpointChain, events: Sequence[Event]) -> tuple[StepRecord, ...]:
    """The reached checkpoints in order: those that a responder's reading names.

    The user's words of turn t carry the reading of the agent's turn t - 1, and its searches are that
    turn's. A completed task without a checkpoint means the last one.
    """
    searches: dict[int, int] = defaultdict(int)
    for answered in agent_tool_answers(events):
        if is_search(answered):
            searches[answered.turn] += 1
    readings: dict[int, list[UserSpoke]] = defaultdict(list)
    for spoke in user_turns(events):
        index = checkpoint_of(spoke, len(chain.steps))
        if spoke.turn > 0 and index is not None:
            readings[index].append(spoke)
    return tuple(_record(chain, i, readings[i], searches) for i in sorted(readings))


def checkpoint_of(spoke: UserSpoke, steps: int) -> int | None:
    """The checkpoint of `steps` that a user turn read the agent at; None where it did not say."""
    index = spoke.reply.checkpoint
    if index is None and spoke.reply.status is CheckpointStatus.TASK_COMPLETED:
        return steps - 1
    return index if index is not None and 0 <= index < steps else None


def _record(
    chain: CheckpointChain, index: int, spoken: Sequence[UserSpoke], searches: dict[int, int]
) -> StepRecord:
    ambiguous = chain.steps[index].ambiguity is not None
    asked_at = [n for n, spoke in enumerate(spoken) if spoke.reply.status in ASKED]
    right_at = [
        n
        for n in asked_at
        if ambiguous and spoken[n].reply.status is CheckpointStatus.AMBIGUITY_DETECTED
    ]
    # .get: a defaultdict would grow while it is read.
    counts = [searches.get(spoke.turn - 1, 0) for spoke in spoken]
    return StepRecord(
        checkpoint=index,
        ambiguous=ambiguous,
        searches=sum(counts),
        asks=len(asked_at),
        right_asks=len(right_at),
        searches_before_ask=sum(counts[: asked_at[0] + 1]) if asked_at else None,
        advanced=any(spoke.reply.status in ADVANCED for spoke in spoken),
    )
