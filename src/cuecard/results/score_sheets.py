"""Score tables as sheets."""

from __future__ import annotations

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Cell, Line, Sheet
from cuecard.core.i18n import _
from cuecard.results.cells import ResultCell
from cuecard.results.pool import Dimension
from cuecard.results.score_table import Column, ScoreTable, unknown
from cuecard.results.score_table import Line as ScoreLine
from cuecard.results.words import dimension_word, place_of, shown, value_word


def score_sheet(table: ScoreTable, *, title: str = "", percent: bool = False) -> Sheet:
    """What the line is, its judged trials and their tasks (of all, where some are not), where there are any the trials that failed,
    are not judged or still open and the items without a decision, then the figures with intervals. Cells know their trials and, in a table by agent and family, their place in the JSON. `percent`: shares as papers
    print them.
    """
    told = told_by(table)
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
    lines: list[Line] = []
    for line in table.lines:
        counts = line.counts
        lines.append(
            (
                ResultCell(_word(table, line, told), trials=line.trials),
                _count(line, counts.judged, counts.trials),
                _count(line, counts.judged_tasks, counts.tasks),
                *(_count(line, getattr(counts, name)) for name, _label in missing),
                *(figure_cell(table, line, column, percent=percent) for column in table.columns),
            )
        )
    return Sheet(
        view="results",
        title=title or _title(table),
        headings=(
            " · ".join(dimension_word(each) for each in told),
            _("trials"),
            _("tasks"),
            *(label for _name, label in missing),
            *(column.label for column in table.columns),
        ),
        lines=tuple(lines),
        notes=table.notes,
    )


def _count(line: ScoreLine, n: int, of: int = 0) -> ResultCell:
    """`12`, `5 / 6` where there are more."""
    text = f"{n:,} / {of:,}" if n < of else f"{n:,}"
    return ResultCell(text, value=n, trials=line.trials)


def figure_cell(
    table: ScoreTable, line: ScoreLine, column: Column, *, percent: bool = False
) -> ResultCell:
    """The cell of one figure of one line; empty where the line has no such figure."""
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
) -> ResultCell:
    """A figure with its interval; nothing where there is no such figure."""
    if statistic is None:
        return ResultCell("")
    text = shown(measure, statistic, percent=percent)
    return ResultCell(text, statistic=statistic, trials=trials, key=key)


def json_key(table: ScoreTable, line: ScoreLine, column: Column) -> str:
    """`groups/alpha/graph/measures/triplet_f1/avg` for lines by agent and family, else ""."""
    if set(table.by) != {"agent", "family"}:
        return ""
    group = f"groups/{line.value('agent')}/{line.value('family')}"
    return f"{group}/measures/{column.measure}/{column.taken.value}"


def pivoted(table: ScoreTable, across: Dimension, column: str, *, percent: bool = False) -> Sheet:
    """One figure (a column's key) with the values of a dimension of `by` across and the others down. Raises
    `NotFound`.
    """
    figure = table.column(column)
    if not _has(table, across):
        raise unknown(_("The table is not by this dimension"), across, list(table.by))
    values = sorted(
        dict.fromkeys(line.value(across) for line in table.lines),
        key=lambda value: _first(table, across, value),
    )
    down: tuple[Dimension, ...] = tuple(each for each in told_by(table) if each != across)
    found: dict[tuple[str, ...], dict[str, ScoreLine]] = {}
    for line in table.lines:
        found.setdefault(tuple(line.value(each) for each in down), {})[line.value(across)] = line
    lines: list[Line] = []
    for group, mine in found.items():
        words = [value_word(d, v, table.names) for d, v in zip(down, group, strict=True)]
        cells = [
            figure_cell(table, mine[value], figure, percent=percent) if value in mine else Cell("")
            for value in values
        ]
        lines.append((Cell(" · ".join(words) or _("all")), *cells))
    return Sheet(
        view="results",
        title=_("{title}: {figure} by {dimension}").format(
            title=_title(table), figure=figure.label, dimension=dimension_word(across).lower()
        ),
        headings=(
            " · ".join(dimension_word(each) for each in down),
            *(value_word(across, value, table.names) for value in values),
        ),
        lines=tuple(lines),
        notes=table.notes,
    )


def _word(table: ScoreTable, line: ScoreLine, told: tuple[Dimension, ...]) -> str:
    return " · ".join(value_word(each, line.value(each), table.names) for each in told)


def told_by(table: ScoreTable) -> tuple[Dimension, ...]:
    """The dimensions that tell lines apart: without the family, where there is only one."""
    families = {line.value("family") for line in table.lines}
    if len(families) > 1 or len(table.by) < 2:
        return table.by
    return tuple(each for each in table.by if each != "family")


def _title(table: ScoreTable) -> str:
    """The family, where the lines do not tell it."""
    if _has(table, "family") and told_by(table) != table.by and table.lines:
        return value_word("family", table.lines[0].value("family"))
    return _("Scores")


def _has(table: ScoreTable, dimension: str) -> bool:
    return any(each == dimension for each in table.by)


def _first(table: ScoreTable, dimension: Dimension, value: str) -> tuple[int, str]:
    """Runs as they were asked for, others in the order of their words."""
    if dimension == "run":
        return list(table.names).index(f"run/{value}"), ""
    return place_of(dimension, value)
