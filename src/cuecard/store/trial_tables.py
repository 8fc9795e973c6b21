"""Tables of runs, trials and their logs, live sessions, judgements, verdicts, labels, and cached measures."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, Text, UniqueConstraint
from sqlalchemy.event import listens_for
from sqlalchemy.types import UserDefinedType
from sqlmodel import Field

from cuecard.store.task_tables import FreeText, Row, UtcDateTime, metadata


class _Lexemes(UserDefinedType[str]):
    """PostgreSQL's type. SQLAlchemy's own, and options of PostgreSQL in a table, load all that it knows of PostgreSQL, which
    takes a third of what these tables do.
    """

    cache_ok = True

    def get_col_spec(self, **_options: Any) -> str:
        return "TSVECTOR"


LEXEMES = Text().with_variant(_Lexemes(), "postgresql")


class RunRow(Row, table=True):
    """A run. `limits` and `plan` are JSON. `uid` names the run in every copy of the workspace."""

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
    name: str = Field(sa_type=FreeText)
    kind: str
    created_by: str = Field(foreign_key="person.name")
    created_at: datetime = Field(sa_type=UtcDateTime)
    state: str
    samples: int
    limits: str = Field(sa_type=Text)
    plan: str = Field(default="{}", sa_type=Text)
    reason: str = Field(default="", sa_type=FreeText)


class RunLeaseRow(Row, table=True):
    """Which process plays a run, or did when it was killed; see `store.leases`. Never exported in bundles."""

    run_id: int = Field(primary_key=True, foreign_key="run.id")
    owner: str
    person: str = Field(sa_type=FreeText)
    host: str = Field(sa_type=FreeText)
    machine: str
    pid: int
    started: str
    since: datetime = Field(sa_type=UtcDateTime)
    beats: int
    beat_at: datetime = Field(sa_type=UtcDateTime)


class WorkerRow(Row, table=True):
    """A process that plays trials of runs that are offered to workers. `players`: a hash of its configuration; `note`: why
    it takes nothing of some run; `under_way` is not used any more. Never exported in bundles, as all that is said of claims.
    """

    id: str = Field(primary_key=True)
    host: str = Field(sa_type=FreeText)
    machine: str
    pid: int
    started: str
    person: str = Field(sa_type=FreeText)
    since: datetime = Field(sa_type=UtcDateTime)
    beat_at: datetime = Field(sa_type=UtcDateTime)
    left_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    concurrency: int
    players: str
    under_way: int = 0
    calls: int = Field(default=0, sa_type=BigInteger)
    note: str = Field(default="", sa_type=FreeText)


class ClaimRow(Row, table=True):
    """A trial that is offered to workers. `fence` counts how often it was taken; `worker`: who holds it, null if nobody;
    `done`: nothing is left to do. Who writes to the trial shows the fence.
    """

    __table_args__ = (Index(None, "run_id", "done"),)

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    run_id: int = Field(foreign_key="run.id")
    purpose: str
    fence: int = 0
    worker: str | None = Field(default=None, foreign_key="worker.id")
    taken: datetime | None = Field(default=None, sa_type=UtcDateTime)
    done: bool = False


class TakeRow(Row, table=True):
    """Append-only: a worker took a trial. `why`: see `core.records.Taking`; `before`: from whom, null if nobody held it."""

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    fence: int = Field(primary_key=True)
    worker: str = Field(foreign_key="worker.id")
    at: datetime = Field(sa_type=UtcDateTime)
    why: str
    before: str | None = Field(default=None, foreign_key="worker.id")


class AllowanceRow(Row, table=True):
    """How much of an allowance a party may use until it tells again; see `store.allowances`. `want`: what it would use;
    `until`: when it counts no more; `said`: why a model refuses, as JSON. Never exported in bundles.
    """

    key: str = Field(primary_key=True, sa_type=FreeText)
    party: str = Field(primary_key=True)
    amount: float
    want: float
    until: datetime = Field(sa_type=UtcDateTime)
    said: str = Field(default="", sa_type=FreeText)


class RunOrderRow(Row, table=True):
    """Append-only: what a person asked of whoever plays a run. `value`: of a budget or concurrency. Never exported in
    bundles.
    """

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    kind: str
    value: float | None = None
    person: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)


class TrialRow(Row, table=True):
    """A trial. `termination`, `detail` and `ended_at` repeat its log's last event. `agent`, `user` and `world` are
    JSON. `uid` names the trial in every copy of the workspace.
    """

    __table_args__ = (
        ForeignKeyConstraint(["task_id", "revision"], ["revision.task_id", "revision.number"]),
    )

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    task_id: str
    revision: int
    agent: str = Field(sa_type=Text)
    user: str = Field(sa_type=Text)
    world: str = Field(sa_type=Text)
    sample: int
    seed: int = Field(sa_type=BigInteger)
    termination: str | None = Field(default=None, index=True)
    detail: str = Field(default="", sa_type=FreeText)
    created_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class EventRow(Row, table=True):
    """Append-only: an event of a trial's log. The body is JSON in `body` or, when large, compressed in `packed`; its
    largest texts stand in `PayloadRow` instead. `take` counts the retries before it.
    """

    __table_args__ = (UniqueConstraint("trial_id", "take", "key"),)

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    seq: int = Field(primary_key=True)
    take: int = 0
    key: str = Field(sa_type=FreeText)
    type: str
    at: datetime = Field(sa_type=UtcDateTime)
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class PayloadRow(Row, table=True):
    """Append-only: a large content, once per SHA-256. `size`: its bytes before compression; `data`: compressed with
    zlib, with the content of payload `base`, if there is one, as the dictionary.
    """

    hash: str = Field(primary_key=True)
    size: int
    base: str | None = Field(default=None, foreign_key="payload.hash")
    data: bytes


class SearchMarkRow(Row, table=True):
    """Up to which event a trial is in the index that `store.search` looks into. Never exported in bundles."""

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    upto: int


class PassageRow(Row, table=True):
    """The index on PostgreSQL: what stands in an event, for search. SQLite has a virtual table of FTS5, made when it is
    first searched. Never exported in bundles.
    """

    __table_args__ = (Index(None, "parts"),)

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    seq: int = Field(primary_key=True)
    parts: str = Field(sa_type=LEXEMES)


@listens_for(metadata.tables["passage"], "before_create")
def _of_lexemes(table: Any, connection: Any, **_options: Any) -> None:
    if connection.dialect.name == "postgresql":
        for index in table.indexes:
            index.dialect_options["postgresql"]["using"] = "gin"


class UsageRow(Row, table=True):
    """Calls, tokens and cost of a trial by payer and model, its judges' calls included. `cost` is null as long as no
    call had a price; `priced` counts those that had one.
    """

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    payer: str = Field(primary_key=True, sa_type=FreeText)
    model: str = Field(primary_key=True, sa_type=FreeText)
    calls: int
    prompt: int = Field(sa_type=BigInteger)
    completion: int = Field(sa_type=BigInteger)
    cached: int = Field(sa_type=BigInteger)
    reasoning: int = Field(sa_type=BigInteger)
    cost: float | None = None
    priced: int


class ShadowRow(Row, table=True):
    """Append-only: what a simulator would have said at one point of a trial. `state`: the hash of the dialogue up to
    there; `simulator`: see `play_sessions.simulator_hash`; `player`, `reply` and `calls` are JSON.
    """

    __table_args__ = (UniqueConstraint("trial_id", "state", "simulator"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    state: str
    simulator: str
    turn: int
    player: str = Field(sa_type=Text)
    reply: str = Field(sa_type=Text)
    calls: str = Field(sa_type=Text)
    live: bool
    at: datetime = Field(sa_type=UtcDateTime)


class SeatMoveRow(Row, table=True):
    """Append-only: what a person who plays the agent did at the step with key `place` of an attempt; the program that plays
    the trial carries it out. `body` is JSON.
    """

    __table_args__ = (UniqueConstraint("trial_id", "take", "place"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    take: int
    place: str
    person: str = Field(foreign_key="person.name")
    body: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=UtcDateTime)


class SessionFormRow(Row, table=True):
    """Append-only: a person's answers after a session; the newest count. `form` is the hash of the questions;
    `questions` and `answers` are JSON.
    """

    __table_args__ = (Index(None, "trial_id", "person"),)

    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    person: str = Field(foreign_key="person.name")
    form: str
    questions: str = Field(sa_type=Text)
    answers: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)


class TrialFiguresRow(Row, table=True):
    """A cache of the measures of a judged trial, computed again if `stamp` does not match. `body` is JSON; the reasons
    in it are in `language`.
    """

    judgement_id: int = Field(primary_key=True, foreign_key="judgement.id")
    language: str = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id", index=True)
    stamp: str
    body: str = Field(sa_type=Text)


class TrialNoteRow(Row, table=True):
    """Append-only: a bookmark or comment at a place of a trial, or the removal of the note `about`."""

    uid: str = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id", index=True)
    person: str = Field(foreign_key="person.name")
    kind: str
    place: str
    text: str = Field(sa_type=FreeText)
    about: str = ""
    at: datetime = Field(sa_type=UtcDateTime)


class JudgementRow(Row, table=True):
    """Append-only: one judge's decisions on a trial. `judge` and `table_match` are JSON."""

    __table_args__ = (Index(None, "trial_id", "judge_name"),)
    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    judge_name: str
    judge: str = Field(sa_type=Text)
    revision_hash: str
    prompt_hash: str
    trial_hash: str = ""
    table_match: str | None = Field(default=None, sa_type=Text)
    created_at: datetime = Field(sa_type=UtcDateTime)


