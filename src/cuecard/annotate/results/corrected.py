"""Scores and differences of a pool corrected by people's labels, beside those by the judge. Nothing is read of a pool
that nobody labelled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuecard.annotate.estimation.joint import Joint
from cuecard.annotate.estimation.ranks import ranks
from cuecard.annotate.labelling.corrections import (
    Correction,
    Corrections,
    correction_table,
    corrections_of,
)
from cuecard.annotate.labelling.labelled_units import SHARES
from cuecard.annotate.results import Dimension
from cuecard.annotate.results.comparisons import comparisons
from cuecard.annotate.results.leaderboard import Leaderboard, leaderboard_table, leaderboards
from cuecard.annotate.results.pairing import Comparison, Contrast
from cuecard.annotate.results.pool import Pool, Row
from cuecard.annotate.results.scores import Column, Line, ScoreTable, tables_by_family
from cuecard.annotate.results.words import in_sentence, value_word
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.scores import TrialScores
from cuecard.core.i18n import _, plural
from cuecard.core.scoring.aggregate import Key
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.measures import measure_label
from cuecard.core.tables.table import Shown, Statistic, Table, cell, difference
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def corrections_in(workspace: Workspace, pool: Pool) -> Corrections:
    """What people decided of the pool's trials (see `corrections_of`); falsy without labels."""
    return corrections_of(workspace, judged_in(pool.rows))


def judged_in(rows: Iterable[Row]) -> list[TrialScores]:
    """The judged ones, in their order."""
    return [
        TrialScores(row.trial, row.judge, row.figures.measures)
        for row in rows
        if row.judge is not None and row.figures is not None
    ]


class CorrectedFigure(NamedTuple):
    """A score of a table by the judge, and its correction."""

    line: Line
    column: Column
    judge: Statistic
    correction: Correction


def corrected_figures(
    table: ScoreTable, pool: Pool, corrections: Corrections
) -> tuple[CorrectedFigure, ...]:
    """The figures of a table that labels tell more of, line by line. Lines of several families have none."""
    if not corrections:
        return ()
    by_trial: dict[int, list[Row]] = defaultdict(list)
    for row in pool.rows:
        by_trial[row.trial.id].append(row)
    found: list[CorrectedFigure] = []
    for line in table.lines:
        judge = line.value("judge")
        rows = [
            row for trial in line.trials for row in by_trial[trial] if judge in ("", row.judged_by)
        ]
        if len({row.family for row in rows}) != 1:
            continue
        trials = judged_in(rows)
        for column in table.columns:
            one = line.figures.get(column.key)
            told = corrections.figure(trials, (column.measure, column.taken)) if one else None
            if one is not None and told is not None:
                found.append(CorrectedFigure(line, column, one, told))
    return tuple(found)


def corrected_table(
    tables: Sequence[ScoreTable],
    figures: Sequence[CorrectedFigure],
    *,
    title: str = "",
    percent: bool = False,
) -> Table:
    """A line for each of these figures, which stand in one of the tables, that labels correct. A measure tells its family."""
    lines: list[tuple[Shown, Statistic, Correction]] = []
    for line, column, judge, told in figures:
        table = next(each for each in tables if any(one is line for one in each.lines))
        words = [value_word(of, v, table.names) for of, v in line.group if of != "family"]
        name = " · ".join((column.label, *words))
        lines.append((cell(name, trials=line.trials), judge, told))
    return correction_table(
        title or _("Corrected by labels"), lines, percent=percent, view="results"
    )


def corrected_tables(
    tables: Sequence[ScoreTable], pool: Pool, corrections: Corrections, *, percent: bool = False
) -> tuple[Table, ...]:
    """For each of these tables, which are of a family each, one of what labels correct of it; none where that is
    nothing.
    """
    found: list[Table] = []
    for table in tables:
        figures = corrected_figures(table, pool, corrections)
        if any(one.correction.corrected.defined for one in figures):
            title = _("{title}: corrected by labels").format(
                title=value_word("family", table.lines[0].value("family"))
            )
            found.append(corrected_table((table,), figures, title=title, percent=percent))
    return tuple(found)


def joint_of(
    comparison: Comparison,
    pool: Pool,
    corrections: Corrections,
    contrast: Contrast | None = None,
) -> Joint | str | None:
    """The corrected figures of the arms on the tasks that all of them have, for differences and ranks: by arm, what each
    task adds; of a `contrast` the base's and the arm's, by their paired trials. The reason where there are none; None
    where nobody labelled any of it.
    """
    trials: dict[str, Collection[int]] = {arm.name: arm.trials for arm in comparison.arms}
    within = comparison.within
    if contrast:
        trials = {contrast.base: contrast.base_trials, contrast.arm: contrast.arm_trials}
        within = contrast.within
    key: Key = comparison.measure, comparison.taken
    return _joint(pool, corrections, comparison.dimension, comparison.family, key, trials, within)


