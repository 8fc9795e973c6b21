"""What the Compare screen shows: which arms of which dimension, of which family, by which measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.labels import HEADLINES, measure_label, statistic_label
from cuecard.core.tasks import FAMILIES, Family
from cuecard.core.text import one_line
from cuecard.results.comparing import COMPARABLE, Comparison, compare
from cuecard.results.comparison_sheets import (
    arm_word,
    difference_sheet,
    left_out_sheet,
    spending_sheet,
    worst_sheets,
)
from cuecard.results.designs import DesignName, Found, design_sheets, designs_in
from cuecard.results.pool import Dimension, Pool
from cuecard.results.taking import takings
from cuecard.results.words import dimension_word, names_of, place_of, value_word
from cuecard.tui.state.sheet_view import SheetView
from cuecard.tui.state.trial_list import trials_at

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Section = Literal["differences", "tasks", "spending", "left", "paper"]
SECTIONS: dict[Section, tuple[str, str]] = {
    "differences": ("d", N_("Differences")),
    "tasks": ("t", N_("Tasks")),
    "spending": ("s", N_("Cost")),
    "left": ("l", N_("Left out")),
    "paper": ("p", N_("Paper")),
}

MOST_TASKS = 2_000


@dataclass(frozen=True)
class Choice:
    """`arms`: those compared, all without any; `base`: what they are held against, the first if None. `measure`
    None: the family's first headline. `design`: the ready-made comparison that it is.
    """

    dimension: Dimension
    family: Family
    arms: tuple[str, ...] = ()
    base: str | None = None
    measure: str | None = None
    taken: Taken = Taken.AVG
    design: DesignName | None = None

    @property
    def by(self) -> str:
        return self.measure or HEADLINES[self.family][0]


@dataclass(frozen=True)
class Offer:
    """Something to compare: a ready-made comparison, or the values of a dimension."""

    id: str
    text: str
    choice: Choice


def offers(pool: Pool, judges: Pool) -> tuple[Offer, ...]:
    """What these trials can be compared by: ready-made comparisons first, then every dimension of which a family has
    two values on one task. `judges`: the same trials by every judge.
    """
    names = names_of(pool)
    found: list[Offer] = []
    for one in _designs(pool, judges):
        design = one.design
        arms = ", ".join(value_word(design.dimension, arm, names) for arm in one.arms)
        choice = Choice(
            dimension=design.dimension,
            family=one.families[0],
            arms=one.arms,
            base=one.base,
            design=design.name,
        )
        found.append(Offer(f"design-{design.name}", f"{_(design.title)}: {arms}", choice))
    for dimension in COMPARABLE:
        source = judges if dimension == "judge" else pool
        families = comparable_families(source, dimension)
        if families:
            values = _values(source, dimension, families[0])
            arms = ", ".join(value_word(dimension, value, names) for value in values)
            choice = Choice(dimension=dimension, family=families[0])
            found.append(Offer(dimension, f"{dimension_word(dimension)}: {arms}", choice))
    return tuple(found)


def _designs(pool: Pool, judges: Pool) -> list[Found]:
    found = [one for one in designs_in(pool) if one.design.dimension != "judge"]
    return [*found, *(one for one in designs_in(judges) if one.design.dimension == "judge")]


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


def first_choice(offered: Sequence[Offer], runs: int) -> Choice | None:
    """Agents of one run; of several runs a ready-made comparison, else the runs themselves, else whatever there is."""
    by_id = {offer.id: offer.choice for offer in offered}
    if runs > 1:
        designs = [offer.choice for offer in offered if offer.choice.design]
        wanted = [*designs[:1], *(by_id[name] for name in ("run", "agent") if name in by_id)]
    else:
        wanted = [by_id["agent"]] if "agent" in by_id else []
    every = [*wanted, *by_id.values()]
    return every[0] if every else None


def measure_options(pool: Pool, family: Family) -> tuple[tuple[str, Taken], ...]:
    """What the family's trials can be compared by, headlines first."""
    rows = [row for row in pool.rows if row.family == family and row.figures is not None]
    names = dict.fromkeys(
        measure.name
        for row in rows
        for measure in (row.figures.measures if row.figures else ())
        if measure.value is not None
    )
    heads = [name for name in HEADLINES[family] if name in names]
    ordered = [*heads, *(name for name in names if name not in heads), "cost", "tokens"]
    return tuple((name, taken) for name in ordered for taken in takings(name))


