"""Verdicts of the workspace as pages of a list, filtered and counted in the database, as one person may see them."""

import json
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import ColumnElement, Text
from sqlalchemy import cast as cast_sql
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import Session, and_, col, func, select

from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import VerdictLine
from cuecard.core.records import first_judge
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision
from cuecard.store.engine import Database
from cuecard.store.judgements import current_judgements, item_of
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
    of_jury: bool = False
    """Whether it follows from what other judges decided, which are told beside it."""


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

    def _chosen(self, session: Session, runs: Collection[int], judge: str) -> set[int]:
        """The judgements that speak for these runs."""
        ordered = (
            select_columns(
                col(JudgementRow.trial_id),
                col(JudgementRow.judge_name),
                col(TrialRow.run_id),
                func.max(col(JudgementRow.id)).label("newest"),
            )
            .join(TrialRow, col(TrialRow.id) == JudgementRow.trial_id)
            .where(col(TrialRow.run_id).in_(runs))
            .group_by(
                col(JudgementRow.trial_id), col(JudgementRow.judge_name), col(TrialRow.run_id)
            )
            .order_by(func.min(col(JudgementRow.id)))
        )
        connection = session.connection()
        chosen: dict[int, int] = {}
        plans = select_columns(col(RunRow.id), col(RunRow.plan)).where(col(RunRow.id).in_(runs))
        entered = {run: first_judge(json.loads(plan)) for run, plan in connection.execute(plans)}
        for row in connection.execute(ordered):
            if row.judge_name == (judge or entered[row.run_id]):
                chosen[row.trial_id] = row.newest
            elif not judge:
                chosen.setdefault(row.trial_id, row.newest)
        return set(chosen.values())

    def marks(self, runs: Collection[int], judge: str | None = None) -> list[Marks]:
        """Of each trial of these runs and each judge the newest judgement, in the order in which they were made. `judge`: only
        of this one, or by "" of the trial's first judge (see `first_judge`). For statistics and for drawing samples; it shows
        decisions.
        """
        keys = col(VerdictRow.item_key)
        together: Any = (
            func.json_group_array(keys)
            if self._database.is_sqlite
            else cast_sql(func.json_agg(keys), Text)
        )
        # Both take a judgement's verdicts in the same order, whichever that is.
        words = func.aggregate_strings(col(VerdictRow.decision), "")
        id = col(VerdictRow.judgement_id)
        query = select_columns(id, together, words).group_by(id)
        names: dict[str, tuple[str, ...]] = {"[]": ()}
        found: list[Marks] = []
        with self._database.read() as session:
            check_whole(session, runs)
            connection = session.connection()
            wanted = None if judge is None else self._chosen(session, runs, judge)
            for run_id in runs:
                current = current_judgements(run_id)
                said: dict[int | None, tuple[tuple[str, ...], str]] = {}
                for judgement, text, decisions in connection.execute(query.where(id.in_(current))):
                    if text not in names:
                        names[text] = tuple(json.loads(text))
                    said[judgement] = names[text], _letters(decisions)
                heads = (
                    select_columns(
                        col(JudgementRow.id),
                        col(JudgementRow.trial_id),
                        col(JudgementRow.judge_name),
                        col(JudgementRow.judge),
                    )
                    .where(col(JudgementRow.id).in_(current))
                    .order_by(col(JudgementRow.id))
                )
                found += [
                    Marks(trial, judge, *said.get(judgement, ((), "")), _is_jury(whole))
                    for judgement, trial, judge, whole in connection.execute(heads)
                    if wanted is None or judgement in wanted
                ]
        return found


def _letters(decisions: str) -> str:
    """The first letter of each; cut off here, since a database takes as long for that as for all the rest."""
    for word in Decision:
        decisions = decisions.replace(word, word[0])
    return decisions


@lru_cache(maxsize=1024)
def _is_jury(judge: str) -> bool:
    return json.loads(judge).get("kind") == "jury"


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
