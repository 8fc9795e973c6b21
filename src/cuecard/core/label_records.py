"""Records of judging and labelling: verdicts, labels, sets and adjudications."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, Judgement


class JudgementRecord(Frozen):
    id: int
    trial_id: int
    created_at: datetime
    judgement: Judgement


class JudgementHead(Frozen):
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
    """A person's decision on an item. On the status of a checkpoint it is a `CheckpointStatus`."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


Phase = Literal["blind", "revealed"]
"""Whether a label was given before or after its person saw what was decided on the item."""


class Label(Frozen):
    """The newest of one person's decisions on one item; earlier ones stay in the history. `verdict_id`:
    of a verdict on the item, 0 if there is none. `seconds`: how long it took, 0 if not known;
    `gold_wrong`: the person holds the gold item itself for wrong; `source`: the file it came from, "" if
    it was given here.
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
    """What was decided on an item that was disputed; labels and verdicts stay as they are. `cause` "":
    nobody erred.
    """

    trial_id: int
    item_key: str
    by: str
    value: LabelValue | CheckpointStatus
    cause: Cause | Literal[""] = ""
    comment: str = ""
    at: datetime


class SetItem(Frozen):
    """An item of a labelling set. `probability`: with which it was drawn from its stratum, for weights;
    `raters`: how many people are to label it, `people`: who, nobody named meaning anybody.
    """

    trial_id: int
    item: Item
    stratum: str = ""
    probability: float = 1
    raters: int = 1
    people: tuple[str, ...] = ()


class LabelSet(Frozen):
    """Items that were drawn to be labelled. `plan` says how; the store does not read it."""

    id: int
    uid: str
    name: str
    created_by: str
    created_at: datetime
    items: int
    plan: dict[str, JsonValue] = {}


class SetProgress(Frozen):
    """`wanted` labels of `items` items; `given` of them are there, `mine` by one person, for whom `left`
    items wait. `seconds`: what this person took in all for those whose time is known, `timed` of them.
    """

    items: int
    wanted: int
    given: int
    mine: int
    left: int
    seconds: float
    timed: int


class VerdictLine(Frozen):
    """A line of the list of verdicts. `decision`: None unless this person has labelled the item and
    has seen the decision since.
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
    """How far the labelling of a run is: items that judges decided, those that one person has
    labelled, and all people's labels that count.
    """

    run_id: int
    name: str
    judges: tuple[str, ...]
    verdicts: int
    mine: int
    labels: int