def measure_word(measure: str, taken: Taken, samples: int) -> str:
    """`Triplet F1`, `Triplet F1 (Best@3)`: the average is not named."""
    word = measure_label(measure)
    return word if taken is Taken.AVG else f"{word} ({statistic_label(taken, samples)})"


def samples_in(pool: Pool, family: Family) -> int:
    """The most samples of a task."""
    numbers = [row.trial.sample + 1 for row in pool.rows if row.family == family]
    return max(numbers, default=1)


def judges_of(workspace: Workspace, runs: Sequence[int]) -> tuple[str, ...]:
    """The names of the judges that judged a trial of these runs."""
    heads = (head for run in runs for head in workspace.verdicts.heads(run))
    return tuple(dict.fromkeys(head.judge.name for head in heads))


@dataclass(frozen=True)
class Counted:
    """What was found for a choice; `missing`: why nothing was."""

    comparisons: tuple[Comparison, ...] = ()
    sheets: Mapping[Section, tuple[Sheet, ...]] = field(
        default_factory=dict["Section", "tuple[Sheet, ...]"]
    )
    missing: str = ""

    @property
    def main(self) -> Comparison | None:
        return self.comparisons[0] if self.comparisons else None


def count(pool: Pool, choice: Choice) -> Counted:
    """The comparison by the chosen measure and by the family's other headlines, as tables. Slow: not for the
    screen's thread.
    """
    heads = [choice.by, *(name for name in HEADLINES[choice.family] if name != choice.by)]
    found: list[Comparison] = []
    missing = ""
    design = next((one for one in designs_in(pool) if one.design.name == choice.design), None)
    rows = design.pool if design else pool
    for measure in heads:
        try:
            found.append(
                compare(
                    rows,
                    choice.dimension,
                    choice.base,
                    family=choice.family,
                    measure=measure,
                    taken=choice.taken if measure == choice.by else Taken.AVG,
                    arms=choice.arms or None,
                )
            )
        except CuecardError as error:
            if measure == choice.by:
                parts = (error.title, error.message, error.hint)
                missing = " ".join(_sentence(part) for part in parts if part)
    if missing:
        return Counted(missing=missing)
    return Counted(tuple(found), _sections(pool, design, found))


def _sections(
    pool: Pool, design: Found | None, found: Sequence[Comparison]
) -> dict[Section, tuple[Sheet, ...]]:
    paper = design_sheets(pool, design) if design else ()
    return {
        "differences": (_shorter(difference_sheet(found), found),),
        "tasks": worst_sheets(found[0], MOST_TASKS),
        "spending": (spending_sheet(found),),
        "left": (left_out_sheet(found[0]),),
        "paper": paper,
    }


def _shorter(sheet: Sheet, found: Sequence[Comparison]) -> Sheet:
    """Lines without the base, which the screen names in its title."""
    contrasts = [(one, contrast) for one in found for contrast in one.contrasts]
    lines: list[Line] = []
    for line, (one, contrast) in zip(sheet.lines, contrasts, strict=True):
        parts = [measure_label(one.measure)]
        parts += [arm_word(one, contrast.arm)] if len(one.contrasts) > 1 else []
        lines.append((replace(line[0], text=" · ".join(parts)), *line[1:]))
    return replace(sheet, lines=tuple(lines))


def _values(pool: Pool, dimension: Dimension, family: Family) -> tuple[str, ...]:
    """The values of the family's judged trials, in the order in which they are told."""
    found = {
        row.value(dimension)
        for row in pool.rows
        if row.family == family and row.figures is not None
    }
    if dimension == "run":
        return tuple(value for value in pool.values("run") if value in found)
    return tuple(sorted(found - {""}, key=lambda value: place_of(dimension, value)))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."


