"""The state of the Compare screen: the comparisons on offer, the chosen arms and measure, and the results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.results.comparison_tables import (
    alone_text,
    arm_word,
    difference_table,
    left_out_table,
    spending_table,
    worst_table,
)
from cuecard.annotate.results.comparisons import COMPARABLE, Comparison, compare
from cuecard.annotate.results.corrected import (
    corrected_board,
    corrected_difference_table,
    corrected_differences,
)
from cuecard.annotate.results.designs import DesignResult, design_tables, designs_in
from cuecard.annotate.results.leaderboard import leaderboard, leaderboard_table, pairs_table
from cuecard.annotate.results.pool import Dimension, Pool
from cuecard.annotate.results.pool import Row as PoolRow
from cuecard.annotate.results.words import dimension_word, names_of, place_of, value_word
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, beside, headed, listed
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistic_label, statistics_of
from cuecard.core.scoring.measures import HEADLINES, measure_label
from cuecard.core.tables.table import Row, Table
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.text import one_line
from cuecard.tui.present.keyboard import after, error_text
from cuecard.tui.present.tables import Tab, TablesView
from cuecard.tui.present.trial_summary import trials_at

if TYPE_CHECKING:
    from cuecard.annotate.labelling.corrections import Corrections
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Choice:
    """What is compared. `offer`: its id; `arms`: empty for all; `base`: None for the default one; `measure` None: the
    family's first headline; `taken` None: its default way of combining samples.
    """

    offer: str
    dimension: Dimension
    family: Family
    arms: tuple[str, ...] = ()
    base: str | None = None
    measure: str | None = None
    taken: Taken | None = None

    @property
    def by(self) -> str:
        return self.measure or HEADLINES[self.family][0]

    @property
    def statistic(self) -> Taken:
        return self.taken or statistics_of(self.by)[0]


@dataclass(frozen=True)
class Offer:
    """A possible comparison: a design of the papers (`found`), or the values of a dimension. `pool`: its trials;
    `families`: those with two arms; `choice`: the initial one.
    """

    id: str
    title: str
    arms: str
    choice: Choice
    families: tuple[Family, ...]
    pool: Pool
    found: DesignResult | None = None

    @property
    def text(self) -> str:
        return headed(self.title, self.arms)


def offers(pool: Pool, judges: Pool) -> tuple[Offer, ...]:
    """Ready-made comparisons first, then every dimension of which a family has two values on one revision of a
    task. `judges`: the same trials by every judge.
    """
    return (*_designs(pool, judges), *_dimensions(pool, judges))


def _designs(pool: Pool, judges: Pool) -> Iterator[Offer]:
    known = [one for one in designs_in(pool) if one.design.dimension != "judge"]
    known += [one for one in designs_in(judges) if one.design.dimension == "judge"]
    for one in known:
        design, names = one.design, names_of(one.pool)
        id = f"design-{design.name}"
        yield Offer(
            id=id,
            title=_(design.title),
            arms=listed(value_word(design.dimension, arm, names) for arm in one.arms),
            choice=Choice(id, design.dimension, one.families[0], one.arms, one.base),
            families=one.families,
            pool=one.pool,
            found=one,
        )


def _dimensions(pool: Pool, judges: Pool) -> Iterator[Offer]:
    for dimension in COMPARABLE:
        source = judges if dimension == "judge" else pool
        families = comparable_families(source, dimension)
        if families:
            names, values = names_of(source), values_of(source, dimension, families[0])
            yield Offer(
                id=dimension,
                title=dimension_word(dimension),
                arms=listed(value_word(dimension, value, names) for value in values),
                choice=Choice(dimension, dimension, families[0]),
                families=families,
                pool=source,
            )


def comparable_families(pool: Pool, dimension: Dimension) -> tuple[Family, ...]:
    """Families with a revision of a task of which judged trials have two values of the dimension or more."""
    values: dict[tuple[Family, str, int], set[str]] = {}
    for row in pool.rows:
        value = row.value(dimension)
        if row.figures is not None and value:
            key = (row.family, row.trial.task_id, row.trial.revision)
            values.setdefault(key, set()).add(value)
    several = {family for (family, _task, _rev), found in values.items() if len(found) > 1}
    return tuple(family for family in FAMILIES if family in several)


def values_of(pool: Pool, dimension: Dimension, family: Family) -> tuple[str, ...]:
    """The values of the family's judged trials, in the order in which they are told."""
    # Asked for by every key at every move of the cursor.
    found = pool.once(
        ("values of judged", dimension, family),
        lambda: {
            row.value(dimension) for row in pool.of_family(family).rows if row.figures is not None
        },
    )
    if dimension == "run":
        return tuple(value for value in pool.values("run") if value in found)
    return tuple(sorted(found - {""}, key=lambda value: place_of(dimension, value)))


