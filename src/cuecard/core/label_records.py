"""Immutable records of judging and labelling: judgements, verdicts, labels, label sets and adjudications."""

from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import JsonValue

from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, Judgement


class JudgementRecord(Frozen):
    """A stored judgement of one trial."""

    id: int
    trial_id: int
    created_at: datetime
    judgement: Judgement


class JudgementHead(NamedTuple):
    """A judgement without its verdicts, of which there may be many."""

    id: int
    trial_id: int
    created_at: datetime
    judge: PlayerRef
    revision_hash: str
    prompt_hash: str
    trial_hash: str


class VerdictItem(Frozen):
    """A verdict to be labelled, without anything that the labeller must not see yet."""

    verdict_id: int
    trial_id: int
    run_id: int
    task_id: str
    revision: int
    item: Item


class VerdictRecord(Frozen):
    """A verdict with the judge's decision: only for those who may see it."""

    verdict_id: int
    trial_id: int
    task_id: str
    revision: int
    judge: PlayerRef
    item: Item
    decision: Decision
    supporting: tuple[int, ...]
    rationale: str


class LabelValue(StrEnum):
    """A person's decision on an item. On a status item people give a `CheckpointStatus` instead."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


Phase = Literal["blind", "revealed"]
"""Whether a label was given before (`blind`) or after (`revealed`) its person saw the decision on the item."""


class Label(Frozen):
    """A person's newest decision on one item; earlier ones stay in the history. `verdict_id`: of a verdict on the item,
    0 if there is none. `seconds`: how long the decision took, 0 if unknown. `gold_wrong`: the person considers the gold
    item itself wrong. `source`: the file it was imported from, "" if it was given here.
    """

    verdict_id: int
    person: str
    value: LabelValue | CheckpointStatus
    comment: str = ""
    created_at: datetime
    trial_id: int = 0
    item_key: str = ""
    phase: Phase = "blind"
    seconds: float = 0
    gold_wrong: bool = False
    source: str = ""


Cause = Literal[
    "alias",
    "granularity",
    "composition",
    "contradiction",
    "format",
    "gold_wrong",
    "prompt_ambiguous",
    "human_slip",
]
"""Why a decision was wrong. The first five are the judge's errors."""


class Adjudication(Frozen):
    """The final decision on a disputed item; labels and verdicts stay as they are. `cause` is "" if nobody erred."""

    trial_id: int
    item_key: str
    by: str
    value: LabelValue | CheckpointStatus
    cause: Cause | Literal[""] = ""
    comment: str = ""
    at: datetime


class SetItem(Frozen):
    """An item of a label set. `probability`: of being drawn from its stratum, for weighting; `raters`: how many people
    are to label it; `people`: who may (empty: anybody).
    """

    trial_id: int
    item: Item
    stratum: str = ""
    probability: float = 1
    raters: int = 1
    people: tuple[str, ...] = ()


class LabelSet(Frozen):
    """Items that were drawn to be labelled. `plan`: how they were drawn; the store does not interpret it."""

    id: int
    uid: str
    name: str
    created_by: str
    created_at: datetime
    items: int
    plan: dict[str, JsonValue] = {}


class SetParts(Frozen):
    """Who labelled how many items of a label set, as far as its reader may see, and of each stratum how many items
    there are and how many have every label that is wanted.
    """

    people: dict[str, int] = {}
    strata: dict[str, tuple[int, int]] = {}


class SetProgress(Frozen):
    """Progress of a label set: `wanted` labels on `items` items, of which `given` exist, `mine` by one person, for whom
    `left` items remain. `seconds`: the time of this person's `timed` labels whose time is known.
    """

    items: int = 0
    wanted: int = 0
    given: int = 0
    mine: int = 0
    left: int = 0
    seconds: float = 0.0
    timed: int = 0


class VerdictLine(Frozen):
    """One verdict in a list for one person. `mine`: their label; `decision`: None unless they have labelled the item and
    then seen the decision.
    """

    verdict_id: int
    trial_id: int
    run_id: int
    task_id: str
    revision: int
    agent: str
    judge: str
    item: Item
    mine: LabelValue | CheckpointStatus | None
    decision: Decision | None


class RunLabels(Frozen):
    """Progress of labelling a run: `verdicts` that judges gave, items that one person has labelled (`mine`), and all
    people's current labels.
    """

    run_id: int
    name: str
    judges: tuple[str, ...]
    verdicts: int
    mine: int
    labels: int
