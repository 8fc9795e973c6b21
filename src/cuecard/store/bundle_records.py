"""The records of a bundle, the file by which workspaces exchange work. They name everything by uid, never by a number."""

from base64 import b64decode
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Protocol

from pydantic import JsonValue

from cuecard.core.contributions import Body, TaskState
from cuecard.core.engine.events import Limits, Termination
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef, Usage
from cuecard.core.label_records import Cause, LabelValue, Phase
from cuecard.core.records import EffortKind, NoteKind, RunState
from cuecard.core.review import Clash
from cuecard.core.tasks.base import Frozen, Origin
from cuecard.core.verdicts import Judgement


class SharedRun(Frozen):
    """A run. `samples`: trials of each cell of its grid; `plan`: what resumes it; `reason`: why it is paused."""

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
    """An event of a trial's log. `take` counts the retries before it. `body`: its JSON as `codec.encode` writes it."""

    seq: int
    take: int = 0
    at: datetime
    body: str


class SharedUsage(Frozen):
    """Calls, tokens and cost of one payer and one model in a trial; the fields are those of `UsageRecord`."""

    payer: str
    model: str
    calls: int
    usage: Usage
    cost: float | None = None
    priced: int = 0


class SharedCall(Frozen):
    """A judge's model call. `attempt`: the judging, from 0; `key`: the call in it; `prompt`: a hash; `body`: JSON."""

    judge: str
    attempt: int
    key: str
    model: str
    prompt: str = ""
    body: str


class SharedJudgement(Frozen):
    """A judge's verdicts on one trial, and when they were made."""

    at: datetime
    judgement: Judgement


class SharedShadow(Frozen):
    """What a simulated user would have said in the user turn `turn` of a trial whose user was played otherwise.
    `state`: the hash of the dialogue up to there; `live`: it was asked during the session; `reply` and `calls` are
    JSON.
    """

    state: str
    turn: int
    player: PlayerRef
    reply: str
    calls: str
    live: bool
    at: datetime


class SharedForm(Frozen):
    """A person's answers to the questions after a live session; `questions` and `answers` are JSON."""

    person: str
    questions: str
    answers: str
    at: datetime


class SharedNote(Frozen):
    """A bookmark or comment at a place of a trial. With kind `taken_back` it removes the note whose uid is `about`."""

    uid: str
    person: str
    kind: NoteKind | Literal["taken_back"]
    place: str
    text: str = ""
    about: str = ""
    at: datetime


class SharedTrial(Frozen):
    """A trial of the run with uid `run` on the revision with uid `revision`. `position`: its place in the run's grid,
    from 0. `events`: the whole log in order, with what later retries took back.
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


class Signature(Frozen):
    """Who saved a revision, and when; `origins`: parts drafted by a model; `tick`: see `contributions.next_tick`."""

    author: str
    at: datetime
    tick: int
    message: str = ""
    origins: tuple[Origin, ...] = ()

    @property
    def order(self) -> tuple[int, datetime, str]:
        """The key to sort a revision's signatures by: the first says when the revision was made."""
        return self.tick, self.at, self.author


class SharedContent(Frozen):
    """The content of revisions, by its hash."""

    hash: str
    task: dict[str, JsonValue]


class SharedPayload(Frozen):
    """A large text of logs, or a prompt: as `text`, or as base64 in `data` if it is no UTF-8."""

    hash: str
    text: str | None = None
    data: str = ""

    @property
    def content(self) -> bytes:
        """Raises `ValueError` if it cannot be read."""
        return b64decode(self.data, validate=True) if self.text is None else self.text.encode()


class SharedRevision(Frozen):
    """A revision without its content, which is the `SharedContent` of this `hash`. Several people may have signed it:
    in different workspaces they saved the same content on the same parents.
    """

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


class SharedReveal(Frozen):
    """When a person first saw the decisions of others on an item; labels given later are not blind."""

    trial: str
    item: str
    person: str
    at: datetime


class SharedAdjudication(Frozen):
    """The decision of an adjudicator on an item that people or judges decided differently."""

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


class SharedTag(Frozen):
    """That a tag was put on the task with the id, or the run or trial with the uid, `about`; or (`off`) taken away."""

    uid: str
    kind: Literal["task", "run", "trial"]
    about: str
    tag: str
    off: bool = False
    person: str
    at: datetime


class SharedEffort(Frozen):
    """An entry of the effort log: `amount` seconds, queries or pages. It has no uid; equal entries are counted."""

    task_id: str
    person: str
    kind: EffortKind
    amount: float
    text: str = ""
    at: datetime


class Pack(Protocol):
    """Whatever gives the records of a bundle: a file, or a workspace that is exported. `person` packed it."""

    @property
    def person(self) -> str: ...

    def records(self) -> Iterator[Frozen]:
        """Each record once, those that others refer to before them. May be asked for again."""
        ...


class ImportCount(Frozen):
    """How many entries of a kind were `added`, and how many were `known` already. `kind`: `person`,
    `task`, `revision`, `signature`, `label`, `reveal`, `adjudication`, `label_set`, `effort`, `run`, `trial`,
    `event`, `judgement`, `judge_call`, `shadow`, `session_form`, `trial_note`, `tag`, or the kind of a contribution.
    """

    kind: str
    added: int = 0
    known: int = 0


class LeftOut(Frozen):
    """What could not be imported. `no_trial`: `count` labels, adjudications or sets of `person` are about a trial that
    is not in this workspace; importing the file again once it is adds them. `other_log`: the trial's log here does not
    begin like, or continue, the one in the bundle.
    """

    person: str
    trial: str
    reason: Literal["no_trial", "other_log"]
    count: int
    kind: Literal["label", "adjudication", "label_set", "trial"] = "label"


class Moved(Frozen):
    """A task that is new, or whose state or newest revision (`head`) an import changed. `before`: None for a new one."""

    task_id: str
    title: str
    before: TaskState | None
    after: TaskState
    head_before: int
    head: int


class SignedFor(Frozen):
    """Revisions in the bundle of `packed_by` that carry the name of somebody else, `author`; `new` of them did not
    carry it in this workspace yet. Whoever writes a bundle can put any name there, so people should look at these.
    """

    packed_by: str
    author: str
    revisions: int
    new: int


class MergeReport(Frozen):
    """What an import did, or with `dry` would do. `signed_for`: revisions under other names than the packer's.
    `clashes_before` and `clashes`: those of the tasks it touched (see `core.review.Clash`), without the names of
    reviewers that must not be known yet.
    """

    dry: bool
    arrived: tuple[ImportCount, ...] = ()
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
        """The clashes that were not there before the import. The order of their revisions makes no difference."""
        before = {_what(clash) for clash in self.clashes_before}
        return tuple(clash for clash in self.clashes if _what(clash) not in before)


def _what(clash: Clash) -> tuple[object, ...]:
    return clash.task_id, clash.kind, frozenset(clash.revisions), clash.people