def _joint(
    pool: Pool,
    corrections: Corrections,
    dimension: Dimension,
    family: Family,
    key: Key,
    trials: Mapping[str, Collection[int]],
    within: Sequence[Dimension],
) -> Joint | str | None:
    """`trials`: those of each arm."""
    if within:
        return _("pairs are within {dimensions}").format(dimensions=in_sentence(*within))
    wanted = {name: frozenset(ids) for name, ids in trials.items()}
    groups: dict[str, list[Row]] = {name: [] for name in wanted}
    for row in pool.rows:
        name = row.value(dimension)
        if row.family == family and row.trial.id in wanted.get(name, ()):
            groups[name].append(row)
    return corrections.joint({name: judged_in(rows) for name, rows in groups.items()}, key)


def corrected_board(board: Leaderboard, pool: Pool, corrections: Corrections) -> Leaderboard | None:
    """The leaderboard by corrected scores, on the tasks that all arms have; None where they are not known of all arms. Where
    labels stand on too few tasks it has no ranks.
    """
    key: Key = board.measure, board.taken
    both = _joint(pool, corrections, board.dimension, board.family, key, board.trials, board.within)
    if not isinstance(both, Joint):
        return None

    def means(*, alone: bool = False) -> dict[str, Statistic]:
        share = board.measure in SHARES
        return {
            name: both.figure(at, board.measure, alone=alone, share=share)
            for at, name in enumerate(both.names)
        }

    return board.model_copy(
        update={
            "corrected": True,
            "ranks": ranks(by_task(both), widening=both.widening, labelled=both.labelled_tasks),
            "judge": board.means,
            "means": means(),
            "people": means(alone=True),
            "notes": (
                plural(
                    "Labels stand on {n} task or more of each.",
                    "Labels stand on {n} tasks or more of each.",
                    both.labelled_tasks,
                ),
                *board.notes,
            ),
        }
    )


class CorrectedDifference(Frozen):
    """The difference of an arm from its base by the judge, corrected, and by people alone, on `tasks` of which the
    arm with fewer has labels; without any `corrected` says why.
    """

    family: Family
    measure: str
    taken: Taken
    base: str
    arm: str
    judge: Statistic
    corrected: Statistic
    people: Statistic
    tasks: int


def corrected_differences(
    found: Sequence[Comparison], pool: Pool, corrections: Corrections
) -> tuple[CorrectedDifference, ...]:
    """The differences of these comparisons that labels tell more of."""
    differences: list[CorrectedDifference] = []
    for one in found if corrections else ():
        for contrast in one.contrasts:
            both = joint_of(one, pool, corrections, contrast)
            if both is None:
                continue
            if isinstance(both, str):
                told = alone = Statistic(name=one.measure, value=None, n=0, reason=both)
            else:
                told = both.difference(1, 0, one.measure)
                alone = both.difference(1, 0, one.measure, alone=True)
            differences.append(
                CorrectedDifference(
                    family=one.family,
                    measure=one.measure,
                    taken=one.taken,
                    base=contrast.base,
                    arm=contrast.arm,
                    judge=contrast.difference,
                    corrected=told,
                    people=alone,
                    tasks=0 if isinstance(both, str) else both.labelled_tasks,
                )
            )
    return tuple(differences)


def corrected_difference_table(
    found: Sequence[Comparison], told: Sequence[CorrectedDifference], *, percent: bool = False
) -> Table | None:
    """A line for each difference that is corrected; None without any."""
    names = {name: word for one in found for name, word in one.names.items()}
    by = found[0].dimension if found else "agent"
    known = [one for one in told if one.corrected.defined]
    if not known:
        return None
    reasons = dict.fromkeys(one.corrected.reason for one in told if one.corrected.reason)
    return Table.of(
        _("Differences corrected by labels"),
        (
            _("Measure"),
            _("by the judge"),
            _("corrected"),
            _("labels alone"),
            _("tasks with labels"),
        ),
        [
            (
                f"{measure_label(one.measure)} · {value_word(by, one.arm, names)} − {value_word(by, one.base, names)}",
                difference(one.judge, percent=percent),
                difference(one.corrected, percent=percent),
                difference(one.people, percent=percent),
                one.tasks,
            )
            for one in known
        ],
        (
            _(
                "Corrected differences are paired on the tasks that both have; intervals are 95%, for tasks of this kind."
            ),
            *reasons,
        ),
    )


def by_task(both: Joint) -> dict[str, Mapping[str, float]]:
    """What each task says of each arm, so that the mean over tasks is the arm's corrected figure: for rank sets."""
    scale = len(both.tasks)
    return {
        name: dict(zip(both.tasks, (float(value) * scale for value in moved), strict=True))
        for name, moved in zip(both.names, both.moved, strict=True)
    }


def tables_of_labels(pool: Pool, corrections: Corrections) -> tuple[Table, ...]:
    """What a report says of it: headlines, ranks, and the differences of agents. Nothing where nobody labelled."""
    if not corrections:
        return ()
    boards = (corrected_board(one, pool, corrections) for one in leaderboards(pool))
    tables = (
        *corrected_tables(tables_by_family(pool), pool, corrections, percent=True),
        *(leaderboard_table(board) for board in boards if board and not board.ranks.reason),
    )
    try:
        found = comparisons(pool, "agent")
    except NotAllowed:
        return tables
    told = corrected_differences(found, pool, corrections)
    between = corrected_difference_table(found, told, percent=True)
    return (*tables, *((between,) if between else ()))
