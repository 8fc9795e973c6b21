"""The state of the scores pane: grouping, which trials count, sorting, and the pivoted dimension."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from cuecard.annotate.agreement.intervals import RESAMPLES
from cuecard.annotate.labelling.corrections import Corrections, basis_text
from cuecard.annotate.results import DIMENSIONS, Dimension
from cuecard.annotate.results.comparison_tables import number
from cuecard.annotate.results.corrected import CorrectedFigure, corrected_figures, corrected_table
from cuecard.annotate.results.pool import Pool, Row
from cuecard.annotate.results.row_samples import SPENT
from cuecard.annotate.results.scores import ScoreTable, filtered, tables_by_family
from cuecard.annotate.results.words import dimension_word, notes_on, value_word
from cuecard.core.i18n import N_, _, beside, headed, listed, ngettext
from cuecard.core.scoring.measures import COUNTS, measure_label, pooled_notes
from cuecard.core.tables.table import Cell, Table, compact, figure
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line
from cuecard.core.verdicts import Measures
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.keyboard import after
from cuecard.tui.present.labels import FAMILY
from cuecard.tui.present.run_trials import FigureTrials
from cuecard.tui.present.score_tables import (
    MEAN,
    FigureCell,
    Layout,
    layout_of,
    overview_notes,
    overview_of,
    pivot_figure,
    pivoted,
    rows_by_trial,
    sorted_lines,
    table_of,
    trials_behind,
)
from cuecard.tui.present.tables import why_missing

ALL_MEASURES = "*"
CORRECTED = "corrected"
_MOST_VALUES = 40


class Only(StrEnum):
    """Which trials are counted."""

    ALL = "all"
    WITHOUT_FAILED = "without_failed"
    FAILED = "failed"
    UNJUDGED = "unjudged"


ONLY_WORDS: dict[Only, str] = {
    Only.ALL: N_("all trials"),
    Only.WITHOUT_FAILED: N_("without failed trials"),
    Only.FAILED: N_("only failed trials"),
    Only.UNJUDGED: N_("only trials that are not judged"),
}


@dataclass(frozen=True)
class Cut:
    """What is counted. `where`: the values wanted in a dimension; `measure`: "" the main ones, `*` all, or one."""

    by: tuple[Dimension, ...] = ("agent",)
    where: tuple[tuple[Dimension, tuple[str, ...]], ...] = ()
    only: Only = Only.ALL
    measure: str = ""

    def of(self, pool: Pool) -> Pool:
        """The rows that count. Values that no row has any more match none."""
        if not self.where and self.only is Only.ALL:
            return pool
        known: dict[Dimension, tuple[str, ...]] = {
            d: tuple(v for v in values if v in pool.values(d)) for d, values in self.where
        }
        if not all(known.values()):
            return Pool(runs=pool.runs, rows=())
        return filtered(pool, known).where(self._counts)

    def _counts(self, row: Row) -> bool:
        end = row.trial.termination
        match self.only:
            case Only.ALL:
                return True
            case Only.FAILED:
                return end is not None and end.is_failure
            case Only.WITHOUT_FAILED:
                return end is None or not end.is_failure
            case Only.UNJUDGED:
                return end is not None and row.figures is None


def count(pool: Pool, cut: Cut, resamples: int = RESAMPLES) -> tuple[ScoreTable, ...]:
    """A table for each family, its measures with intervals; call it off the screen's thread."""
    part = cut.of(pool)
    if not cut.measure:
        return tables_by_family(part, cut.by, resamples=resamples)
    names = all_measures(part) if cut.measure == ALL_MEASURES else (cut.measure,)
    return tables_by_family(part, cut.by, names, resamples=resamples)


Tables = tuple[tuple[ScoreTable, ...], tuple[CorrectedFigure, ...]]


def count_both(pool: Pool, cut: Cut, corrections: Corrections | None) -> Tables:
    """The tables, and those of their figures that people's labels tell more of."""
    tables, part = count(pool, cut), cut.of(pool)
    for line in (line for table in tables for line in table.lines):
        trials_behind(line, pool)  # The screen asks for them next.
    told = (corrected_figures(table, part, corrections) for table in tables if corrections)
    return tables, tuple(one for every in told for one in every)