def first_choice(offered: Sequence[Offer], runs: int) -> Choice | None:
    """Agents of one run; of several runs a ready-made comparison, else the runs themselves, else whatever there is."""
    by_id = {offer.id: offer.choice for offer in offered}
    if runs > 1:
        designs = [offer.choice for offer in offered if offer.found]
        wanted = [*designs[:1], *(by_id[name] for name in ("run", "agent") if name in by_id)]
    else:
        wanted = [by_id["agent"]] if "agent" in by_id else []
    every = [*wanted, *by_id.values()]
    return every[0] if every else None


def measure_options(pool: Pool, family: Family) -> tuple[tuple[str, Taken], ...]:
    """What the family's trials can be compared by, headlines first."""
    part = pool.of_family(family)
    names = [n for n in part.measures if any(row.measure(n) is not None for row in part.rows)]
    heads = [name for name in HEADLINES[family] if name in names]
    ordered = [*heads, *(name for name in names if name not in heads), "cost", "tokens"]
    return tuple((name, taken) for name in ordered for taken in statistics_of(name))


def measure_word(measure: str, taken: Taken, samples: int) -> str:
    """`Triplet F1`, `Triplet F1 (Best@3)`: the average is not named."""
    word = measure_label(measure)
    return beside(word, statistic_label(taken, samples) if taken.of_several else "")


def samples_in(pool: Pool, family: Family) -> int:
    """The most samples of a task."""
    rows = pool.of_family(family).rows
    return pool.once(
        ("samples", family), lambda: max((row.trial.sample + 1 for row in rows), default=1)
    )


def judges_of(workspace: Workspace, runs: Sequence[int]) -> tuple[str, ...]:
    """The names of the judges that judged a trial of these runs."""
    heads = (head for run in runs for head in workspace.verdicts.heads(run))
    return tuple(dict.fromkeys(head.judge.name for head in heads))


Section = Literal["differences", "ranks", "tasks", "spending", "left", "paper"]
SECTIONS: dict[Section, Tab] = {
    "differences": Tab("compare.differences", "d", N_("Differences"), N_("Means, and paired differences with intervals")),
    "ranks": Tab("compare.ranks", "r", N_("Ranks"), N_("Which arms the tasks tell apart, and how often each comes first")),
    "tasks": Tab("compare.tasks", "t", N_("Tasks"), N_("Every task, those that differ most first")),
    "spending": Tab("compare.spending", "s", N_("Cost"), N_("Cost and tokens, and the cost of a point")),
    "left": Tab("compare.left", "l", N_("Left out"), N_("What the comparison does not stand on")),
    "paper": Tab("compare.paper", "p", N_("Paper"), N_("The table of the papers, of a ready-made comparison")),
}  # fmt: skip

MOST_TASKS = 2_000
_SAMPLES = 20
"""Samples of a task that are held against each other at most."""
_COLON = re.compile("[:：]")


@dataclass(frozen=True)
class ComparisonOutcome:
    """What was found for a choice; `missing`: why nothing was."""

    comparisons: tuple[Comparison, ...] = ()
    tables: Mapping[Section, tuple[Table, ...]] = field(
        default_factory=dict["Section", "tuple[Table, ...]"]
    )
    missing: str = ""

    @property
    def main(self) -> Comparison | None:
        return self.comparisons[0] if self.comparisons else None


def count(
    offer: Offer, choice: Choice, corrections: Corrections | None = None, exams: Sequence[str] = ()
) -> ComparisonOutcome:
    """The comparison by the chosen measure and by the family's other headlines, as tables; what people's labels make
    of it, too, if there are any. `exams`: what those of its judges told. Slow: not for the screen's thread.
    """
    heads = [choice.by, *(name for name in HEADLINES[choice.family] if name != choice.by)]
    found: list[Comparison] = []
    missing = ""
    for measure in heads:
        try:
            found.append(
                compare(
                    offer.pool,
                    choice.dimension,
                    choice.base,
                    family=choice.family,
                    measure=measure,
                    taken=choice.taken if measure == choice.by else None,
                    arms=choice.arms or None,
                )
            )
        except CuecardError as error:
            if measure == choice.by:
                missing = error_text(error)
    if missing:
        return ComparisonOutcome(missing=missing)
    sections = _sections(offer, found, corrections)
    for section in ("differences", "ranks"):
        sections[section] = tuple(table.noted(exams) for table in sections[section])
    return ComparisonOutcome(tuple(found), sections)


