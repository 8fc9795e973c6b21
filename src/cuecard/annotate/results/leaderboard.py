"""A leaderboard that orders only what the tasks tell apart."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.estimation.ranks import Ranks, ranks
from cuecard.annotate.labelling.effect_figures import MAIN, mean_over
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results import Dimension
from cuecard.annotate.results.pairing import CANDIDATES, cells_of, parts_of_cells, samples_of_cells
from cuecard.annotate.results.pool import Pool, Row, values_in
from cuecard.annotate.results.score_tables import cell_of
from cuecard.annotate.results.words import (
    LOWER_IS_BETTER,
    baselines,
    dimension_word,
    in_sentence,
    names_of,
    value_word,
)
from cuecard.core.i18n import _, beside, ngettext
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistic_label, statistics_of
from cuecard.core.scoring.measures import POOLED_MEASURES, mean_name, measure_label
from cuecard.core.tables.table import Cell, Statistic, Table, cell, difference
from cuecard.core.tables.table import Row as Line
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family


class Leaderboard(Frozen):
    """Arms of a dimension by one measure of one family, over the tasks that all have. `means` with intervals, and `trials` behind
    them, by arm. `left_out`: how many tasks not all have; `samples`: the most of a task. `within`: dimensions within which values were taken, as all arms share their values. `names`:
    `words.names_of`. `corrected`: by scores that people's labels corrected; then `judge` and `people` have the means by the judge, and
    by labels alone.
    """

    dimension: Dimension
    family: Family
    measure: str
    taken: Taken
    ranks: Ranks
    means: dict[str, Statistic]
    trials: dict[str, tuple[int, ...]]
    left_out: int
    samples: int = 1
    within: tuple[Dimension, ...] = ()
    names: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    corrected: bool = False
    judge: dict[str, Statistic] = {}
    people: dict[str, Statistic] = {}

    @property
    def label(self) -> str:
        word = measure_label(self.measure)
        taken = statistic_label(self.taken, self.samples) if self.taken.of_several else ""
        return beside(word, taken)


def leaderboard(
    pool: Pool,
    family: Family,
    dimension: Dimension = "agent",
    measure: str | None = None,
    taken: Taken | None = None,
    *,
    arms: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
) -> Leaderboard:
    """Rank the values of a dimension, or `arms` of them, by the family's main measure or `measure`. Samples are taken together
    per task, then cells (revisions, and other dimensions that all arms share) are averaged. Of pooled ratios the tasks' own are.
    """
    name = measure or MAIN[family]
    if name in POOLED_MEASURES:
        name, taken = mean_name(name), Taken.AVG
    taken = taken or statistics_of(name)[0]
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in pool.of_family(family).rows:
        value = row.value(dimension)
        if row.figures is not None and value and (arms is None or value in arms):
            groups[value].append(row)
    if dimension == "judge" and groups:
        every = [{row.trial.id for row in rows} for rows in groups.values()]
        both = set[int].intersection(*every)
        groups = {arm: [r for r in rows if r.trial.id in both] for arm, rows in groups.items()}
    within = _within(groups, dimension)
    values, trials, left_out = _values(groups, within, name, taken)
    found = ranks(values, lower_is_better=name in LOWER_IS_BETTER, resamples=resamples)
    tasks = sorted({task for own in values.values() for task in own})
    means = {
        arm: with_intervals([mean_over(name, own, tasks)], tasks, resamples=resamples)[0]
        for arm, own in values.items()
    }
    return Leaderboard(
        dimension=dimension,
        family=family,
        measure=name,
        taken=taken,
        ranks=found,
        means=means,
        trials=trials,
        left_out=left_out,
        samples=max((row.trial.sample + 1 for own in groups.values() for row in own), default=1),
        within=within,
        names=names_of(pool),
        notes=tuple(baselines(pool)),
    )


def leaderboards(
    pool: Pool, dimension: Dimension = "agent", measures: Sequence[str] = ()
) -> tuple[Leaderboard, ...]:
    """Of each family, and of each of `measures` that it has (default: its main one), where two arms or more were judged."""
    found: list[Leaderboard] = []
    for family in FAMILIES:
        mine = pool.of_family(family)
        known = {*mine.measures, *map(mean_name, POOLED_MEASURES)}
        for name in measures or (MAIN[family],):
            if name in known:
                one = leaderboard(mine, family, dimension, name)
                found += [one] if len(one.trials) > 1 else []
    return tuple(found)


def leaderboard_table(found: Leaderboard) -> Table:
    """A line for each arm. Those that are not told apart share a place and stand by name."""
    lines: list[Line] = []
    before = 0
    known = not found.ranks.reason
    figures = (found.means, *((found.judge, found.people) if found.corrected else ()))
    for group in found.ranks.groups:
        place = _span(before + 1, before + len(group)) if known else "–"
        before += len(group)
        for one in group:
            trials = found.trials[one.name]
            first = "–" if one.first is None else f"{100 * one.first:.0f}%"
            lines.append(
                (
                    cell(value_word(found.dimension, one.name, found.names), trials=trials),
                    Cell(place),
                    *(
                        cell_of(found.measure, means.get(one.name), trials=trials)
                        for means in figures
                    ),
                    Cell(_span(one.best, one.worst)),
                    Cell(first, value=one.first),
                )
            )
    title = _("{family}: leaderboard by {measure}")
    if found.corrected:
        title = _("{family}: leaderboard by {measure}, corrected by labels")
    return Table.of(
        title.format(family=_(FAMILY_WORDS[found.family]), measure=found.label),
        (
            dimension_word(found.dimension),
            _("place"),
            found.label,
            *((_("by the judge"), _("labels alone")) if found.corrected else ()),
            _("ranks"),
            _("first in"),
        ),
        lines,
        _notes(found),
    )


def _span(best: int | None, worst: int | None) -> str:
    if best is None or worst is None:
        return "–"
    return f"{best}" if best == worst else f"{best}–{worst}"


def _notes(found: Leaderboard) -> Iterator[str]:
    told = ngettext("On {n} task that all have", "On {n} tasks that all have", found.ranks.tasks)
    told = told.format(n=f"{found.ranks.tasks:,}")
    if found.left_out:
        more = ngettext("{n} other is left out", "{n} others are left out", found.left_out)
        told = f"{told}{_('; ')}{more.format(n=found.left_out)}"
    yield _("{sentence}.").format(sentence=told)
    if found.ranks.reason:
        yield _("No places and no ranks (–): {reason}. Lines stand by name.").format(
            reason=found.ranks.reason
        )
    else:
        yield _(
            "Those that these tasks do not tell apart share a place and stand by name. Ranks: all sets hold at once with"
            " 95% confidence, however many there are."
        )
        yield _(
            "First in: the share of resamples of the tasks in which the mean is highest. That is no probability of being"
            " the best."
        )
    if any(pair.decided for pair in found.ranks.pairs):
        yield _("Some differ by the same on every task, which counts as told apart.")
    if found.within:
        words = in_sentence(*found.within)
        yield _("Values are means over the same {dimensions}.").format(dimensions=words)
    yield from found.notes


def pairs_table(found: Leaderboard) -> Table:
    """Every pair of arms with its difference, in intervals that hold at once."""
    names = found.names
    return Table.of(
        _("{family}: all pairs by {measure}").format(
            family=_(FAMILY_WORDS[found.family]), measure=found.label
        ),
        (_("Pair"), _("difference")),
        [
            (
                cell(
                    _("{arm} against {base}").format(
                        arm=value_word(found.dimension, pair.left, names),
                        base=value_word(found.dimension, pair.right, names),
                    ),
                    trials=(*found.trials[pair.left], *found.trials[pair.right]),
                ),
                difference(
                    Statistic(
                        name=found.measure,
                        value=pair.difference,
                        n=found.ranks.tasks,
                        low=pair.low,
                        high=pair.high,
                    )
                ),
            )
            for pair in found.ranks.pairs
        ],
        (_("Intervals hold all at once: with 95% confidence none of them misses."),),
    )


def leaderboard_tables(pool: Pool) -> tuple[Table, ...]:
    """Agents by the main measure of each family with two or more."""
    return tuple(leaderboard_table(one) for one in leaderboards(pool))


def _within(groups: Mapping[str, Sequence[Row]], dimension: Dimension) -> tuple[Dimension, ...]:
    """Dimensions in which trials vary and in which all arms share a value on some task, one after the other."""
    within: tuple[Dimension, ...] = ()
    every = [row for rows in groups.values() for row in rows]
    for candidate in CANDIDATES:
        varies = len(values_in(every, (candidate,))[candidate]) > 1
        if candidate == dimension or not varies:
            continue
        tried = (*within, candidate)
        cells = [set(cells_of(rows, tried)) for rows in groups.values()]
        if cells and set.intersection(*cells):
            within = tried
    return within


def _values(
    groups: Mapping[str, Sequence[Row]], within: tuple[Dimension, ...], measure: str, taken: Taken
) -> tuple[dict[str, dict[str, float]], dict[str, tuple[int, ...]], int]:
    """Of each arm its value of each task, the mean over the cells that all arms have; the trials behind; and how many tasks
    have no such cell.
    """
    cells = {arm: cells_of(rows, within) for arm, rows in groups.items()}
    parts = {
        arm: dict(
            zip(own, parts_of_cells(samples_of_cells([*own.values()]), measure, taken), strict=True)
        )
        for arm, own in cells.items()
    }
    known = [{key for key, part in own.items() if part.value is not None} for own in parts.values()]
    shared = sorted(key for key in known[0] if all(key in own for own in known)) if known else []
    values: dict[str, dict[str, float]] = {}
    for arm, own in parts.items():
        by_task: dict[str, list[float]] = defaultdict(list)
        for key in shared:
            by_task[key[0][0]].append(own[key].value or 0.0)
        values[arm] = {task: fmean(found) for task, found in by_task.items()}
    trials = {
        arm: tuple(sorted({row.trial.id for key in shared for row in own[key]}))
        for arm, own in cells.items()
    }
    every = {row.trial.task_id for rows in groups.values() for row in rows}
    return values, trials, len(every) - len({unit[0] for unit, _cell in shared})
