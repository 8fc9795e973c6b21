"""The entries of a bundle, the file by which workspaces exchange work: all name things by uid, never by a local number."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from cuecard.core.contributions import Body, TaskState
from cuecard.core.engine.events import Limits, Termination
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef, Usage
from cuecard.core.label_records import Cause, LabelValue, Phase
from cuecard.core.records import EffortKind, RunState
from cuecard.core.review import Clash
from cuecard.core.tasks.base import Frozen, Origin
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Judgement


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


class Signature(Frozen):
    """Who saved a revision, and when. `origins`: what of it a machine drafted."""

    author: str
    at: datetime
    tick: int
    message: str = ""
    origins: tuple[Origin, ...] = ()

    @property
    def order(self) -> tuple[int, datetime, str]:
        """The first of a revision's signatures says when it was made."""
        return self.tick, self.at, self.author


class SharedRevision(Frozen):
    """A revision without its content, which `hash` names, and with everybody who saved just this."""

    uid: str
    task_id: str
    hash: str
    parents: tuple[str, ...] = ()
    signatures: tuple[Signature, ...]


class SharedContribution(Frozen):
    """A contribution; `revision` is the uid of the revision that it is about, "" for none."""

    uid: str
    task_id: str = ""
    revision: str = ""
    by: str
    at: datetime
    tick: int
    body: Body


class SharedLabel(Frozen):
    """A person's decision on item `item` (its key) of the trial whose uid is `trial`. The other fields
    are those of `Label`.
    """

    trial: str
    item: str
    person: str
    value: LabelValue | CheckpointStatus
    comment: str = ""
    at: datetime
    phase: Phase = "blind"
    seconds: float = 0
    gold_wrong: bool = False
    source: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two labels one: who said what of what when. Packs of earlier versions hold no more."""
        return self.trial, self.item, self.person, self.value.value, self.comment, self.at


class SharedReveal(Frozen):
    """When a person first saw what was decided on an item."""

    trial: str
    item: str
    person: str
    at: datetime


class SharedAdjudication(Frozen):
    """What was decided on a disputed item."""

    trial: str
    item: str
    by: str
    value: LabelValue | CheckpointStatus
    cause: Cause | Literal[""] = ""
    comment: str = ""
    at: datetime


class SharedSetItem(Frozen):
    """An item of a labelling set; the fields are those of `SetItem`."""

    trial: str
    item: str
    stratum: str = ""
    probability: float = 1
    raters: int = 1
    people: tuple[str, ...] = ()


class SharedLabelSet(Frozen):
    """A labelling set with its items in the order in which they were drawn."""

    uid: str
    name: str
    by: str
    at: datetime
    plan: dict[str, JsonValue] = {}
    items: tuple[SharedSetItem, ...] = ()


class SharedEffort(Frozen):
    """An entry of the effort log. Equal entries are told apart by counting them."""

    task_id: str
    person: str
    kind: EffortKind
    amount: float
    text: str = ""
    at: datetime


class Parcel(Frozen):
    """What one person did. `tasks` by content hash, and `revisions`, also hold what that refers to;
    parents come before what stands on them. Or whole runs, with what anybody said of their trials, and the texts
    that their logs refer to by hash (`payloads`).
    """

    person: str
    tasks: Mapping[str, Task] = {}
    revisions: tuple[SharedRevision, ...] = ()
    contributions: tuple[SharedContribution, ...] = ()
    labels: tuple[SharedLabel, ...] = ()
    effort: tuple[SharedEffort, ...] = ()
    reveals: tuple[SharedReveal, ...] = ()
    adjudications: tuple[SharedAdjudication, ...] = ()
    label_sets: tuple[SharedLabelSet, ...] = ()
    payloads: Mapping[str, bytes] = {}
    runs: tuple[SharedRun, ...] = ()
    trials: tuple[SharedTrial, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the person did nothing."""
        own = (
            self.contributions,
            self.labels,
            self.effort,
            self.reveals,
            self.adjudications,
            self.label_sets,
            self.runs,
        )
        signed = any(s.author == self.person for r in self.revisions for s in r.signatures)
        return not signed and not any(own)


class Arrived(Frozen):
    """How many entries of a kind were `added`, and how many were `known` already. `kind`: `person`,
    `task`, `revision`, `signature`, `label`, `reveal`, `adjudication`, `label_set`, `effort`, `run`, `trial`,
    `event`, `judgement`, `judge_call`, `shadow`, `session_form`, `trial_note`, or the kind of a contribution.
    """

    kind: str
    added: int = 0
    known: int = 0


class LeftOut(Frozen):
    """`count` labels, adjudications or labelling sets of `person` that cannot be taken: a trial that they
    are about is not in this workspace. Merging the same file later takes them. Or a trial that `person` packed, whose
    log goes another way than here (`other_log`).
    """

    person: str
    trial: str
    reason: Literal["no_trial", "other_log"]
    count: int
    kind: Literal["label", "adjudication", "label_set", "trial"] = "label"


class Moved(Frozen):
    """A task that came, changed its state or its newest revision; `before` is None for a new one."""

    task_id: str
    title: str
    before: TaskState | None
    after: TaskState
    head_before: int
    head: int


class SignedFor(Frozen):
    """Revisions in the pack of `packed_by` that are signed by somebody else, `author`; `new` of them are not
    in this workspace under that name. A name is no password: whoever writes a pack can put any name there.
    """

    packed_by: str
    author: str
    revisions: int
    new: int


class MergeReport(Frozen):
    """What a merge did, or with `dry` would do. `signed_for`: who packed revisions of others, and whose. `clashes_before` and `clashes`: those of the tasks that
    it touched, without the names of reviewers that must not be known yet.
    """

    dry: bool
    arrived: tuple[Arrived, ...] = ()
    people: tuple[str, ...] = ()
    signed_for: tuple[SignedFor, ...] = ()
    moved: tuple[Moved, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    clashes_before: tuple[Clash, ...] = ()
    clashes: tuple[Clash, ...] = ()

    @property
    def added(self) -> int:
        return sum(arrived.added for arrived in self.arrived)

    @property
    def known(self) -> int:
        return sum(arrived.known for arrived in self.arrived)

    @property
    def new_clashes(self) -> tuple[Clash, ...]:
        """Those that were not there before, whichever of two revisions counted as the newest then."""
        before = {_what(clash) for clash in self.clashes_before}
        return tuple(clash for clash in self.clashes if _what(clash) not in before)


def _what(clash: Clash) -> tuple[object, ...]:
    return clash.task_id, clash.kind, frozenset(clash.revisions), clash.people