@dataclass
class CompareView(SheetView[Section]):
    """A pool, what is compared in it, and what was counted for that. `judges`: the same trials by every judge."""

    pool: Pool
    judges: Pool
    offered: tuple[Offer, ...]
    choice: Choice | None
    counted: Counted = field(default_factory=Counted)
    section: Section = "differences"
    plotted: bool = False
    known: dict[Choice, Counted] = field(default_factory=dict["Choice", "Counted"])
    _at: dict[Section, int] = field(default_factory=dict["Section", int])

    @property
    def anything(self) -> bool:
        return self.choice is not None

    @property
    def source(self) -> Pool:
        """The trials that the choice is about."""
        return self.judges if self.choice and self.choice.dimension == "judge" else self.pool

    @property
    def named(self) -> Mapping[Section, tuple[str, str]]:
        papers = bool(self.choice and self.choice.design)
        return {s: name for s, name in SECTIONS.items() if s != "paper" or papers}

    def of(self, section: Section) -> Sequence[Sheet]:
        return self.counted.sheets.get(section, ())

    @property
    def drawn(self) -> Sheet | None:
        """Of means and differences only the differences belong on one axis."""
        sheet, main = self.sheet, self.counted.main
        if sheet is None or main is None or self.section != "differences":
            return sheet
        wanted = main.contrasts[0].difference
        at = next(at for at, cell in enumerate(sheet.lines[0]) if cell.statistic == wanted)
        lines = tuple((line[0], line[at]) for line in sheet.lines)
        return replace(sheet, headings=(sheet.headings[0], sheet.headings[at]), lines=lines)

    @property
    def first_column(self) -> int:
        """Of tasks the name, behind which are the trials of both arms."""
        return 0 if self.section == "tasks" else super().first_column

    def why_empty(self) -> str:
        return self.counted.missing or _("it takes two arms with judged trials on the same tasks.")

    def opens(self, row: int, column: int) -> bool:
        return bool(self.trials(row, column))

    def trials(self, row: int, column: int) -> tuple[int, ...]:
        """Ids of the trials behind the cell, or else behind its line."""
        return trials_at(self, row, column)

    def take(self, choice: Choice) -> None:
        """Show another choice, of which nothing is counted yet unless it was looked at before."""
        self.choice = choice
        self.counted = self.known.get(choice, Counted())
        if self.section not in self.named:
            self.section = "differences"

    def keep(self, choice: Choice, counted: Counted) -> None:
        self.known[choice] = counted
        if choice == self.choice:
            self.counted = counted

    def keep_place_of(self, before: CompareView) -> None:
        """Show what another view of the same runs showed, if that is still there."""
        self.section, self._at = before.section, dict(before._at)
        known = {(o.choice.dimension, o.choice.design) for o in self.offered}
        if before.choice and (before.choice.dimension, before.choice.design) in known:
            self.choice = before.choice

    @property
    def families(self) -> tuple[Family, ...]:
        """Those that the choice can be about."""
        if self.choice is None:
            return ()
        found = comparable_families(self.source, self.choice.dimension)
        if self.choice.design is None:
            return found
        design = next(
            d for d in _designs(self.pool, self.judges) if d.design.name == self.choice.design
        )
        return tuple(family for family in found if family in design.families)

    @property
    def next_family(self) -> Choice | None:
        """The same comparison of the next family, if there is another."""
        families = self.families
        if self.choice is None or len(families) < 2:
            return None
        at = families.index(self.choice.family) if self.choice.family in families else -1
        family = families[(at + 1) % len(families)]
        return replace(self.choice, family=family, measure=None, taken=Taken.AVG)

    @property
    def arms(self) -> tuple[tuple[str, str], ...]:
        """The arms by value and word, each of which may be the base."""
        if self.choice is None:
            return ()
        names, dimension = names_of(self.source), self.choice.dimension
        values = self.choice.arms or _values(self.source, dimension, self.choice.family)
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
        design = next((o.text for o in self.offered if o.choice.design == choice.design), "")
        what = design.partition(":")[0] if choice.design else dimension_word(choice.dimension)
        samples = samples_in(self.source, choice.family)
        parts = [
            one_line(what, 40),
            value_word("family", choice.family),
            measure_word(choice.by, choice.taken, samples),
        ]
        if self.base_word:
            parts.append(_("against {arm}").format(arm=one_line(self.base_word, 30)))
        return " · ".join(parts)
