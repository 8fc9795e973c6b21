"""The main table of each paper, filled from a pool."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.checkpoints import DETECTION_MEASURES
from cuecard.core.scoring.labels import pooled_notes
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.cells import ResultCell
from cuecard.results.pool import Dimension, Pool
from cuecard.results.score_sheets import score_sheet
from cuecard.results.score_table import ScoreTable, of_family, score_table
from cuecard.results.taking import figure_key
from cuecard.results.words import place_of, value_word

_GRAPH = tuple(
    f"{of}_{kind}" for of in ("node", "triplet") for kind in ("precision", "recall", "f1")
)


@dataclass(frozen=True)
class Shape:
    """`by`: what stands down, besides the family; `figures` across; `split`: a sheet for all and one for each value."""

    by: tuple[Dimension, ...]
    figures: tuple[tuple[str, Taken], ...]
    split: Dimension

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _taken in self.figures))


def _averages(*names: str) -> tuple[tuple[str, Taken], ...]:
    return tuple((name, Taken.AVG) for name in names)


SHAPES: dict[Family, Shape] = {
    # VibeSearchBench: nodes and triplets, average and best of N, by language.
    "graph": Shape(
        by=("agent",),
        figures=(*_averages(*_GRAPH), *((name, Taken.BEST) for name in _GRAPH)),
        split="language",
    ),
    # WideSearch: success, rows and items, average and best of N, single agents and teams, by language.
    "table": Shape(
        by=("scaffold", "agent"),
        figures=(
            ("success", Taken.AVG),
            ("success", Taken.PASS),
            ("row_f1", Taken.AVG),
            ("row_f1", Taken.MAX),
            ("item_f1", Taken.AVG),
            ("item_f1", Taken.MAX),
        ),
        split="language",
    ),
    # DiscoBench: the outcome, what was asked, and what it took, by difficulty.
    "checkpoints": Shape(
        by=("agent",),
        figures=(
            *_averages("acc", "cp"),
            *((name, Taken.POOLED) for name in DETECTION_MEASURES),
            *_averages("asks", "tool_calls", "tokens"),
        ),
        split="difficulty",
    ),
    # Mind-ParaWorld: pass rate, coverage of facts, hits, by setting and tier.
    "facts": Shape(
        by=("setting", "agent"),
        figures=(
            ("pass_at_1", Taken.AVG),
            ("pass_at_1", Taken.PASS),
            *_averages("fcr", "hit_rate", "tool_calls"),
        ),
        split="tier",
    ),
}


def main_sheets(pool: Pool) -> tuple[Sheet, ...]:
    """For each family with a judged trial its paper's main table, over all tasks and for each language, difficulty or
    tier, where there are several. Shares in percent.
    """
    return tuple(
        sheet
        for family in FAMILIES
        if any(row.figures is not None for row in of_family(pool, family).rows)
        for sheet in _family(of_family(pool, family), family)
    )


def _family(pool: Pool, family: Family) -> Iterator[Sheet]:
    shape = SHAPES[family]
    yield _sheet(pool, shape, value_word("family", family))
    values = sorted(pool.values(shape.split), key=lambda value: place_of(shape.split, value))
    if len(values) < 2:
        return
    for value in values:
        part = pool.where(lambda row, value=value: row.value(shape.split) == value)
        title = _("{family}, {part}").format(
            family=value_word("family", family),
            part=value_word(shape.split, value) if value else _("not known"),
        )
        sheet = _sheet(part, shape, title)
        # Only figures over all tasks are those of `groups`; what the notes say stands below the first sheet.
        notes = (*pooled_notes(shape.measures), _in_percent())
        yield replace(sheet, lines=_without_keys(sheet), notes=notes)


def _sheet(pool: Pool, shape: Shape, title: str) -> Sheet:
    table = _ordered(score_table(pool, ("family", *shape.by), shape.measures), shape)
    sheet = score_sheet(table, title=title, percent=True)
    return replace(sheet, notes=(*sheet.notes, _in_percent()))


def _ordered(table: ScoreTable, shape: Shape) -> ScoreTable:
    known = {column.key: column for column in table.columns}
    keys = [figure_key(*figure) for figure in shape.figures]
    return table.model_copy(update={"columns": tuple(known[key] for key in keys if key in known)})


def _without_keys(sheet: Sheet) -> tuple[Line, ...]:
    return tuple(
        tuple(replace(cell, key="") if isinstance(cell, ResultCell) else cell for cell in line)
        for line in sheet.lines
    )


def _in_percent() -> str:
    return _("Shares in percent.")
