"""Tables of scores, and of how many trials they are based on, how those ended and what they cost."""

from collections import Counter
from collections.abc import Iterable, Sequence

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pool import Dimension, Pool, Row, Spent
from cuecard.annotate.results.scores import Column, ScoreTable, unknown
from cuecard.annotate.results.scores import Line as ScoreLine
from cuecard.annotate.results.words import (
    amount,
    dimension_word,
    in_sentence,
    place_of,
    shown,
    value_word,
)
from cuecard.core.engine.messages import Usage
from cuecard.core.i18n import N_, _, ngettext, pgettext
from cuecard.core.scoring.measures import ENDING_WORDS
from cuecard.core.tables.table import Cell, Shown, Statistic, Table, cell
from cuecard.core.text import one_line


def table_of_scores(table: ScoreTable, *, title: str = "", percent: bool = False) -> Table:
    """A table of scores: the line's name, its judged trials and tasks; if there are any, failed, unjudged or open
    trials and undecided items; then the scores with intervals. Cells carry their trials and, in a table by agent and
    family, their key in the JSON. `percent`: shares in percent.
    """
    told = shown_dimensions(table)
    missing = [
        (name, label)
        for name, label in (
            ("failed", _("failed")),
            ("unjudged", _("not judged")),
            ("open", _("open")),
            ("items_unjudged", _("items not judged")),
        )
        if any(getattr(line.counts, name) for line in table.lines)
    ]
    return Table.of(
        title or _title(table),
        (
            " · ".join(dimension_word(each) for each in told),
            _("trials"),
            _("tasks"),
            *(label for _name, label in missing),
            *(column.label for column in table.columns),
        ),
        [
            (
                cell(_word(table, line, told), trials=line.trials),
                _count(line, line.counts.judged, line.counts.trials),
                _count(line, line.counts.judged_tasks, line.counts.tasks),
                *(_count(line, getattr(line.counts, name)) for name, _label in missing),
                *(figure_cell(table, line, column, percent=percent) for column in table.columns),
            )
            for line in table.lines
        ],
        table.notes,
    )


def _count(line: ScoreLine, n: int, of: int = 0) -> Cell:
    """`12`, or `5 / 6` if there are more."""
    text = f"{n:,} / {of:,}" if n < of else f"{n:,}"
    return Cell(text, value=n, trials=line.trials)


def figure_cell(
    table: ScoreTable, line: ScoreLine, column: Column, *, percent: bool = False
) -> Cell:
    """The cell of one score of one line; empty if the line has none."""
    return cell_of(
        column.measure,
        line.figures.get(column.key),
        percent=percent,
        trials=line.trials,
        key=json_key(table, line, column),
    )


def cell_of(
    measure: str,
    statistic: Statistic | None,
    *,
    percent: bool = False,
    trials: tuple[int, ...] = (),
    key: str = "",
) -> Cell:
    """A statistic with its interval as a cell; empty for None."""
    if statistic is None:
        return Cell("")
    text = shown(measure, statistic, percent=percent)
    return Cell(text, statistic=statistic, trials=trials, key=key)


def json_key(table: ScoreTable, line: ScoreLine, column: Column) -> str:
    """The key of a score: `groups/alpha/graph/measures/triplet_f1/avg` for lines by agent and family, else ""."""
    if set(table.by) != {"agent", "family"}:
        return ""
    group = f"groups/{line.value('agent')}/{line.value('family')}"
    return f"{group}/measures/{column.measure}/{column.taken.value}"


def pivoted(table: ScoreTable, across: Dimension, column: str) -> Table:
    """One score (by a column's key) with the values of one dimension of `by` across and the others down. Raises
    `NotFound`.
    """
    figure = table.column(column)
    if not _has(table, across):
        raise unknown(_("The table is not by this dimension"), across, list(table.by))
    values = sorted(
        dict.fromkeys(line.value(across) for line in table.lines),
        key=lambda value: _first(table, across, value),
    )
    down: tuple[Dimension, ...] = tuple(each for each in shown_dimensions(table) if each != across)
    found: dict[tuple[str, ...], dict[str, ScoreLine]] = {}
    for line in table.lines:
        found.setdefault(tuple(line.value(each) for each in down), {})[line.value(across)] = line
    lines: list[Sequence[Shown]] = []
    for group, mine in found.items():
        words = [value_word(d, v, table.names) for d, v in zip(down, group, strict=True)]
        cells = (
            figure_cell(table, mine[value], figure) if value in mine else "" for value in values
        )
        lines.append((" · ".join(words) or _("all"), *cells))
    return Table.of(
        _("{title}: {figure} by {dimension}").format(
            title=_title(table), figure=figure.label, dimension=in_sentence(across)
        ),
        (
            " · ".join(dimension_word(each) for each in down),
            *(value_word(across, value, table.names) for value in values),
        ),
        lines,
        table.notes,
    )