class JudgeCallRow(Row, table=True):
    """Append-only: a judge's model call. The reply is JSON in `body` or, when large, compressed in
    `packed`.
    """

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    judge: str = Field(primary_key=True, sa_type=FreeText)
    attempt: int = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=FreeText)
    model: str = Field(sa_type=FreeText)
    prompt: str
    body: str | None = Field(default=None, sa_type=Text)
    packed: bytes | None = None


class VerdictRow(Row, table=True):
    """Append-only: a judge's decision on an item. `item_key` names the item within its trial; `supporting` is JSON.
    `shuffle`: a pseudo-random number from trial and item alone, to order items in a way that tells nothing about
    decisions.
    """

    __table_args__ = (
        UniqueConstraint("judgement_id", "position"),
        Index(None, "trial_id", "item_key"),
    )

    id: int | None = Field(default=None, primary_key=True)
    judgement_id: int = Field(foreign_key="judgement.id")
    position: int
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    item_kind: str
    item_index: int
    item_column: str = Field(sa_type=FreeText)
    decision: str
    supporting: str = Field(sa_type=Text)
    rationale: str = Field(sa_type=FreeText)
    shuffle: int = Field(sa_type=BigInteger)


class LabelRow(Row, table=True):
    """Append-only: a person's decision on an item. Their newest in each phase (given blind, or after seeing others'
    decisions) counts. It belongs to the item (`trial_id`, `item_key`), not to the verdict it was seen with. `seconds`:
    time taken, 0 if unknown; `source`: the file it came from, "" if it was given here.
    """

    __table_args__ = (Index(None, "trial_id", "item_key", "person"),)
    id: int | None = Field(default=None, primary_key=True)
    verdict_id: int | None = Field(default=None, foreign_key="verdict.id")
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    person: str = Field(foreign_key="person.name")
    value: str
    comment: str = Field(sa_type=FreeText)
    created_at: datetime = Field(sa_type=UtcDateTime)
    phase: str = "blind"
    seconds: float = 0
    gold_wrong: bool = False
    source: str = Field(default="", sa_type=FreeText)


