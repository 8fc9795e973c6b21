"""What of a run travels: everything that was recorded of its trials, named by uid."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from cuecard.core.events import Limits, Termination
from cuecard.core.parts import PlayerRef, Usage
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Judgement
from cuecard.store.records import RunState


class SharedRun(Frozen):
    uid: str
    name: str
    kind: Literal["grid", "play", "probe"]
    created_by: str
    created_at: datetime
    state: Literal[RunState.RUNNING, RunState.PAUSED, RunState.DONE, RunState.CANCELLED]
    samples: int
    limits: Limits = Limits()
    plan: dict[str, JsonValue] = {}
    reason: str = ""


class SharedEvent(Frozen):
    """`body`: the event's JSON with stubs for what stands in payloads, as `event_codec.encode` makes it."""

    seq: int
    take: int = 0
    at: datetime
    body: str


class SharedUsage(Frozen):
    """What a payer's calls of a model took in one trial; the fields are those of `UsageRecord`."""

    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None
    priced: int = 0


class SharedCall(Frozen):
    """A judge's model call; `body`: the reply as JSON."""

    judge: str
    attempt: int
    key: str
    model: str
    prompt: str = ""
    body: str


class SharedJudgement(Frozen):
    at: datetime
    judgement: Judgement


class SharedShadow(Frozen):
    """What a simulator would have said; `reply` and `calls` are JSON."""

    state: str
    turn: int
    player: PlayerRef
    reply: str
    calls: str
    live: bool
    at: datetime


class SharedForm(Frozen):
    """What a person said of a session; `questions` and `answers` are JSON."""

    person: str
    questions: str
    answers: str
    at: datetime


class SharedNote(Frozen):
    """A bookmark or comment at a place of a trial, or that the note `about` was taken back."""

    uid: str
    person: str
    kind: Literal["bookmark", "comment", "taken_back"]
    place: str
    text: str = ""
    about: str = ""
    at: datetime


class SharedTrial(Frozen):
    """A trial of the run with uid `run` on the revision with uid `revision`. `position`: its place in the grid. `events`:
    the whole log, all takes, in order.
    """

    uid: str
    run: str
    position: int
    task_id: str
    revision: str
    agent: PlayerRef
    user: PlayerRef
    world: PlayerRef
    sample: int
    seed: int
    termination: Termination | None = None
    detail: str = ""
    created_at: datetime
    ended_at: datetime | None = None
    events: tuple[SharedEvent, ...] = ()
    usage: tuple[SharedUsage, ...] = ()
    calls: tuple[SharedCall, ...] = ()
    judgements: tuple[SharedJudgement, ...] = ()
    shadows: tuple[SharedShadow, ...] = ()
    forms: tuple[SharedForm, ...] = ()
    notes: tuple[SharedNote, ...] = ()

    @property
    def order(self) -> tuple[str, int, str]:
        return self.run, self.position, self.uid