def _word(table: ScoreTable, line: ScoreLine, told: tuple[Dimension, ...]) -> str:
    return " · ".join(value_word(each, line.value(each), table.names) for each in told)


def shown_dimensions(table: ScoreTable) -> tuple[Dimension, ...]:
    """The dimensions shown as columns: without the family if there is only one."""
    families = {line.value("family") for line in table.lines}
    if len(families) > 1 or len(table.by) < 2:
        return table.by
    return tuple(each for each in table.by if each != "family")


def _title(table: ScoreTable) -> str:
    """The family, where the lines do not tell it."""
    if _has(table, "family") and shown_dimensions(table) != table.by and table.lines:
        return value_word("family", table.lines[0].value("family"))
    return _("Scores")


def _has(table: ScoreTable, dimension: str) -> bool:
    return any(each == dimension for each in table.by)


def _first(table: ScoreTable, dimension: Dimension, value: str) -> tuple[int, str]:
    """Runs as they were asked for, others in the order of their words."""
    if dimension == "run":
        return list(table.names).index(f"run/{value}"), ""
    return place_of(dimension, value)


KIND: dict[str, str] = {
    "grid": N_("automated run"),
    "play": N_("play session"),
    "probe": N_("quality probe"),
}


def one_each(pool: Pool) -> tuple[Row, ...]:
    """A row for each trial: the first judge's."""
    return tuple({row.trial.id: row for row in reversed(pool.rows)}.values())[::-1]


def trial_tables(pool: Pool) -> tuple[Table, ...]:
    """Counts, endings, and costs where models were called."""
    costs = costs_table(pool)
    return (counts_table(pool), endings_table(pool), *((costs,) if costs else ()))


def runs_table(pool: Pool) -> Table:
    lines: list[Sequence[Shown]] = []
    for run in pool.runs:
        mine = [row for row in one_each(pool) if row.run.id == run.id]
        ended = sum(row.trial.termination is not None for row in mine)
        lines.append(
            (
                one_line(run.name, 80),
                run.uid[:8],
                f"{run.created_at:%Y-%m-%d}",
                _(KIND[run.kind]),
                run.shown.label,
                f"{run.samples:,}",
                f"{ended:,} / {len(mine):,}",
            )
        )
    return Table.of(
        _("The runs of this report"),
        (
            _("Run"),
            pgettext("of a run", "Identity"),
            _("Entered"),
            _("Kind"),
            _("State"),
            _("Samples"),
            _("Trials ended"),
        ),
        lines,
        (
            _(
                "The identity is the beginning of the number that names a run in every copy of its workspace."
            ),
        ),
    )


def counts_table(pool: Pool) -> Table:
    """By agent, family and judge: how much of the grid the scores are based on."""
    judges = pool.values("judge")
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in pool.rows:
        groups.setdefault((row.trial.agent.name, row.family, row.judged_by), []).append(row)
    lines: list[Sequence[Shown]] = []
    order = {family: at for at, family in enumerate(FAMILY_WORDS)}
    alone = len(judges) == 1 and len(pool.runs) == 1
    for (agent, family, judge), rows in sorted(
        groups.items(), key=lambda item: (item[0][0], order[item[1][0].family], item[0][2])
    ):
        ended = [row for row in rows if row.trial.termination is not None]
        judged = sum(row.figures is not None for row in ended)
        failed = sum(bool(r.trial.termination and r.trial.termination.is_failure) for r in ended)
        numbers = {
            "trials": len(rows),
            "open": len(rows) - len(ended),
            "ended": len(ended),
            "failed": failed,
            "judged": judged,
            "unjudged": len(ended) - judged,
        }
        told = {"trials", "ended", "failed", "judged"}
        trials = [row.trial.id for row in rows]
        counts = (
            number(n, f"groups/{agent}/{family}/{name}" if alone and name in told else "", trials)
            for name, n in numbers.items()
        )
        judge_cells = (judge,) if len(judges) > 1 else ()
        lines.append((agent, _(FAMILY_WORDS[rows[0].family]), *judge_cells, *counts))
    return Table.of(
        _("Trials behind the figures"),
        (
            _("Agent"),
            _("Family"),
            *((_("Judge"),) if len(judges) > 1 else ()),
            _("trials"),
            _("open"),
            _("ended"),
            _("failed"),
            _("judged"),
            _("not judged"),
        ),
        lines,
        (
            _(
                "A trial that ended by a failure is scored like any other. Open trials and those that are not"
                " judged are in no figure."
            ),
        ),
    )


