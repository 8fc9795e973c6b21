"""Layout of score tables for the screen: an overview of families, single families, pivoted, and sorted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuecard.annotate.results.pool import Dimension, Pool, Row
from cuecard.annotate.results.row_samples import figure_key
from cuecard.annotate.results.scores import Counts, Line, ScoreTable
from cuecard.annotate.results.words import dimension_word, shown, value_word
from cuecard.core.i18n import N_, NP_, _, headed
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistic_label, statistics_of
from cuecard.core.scoring.measures import COUNTS, measure_label, pooled_notes
from cuecard.core.tables.table import Cell, Statistic, Table, cell, compact
from cuecard.tui.present.labels import FAMILY
from cuecard.tui.present.runs import MAIN_MEASURE

MEAN, BEST = "mean", "best"
"""Keys of the overview's figures: the mean over samples, and the best, the highest or whether any passed."""
COUNT_WORDS: dict[str, str] = {
    "tasks": N_("Tasks"),
    "trials": N_("Trials"),
    "failed": N_("Failed"),
    "unjudged": N_("Not judged"),
    "open": NP_("not finished", "Open"),
}
COUNT_GLYPHS: dict[str, str] = {"failed": "✗", "unjudged": "?", "open": "○"}
"""Headings where room is scarce: the marks that trials have everywhere."""
_ALWAYS = ("tasks", "trials")
_JUDGED = "judged"
_OF_COUNT: dict[str, Callable[[Row], bool]] = {
    "tasks": lambda row: True,
    "trials": lambda row: True,
    "failed": lambda row: row.trial.termination is not None and row.trial.termination.is_failure,
    "unjudged": lambda row: row.trial.termination is not None and row.figures is None,
    "open": lambda row: row.trial.termination is None,
    _JUDGED: lambda row: row.figures is not None,
}


@dataclass(frozen=True)
class FigureCell(Cell):
    """`name`: how samples were taken together, in an overview: `Best@3`. `these`: the figure with its interval on these tasks
    alone.
    """

    name: str = ""
    these: Statistic | None = None


@dataclass(frozen=True)
class Group:
    """A line before it is laid out. `figures` by key, in the order of the columns; `behind`: the trials of each count."""

    values: Mapping[Dimension, str]
    counts: Counts
    trials: tuple[int, ...]
    measure: str = ""
    figures: Mapping[str, Cell] = field(default_factory=dict[str, Cell])
    behind: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])


@dataclass(frozen=True)
class Layout:
    """Groups with what names them and the columns of their figures (key -> heading)."""

    title: str
    by: tuple[Dimension, ...]
    columns: Mapping[str, str]
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def baselines(self) -> bool:
        """Whether every line is by baselines: then the heading says so, once."""
        return all(group.counts.baseline for group in self.groups)

    @property
    def has_measure(self) -> bool:
        return any(group.measure for group in self.groups)

    @property
    def keys(self) -> list[str]:
        """What stands in each column of `table_of`: a dimension, `measure`, a count or a figure's key."""
        counted = [
            k for k in COUNT_WORDS if k in _ALWAYS or any(getattr(g.counts, k) for g in self.groups)
        ]
        measure = ["measure"] if self.has_measure else []
        return [*self.by, *measure, *counted, *self.columns]


def overview_of(tables: Sequence[ScoreTable], pool: Pool, measure: str = "") -> Layout:
    """All families: of each its main measure, or `measure`, its mean and the best of its samples."""
    groups: list[Group] = []
    for table in tables:
        for line in table.lines:
            family = line.value("family")
            name = measure or _main(family)
            behind = trials_behind(line, pool)
            figures = _two(line, name, behind[_JUDGED])
            # A line without a judged trial stays; a family that has no such measure does not.
            if figures or not line.counts.judged:
                label = f"{_glyph(family)} {measure_label(name)}".strip()
                group = Group(dict(line.group), line.counts, line.trials, label, figures, behind)
                groups.append(group)
    by = _without("family", tables[0].by if tables else ())
    several = any(BEST in group.figures for group in groups)
    columns = {MEAN: _("Mean"), **({BEST: _("Best or pass")} if several else {})}
    names = tables[0].names if tables else {}
    told = [t.model_copy(update={"notes": overview_notes(t, measure)}) for t in tables]
    notes = dict.fromkeys(_notes(told))
    order = {value: at for at, value in enumerate(dict.fromkeys(_names(g, by) for g in groups))}
    # Lines of one name stand together, whatever their family.
    groups.sort(key=lambda group: order[_names(group, by)])
    return Layout(_("Overview"), by, columns, tuple(groups), tuple(notes), names)


