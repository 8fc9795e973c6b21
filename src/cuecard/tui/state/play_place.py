"""Where a played trial stands: whose turn it is, which stage or step is next, what was said."""

from __future__ import annotations

from dataclasses import dataclass, field

from cuecard.core.events import AgentSpoke, Event
from cuecard.core.parts import CheckpointStatus, Dialogue
from cuecard.core.tasks import Checkpoint, CheckpointChain, Stage, Task
from cuecard.core.users.moves import ADVANCING
from cuecard.tui.state.play_choices import Phase, StageState


@dataclass
class PlayPlace:
    """`course`: the events that stand."""

    task: Task
    dialogue: Dialogue = field(default_factory=Dialogue)
    phase: Phase = "yours"
    course: list[Event] = field(default_factory=list[Event], kw_only=True)

    @property
    def opening(self) -> bool:
        """Nothing is said yet."""
        return not self.dialogue.messages

    @property
    def chain(self) -> CheckpointChain | None:
        return self.task.gold if isinstance(self.task.gold, CheckpointChain) else None

    @property
    def interrupted(self) -> bool:
        """Whether the agent was stopped in its last reply."""
        spoken = (e.body for e in reversed(self.course) if isinstance(e.body, AgentSpoke))
        last = next(spoken, None)
        return last is not None and last.reply.interrupted

    @property
    def last_reply(self) -> str:
        """What the agent said last; "" before it has spoken."""
        last = self.dialogue.last("agent")
        return last.text if last else ""

    @property
    def stage_number(self) -> int | None:
        """The next stage to disclose, from 1; None without a persona and after the last."""
        said = set(self.dialogue.stages_disclosed)
        numbers = range(1, len(self.task.stages) + 1)
        return next((number for number in numbers if number not in said), None)

    @property
    def stage(self) -> Stage | None:
        number = self.stage_number
        return self.task.stages[number - 1] if number else None

    def stage_state(self, number: int) -> StageState:
        if number in self.dialogue.stages_disclosed:
            return "done"
        return "now" if number == self.stage_number else "later"

    @property
    def step_number(self) -> int | None:
        """The checkpoint that is being worked on, from 0; None when all are advanced."""
        if self.chain is None:
            return None
        advanced = -1
        for message in self.dialogue.of("user"):
            if message.status in ADVANCING and message.checkpoint is not None:
                advanced = max(advanced, message.checkpoint)
        return advanced + 1 if advanced + 1 < len(self.chain.steps) else None

    @property
    def step(self) -> Checkpoint | None:
        number = self.step_number
        return self.chain.steps[number] if self.chain and number is not None else None

    @property
    def clue_released(self) -> bool:
        """Whether the agent has asked rightly at the current step."""
        return self.step_number is not None and self.released_in(self.step_number) is not None

    def released_in(self, step: int) -> int | None:
        """The turn, from 0, in which a step's clue was released."""
        right = CheckpointStatus.AMBIGUITY_DETECTED
        told = (m for m in self.dialogue.of("user") if m.checkpoint == step and m.status is right)
        return next((message.turn for message in told), None)
