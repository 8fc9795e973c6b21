"""Judgements and their verdicts as rows, and a workspace's list of verdicts in pages (`VerdictPages`)."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import ColumnElement, Row, Text, insert
from sqlalchemy import cast as cast_sql
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, func, select

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import (
    JudgementHead,
    JudgementRecord,
    VerdictItem,
    VerdictLine,
    VerdictRecord,
)
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict
from cuecard.store.engine import Database
from cuecard.store.labels import newest_ids
from cuecard.store.roles import check_whole
from cuecard.store.trial_tables import (
    JudgementRow,
    LabelRow,
    RevealRow,
    RunRow,
    TrialRow,
    VerdictRow,
)

_DECISIONS = {decision.value: decision for decision in Decision}
PRIME = 2**31 - 1
"""The range of `VerdictRow.shuffle`."""


def insert_judgement(
    session: Session, trial_id: int, judgement: Judgement, at: datetime | None = None
) -> JudgementRecord:
    """Insert a judgement and its verdicts. `at`: when it was made, by default now."""
    row = JudgementRow(
        trial_id=trial_id,
        judge_name=judgement.judge.name,
        judge=judgement.judge.model_dump_json(),
        revision_hash=judgement.revision_hash,
        prompt_hash=judgement.prompt_hash,
        trial_hash=judgement.trial_hash,
        table_match=judgement.table.model_dump_json() if judgement.table else None,
        created_at=at or datetime.now(UTC),
    )
    session.add(row)
    session.flush()
    rows = [_row(row, n, verdict) for n, verdict in enumerate(judgement.verdicts)]
    if rows:
        session.connection().execute(insert(VerdictRow), rows)
    return JudgementRecord(
        id=row.id or 0, trial_id=trial_id, created_at=row.created_at, judgement=judgement
    )


def current_judgements(run_id: int | None, *trial_ids: int | None) -> Any:
    """A query for the id of the newest judgement of each judge on each trial, of one run, of these trials or of all."""
    query = select(func.max(JudgementRow.id)).group_by(
        col(JudgementRow.trial_id), JudgementRow.judge_name
    )
    if trial_ids not in ((), (None,)):
        query = query.where(col(JudgementRow.trial_id).in_(trial_ids))
    if run_id is not None:
        query = query.join(TrialRow).where(TrialRow.run_id == run_id)
    return query


def load_judgements(session: Session, condition: Any) -> list[JudgementRecord]:
    """The judgements that meet the SQL condition, with their verdicts, newest first."""
    query = select(JudgementRow).where(condition).order_by(col(JudgementRow.id).desc())
    judgements = session.exec(query).all()
    details = (
        select_columns(col(VerdictRow.judgement_id), *_PARTS)
        .where(col(VerdictRow.judgement_id).in_(select(JudgementRow.id).where(condition)))
        .order_by(col(VerdictRow.judgement_id), col(VerdictRow.position))
    )
    verdicts: dict[int, list[Verdict]] = defaultdict(list)
    for judgement_id, *parts in session.connection().execute(details):
        verdicts[judgement_id].append(_verdict(*parts))
    return [judgement_of(each, verdicts[each.id or 0]) for each in judgements]


def load_heads(session: Session, condition: Any) -> list[JudgementHead]:
    """As `load_judgements`, but without verdicts, in the order of trial and judge."""
    query = (
        select_columns(
            col(JudgementRow.id),
            col(JudgementRow.trial_id),
            col(JudgementRow.created_at),
            col(JudgementRow.judge),
            col(JudgementRow.revision_hash),
            col(JudgementRow.prompt_hash),
            col(JudgementRow.trial_hash),
        )
        .where(condition)
        .order_by(col(JudgementRow.trial_id), col(JudgementRow.judge_name))
    )
    return [
        JudgementHead.unchecked(
            id=row.id,
            trial_id=row.trial_id,
            created_at=row.created_at,
            judge=_player(row.judge),
            revision_hash=row.revision_hash,
            prompt_hash=row.prompt_hash,
            trial_hash=row.trial_hash,
        )
        for row in session.connection().execute(query)
    ]


def load_records(session: Session, condition: Any) -> list[VerdictRecord]:
    """The verdicts that meet the SQL condition, in the order in which they were recorded."""
    query = (
        select_columns(
            col(VerdictRow.id),
            col(VerdictRow.trial_id),
            col(TrialRow.task_id),
            col(TrialRow.revision),
            col(JudgementRow.judge),
            *_PARTS,
        )
        .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
        .join(TrialRow, col(TrialRow.id) == VerdictRow.trial_id)
        .where(condition)
        .order_by(col(VerdictRow.id))
    )
    return [_record(row) for row in session.connection().execute(query)]


def blind_item(row: VerdictRow, trial: TrialRow) -> VerdictItem:
    """The item of a verdict as a labeller sees it before labelling: without the judge's decision."""
    return VerdictItem(
        verdict_id=row.id or 0,
        trial_id=row.trial_id,
        run_id=trial.run_id,
        task_id=trial.task_id,
        revision=trial.revision,
        item=item_of(row.item_kind, row.item_index, row.item_column),
    )