def overview_notes(table: ScoreTable, measure: str = "") -> tuple[str, ...]:
    """A family's notes, without those about columns that the overview has not."""
    family = table.lines[0].value("family") if table.lines else ""
    about = pooled_notes(column.measure for column in table.columns)
    left_out = set(about).difference(pooled_notes((measure or _main(family),)))
    return tuple(note for note in table.notes if note not in left_out)


def layout_of(table: ScoreTable, pool: Pool) -> Layout:
    """One family with all the figures of its table."""
    family = table.lines[0].value("family") if table.lines else ""
    groups: list[Group] = []
    for line in table.lines:
        behind = trials_behind(line, pool)
        figures = {
            column.key: _figure(column.measure, column.key, line, behind[_JUDGED])
            for column in table.columns
        }
        groups.append(
            Group(dict(line.group), line.counts, line.trials, figures=figures, behind=behind)
        )
    by = _without("family", table.by)
    columns = {column.key: column.label for column in table.columns}
    title = value_word("family", family) if family else ""
    return Layout(title, by, columns, tuple(groups), table.notes, table.names)


def table_of(layout: Layout) -> Table:
    """A line for each group, its counts before its figures."""
    keys = layout.keys
    return Table.of(
        title=layout.title,
        headings=(_heading(layout, key) for key in keys),
        lines=[[_cell(layout, group, key) for key in keys] for group in layout.groups],
        notes=layout.notes,
    )


def pivot_figure(layout: Layout, key: str) -> str:
    """The figure that stands across: that of `key`, or the first that there is."""
    return key if key in layout.columns else next(iter(layout.columns), "")


def pivoted(layout: Layout, across: Dimension, key: str) -> Table:
    """One figure, with the values of a dimension across and whatever else names the groups down. `family` may be
    across an overview, where it stands in the name of the measure.
    """
    figure = pivot_figure(layout, key)
    named = layout.columns.get(figure, "")
    down = _without(across, layout.by)
    by_family = across == "family"
    values = list(dict.fromkeys(group.values.get(across, "") for group in layout.groups))
    table: dict[tuple[str, ...], dict[str, Cell]] = {}
    measures: dict[tuple[str, ...], str] = {}
    for group in layout.groups:
        names = tuple(value_word(d, group.values.get(d, ""), layout.names) for d in down)
        line = names if by_family or not group.measure else (*names, group.measure)
        cell = group.figures.get(figure)
        if cell is not None:
            table.setdefault(line, {})[group.values.get(across, "")] = cell
        measures.setdefault((group.values.get(across, ""),), group.measure)
    heads = [
        measures.get((v,), "") or value_word(across, v, layout.names)
        if by_family
        else value_word(across, v, layout.names)
        for v in values
    ]
    measured = () if by_family or not layout.has_measure else (_("Measure"),)
    title = _("{figure} by {dimension}").format(figure=named, dimension=dimension_word(across))
    # Where nothing else names the only line, its figure does.
    first = (*(dimension_word(d) for d in down), *measured) or (_("Measure"),)
    return Table.of(
        title=" · ".join(filter(None, (layout.title, title))),
        headings=(*first, *heads),
        lines=[
            (
                *(line or (named,)),
                *(cells.get(value, "") for value in values),
            )
            for line, cells in table.items()
        ],
        notes=layout.notes,
    )


def sorted_lines(table: Table, column: int, *, descending: bool) -> Table:
    """By the number of a column's cells, by its words where they have none; cells without either last."""

    def key(line: Sequence[Cell]) -> tuple[bool, float, str]:
        cell = line[column]
        number = cell.number
        missing = number is None and (cell.statistic is not None or cell.text in ("", "–"))
        if number is None:
            return missing, 0.0, cell.text.casefold()
        return missing, -number if descending else number, ""

    lines = sorted(table.lines, key=key)
    if descending and not any(line[column].number is not None for line in lines):
        known = [line for line in lines if not key(line)[0]]
        lines = [*reversed(known), *(line for line in lines if key(line)[0])]
    return replace(table, lines=tuple(lines))


