"""The comparisons of the papers (designs): found in a pool by themselves, and shown as the papers' tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.fidelity.inputs import HUMAN, is_simulated
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.comparison_tables import (
    anything_left_out,
    difference_table,
    left_out_table,
)
from cuecard.annotate.results.comparisons import PLAIN, Comparison, comparisons
from cuecard.annotate.results.pool import Dimension, Pool, Row, values_in, values_of
from cuecard.annotate.results.score_tables import cell_of, figure_cell
from cuecard.annotate.results.scores import (
    Column,
    Line,
    ScoreTable,
    column_label,
    of_family,
    score_table,
    unknown,
)
from cuecard.annotate.results.words import dimension_word, place_of, value_word
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, beside
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.tables.table import Cell, Table, cell
from cuecard.core.tasks.models import FAMILIES, Family

DesignName = Literal[
    "facts_settings",
    "checkpoint_settings",
    "graph_settings",
    "table_scaffold",
    "memory",
    "compaction",
    "users",
    "judges",
]
DESIGN_NAMES: tuple[DesignName, ...] = get_args(DesignName)


@dataclass(frozen=True)
class Design:
    """A comparison of a paper. `arms` in its order, empty for those that occur; `family` None: every family; `title` is
    untranslated.
    """

    name: DesignName
    title: str
    dimension: Dimension
    family: Family | None
    arms: tuple[str, ...] = ()


DESIGNS: tuple[Design, ...] = (
    Design(
        "facts_settings",
        N_("Settings of facts: oracle (A), guided or few-shot (B), end to end (C)"),
        "setting",
        "facts",
        ("oracle", "guided", "few_shot", "end_to_end"),
    ),
    Design(
        "checkpoint_settings",
        N_("Settings of checkpoints: neutral, guided, without search, without asking"),
        "setting",
        "checkpoints",
        ("neutral", "guided", "no_search", "no_ask"),
    ),
    Design(
        "graph_settings",
        N_("Settings of graphs: the query at once, in stages, or in conversation"),
        "setting",
        "graph",
        ("direct", "staged", "simulated"),
    ),
    Design(
        "table_scaffold", N_("Tables: one agent or a team"), "scaffold", "table", ("single", "team")
    ),
    Design(
        "memory",
        N_("Memory: none, within a task, or lifelong"),
        "memory",
        None,
        ("none", "local", "lifelong"),
    ),
    Design(
        "compaction",
        N_("With and without compaction of the context"),
        "compacted",
        None,
        ("without", "with"),
    ),
    Design("users", N_("People and simulators as the user"), "user", None),
    Design("judges", N_("Two judges on the same trials"), "judge", None),
)

_COLUMNS = ANNOTATE.each(lambda family: family.compared)
_ALSO = ("tool_calls", "tokens")


@dataclass(frozen=True)
class DesignResult:
    """A design found in a pool: judged trials of at least two of its `arms`, in `families`. `pool`: those trials only
    (people count as one user). `base`: the arm that the others are compared with.
    """

    design: Design
    arms: tuple[str, ...]
    base: str
    families: tuple[Family, ...]
    pool: Pool


def designs_in(pool: Pool) -> tuple[DesignResult, ...]:
    """Those of `DESIGNS` for which a family has judged trials of two arms on the same revision of a task."""
    return tuple(found for design in DESIGNS if (found := _found(pool, design)))


def design_named(pool: Pool, name: str) -> DesignResult:
    """The design with this name in the pool. Raises `NotFound`, listing all designs, or those the pool has."""
    if name not in DESIGN_NAMES:
        raise unknown(_("No such design"), name, DESIGN_NAMES)
    known = {found.design.name: found for found in designs_in(pool)}
    for found in known.values():
        if found.design.name == name:
            return found
    raise unknown(_("These trials have not two arms of this design"), name, list(known))


def design_tables(pool: Pool, found: DesignResult) -> tuple[Table, ...]:
    """The design's table as in its paper (agents by arm, measures across; for facts also by tier), then for each family
    the paired differences and what they leave out. `pool`: where it was found.
    """
    tables: list[Table] = []
    for family in found.families:
        mine = of_family(found.pool, family)
        tables.append(_figures_table(mine, found, family))
        tables += _by_tier(mine, found, family)
        tables += _differences(mine, found)
    return tuple(tables)


def _found(pool: Pool, design: Design) -> DesignResult | None:
    rows = [row for row in pool.rows if row.figures is not None]
    if design.family not in (None, *pool.families) or len(pool.values(design.dimension)) < 2:
        return None
    if design.name == "users":
        rows = _as_users(rows)
    kept: list[Row] = []
    families: list[Family] = []
    for family in FAMILIES:
        if design.family not in (None, family):
            continue
        mine = [
            row
            for row, (own, arm) in values_of(rows, ("family", design.dimension))
            if own == family and arm and (not design.arms or arm in design.arms)
        ]
        if _shares(mine, design):
            kept += mine
            families.append(family)
    if not families:
        return None
    values = values_in(kept, (design.dimension,))[design.dimension]
    arms = tuple(
        arm
        for arm in design.arms or sorted(values, key=lambda arm: (arm != HUMAN, arm))
        if arm in values
    )
    base = next((arm for arm in arms if arm in PLAIN), arms[0])
    return DesignResult(design, arms, base, tuple(families), Pool(runs=pool.runs, rows=tuple(kept)))


def _shares(rows: Sequence[Row], design: Design) -> bool:
    """Whether a revision of a task (for judges: a trial) has two arms; of people and simulators, people are one."""
    arms: dict[tuple[object, ...], set[str]] = {}
    for row, (arm,) in values_of(rows, (design.dimension,)):
        place = (row.trial.id,) if design.name == "judges" else row.unit
        arms.setdefault(place, set()).add(arm)
    people = design.name == "users"
    return any(len(found) > 1 and (not people or HUMAN in found) for found in arms.values())


def _as_users(rows: Sequence[Row]) -> list[Row]:
    """The rows with all people as one user, without users that play no persona."""
    found: list[Row] = []
    for row in rows:
        if row.trial.user.kind == HUMAN:
            user = row.trial.user.model_copy(update={"name": HUMAN})
            trial = row.trial._replace(user=user)
            found.append(row.of_trial(trial))
        elif is_simulated(row.trial):
            found.append(row)
    return found


def _figures_table(pool: Pool, found: DesignResult, family: Family) -> Table:
    dimension = found.design.dimension
    table = score_table(pool, ("agent", dimension), (*_COLUMNS[family], *_ALSO))
    columns = [c for c in table.columns if not c.taken.of_several]
    return _laid(table, columns, found, family, title=_(found.design.title))


def _by_tier(pool: Pool, found: DesignResult, family: Family) -> Iterator[Table]:
    """Each figure by the tiers of worlds, of a family that has several."""
    dimension = found.design.dimension
    tiers = sorted(pool.values("tier"), key=lambda tier: place_of("tier", tier))
    if len(tiers) < 2:
        return
    whole = score_table(pool, ("agent", dimension), _COLUMNS[family])
    tables = (
        score_table(
            pool.where(lambda row, tier=tier: row.value("tier") == tier),
            ("agent", dimension),
            _COLUMNS[family],
        )
        for tier in tiers
    )
    parts = [{line.group: line for line in table.lines} for table in tables]
    for measure in _COLUMNS[family]:
        key = f"{measure}.avg"

        def figure(line: Line | None, measure: str = measure, key: str = key) -> Cell:
            if line is None:
                return Cell("")
            return cell_of(measure, line.figures.get(key), percent=True, trials=line.trials)

        yield Table.of(
            _("{measure} by tier").format(
                measure=column_label(measure, Taken.AVG, _samples(whole))
            ),
            (
                f"{dimension_word('agent')} · {dimension_word(dimension)}",
                _("all"),
                *(value_word("tier", tier) for tier in tiers),
            ),
            [
                (
                    _word(whole, line.group),
                    figure(line),
                    *(figure(part.get(line.group)) for part in parts),
                )
                for line in whole.lines
            ],
            (_("Shares in percent."),),
        )


def _differences(pool: Pool, found: DesignResult) -> Iterator[Table]:
    """All agents together, then each agent by itself, where there are several; what each line leaves out."""
    dimension = found.design.dimension
    try:
        whole = comparisons(pool, dimension, found.base, arms=_present(pool, found))
    except CuecardError:
        # Arms of different agents or judges have no pairs at all: the figures stand alone.
        return
    agents = sorted(pool.values("agent"))
    each = [(agent, own) for agent in agents if (own := _of(agent, pool, found))]
    parts = [
        (value_word("agent", agent, whole[0].names), one)
        for agent, own in (each if len(each) > 1 else ())
        for one in own
    ]
    table = difference_table(whole, percent=True, parts=parts)
    notes = [*table.notes, _("Shares in percent.")]
    if len(agents) == 1:
        name = value_word("agent", agents[0], whole[0].names)
        notes.insert(0, _("All of it stands on one agent, {agent}.").format(agent=name))
    yield replace(table, notes=tuple(notes))
    if any(anything_left_out(contrast.left_out) for contrast in whole[0].contrasts):
        yield left_out_table(whole[0])


def _of(agent: str, pool: Pool, found: DesignResult) -> tuple[Comparison, ...]:
    """The comparisons of one agent by itself; none where it has no two arms on a task."""
    mine = pool.where(lambda row: row.value("agent") == agent)
    arms = _present(mine, found)
    if len(arms) < 2 or found.base not in arms:
        return ()
    try:
        return comparisons(mine, found.design.dimension, found.base, arms=arms)
    except CuecardError:
        return ()


def _present(pool: Pool, found: DesignResult) -> tuple[str, ...]:
    values = set(pool.values(found.design.dimension))
    return tuple(arm for arm in found.arms if arm in values)


def _laid(
    table: ScoreTable, columns: Sequence[Column], found: DesignResult, family: Family, *, title: str
) -> Table:
    return Table.of(
        beside(title, _(FAMILY_WORDS[family]) if found.design.family is None else ""),
        (
            " · ".join(dimension_word(each) for each in table.by),
            _("trials"),
            *(column.label for column in columns),
        ),
        [
            (
                _word(table, line.group),
                cell(line.counts.judged, trials=line.trials),
                *(figure_cell(table, line, column, percent=True) for column in columns),
            )
            for line in table.lines
        ],
        (*table.notes, _("Shares in percent.")),
    )


def _word(table: ScoreTable, group: Sequence[tuple[Dimension, str]]) -> str:
    return " · ".join(value_word(of, value, table.names) for of, value in group)


def _samples(table: ScoreTable) -> int:
    return max((line.counts.samples for line in table.lines), default=0)
