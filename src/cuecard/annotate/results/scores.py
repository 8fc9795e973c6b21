"""Scores of groups of trials, each with n and interval."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from cuecard.annotate.agreement.intervals import RESAMPLES
from cuecard.annotate.estimation.components import on_these_tasks
from cuecard.annotate.results.pool import Dimension, Pool, Row, kinds_of, values_of
from cuecard.annotate.results.row_samples import (
    SPENT,
    RowSamples,
    figure_key,
    samples_of,
    with_task_intervals,
)
from cuecard.annotate.results.words import in_sentence, names_of, place_of, value_word
from cuecard.core.errors import NotFound
from cuecard.core.evaluation.scores import GroupScores, RunScores, TrialScores
from cuecard.core.i18n import _, listed, ngettext
from cuecard.core.records import UsageRecord
from cuecard.core.scoring.aggregate import Key, statistic_label, statistics_of
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.breakdowns import BreakdownCounts
from cuecard.core.scoring.measures import (
    COUNTS,
    HEADLINES,
    POOLED_MEASURES,
    measure_label,
    measured_as,
    pooled_notes,
)
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family


class Counts(Frozen):
    """How many trials a score is based on. `trials`: all, `open` and `ended` of them; of the ended, `failed` (which
    score like any other), `judged` and `unjudged`. `items_unjudged`: undecided items of judged trials. `tasks`: of all
    trials, `judged_tasks`: of judged ones. `samples`: the largest number of judged trials of one task. `baseline`: a
    player is an offline baseline.
    """

    trials: int = 0
    open: int = 0
    ended: int = 0
    failed: int = 0
    judged: int = 0
    unjudged: int = 0
    items_unjudged: int = 0
    tasks: int = 0
    judged_tasks: int = 0
    samples: int = 0
    baseline: bool = False


class Column(Frozen):
    """A measure (or `cost`, `tokens`) and how its samples are combined."""

    measure: str
    taken: Taken
    label: str

    @property
    def key(self) -> str:
        """Its key: `triplet_f1.avg`."""
        return figure_key(self.measure, self.taken)


class Line(Frozen):
    """A group of trials with its scores. `group`: their common values in the dimensions of `by`; `figures`: scores by
    the columns' keys, with intervals that tell of tasks of this kind; `these`: averages with those that tell of other
    samples of these tasks; `trials`: ids of all its trials.
    """

    group: tuple[tuple[Dimension, str], ...]
    counts: Counts
    figures: dict[str, Statistic]
    trials: tuple[int, ...]
    these: dict[str, Statistic] = {}

    def value(self, dimension: Dimension) -> str:
        return dict(self.group).get(dimension, "")


class ScoreTable(Frozen):
    """A table of scores. `names`: values for display (`words.names_of`). `notes`: what was pooled, what is not judged."""

    by: tuple[Dimension, ...]
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    names: dict[str, str] = {}
    notes: tuple[str, ...] = ()

    def column(self, key: str) -> Column:
        """The column with this key. Raises `NotFound`."""
        for column in self.columns:
            if column.key == key:
                return column
        raise unknown(_("No such figure"), key, [column.key for column in self.columns])

    def word(self, line: Line) -> str:
        """A line's name: its values, joined."""
        return " · ".join(value_word(of, value, self.names) for of, value in line.group)