def rows_by_trial(pool: Pool) -> Mapping[int, Row]:
    return pool.once(("by trial",), lambda: {row.trial.id: row for row in pool.rows})


def trials_behind(line: Line, pool: Pool) -> Mapping[str, tuple[int, ...]]:
    """The line's trials that each count counts, and those that are judged."""
    return pool.once(("behind", line.trials, line.counts), lambda: _behind(line, pool))


def _behind(line: Line, pool: Pool) -> dict[str, tuple[int, ...]]:
    rows = rows_by_trial(pool)
    mine = [rows[id] for id in line.trials if id in rows]
    return {
        key: tuple(row.trial.id for row in mine if of(row)) if getattr(line.counts, key) else ()
        for key, of in _OF_COUNT.items()
    }


def _two(line: Line, measure: str, judged: tuple[int, ...]) -> dict[str, FigureCell]:
    mean = figure_key(measure, statistics_of(measure)[0])
    if mean not in line.figures:
        return {}
    found = {MEAN: replace(_figure(measure, mean, line, judged), name=_("Mean"))}
    for taken in (Taken.BEST, Taken.MAX, Taken.PASS):
        best = figure_key(measure, taken)
        # Of single samples the mean and the best are the same.
        if best in line.figures and line.counts.samples > 1:
            cell = _figure(measure, best, line, judged)
            name = statistic_label(taken, line.counts.samples)
            found[BEST] = replace(cell, name=name)
            break
    return found


def _figure(measure: str, key: str, line: Line, judged: tuple[int, ...]) -> FigureCell:
    statistic = line.figures.get(key)
    share = statistic is not None and measure not in COUNTS
    text = compact(statistic, 2) if statistic and share else shown(measure, statistic)
    return FigureCell(text, statistic=statistic, trials=judged, these=line.these.get(key))


def _cell(layout: Layout, group: Group, key: str) -> Cell:
    dimension = _dimension(layout, key)
    if dimension is not None:
        text = value_word(dimension, group.values.get(dimension, ""), layout.names)
        if key == "agent" and group.counts.baseline and not layout.baselines:
            text = _("{agent} (baseline)").format(agent=text)
        return cell(text, trials=group.trials)
    if key == "measure":
        return cell(group.measure, trials=group.trials)
    if key in COUNT_WORDS:
        return cell(int(getattr(group.counts, key)), trials=group.behind[key])
    return group.figures.get(key, Cell("–" if key == MEAN else ""))


def _heading(layout: Layout, key: str) -> str:
    if key == "measure":
        return _("Measure")
    if (dimension := _dimension(layout, key)) is not None:
        return dimension_word(dimension)
    return _(COUNT_WORDS[key]) if key in COUNT_WORDS else layout.columns[key]


def _dimension(layout: Layout, key: str) -> Dimension | None:
    return next((d for d in layout.by if d == key), None)


def _without(left_out: Dimension, by: Sequence[Dimension]) -> tuple[Dimension, ...]:
    found: list[Dimension] = [d for d in by if d != left_out]
    return tuple(found)


def _names(group: Group, by: Sequence[Dimension]) -> tuple[str, ...]:
    return tuple(group.values.get(dimension, "") for dimension in by)


def _notes(tables: Sequence[ScoreTable]) -> Iterator[str]:
    """A note that is not on all families says which it is on."""
    shared = (
        set[str](tables[0].notes).intersection(*(table.notes for table in tables[1:]))
        if tables
        else set[str]()
    )
    for table in tables:
        family = value_word("family", table.lines[0].value("family")) if table.lines else ""
        for note in table.notes:
            yield note if note in shared else headed(family, note)


def _main(family: str) -> str:
    return next((measure for of, measure in MAIN_MEASURE.items() if of == family), "")


def _glyph(family: str) -> str:
    return FAMILY[family][0] if family in FAMILY else ""
