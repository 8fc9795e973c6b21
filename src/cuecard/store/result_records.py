"""What leaves the store of results: frozen records."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from cuecard.core.tasks import Difficulty, Family, TaskLanguage
from cuecard.core.tasks.base import Frozen

NoteKind = Literal["bookmark", "comment"]


class TaskTraits(Frozen):
    """Of one revision. `hash`: of its content; `facts` of a closed world, `stages` of a persona."""

    family: Family
    language: TaskLanguage
    domain: str
    difficulty: Difficulty | None
    facts: int
    stages: int
    hash: str


class KeptFigures(Frozen):
    """`body`: a trial's figures as JSON; `stamp`: what they were counted from and by."""

    judgement_id: int
    trial_id: int
    stamp: str
    body: str


class PromptUse(Frozen):
    """How many calls of a run were made with a prompt, by whoever paid (`agent`, `user`, `conclusion`, `world`,
    `judge`). `player`: the agent's name, or the judge's. `hash`: of the prompt's template.
    """

    payer: str
    player: str
    hash: str
    calls: int


class TrialNote(Frozen):
    """What a person noted at a place of a trial: `turn/3`, `event/17`, `verdict/triple/4`, `stage/2`,
    `step/1`, `fact/0`, "" for the whole trial. A bookmark may have no text.
    """

    uid: str
    trial_id: int
    person: str
    kind: NoteKind
    place: str
    text: str
    at: datetime