def number(n: int, key: str = "", trials: Sequence[int] = ()) -> Cell:
    """A count with its place in the JSON."""
    return Cell(f"{n:,}", value=n, trials=tuple(trials), key=key)


def endings_table(pool: Pool) -> Table:
    """How the trials of each agent ended."""
    agents = pool.values("agent")
    counts = Counter(
        (row.trial.agent.name, row.trial.termination)
        for row in one_each(pool)
        if row.trial.termination
    )
    ends = [end for end in ENDING_WORDS if any(counts[agent, end] for agent in agents)]
    return Table.of(
        _("How trials ended"),
        (_("Agent"), *(_(ENDING_WORDS[end]) for end in ends)),
        [(agent, *(counts[agent, end] for end in ends)) for agent in sorted(agents)],
    )


def costs_table(pool: Pool) -> Table | None:
    """Calls, tokens and cost of each agent's trials: everybody's in them, the agent's own, and these by ended trial;
    None if no model was called.
    """
    rows = one_each(pool)
    if not any(row.spent.calls for row in rows):
        return None
    lines: list[Sequence[Shown]] = []
    for agent in sorted(pool.values("agent")):
        mine = [row for row in rows if row.trial.agent.name == agent]
        ended = [row for row in mine if row.trial.termination is not None]
        whole, own = summed(r.spent for r in mine), summed(r.agent_spent for r in mine)
        # Those that are still open have not spent all of theirs.
        spent = summed(row.agent_spent for row in ended).cost
        key = f"totals/agents/{agent}/" if len(pool.runs) == 1 else ""
        lines.append(
            (
                agent,
                number(whole.calls, key and f"{key}calls"),
                number(whole.usage.prompt, key and f"{key}prompt"),
                number(whole.usage.completion, key and f"{key}completion"),
                _cost(whole.cost),
                _cost(own.cost),
                _cost(None if spent is None else spent / len(ended)),
            )
        )
    unpriced = sum(row.spent.unpriced for row in rows)
    note = _("Sums over all attempts of all trials, in the currency of the configuration's prices.")
    missing = ngettext(
        "{n} call had no price and is in no cost.",
        "{n} calls had no price and are in no cost.",
        unpriced,
    ).format(n=f"{unpriced:,}")
    return Table.of(
        _("Model calls and their cost"),
        (
            _("Agent"),
            _("calls"),
            _("prompt tokens"),
            _("completion tokens"),
            _("cost"),
            _("the agent's own"),
            _("its own, a trial"),
        ),
        lines,
        (note, missing) if unpriced else (note,),
    )


def summed(spent: Iterable[Spent]) -> Spent:
    """The sum of all; `cost` None if nothing had a price."""
    found = list(spent)
    costs = [each.cost for each in found if each.cost is not None]
    return Spent(
        calls=sum(each.calls for each in found),
        usage=Usage.total(each.usage for each in found),
        cost=sum(costs) if costs else None,
        unpriced=sum(each.unpriced for each in found),
    )


def several_revisions(pool: Pool) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Tasks with more than one revision in the runs, and their content hashes."""
    found: dict[str, set[str]] = {}
    for row in pool.rows:
        found.setdefault(row.trial.task_id, set()).add(row.traits.hash)
    return [(task, tuple(sorted(each))) for task, each in sorted(found.items()) if len(each) > 1]


def _cost(cost: float | None) -> Cell:
    return Cell("–" if cost is None else amount("cost", cost), value=cost)