def _sections(
    offer: Offer, found: Sequence[Comparison], corrections: Corrections | None
) -> dict[Section, tuple[Table, ...]]:
    told = corrected_differences(found, offer.pool, corrections) if corrections else ()
    corrected = corrected_difference_table(found, told)
    paper = design_tables(offer.found.pool, offer.found) if offer.found else ()
    titles = _titles(offer)
    main = found[0]
    board = leaderboard(
        offer.pool,
        main.family,
        main.dimension,
        main.measure,
        main.taken,
        arms=[arm.name for arm in main.arms],
    )
    by_labels = corrected_board(board, offer.pool, corrections) if corrections else None
    boards = [leaderboard_table(board), *([leaderboard_table(by_labels)] if by_labels else ())]
    return {
        "differences": (
            _shorter(difference_table(found), found),
            *((corrected,) if corrected else ()),
        ),
        "ranks": (*boards, *((pairs_table(board),) if board.ranks.pairs else ())),
        "tasks": tuple(
            worst_table(found[0], one, MOST_TASKS, titles)
            for one in found[0].contrasts
            if one.tasks
        ),
        "spending": (spending_table(found),),
        "left": (left_out_table(found[0]),),
        "paper": paper,
    }


def _titles(offer: Offer) -> dict[str, str]:
    pool = offer.pool
    return pool.once(("titles",), lambda: {r.trial.task_id: r.trial.title for r in pool.rows})


def _shorter(table: Table, found: Sequence[Comparison]) -> Table:
    """Lines without the base, which the screen names in its title."""
    contrasts = [(one, contrast) for one in found for contrast in one.contrasts]
    lines: list[Row] = []
    for line, (one, contrast) in zip(table.lines, contrasts, strict=True):
        parts = [measure_label(one.measure)]
        if len(one.contrasts) > 1:
            # The notes say which arms are baselines; a kind that all are of tells nothing.
            kinds = {arm.name.rpartition(":")[0] for arm in one.arms}
            alike = len(kinds) == 1 and "" not in kinds
            own = one_line(contrast.arm.rpartition(":")[2])
            parts.append(own if alike else arm_word(one, contrast.arm))
        text = " · ".join(parts) + alone_text(one, contrast)
        lines.append((replace(line[0], text=text), *line[1:]))
    return replace(table, lines=tuple(lines))


