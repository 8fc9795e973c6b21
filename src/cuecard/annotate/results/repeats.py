"""What several samples of the same tasks tell: intervals on these tasks beside those on tasks of this kind, how much samples are
alike, and success of k samples.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.estimation.components import all_of, any_of, correlation_of_samples
from cuecard.annotate.labelling.effect_figures import mean_over
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pool import Pool, Row, values_of
from cuecard.annotate.results.row_samples import samples_of
from cuecard.annotate.results.score_tables import cell_of
from cuecard.annotate.results.scores import Line as ScoreLine
from cuecard.annotate.results.scores import ScoreTable, score_table
from cuecard.annotate.results.words import names_of, place_of, shown, value_word
from cuecard.core.i18n import _
from cuecard.core.scoring.measures import HEADLINES, PASS_MEASURES, measure_label
from cuecard.core.tables.table import Cell, Statistic, Table, cell
from cuecard.core.tables.table import Row as Line
from cuecard.core.tasks.models import FAMILIES


def of_these_tasks(table: ScoreTable) -> ScoreTable:
    """The table with intervals that tell of other samples of the same tasks; the averages alone have one."""
    why = _("on these tasks there is an interval of averages only")

    def figure(line: ScoreLine, key: str, one: Statistic) -> Statistic:
        none = one.model_copy(update={"low": None, "high": None, "no_interval": why})
        return line.these.get(key, none if one.defined else one)

    lines = (
        line.model_copy(
            update={"figures": {key: figure(line, key, one) for key, one in line.figures.items()}}
        )
        for line in table.lines
    )
    note = _("Intervals are of these tasks: they tell of other samples, not of other tasks.")
    return table.model_copy(update={"lines": tuple(lines), "notes": (*table.notes, note)})


def repeat_tables(pool: Pool) -> tuple[Table, ...]:
    """Of each family with several samples of a task: both intervals of agents' means, and success of k samples."""
    found: list[Table] = []
    for family in FAMILIES:
        mine = pool.of_family(family)
        table = score_table(mine, ("agent",), HEADLINES[family])
        if max((line.counts.samples for line in table.lines), default=0) < 2:
            continue
        these = of_these_tasks(table)
        lines: list[Line] = []
        for line, other in zip(table.lines, these.lines, strict=True):
            for column in table.columns:
                if column.key in line.these:
                    lines.append(
                        (
                            cell(
                                f"{table.word(line)} · {measure_label(column.measure)}",
                                trials=line.trials,
                            ),
                            cell_of(column.measure, line.figures[column.key], trials=line.trials),
                            cell_of(column.measure, other.figures[column.key], trials=line.trials),
                            _resemblance(mine, line, column.measure),
                        )
                    )
        word = _(FAMILY_WORDS[family])
        if lines:
            found.append(
                Table.of(
                    _("{family}: means with both intervals").format(family=word),
                    (
                        _("Agent and measure"),
                        _("tasks of this kind"),
                        _("these tasks"),
                        _("ICC of samples"),
                    ),
                    lines,
                    (
                        _(
                            "Tasks of this kind: what other tasks of the kind would change. These tasks: what other samples of"
                            " the same tasks would."
                        ),
                        _(
                            "ICC of samples: the share of the variance that is between tasks, not between samples."
                        ),
                    ),
                )
            )
        found += _success_tables(mine, word)
    return tuple(found)


def _resemblance(pool: Pool, line: ScoreLine, measure: str) -> Cell:
    """How much samples of a task are alike."""
    found = correlation_of_samples(_values(_by_agent(pool)[line.value("agent")], measure))
    return Cell("–" if found.raw is None else f"{found.raw:.2f}", value=found.raw)


def _success_tables(pool: Pool, word: str) -> Iterator[Table]:
    """pass@k and pass^k for each k, of the family's measures that pass or fail."""
    groups, names = _by_agent(pool), names_of(pool)
    for measure in PASS_MEASURES:
        by_agent = {
            agent: _passed(rows, measure)
            for agent, rows in sorted(groups.items(), key=lambda each: place_of("agent", each[0]))
        }
        most = max((n for own in by_agent.values() for _c, n in own.values()), default=0)
        if most < 2:
            continue
        lines = [
            (
                cell(f"{value_word('agent', agent, names)} · {title}"),
                *(_of_k(measure, own, k, any_=title == "pass@k") for k in range(1, most + 1)),
            )
            for agent, own in by_agent.items()
            if own
            for title in ("pass@k", "pass^k")
        ]
        yield Table.of(
            _("{family}: {measure} of k samples").format(
                family=word, measure=measure_label(measure)
            ),
            (_("Agent"), *(f"k = {k}" for k in range(1, most + 1))),
            lines,
            (
                _(
                    "pass@k: at least one of k samples passes; pass^k: all of them do. Means over the tasks that have k samples;"
                    " n counts these."
                ),
            ),
        )


def _by_agent(pool: Pool) -> dict[str, list[Row]]:
    def count() -> dict[str, list[Row]]:
        groups: dict[str, list[Row]] = defaultdict(list)
        for row, (agent,) in values_of(pool.rows, ("agent",)):
            groups[agent].append(row)
        return groups

    return pool.once(("rows by agent",), count)


def _values(rows: Sequence[Row], measure: str) -> dict[str, list[float]]:
    """Of the samples that have one, by task."""
    samples = samples_of(rows)
    column = samples.column(measure)
    values, ends = column.values.tolist(), column.ends.tolist()
    return {
        task: [value for value in values[start:end] if value == value]
        for task, start, end in zip(samples.tasks, ends, ends[1:], strict=False)
    }


def _passed(rows: Sequence[Row], measure: str) -> dict[str, tuple[int, int]]:
    """How many samples passed, of how many, by task."""
    known = _values(rows, measure)
    return {task: (round(sum(values)), len(values)) for task, values in known.items() if values}


def _of_k(measure: str, tasks: Mapping[str, tuple[int, int]], k: int, *, any_: bool) -> Cell:
    of = any_of if any_ else all_of
    values = {task: v for task, (c, n) in tasks.items() if (v := of(c, n, k)) is not None}
    mean = mean_over(measure, values, sorted(values))
    (one,) = with_intervals([mean], sorted(values)) if values else (mean.statistic,)
    if one.value is None:
        one = one.model_copy(update={"reason": _("no task has so many samples")})
    return Cell(shown(measure, one), statistic=one)