def number_from(text: str) -> int:
    """A pseudo-random number below `PRIME` that depends on the text only."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8]) % PRIME


_PARTS: tuple[Any, ...] = (
    col(VerdictRow.item_kind),
    col(VerdictRow.item_index),
    col(VerdictRow.item_column),
    col(VerdictRow.decision),
    col(VerdictRow.supporting),
    col(VerdictRow.rationale),
)


# A run's many trials judge the same few items; records are frozen, so they can be shared.
@lru_cache(maxsize=8192)
def item_of(kind: str, index: int, column: str) -> Item:
    return Item(kind=ItemKind(kind), index=index, column=column)


@lru_cache(maxsize=8192)
def _indices(payload: str) -> tuple[int, ...]:
    return tuple(json.loads(payload))


@lru_cache(maxsize=256)
def _player(payload: str) -> PlayerRef:
    return PlayerRef.model_validate_json(payload)


def verdict_of(row: Row[*tuple[Any, ...]]) -> Verdict:
    return _verdict(
        row.item_kind,
        row.item_index,
        row.item_column,
        row.decision,
        row.supporting,
        row.rationale,
    )


# As for items: most say nothing but yes or no.
@lru_cache(maxsize=8192)
def _verdict(
    kind: str, index: int, column: str, decision: str, supporting: str, rationale: str
) -> Verdict:
    return Verdict(
        item=item_of(kind, index, column),
        decision=Decision(decision),
        supporting=_indices(supporting),
        rationale=rationale,
    )


def _record(row: Row[*tuple[Any, ...]]) -> VerdictRecord:
    return VerdictRecord(
        verdict_id=row.id,
        trial_id=row.trial_id,
        task_id=row.task_id,
        revision=row.revision,
        judge=_player(row.judge),
        item=item_of(row.item_kind, row.item_index, row.item_column),
        decision=Decision(row.decision),
        supporting=_indices(row.supporting),
        rationale=row.rationale,
    )


def _row(judgement: JudgementRow, position: int, verdict: Verdict) -> dict[str, Any]:
    item = verdict.item
    return {
        "judgement_id": judgement.id,
        "position": position,
        "trial_id": judgement.trial_id,
        "item_key": item.key,
        "item_kind": item.kind.value,
        "item_index": item.index,
        "item_column": item.column,
        "decision": verdict.decision.value,
        "supporting": json.dumps(verdict.supporting),
        "rationale": verdict.rationale,
        "shuffle": number_from(f"{judgement.trial_id}/{item.key}"),
    }


def judgement_of(row: JudgementRow, verdicts: list[Verdict]) -> JudgementRecord:
    judgement = Judgement(
        judge=_player(row.judge),
        revision_hash=row.revision_hash,
        prompt_hash=row.prompt_hash,
        trial_hash=row.trial_hash,
        verdicts=tuple(verdicts),
        table=TableMatch.model_validate_json(row.table_match) if row.table_match else None,
    )
    return JudgementRecord(
        id=row.id or 0, trial_id=row.trial_id, created_at=row.created_at, judgement=judgement
    )


PAGE = 200


class VerdictFilter(Frozen):
    """Which verdicts are listed. `runs`, `tasks`, `judges`: of these only, empty for all (runs of quality probes only
    if named); `mine`: only items that the viewer has labelled, or has not; `gold_wrong`: only items whose gold somebody
    holds to be wrong.
    """

    runs: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    mine: Literal["", "labelled", "open"] = ""
    gold_wrong: bool = False


class Pages(Frozen):
    """Where the pages of a list begin: `starts[i]` is the id of the first verdict of page i. Each page but the last has
    `VerdictPages.size` verdicts; `count` is their number in all.
    """

    count: int
    starts: tuple[int, ...]


class Marks(NamedTuple):
    """A judgement in few words: what it decided on, and of each decision the first letter. Judgements on the same items share
    `keys`: there are as many as a run has trials.
    """

    trial_id: int
    judge: str
    keys: tuple[str, ...]
    decisions: str


class VerdictPages:
    """The list of verdicts in pages, for screens."""

    def __init__(self, database: Database, size: int = PAGE) -> None:
        self._database = database
        self.size = size

    def pages(self, person: str, filter: VerdictFilter) -> Pages:
        """Where the pages of the filtered list begin. Reads ids only."""
        numbered = (
            select_columns(
                cast("ColumnElement[int]", col(VerdictRow.id)).label("id"),
                func.row_number().over(order_by=col(VerdictRow.id)).label("place"),
            )
            .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
            .where(*conditions(person, filter))
        ).subquery()
        with self._database.read() as session:
            connection = session.connection()
            count = connection.execute(
                select_columns(func.count()).select_from(numbered)
            ).scalar_one()
            starts = connection.execute(
                select_columns(numbered.c.id)
                .where((numbered.c.place - 1) % self.size == 0)
                .order_by(numbered.c.id)
            ).scalars()
            return Pages(count=count, starts=tuple(starts))

    def page(self, person: str, filter: VerdictFilter, start: int) -> list[VerdictLine]:
        """The page that begins with the verdict of id `start` (0: the first page). Decisions are left out of items that
        `person` has not labelled and seen revealed, so that the list does not spoil blind labelling.
        """
        with self._database.read() as session:
            if not start and filter.runs:
                start = _first_of(session, filter.runs)
            return _lines(session, person, filter, start, self.size)

    def decided(
        self,
        runs: Collection[int],
        judge: str = "",
        *,
        every: bool = False,
        trials: Collection[int] | None = None,
    ) -> list[tuple[int, Item, Decision]]:
        """Trial id, item and decision of every verdict in these runs, or only in these `trials` of them: from the newest
        judgement of `judge`, or by default of the judge who judged the trial first, or of `every` judge. For drawing
        samples; it shows decisions, so not for labellers' screens.
        """
        with self._database.read() as session:
            connection, wanted = self._chosen(session, runs, judge, every)
            of_runs = select(TrialRow.id).where(col(TrialRow.run_id).in_(runs))
            query = select_columns(
                col(VerdictRow.judgement_id),
                col(VerdictRow.trial_id),
                col(VerdictRow.item_kind),
                col(VerdictRow.item_index),
                col(VerdictRow.item_column),
                col(VerdictRow.decision),
            ).where(col(VerdictRow.trial_id).in_(of_runs))
            if trials is not None:
                query = query.where(col(VerdictRow.trial_id).in_(trials))
            return [
                (trial_id, item_of(kind, index, column), _DECISIONS[decision])
                for judgement, trial_id, kind, index, column, decision in connection.execute(query)
                if judgement in wanted
            ]

    def counted(
        self, runs: Collection[int], judge: str = ""
    ) -> list[tuple[int, ItemKind, Decision, int]]:
        """As `decided`, but of each trial how many items of a kind have a decision."""
        with self._database.read() as session:
            connection, wanted = self._chosen(session, runs, judge)
            of_runs = select(TrialRow.id).where(col(TrialRow.run_id).in_(runs))
            group = (
                col(VerdictRow.judgement_id),
                col(VerdictRow.trial_id),
                col(VerdictRow.item_kind),
                col(VerdictRow.decision),
            )
            query = select_columns(*group, func.count()).where(
                col(VerdictRow.trial_id).in_(of_runs)
            )
            return [
                (trial_id, ItemKind(kind), Decision(decision), n)
                for judgement, trial_id, kind, decision, n in connection.execute(
                    query.group_by(*group)
                )
                if judgement in wanted
            ]

    def _chosen(
        self, session: Session, runs: Collection[int], judge: str, every: bool = False
    ) -> tuple[Any, set[int]]:
        """The connection, and the judgements that speak for these runs."""
        ordered = (
            select_columns(
                col(JudgementRow.trial_id),
                col(JudgementRow.judge_name),
                func.max(col(JudgementRow.id)).label("newest"),
            )
            .join(TrialRow, col(TrialRow.id) == JudgementRow.trial_id)
            .where(col(TrialRow.run_id).in_(runs))
            .group_by(col(JudgementRow.trial_id), col(JudgementRow.judge_name))
            .order_by(func.min(col(JudgementRow.id)))
        )
        check_whole(session, runs)
        connection = session.connection()
        chosen: dict[tuple[int, str], int] = {}
        for row in connection.execute(ordered):
            if every or not judge or row.judge_name == judge:
                whose = row.judge_name if every else ""
                chosen.setdefault((row.trial_id, whose), row.newest)
        return connection, set(chosen.values())

    def marks(self, runs: Collection[int], judge: str | None = None) -> list[Marks]:
        """Of each trial of these runs and each judge the newest judgement, in the order in which they were made. `judge`: only
        of this one, or by "" of the judge who judged the trial first. For statistics and for drawing samples; it shows
        decisions.
        """
        keys, letters = col(VerdictRow.item_key), func.substr(col(VerdictRow.decision), 1, 1)
        together: Any = (
            func.json_group_array(keys)
            if self._database.is_sqlite
            else cast_sql(func.json_agg(keys), Text)
        )
        # Both take a judgement's verdicts in the same order, whichever that is.
        query = select_columns(
            col(VerdictRow.judgement_id), together, func.aggregate_strings(letters, "")
        ).group_by(col(VerdictRow.judgement_id))
        names: dict[str, tuple[str, ...]] = {"[]": ()}
        found: list[Marks] = []
        with self._database.read() as session:
            check_whole(session, runs)
            connection = session.connection()
            wanted = None if judge is None else self._chosen(session, runs, judge)[1]
            for run_id in runs:
                current = current_judgements(run_id)
                said: dict[int, tuple[tuple[str, ...], str]] = {}
                decided = query.where(col(VerdictRow.judgement_id).in_(current))
                for judgement, text, decisions in connection.execute(decided):
                    if text not in names:
                        names[text] = tuple(json.loads(text))
                    said[judgement] = names[text], decisions
                heads = select_columns(
                    col(JudgementRow.id), col(JudgementRow.trial_id), col(JudgementRow.judge_name)
                ).where(col(JudgementRow.id).in_(current))
                found += [
                    Marks(trial, judge, *said.get(judgement, ((), "")))
                    for judgement, trial, judge in connection.execute(
                        heads.order_by(col(JudgementRow.id))
                    )
                    if wanted is None or judgement in wanted
                ]
        return found


def conditions(person: str, filter: VerdictFilter) -> list[Any]:
    """SQL conditions on verdicts joined with judgements, correlated so that a page is read in the order of ids."""
    newer, trial, run = aliased(JudgementRow), aliased(TrialRow), aliased(RunRow)
    superseded = (
        select(newer.id)
        .where(
            newer.trial_id == JudgementRow.trial_id,
            newer.judge_name == JudgementRow.judge_name,
            col(newer.id) > JudgementRow.id,
        )
        .correlate(JudgementRow)
    )
    trials = select(trial.id).where(col(trial.id) == VerdictRow.trial_id).correlate(VerdictRow)
    if filter.runs:
        trials = trials.where(col(trial.run_id).in_(filter.runs))
    else:
        trials = trials.join(run, col(run.id) == trial.run_id).where(run.kind != "probe")
    if filter.tasks:
        trials = trials.where(col(trial.task_id).in_(filter.tasks))
    found: list[Any] = [~superseded.exists(), trials.exists()]
    if filter.judges:
        found.append(col(JudgementRow.judge_name).in_(filter.judges))
    labelled = select(LabelRow.id).where(_same_item(), LabelRow.person == person)
    if filter.mine:
        exists = labelled.correlate(VerdictRow).exists()
        found.append(exists if filter.mine == "labelled" else ~exists)
    if filter.mine == "labelled":
        mine = select(LabelRow.trial_id).where(LabelRow.person == person)
        found.append(col(VerdictRow.trial_id).in_(mine))
    if filter.gold_wrong:
        flagged = select(LabelRow.id).where(
            _same_item(), col(LabelRow.gold_wrong), col(LabelRow.id).in_(newest_ids())
        )
        held = select(LabelRow.trial_id).where(col(LabelRow.gold_wrong))
        found += [flagged.correlate(VerdictRow).exists(), col(VerdictRow.trial_id).in_(held)]
    return found


def _same_item() -> Any:
    return and_(
        col(LabelRow.trial_id) == VerdictRow.trial_id, col(LabelRow.item_key) == VerdictRow.item_key
    )


def _first_of(session: Session, runs: Collection[int]) -> int:
    """The smallest id that a verdict of these runs can have."""
    # The verdicts of a judgement are entered in one go, the first one first.
    judgements = select(JudgementRow.id).join(TrialRow).where(col(TrialRow.run_id).in_(runs))
    query = select(func.min(VerdictRow.id)).where(
        col(VerdictRow.judgement_id).in_(judgements), VerdictRow.position == 0
    )
    return session.exec(query).one() or 0


def _lines(
    session: Session, person: str, filter: VerdictFilter, start: int, size: int
) -> list[VerdictLine]:
    mine = (
        select(LabelRow.value)
        .where(_same_item(), LabelRow.person == person)
        .order_by(col(LabelRow.id).desc())
        .limit(1)
        .correlate(VerdictRow)
        .scalar_subquery()
    )
    seen = (
        select(RevealRow.trial_id)
        .where(
            RevealRow.trial_id == VerdictRow.trial_id,
            RevealRow.item_key == VerdictRow.item_key,
            RevealRow.person == person,
        )
        .correlate(VerdictRow)
        .exists()
    )
    query = (
        select_columns(
            seen.label("seen"),
            col(VerdictRow.id),
            col(VerdictRow.trial_id),
            col(VerdictRow.item_kind),
            col(VerdictRow.item_index),
            col(VerdictRow.item_column),
            col(VerdictRow.decision),
            col(TrialRow.run_id),
            col(TrialRow.task_id),
            col(TrialRow.revision),
            col(TrialRow.agent),
            col(JudgementRow.judge_name),
            mine.label("mine"),
        )
        .join(TrialRow, col(TrialRow.id) == VerdictRow.trial_id)
        .join(JudgementRow, col(JudgementRow.id) == VerdictRow.judgement_id)
        .where(*conditions(person, filter), col(VerdictRow.id) >= start)
        .order_by(col(VerdictRow.id))
        .limit(size)
    )
    return [
        VerdictLine.from_fields(
            row,
            verdict_id=row.id,
            agent=_agent_name(row.agent),
            judge=row.judge_name,
            item=item_of(row.item_kind, row.item_index, row.item_column),
            decision=Decision(row.decision) if row.seen and row.mine is not None else None,
        )
        for row in session.connection().execute(query)
    ]


@lru_cache(maxsize=256)
def _agent_name(payload: str) -> str:
    return PlayerRef.model_validate_json(payload).name