@dataclass
class CompareView(TablesView[Section]):
    """What is offered, which of it is compared, and what was counted for that."""

    offered: tuple[Offer, ...]
    choice: Choice | None
    counted: ComparisonOutcome = field(default_factory=ComparisonOutcome)
    section: Section = "differences"
    plotted: bool = False
    known: dict[Choice, ComparisonOutcome] = field(
        default_factory=dict["Choice", "ComparisonOutcome"]
    )
    _at: dict[Section, int] = field(default_factory=dict["Section", int])

    @property
    def anything(self) -> bool:
        return self.choice is not None

    @property
    def offer(self) -> Offer:
        """What the choice is of; only where there is one."""
        return next(o for o in self.offered if self.choice and o.id == self.choice.offer)

    @property
    def named(self) -> Mapping[Section, Tab]:
        papers = self.choice is not None and self.offer.found is not None
        return {s: name for s, name in SECTIONS.items() if s != "paper" or papers}

    def of(self, section: Section) -> Sequence[Table]:
        return self.counted.tables.get(section, ())

    @property
    def drawn(self) -> Table | None:
        """Of means and differences only the differences belong on one axis; costs and tokens on none."""
        table, main = self.table, self.counted.main
        if self.section == "spending":
            return None
        if table is None or main is None or self.section != "differences":
            return table
        wanted = main.contrasts[0].difference
        at = next(at for at, cell in enumerate(table.lines[0]) if cell.statistic == wanted)
        lines = tuple((line[0], line[at]) for line in table.lines)
        return replace(table, headings=(table.headings[0], table.headings[at]), lines=lines)

    @property
    def first_column(self) -> int:
        """Of tasks the name, behind which are the trials of both arms."""
        return 0 if self.section == "tasks" else super().first_column

    def why_empty(self) -> str:
        if self.choice not in self.known:
            return _("it is being counted.")
        return self.counted.missing or _("it takes two arms with judged trials on the same tasks.")

    def opens(self, row: int, column: int) -> bool:
        return bool(self.trials(row, column))

    def trials(self, row: int, column: int) -> tuple[int, ...]:
        """Ids of the trials behind the cell, or else behind its line."""
        return trials_at(self, row, column)

    def beside(self, row: int, most: int) -> Table | None:
        """Of the contrast under the cursor, the tasks that differ most."""
        contrasts = [(one, each) for one in self.counted.comparisons for each in one.contrasts]
        if self.section != "differences" or row >= len(contrasts):
            return None
        found, contrast = contrasts[row]
        return worst_table(found, contrast, most, _titles(self.offer)) if contrast.tasks else None

    def pair(self, row: int, column: int) -> tuple[int, int] | None:
        """Of the trials behind the cell or its line, one of the base and one of another arm on the same task that
        differ most, of the same sample if there are such; twice the same trial for two judges. None where there are
        no two.
        """
        choice, wanted = self.choice, set(self.trials(row, column))
        rows = [each for each in self.offer.pool.rows if each.trial.id in wanted] if choice else []
        if choice is None or not rows:
            return None
        if choice.dimension == "judge":
            return rows[0].trial.id, rows[0].trial.id
        base = choice.base or self.arms[0][0]
        bases: dict[str, list[PoolRow]] = {}
        for each in rows:
            if each.value(choice.dimension) == base:
                bases.setdefault(each.trial.task_id, []).append(each)
        best: tuple[tuple[bool, float], tuple[int, int]] | None = None
        for other in (each for each in rows if each.value(choice.dimension) != base):
            for one in bases.get(other.trial.task_id, ())[:_SAMPLES]:
                apart = abs((one.measure(choice.by) or 0.0) - (other.measure(choice.by) or 0.0))
                found = (
                    (one.trial.sample == other.trial.sample, apart),
                    (one.trial.id, other.trial.id),
                )
                best = found if best is None or found[0] > best[0] else best
        return best[1] if best else None

    def take(self, choice: Choice) -> None:
        """Make another choice. Results of an earlier identical choice are still there."""
        self.choice = choice
        self.counted = self.known.get(choice, ComparisonOutcome())
        if self.section not in self.named:
            self.section = "differences"

    def keep(self, choice: Choice, counted: ComparisonOutcome) -> None:
        self.known[choice] = counted
        if choice == self.choice:
            self.counted = counted

    def keep_place_of(self, before: CompareView) -> None:
        super().keep_place_of(before)
        if before.choice and before.choice.offer in {offer.id for offer in self.offered}:
            self.choice = before.choice

    @property
    def next_family(self) -> Choice | None:
        """The same comparison of the next family, if there is another."""
        families = self.offer.families if self.choice else ()
        if self.choice is None or len(families) < 2:
            return None
        family = after(self.choice.family, families)
        return replace(self.choice, family=family, measure=None, taken=None)

    @property
    def arms(self) -> tuple[tuple[str, str], ...]:
        """The arms by value and word, each of which may be the base."""
        if self.choice is None:
            return ()
        pool, dimension = self.offer.pool, self.choice.dimension
        names = names_of(pool)
        values = self.choice.arms or values_of(pool, dimension, self.choice.family)
        return tuple((value, value_word(dimension, value, names)) for value in values)

    @property
    def base_word(self) -> str:
        found = self.counted.main
        base = found.base if found else self.choice.base if self.choice else None
        return next((word for value, word in self.arms if value == base), base or "")

    @property
    def compared(self) -> str:
        """`Agent · graph · Triplet F1 · against beta`."""
        choice = self.choice
        if choice is None:
            return ""
        samples = samples_in(self.offer.pool, choice.family)
        parts = [
            one_line(_COLON.split(self.offer.title)[0], 40),
            value_word("family", choice.family),
            measure_word(choice.by, choice.statistic, samples),
        ]
        if base := one_line(self.base_word, 30):
            others = [one_line(word, 30) for _value, word in self.arms if word != self.base_word]
            if len(others) == 1:
                # Of two arms the tables need not name the other one.
                parts.append(_("{arm} against {base}").format(arm=others[0], base=base))
            else:
                parts.append(_("against {arm}").format(arm=base))
        return " · ".join(parts)