class RevealRow(Row, table=True):
    """Append-only: when a person first saw what was decided on an item."""

    trial_id: int = Field(primary_key=True, foreign_key="trial.id")
    item_key: str = Field(primary_key=True, sa_type=FreeText)
    person: str = Field(primary_key=True, foreign_key="person.name")
    at: datetime = Field(sa_type=UtcDateTime)


class LabelSetRow(Row, table=True):
    """Append-only: a set of items drawn to be labelled; `plan` is JSON that says how they were drawn."""

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(index=True, unique=True)
    name: str = Field(sa_type=FreeText)
    created_by: str = Field(foreign_key="person.name")
    created_at: datetime = Field(sa_type=UtcDateTime)
    plan: str = Field(sa_type=Text)


class SetItemRow(Row, table=True):
    """Append-only: an item of a labelling set. `probability` of having been drawn; `raters`: how many people are to
    label it; `people`: a JSON list of the people assigned, empty for anybody.
    """

    __table_args__ = (Index(None, "trial_id", "item_key"),)
    set_id: int = Field(primary_key=True, foreign_key="labelset.id")
    position: int = Field(primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    stratum: str = Field(sa_type=FreeText)
    probability: float
    raters: int
    people: str = Field(sa_type=Text)


class AdjudicationRow(Row, table=True):
    """Append-only: an adjudicator's decision on a disputed item; the newest counts."""

    __table_args__ = (Index(None, "trial_id", "item_key"),)
    id: int | None = Field(default=None, primary_key=True)
    trial_id: int = Field(foreign_key="trial.id")
    item_key: str = Field(sa_type=FreeText)
    by: str = Field(foreign_key="person.name")
    value: str
    cause: str
    comment: str = Field(sa_type=FreeText)
    at: datetime = Field(sa_type=UtcDateTime)
