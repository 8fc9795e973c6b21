"""What a session has come to so far, followed event by event: turns, time, tokens, calls, notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cuecard.core.events import (
    AgentSpoke,
    Event,
    Marked,
    ModelReplied,
    ToolAnswered,
    TrialReopened,
    TrialStarted,
    UserSpoke,
    kept_by,
)
from cuecard.core.marks import HarnessTool, Remark
from cuecard.core.parts import PlayerRef, Usage
from cuecard.core.times import active


@dataclass(frozen=True)
class Note:
    """`turn` counts from 0, as the log does."""

    turn: int
    remark: Remark


@dataclass(frozen=True)
class Spent:
    """What one payer's calls have cost. `cost` is None where no call had a price; `unpriced`: how many
    had none.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    unpriced: int = 0

    def plus(self, usage: Usage, cost: float | None) -> Spent:
        known = cost is not None
        return Spent(
            calls=self.calls + 1,
            usage=self.usage.plus(usage),
            cost=(self.cost or 0.0) + cost if cost is not None else self.cost,
            unpriced=self.unpriced + (not known),
        )


@dataclass
class PlayFigures:
    """`follow` every event of the log in its order. Turns, calls and times of turns are those of the
    course as it stands; what was spent, noted and lived through is never taken back.

    `thinking`: seconds that each agent turn took, `yours` those of each of the person's, by turn.
    `context`: tokens in the agent's last own call, None without any. `hits` of `searched`: searches of
    a world that tells hits.
    """

    agent: PlayerRef | None = None
    max_turns: int | None = None
    turns: int = 0
    calls: int = 0
    searched: int = 0
    hits: int = 0
    context: int | None = None
    thinking: dict[int, float] = field(default_factory=dict[int, float])
    yours: dict[int, float] = field(default_factory=dict[int, float])
    spent: Spent = Spent()
    world_spent: Spent = Spent()
    notes: list[Note] = field(default_factory=list[Note])
    _active: timedelta = timedelta()
    _last: datetime | None = None
    _course: list[Event] = field(default_factory=list[Event])
    _spoke_at: datetime | None = None

    def follow(self, event: Event) -> None:
        """Take in what happened."""
        if self._last is not None:
            self._active += active(event.at - self._last)
        self._last = event.at
        if isinstance(event.body, TrialReopened):
            self._take_back(event.body)
            self._spoke_at = event.at
            return
        self._course.append(event)
        self._count(event)
        self._spend(event)

    def active(self, now: datetime | None = None) -> timedelta:
        """How long the session has been played, up to its last event or up to `now`. Of a pause, no
        more than `core.times.IDLE` counts.
        """
        if self._last is None or now is None:
            return self._active
        return self._active + active(now - self._last)

    def _take_back(self, reopened: TrialReopened) -> None:
        self._course = kept_by(self._course, reopened)
        self.turns = self.calls = self.searched = self.hits = 0
        self.thinking, self.yours, self._spoke_at = {}, {}, None
        for event in self._course:
            self._count(event)

    def _count(self, event: Event) -> None:
        match event.body:
            case TrialStarted(agent=agent, limits=limits):
                self.agent, self.max_turns = agent, limits.max_turns
                self._spoke_at = event.at
            case UserSpoke(turn=turn):
                self._timed(self.yours, turn, event.at)
            case AgentSpoke(turn=turn):
                self.turns += 1
                self._timed(self.thinking, turn, event.at)
            case ToolAnswered(part="agent" | "conclusion", answer=answer):
                self.calls += 1
                if answer.hit is not None:
                    self.searched += 1
                    self.hits += answer.hit.hit
            case Marked(mark=HarnessTool()):
                self.calls += 1
            case _:
                pass

    def _timed(self, times: dict[int, float], turn: int, at: datetime) -> None:
        if self._spoke_at is not None:
            times[turn] = max(0.0, (at - self._spoke_at).total_seconds())
        self._spoke_at = at

    def _spend(self, event: Event) -> None:
        match event.body:
            case ModelReplied() as body if body.payer == "world":
                self.world_spent = self.world_spent.plus(body.reply.usage, body.reply.cost)
            case ModelReplied(part="agent" | "conclusion") as body:
                usage = body.reply.usage
                self.spent = self.spent.plus(usage, body.reply.cost)
                if not body.scope:
                    self.context = usage.prompt + usage.completion
            case Marked(mark=Remark() as remark, turn=turn):
                self.notes.append(Note(turn, remark))
            case _:
                pass