def score_table(
    pool: Pool,
    by: Sequence[Dimension] = ("agent", "family"),
    measures: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> ScoreTable:
    """Scores for each combination of `by` that occurs. `measures`: default, the headlines of the families there are
    (`core.scoring.measures.HEADLINES`). Values are those of `aggregate` over the line's judged trials, with intervals by
    resampling tasks. If there are several judges, `judge` is added to `by`.
    """
    from cuecard.annotate.results.words import notes_on

    several = len(pool.values("judge")) > 1 and "judge" not in by
    dimensions: tuple[Dimension, ...] = (*dict.fromkeys(by), *(("judge",) if several else ()))
    wanted = tuple(measures) if measures is not None else headlines(pool)
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row, values in values_of(pool.rows, dimensions):
        groups[values].append(row)
    order = {run.uid[:8]: f"{at:06}" for at, run in enumerate(pool.runs)}
    ordered = sorted(
        groups,
        key=lambda values: [
            place_of(each, order[value] if each == "run" else value)
            for each, value in zip(dimensions, values, strict=True)
        ],
    )
    lines = tuple(
        _line(tuple(zip(dimensions, values, strict=True)), groups[values], wanted, resamples)
        for values in ordered
    )
    columns = _columns(wanted, lines)
    return ScoreTable(
        by=dimensions,
        columns=columns,
        lines=lines,
        names=names_of(pool),
        notes=(
            *pooled_notes(column.measure for column in columns),
            *_with_fewer(columns, lines),
            *notes_on(pool, dimensions, list(groups.values())),
        ),
    )


def tables_by_family(
    pool: Pool,
    by: Sequence[Dimension] = ("agent",),
    measures: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> tuple[ScoreTable, ...]:
    """A table for each family with only its columns; `family` is the first of their `by`."""
    dimensions: tuple[Dimension, ...] = ("family", *(each for each in by if each != "family"))
    return tuple(
        score_table(of_family(pool, family), dimensions, measures, resamples=resamples)
        for family in FAMILIES
        if family in pool.families
    )


def sorted_by(table: ScoreTable, key: Dimension | str, *, descending: bool = True) -> ScoreTable:
    """Lines sorted by a dimension of `by`, a column's key (`triplet_f1.avg`) or a field of `Counts`; those without a
    value last. Raises `NotFound`.
    """
    dimension: Dimension | None = next((each for each in table.by if each == key), None)
    if dimension is not None:
        at = dimension
        found = sorted(table.lines, key=lambda line: place_of(at, line.value(at)))
        return table.model_copy(update={"lines": tuple(found[::-1] if descending else found)})
    counted = key in Counts.model_fields
    if not counted:
        table.column(key)

    def place(line: Line) -> tuple[bool, float]:
        statistic = line.figures.get(key)
        value = getattr(line.counts, key) if counted else statistic.value if statistic else None
        return value is None, 0.0 if value is None else (-value if descending else value)

    return table.model_copy(update={"lines": tuple(sorted(table.lines, key=place))})


def filtered(pool: Pool, wanted: Mapping[Dimension, Sequence[str]]) -> Pool:
    """The rows with one of the wanted values in each of the dimensions; a run may be given by name. Raises `NotFound`,
    listing the values, for one that no row has.
    """
    names = names_of(pool)
    chosen: dict[Dimension, set[str]] = {}
    for dimension, values in wanted.items():
        known = pool.values(dimension)
        other = {names[f"run/{value}"]: value for value in known} if dimension == "run" else {}
        for value in values:
            if value not in known and value not in other:
                title = _("No trial with this {dimension}").format(dimension=in_sentence(dimension))
                raise unknown(title, value, [*(other or known)])
        chosen[dimension] = {other.get(value, value) for value in values}
    return pool.where(lambda row: all(row.value(d) in values for d, values in chosen.items()))


def of_family(pool: Pool, family: Family) -> Pool:
    return pool.of_family(family)


def headlines(pool: Pool) -> tuple[str, ...]:
    """The headline measures of the pool's families, in their order."""
    return tuple(
        name for family in FAMILIES if family in pool.families for name in HEADLINES[family]
    )


def counts_of(rows: Sequence[Row]) -> Counts:
    """Counts over the rows of one judge."""
    trials = [row.trial for row in rows]
    ends = Counter([trial.termination for trial in trials])
    ended = len(rows) - ends.pop(None, 0)
    samples = samples_of(rows)
    judged = sum(samples.sizes)
    undecided, _sizes = samples.column("unjudged").known
    return Counts(
        trials=len(rows),
        open=len(rows) - ended,
        ended=ended,
        failed=sum(n for end, n in ends.items() if end and end.is_failure),
        judged=judged,
        unjudged=ended - judged,
        items_unjudged=int(undecided.sum()),
        tasks=len({trial.task_id for trial in trials}),
        judged_tasks=len(samples.tasks),
        samples=samples.most,
        baseline=any(row.baseline for row in kinds_of(rows)),
    )


def unknown(title: str, name: str, known: Sequence[str]) -> NotFound:
    return NotFound(
        _("{what}: {name}").format(what=title, name=name),
        hint=_("There are: {names}.").format(names=listed(each or "–" for each in known)),
    )


def _line(
    group: tuple[tuple[Dimension, str], ...],
    rows: Sequence[Row],
    wanted: Sequence[str],
    resamples: int,
) -> Line:
    samples = samples_of(rows)
    found = with_task_intervals(samples, wanted, resamples=resamples)
    return Line(
        group=group,
        counts=counts_of(rows),
        figures={figure_key(*key): one for key, (_total, one) in found.items()},
        trials=tuple(sorted(row.trial.id for row in rows)),
        these=_on_these_tasks(samples, {key: one for key, (_total, one) in found.items()}),
    )


def _on_these_tasks(samples: RowSamples, found: Mapping[Key, Statistic]) -> dict[str, Statistic]:
    these: dict[str, Statistic] = {}
    for (name, taken), one in found.items():
        if taken is not Taken.AVG or measured_as(name) != name or not one.defined:
            continue
        if name not in samples.these:
            values, sizes = samples.column(name).known
            samples.these[name] = on_these_tasks(
                name, values, sizes[sizes > 0], share=name not in COUNTS
            )
        # Its value is the same but for the last digits.
        exact = {"value": one.value, "n": one.n}
        these[figure_key(name, taken)] = samples.these[name].model_copy(update=exact)
    return these


def _with_fewer(columns: Sequence[Column], lines: Sequence[Line]) -> tuple[str, ...]:
    """How many tasks are in no Pass^N, as they have fewer samples than others."""
    left_out = 0
    for column in columns:
        if column.taken is Taken.PASS_ALL:
            every = figure_key(column.measure, Taken.PASS)
            both = [line.figures for line in lines if {every, column.key} <= line.figures.keys()]
            left_out = max([left_out, *(own[every].n - own[column.key].n for own in both)])
    if not left_out:
        return ()
    told = ngettext(
        "Pass^N: up to {n} task has fewer samples than others and is left out.",
        "Pass^N: up to {n} tasks have fewer samples than others and are left out.",
        left_out,
    )
    return (told.format(n=f"{left_out:,}"),)


def _columns(wanted: Sequence[str], lines: Sequence[Line]) -> tuple[Column, ...]:
    """All averages; other ways of combining samples only if some task has several."""
    counts = [line.counts.samples for line in lines if line.counts.samples]
    least, most = min(counts, default=0), max(counts, default=0)
    present = {key for line in lines for key in line.figures}
    keys: list[Key] = [(name, taken) for name in wanted for taken in statistics_of(name)]
    return tuple(
        Column(measure=name, taken=taken, label=column_label(name, taken, most, least))
        for name, taken in keys
        if figure_key(name, taken) in present and (most > 1 or not taken.of_several)
    )


def column_label(measure: str, taken: Taken, samples: int, least: int | None = None) -> str:
    """The heading of a column: `Triplet F1 Best@3`; `Best@2–3` if lines have from 2 (`least`) to 3 samples; only the
    measure for single samples and pooled ratios.
    """
    if samples <= 1 or taken is Taken.POOLED or measured_as(measure) != measure:
        return measure_label(measure)
    told = statistic_label(taken, samples)
    if least is not None and least < samples:
        told = told.replace(str(samples), f"{least}–{samples}")
    return _("{measure} {taken}").format(measure=measure_label(measure), taken=told)


class IntervalScores(Frozen):
    """`scores` of the trials that `judge` judged, and `figures`: the same with intervals, and cost and tokens, by
    measure and way of combining samples; `these`: averages on these tasks, by key (`Line.these`).
    """

    scores: GroupScores
    judge: str
    figures: dict[tuple[str, Taken], Statistic]
    these: dict[str, Statistic] = {}


def interval_groups(pool: Pool, *, whole: bool = True) -> tuple[IntervalScores, ...]:
    """Scores by agent, then family, then judge if there are several. Not `whole`: without intervals on these tasks, and of
    the breakdowns only the profiles.
    """
    groups: dict[tuple[str, Family, str], list[Row]] = defaultdict(list)
    for row in pool.rows:
        groups[row.trial.agent.name, row.family, row.judged_by].append(row)
    ordered = sorted(groups, key=lambda key: (key[0], FAMILIES.index(key[1]), key[2]))
    return tuple(_group(*key, groups[key], whole=whole) for key in ordered)


def trial_scores(pool: Pool) -> tuple[TrialScores, ...]:
    """The scores of every ended trial, in the pool's order."""
    return tuple(
        TrialScores(
            trial=row.trial, judge=row.judge, measures=row.figures.measures if row.figures else ()
        )
        for row in pool.rows
        if row.trial.termination is not None
    )


def run_scores(
    pool: Pool, groups: Sequence[IntervalScores], usage: Sequence[UsageRecord]
) -> RunScores:
    """The scores of a pool's first run by one judge."""
    judges = pool.values("judge")
    return RunScores(
        run=pool.runs[0],
        judge=judges[0] if judges else "",
        trials=trial_scores(pool),
        groups=tuple(group.scores for group in groups),
        usage=tuple(usage),
    )


def _group(
    agent: str, family: Family, judge: str, rows: Sequence[Row], *, whole: bool
) -> IntervalScores:
    samples = samples_of(rows)
    found = with_task_intervals(samples)
    figures: dict[Key, Statistic] = {key: one for key, (_total, one) in found.items()}
    totals = tuple(total for (name, _taken), (total, _one) in found.items() if name not in SPENT)
    counts = counts_of(rows)
    told = BreakdownCounts()
    # Profiles are of steps, as pooled measures are; other details need not be read for them.
    if whole or not set(POOLED_MEASURES).isdisjoint(samples.names):
        for row in rows:
            if row.figures is not None:
                told.add(row.figures, row.traits.difficulty)
    return IntervalScores(
        scores=GroupScores.from_fields(
            counts,
            agent=agent,
            family=family,
            measures=totals,
            breakdown=told.result(),
        ),
        judge=judge,
        figures=figures,
        these=_on_these_tasks(samples, figures) if whole else {},
    )