def all_measures(pool: Pool) -> tuple[str, ...]:
    """Those that occur, in the order in which they are known."""
    return (*pool.measures, *SPENT)


@dataclass
class ScoreView:
    """`section`: which of `overview`, the families and `corrected` is shown; each keeps what it is sorted by."""

    pool: Pool
    cut: Cut = Cut()
    tables: tuple[ScoreTable, ...] = ()
    corrected: tuple[CorrectedFigure, ...] = ()
    section: Family | str = "overview"
    across: Dimension | None = None
    pivot_figure: str = MEAN
    order: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])
    _shown: Table | None = None
    _notes: tuple[Table | None, dict[int, Sequence[str]]] = (None, {})

    def load(
        self,
        pool: Pool,
        cut: Cut,
        tables: tuple[ScoreTable, ...],
        corrected: tuple[CorrectedFigure, ...] = (),
    ) -> None:
        self.pool, self.cut, self.tables, self._shown = pool, cut, tables, None
        self.corrected = corrected
        if self.section not in self.sections:
            self.section = self.sections[0]
        if self.across not in self.dimensions_across:
            self.across = None

    @property
    def sections(self) -> tuple[str, ...]:
        """An overview, each family, and what labels correct."""
        families = (str(table.lines[0].value("family")) for table in self.tables if table.lines)
        told = any(one.correction.corrected.defined for one in self.corrected)
        return ("overview", *families, *((CORRECTED,) if told else ()))

    @property
    def dimensions_across(self) -> tuple[Dimension, ...]:
        """What can stand across."""
        if self.section == CORRECTED:
            return ()
        lines = [line for table in self.tables for line in table.lines]
        found: list[Dimension] = [d for d in self.cut.by if len({n.value(d) for n in lines}) > 1]
        if self.section == "overview" and len(self.tables) > 1:
            found.append("family")
        return tuple(found)

    def step(self, by: int) -> None:
        """To the next section, round and round."""
        at = self.sections.index(self.section)
        self.section = self.sections[(at + by) % len(self.sections)]
        self._changed()
        if self.across not in self.dimensions_across:
            self.across = None

    def next_across(self, column: int) -> None:
        """Put the next dimension across, for the figure of this column; after the last, none."""
        if self.across is None:
            keys = self._layout().keys
            key = keys[column] if column < len(keys) else ""
            self.pivot_figure = key
        choices = (None, *self.dimensions_across)
        self.across = after(self.across, choices)
        self._changed()

    def sort(self, column: int) -> None:
        """By this column, figures from the highest; again: the other way; a third time: as it was."""
        table = self.table
        if column >= len(table.headings):
            return
        heading, place = table.headings[column], self._place
        figures = any(line[column].number is not None for line in table.lines)
        before = self.order.get(place)
        if before is None or before[0] != heading:
            self.order[place] = (heading, figures)
        elif before[1] is figures:
            self.order[place] = (heading, not figures)
        else:
            del self.order[place]
        self._shown = None

    @property
    def table(self) -> Table:
        """What is shown."""
        if self._shown is None:
            layout = self._layout()
            table = (
                _short(corrected_table(self.tables, self.corrected))
                if self.section == CORRECTED
                else pivoted(layout, self.across, self.pivot_figure)
                if self.across
                else table_of(layout)
            )
            wanted = self.order.get(self._place)
            if wanted and wanted[0] in table.headings:
                at = table.headings.index(wanted[0])
                table = sorted_lines(table, at, descending=wanted[1])
            self._shown = table
        return self._shown

    def cell(self, row: int, column: int) -> Cell | None:
        lines = self.table.lines
        if row >= len(lines) or not 0 <= column < len(lines[row]):
            return None
        return lines[row][column]

    def behind(self, row: int, column: int) -> FigureTrials | None:
        """The trials of a figure, of a count, or of all of a line."""
        cell = self.cell(row, column)
        if cell is None or not cell.trials:
            return None
        return FigureTrials(frozenset(cell.trials), self.name(row, column))

    def name(self, row: int, column: int) -> str:
        """What a cell is about: its line, then its column."""
        cell = self.cell(row, column)
        if cell is None:
            return ""
        line, headings = self.table.lines[row], self.table.headings
        words = [
            c.text for c in line if not isinstance(c, FigureCell) and c.number is None and c.text
        ]
        if cell.number is None and not isinstance(cell, FigureCell):
            return " · ".join(words)
        taken = cell.name if isinstance(cell, FigureCell) and cell.name else headings[column]
        column_words = (headings[column], taken) if self.across else (taken,)
        return " · ".join(dict.fromkeys((*words, *column_words)))

    def details(self, row: int, column: int) -> list[str]:
        """The figure under the cursor in full, why something is missing, then what to know of the table."""
        if not self.table.lines:
            return [
                _("No trial is left: / changes which trials count.")
                if self.narrowed
                else _("No trial has been played yet.")
            ]
        cell = self.cell(row, column)
        found: list[str] = []
        if isinstance(cell, FigureCell) and cell.statistic is not None:
            tasks = ngettext("{n} task", "{n} tasks", cell.statistic.n).format(
                n=f"{cell.statistic.n:,}"
            )
            trials = ngettext("{n} judged trial", "{n} judged trials", len(cell.trials))
            text = figure(cell.statistic) if cell.statistic.name not in COUNTS else cell.text
            found.append(
                f"{self.name(row, column)}{_(': ')}{text} · {tasks} · {trials.format(n=f'{len(cell.trials):,}')}"
            )
            found += [*self._correction(cell), *both_intervals(cell), *why_missing(cell)]
        elif cell is not None:
            said = self.name(row, column)
            found.append(headed(said, cell.text) if cell.number is not None else said)
        return [*found, *self._notes_on(row)]

    def tabs(self) -> list[Piece]:
        """The sections; the one that is shown stands in brackets, so that it is told without colour."""
        pieces, here = list[Piece](), self.sections.index(self.section)
        for at, section in enumerate(self.sections):
            name = _("Corrected") if section == CORRECTED else _("Overview")
            if section in FAMILY:
                glyph, _variable, label = FAMILY[section]
                name = f"{glyph} {_(label)}"
            shown = section == self.section
            told, tone = (f"[{name}]", "strong") if shown else (f" {name} ", "muted")
            steps = (at - here) % len(self.sections)
            pieces.append(Piece(told, tone, f"app.do('run_scores.next', {steps})"))
        return pieces

    def heading(self) -> list[Piece]:
        """What the lines are, who judged, and whatever narrows or orders them."""
        parts = [
            _("by {dimensions}").format(dimensions=" × ".join(map(dimension_word, self.cut.by)))
        ]
        if self.across:
            layout = self._layout()
            named = layout.columns.get(pivot_figure(layout, self.pivot_figure), "")
            parts += [named] if named else []
            parts.append(_("{dimension} across").format(dimension=dimension_word(self.across)))
        if self.cut.measure:
            every = self.cut.measure == ALL_MEASURES
            parts.append(_("all measures") if every else measure_label(self.cut.measure))
        judges = listed(one_line(judge, 30) for judge in self.pool.values("judge"))
        pieces = [
            Piece(" · ".join([*parts, _("Judge: {judge}").format(judge=judges or "–")]), "muted")
        ]
        if self.tables and self._layout().baselines:
            pieces += [Piece(" · ", "muted"), Piece(_("offline baselines"), "strong")]
        for words in self.narrowed:
            pieces += [Piece(" · ", "muted"), Piece(words, "strong")]
        if (order := self.order.get(self._place)) and order[0] in self.table.headings:
            pieces += [
                Piece(" · ", "muted"),
                Piece(f"{order[0]} {'↓' if order[1] else '↑'}", "strong"),
            ]
        return pieces

    @property
    def narrowed(self) -> list[str]:
        """What is left out, in words."""
        names = self.tables[0].names if self.tables else {}
        found = [
            headed(dimension_word(d), listed(value_word(d, v, names) for v in values))
            for d, values in self.cut.where
        ]
        return [*found, *([_(ONLY_WORDS[self.cut.only])] if self.cut.only is not Only.ALL else [])]

    def choices(self) -> dict[Dimension, tuple[str, ...]]:
        """The values of each dimension in which trials differ, few enough to choose from."""
        found: dict[Dimension, tuple[str, ...]] = {
            d: self.pool.values(d) for d in DIMENSIONS if d != "task"
        }
        return {d: values for d, values in found.items() if 1 < len(values) <= _MOST_VALUES}

    def _correction(self, cell: FigureCell) -> Iterator[str]:
        """The figure as people's labels correct it, and what they tell alone."""
        for one in self.corrected:
            told = one.correction
            if one.judge == cell.statistic and set(cell.trials) <= set(one.line.trials):
                if told.corrected.defined:
                    yield _(
                        "Corrected: {corrected} · labels alone: {people} · {labels} labelled"
                    ).format(
                        corrected=figure(told.corrected),
                        people=figure(told.people),
                        labels=basis_text(told),
                    )
                else:
                    yield _("Not corrected: {why}").format(why=told.corrected.reason)

    def _notes_on(self, row: int) -> Sequence[str]:
        """What to know of the trials of a line; of all, where it is about several families."""
        table = self.table
        if self.section == CORRECTED:
            return table.notes
        if self._notes[0] is not table:
            self._notes = table, {}
        known = self._notes[1]
        if row not in known:
            known[row] = self._notes_of(table.lines[row] if 0 <= row < len(table.lines) else ())
        return known[row]

    def _notes_of(self, line: Sequence[Cell]) -> Sequence[str]:
        trials = set[int]().union(*(cell.trials for cell in line))
        rows = rows_by_trial(self.pool)
        families = {rows[id].family for id in trials if id in rows}
        about = [
            table for table in self.tables if families & {of.value("family") for of in table.lines}
        ]
        if len(about) != 1:
            return self.table.notes
        # A trial has a row for each judge: those of the line's own.
        groups = [of.group for of in about[0].lines if trials.issuperset(of.trials)]
        mine = self.cut.of(self.pool).where(
            lambda found: (
                found.trial.id in trials
                and any(all(found.value(d) == value for d, value in group) for group in groups)
            )
        )
        of_row = about[0].model_copy(
            update={
                "notes": (
                    *pooled_notes(column.measure for column in about[0].columns),
                    *notes_on(mine, about[0].by, [mine.rows]),
                )
            }
        )
        if self.section == "overview":
            return overview_notes(of_row, self._overview_measure)
        return of_row.notes

    @property
    def _place(self) -> str:
        return f"{self.section}/{self.across or ''}"

    def _changed(self) -> None:
        self._shown = None

    def _layout(self) -> Layout:
        if self.section != "overview":
            for table in self.tables:
                if table.lines and table.lines[0].value("family") == self.section:
                    return layout_of(table, self.pool)
        return overview_of(self.tables, self.pool, self._overview_measure)

    @property
    def _overview_measure(self) -> str:
        """The one measure that was asked for; none: of each family its main one."""
        return self.cut.measure if self.cut.measure != ALL_MEASURES else ""


def both_intervals(cell: FigureCell) -> list[str]:
    """What the interval that is shown tells of, and the other one: how the mean moves with other samples of the same tasks."""
    one, other = cell.statistic, cell.these
    if one is None or other is None or (one.interval is None and other.interval is None):
        return []
    told = [
        "[{}, {}]".format(*(number(one.name, end) for end in each.interval))
        if each.interval
        else beside("–", each.no_interval)
        for each in (one, other)
    ]
    return [
        _("Tasks of this kind: {kind} · these tasks, other samples: {these}").format(
            kind=told[0], these=told[1]
        )
    ]


def _short(table: Table) -> Table:
    """With figures as wide as in the other sections."""

    def short(shown: Cell, first: Cell) -> Cell:
        one = shown.statistic
        return FigureCell(compact(one, 2), statistic=one, trials=first.trials) if one else shown

    return replace(
        table, lines=tuple(tuple(short(each, line[0]) for each in line) for line in table.lines)
    )


def scores_by_trial(pool: Pool) -> dict[int, Measures]:
    """Measures of each judged trial."""
    return {row.trial.id: row.figures.measures for row in pool.rows if row.figures is not None}
