"""Figures of a judge's exam: sensitivity, specificity and flip rates with intervals over tasks, and the faults they tell."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Final

from cuecard.annotate.agreement.intervals import FEWEST_GROUPS, with_intervals
from cuecard.core.exam.marking import Answered, Mark
from cuecard.core.exam.probes import PROBES, Probe
from cuecard.core.i18n import N_, _
from cuecard.core.tables.table import Coefficient, Statistic, ratio, share
from cuecard.core.verdicts import Decision

FEWEST_ITEMS: Final = 20
"""A probe with fewer target items is not examined."""
LEAST: Final = 0.05
"""No fault is told whose share may be smaller, by the lower end of its interval."""
FLOOR_RIGHT, FLOOR_WRONG, FLOOR_MOVED = "K01", "K20", "V01"
RESAMPLES: Final = 1000

MarkedAnswer = tuple[Answered, Mark]


@dataclass(frozen=True)
class ProbeFigures:
    """What a probe tells. `error`: the share of its items on which the judge is wrong, or (V) its verdict moved; `to_yes` and
    `to_no`: of those that moved, the share of all items; `beyond`: what moved less what moves on the same input (V01);
    `points`: the main measure by these verdicts less that by the expected ones, mean over inputs; `families`: items of each; `unusable`: items
    without a usable verdict, which are among the errors; `open`: inputs that were not asked.
    """

    probe: Probe
    error: Statistic
    n: int
    tasks: int
    unusable: int
    open: int
    to_yes: float | None = None
    to_no: float | None = None
    beyond: float | None = None
    points: float | None = None
    misses: tuple[MarkedAnswer, ...] = ()
    families: Counter[str] = field(default_factory=Counter[str])

    @property
    def examined(self) -> bool:
        return self.n >= FEWEST_ITEMS

    def share_in(self, families: Collection[str]) -> float | None:
        """The share of errors on items of these families; None without any."""
        whole = sum(self.families[name] for name in families)
        missed = sum(each.family in families for each, _mark in self.misses)
        return missed / whole if whole else None

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None where there is none or the probe is not examined."""
        return self.error.low if self.examined else None


@dataclass(frozen=True)
class Fault:
    """A fault that is told. `name`: stable, such as `ignores_direction`; `told`: what it is, marked for translation;
    `probes`: by which it is told, the first one first.
    """

    name: str
    told: str
    probes: tuple[str, ...]


@dataclass(frozen=True)
class ExamFigures:
    """An exam of one judge. `groups`: sensitivity and specificity of its parts, by `family/graph` or `language/zh`."""

    probes: dict[str, ProbeFigures]
    rules: dict[str, ProbeFigures]
    sensitivity: Statistic
    specificity: Statistic
    flip: Statistic
    unusable: int
    open: int
    groups: dict[str, tuple[Statistic, Statistic]] = field(
        default_factory=dict[str, "tuple[Statistic, Statistic]"]
    )

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Faults by the rule of docs/exam.md, named by their pattern."""
        return named(self)


def exam_figures(
    answers: Sequence[Answered], *, groups: bool = True, resamples: int = RESAMPLES
) -> ExamFigures:
    """The figures of an exam. Intervals are over tasks, which are resampled; with fewer than five there are none.

    `sensitivity` and `specificity` are means over probes of known answers, each probe counting alike, `flip` that over
    the probes that must not move but V01.
    """
    judged = [(each, mark) for each in answers for mark in each.marks]
    chosen = [(each, mark) for each, mark in judged if not mark.target.rule]
    by_probe: dict[str, list[MarkedAnswer]] = defaultdict(list)
    by_rule: dict[str, list[MarkedAnswer]] = defaultdict(list)
    for each, mark in judged:
        if each.probe is not None:
            (by_rule if mark.target.rule else by_probe)[each.probe.id].append((each, mark))
    waiting: dict[str, int] = defaultdict(int)
    for each in answers:
        if each.open and each.probe is not None:
            waiting[each.probe.id] += 1
    floor = _share_of(by_probe.get(FLOOR_MOVED, ()), lambda mark: mark.missed)
    probes = {
        id: _figures(PROBES[id], by_probe[id], waiting[id], floor, resamples)
        for id in PROBES
        if by_probe.get(id) or waiting.get(id)
    }
    rules = {
        id: _figures(PROBES[id], by_rule[id], 0, None, resamples)
        for id in PROBES
        if by_rule.get(id)
    }
    parts: dict[str, list[MarkedAnswer]] = defaultdict(list)
    for each, mark in chosen if groups else ():
        parts[f"family/{each.family}"].append((each, mark))
        parts[f"language/{each.language}"].append((each, mark))
    return ExamFigures(
        probes=probes,
        rules=rules,
        sensitivity=_over_probes("sensitivity", chosen, _asks_yes, right=True, resamples=resamples),
        specificity=_over_probes("specificity", chosen, _asks_no, right=True, resamples=resamples),
        flip=_over_probes("flip", chosen, _asks_same, right=False, resamples=resamples),
        unusable=sum(mark.unusable for _each, mark in chosen),
        open=sum(each.open for each in answers),
        groups={
            name: (
                _over_probes("sensitivity", part, _asks_yes, right=True, resamples=resamples),
                _over_probes("specificity", part, _asks_no, right=True, resamples=resamples),
            )
            for name, part in sorted(parts.items())
        },
    )


def _asks_yes(probe: Probe) -> bool:
    return probe.right is True


def _asks_no(probe: Probe) -> bool:
    return probe.right is False


def _asks_same(probe: Probe) -> bool:
    return probe.right is None and probe.id != FLOOR_MOVED


def _share_of(chosen: Sequence[MarkedAnswer], counts: Callable[[Mark], bool]) -> float | None:
    return sum(counts(mark) for _each, mark in chosen) / len(chosen) if chosen else None


def _figures(
    probe: Probe, chosen: Sequence[MarkedAnswer], waiting: int, floor: float | None, resamples: int
) -> ProbeFigures:
    coefficient = share("error", [mark.missed for _each, mark in chosen])
    groups = [each.task_id for each, _mark in chosen]
    error = _with_interval(coefficient, groups, resamples)
    moved = not probe.known
    inputs = {(each.task_id, each.given.key): each for each, mark in chosen if not mark.target.rule}
    points = [value for each in inputs.values() if (value := each.points) is not None]
    beyond = None
    if moved and probe.id != FLOOR_MOVED and floor is not None and error.value is not None:
        beyond = error.value - floor
    return ProbeFigures(
        probe=probe,
        error=error,
        n=len(chosen),
        tasks=len(set(groups)),
        unusable=sum(mark.unusable for _each, mark in chosen),
        open=waiting,
        to_yes=_share_of(chosen, _to_yes) if moved else None,
        to_no=_share_of(chosen, _to_no) if moved else None,
        beyond=beyond,
        points=sum(points) / len(points) if points else None,
        misses=tuple((each, mark) for each, mark in chosen if mark.missed),
        families=Counter(each.family for each, _mark in chosen),
    )


def _to_yes(mark: Mark) -> bool:
    return mark.expected is Decision.NO and mark.decision is Decision.YES


def _to_no(mark: Mark) -> bool:
    return mark.expected is Decision.YES and mark.decision is Decision.NO


def _with_interval(coefficient: Coefficient, groups: Sequence[str], resamples: int) -> Statistic:
    if len(set(groups)) < FEWEST_GROUPS:
        point = coefficient.statistic
        why = _("fewer than {n} tasks").format(n=FEWEST_GROUPS)
        return point if point.value is None else point.model_copy(update={"no_interval": why})
    return with_intervals([coefficient], groups, resamples=resamples)[0]


def _over_probes(
    name: str,
    chosen: Sequence[MarkedAnswer],
    counts: Callable[[Probe], bool],
    *,
    right: bool,
    resamples: int,
) -> Statistic:
    """The mean over probes of the share that is right, or is not; each probe counts alike, whatever its number of items."""
    import numpy as np

    kept = [
        (each.probe.id, each.task_id, mark)
        for each, mark in chosen
        if each.probe and counts(each.probe)
    ]
    order = {id: at for at, id in enumerate(sorted({id for id, _task, _mark in kept}))}
    terms = np.zeros((len(kept), 2 * len(order)))
    for row, (id, _task, mark) in enumerate(kept):
        terms[row, 2 * order[id]] = mark.missed != right
        terms[row, 2 * order[id] + 1] = 1

    def mean(
        sums: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        # A probe that no drawn task has says nothing there.
        shares = ratio(sums[..., 0::2], sums[..., 1::2])
        known = ~np.isnan(shares)
        return ratio(np.where(known, shares, 0).sum(axis=-1), known.sum(axis=-1).astype(float))

    coefficient = Coefficient(
        name, terms, mean, len(kept), _("no item of this kind"), share=True, bounds=(0.0, 1.0)
    )
    return _with_interval(coefficient, [task for _id, task, _mark in kept], resamples)


# Faults.

ALWAYS_YES, ALWAYS_NO, LENIENT, STRICT = "always_yes", "always_no", "lenient", "strict"
NAMES: Final[dict[str, str]] = {
    "K01": "refuses_gold",
    "K02": "alias_blind",
    "K03": "refuses_names",
    "K04": "refuses_numbers",
    "K05": "refuses_dates",
    "K06": "refuses_units",
    "K07": "refuses_pairs",
    "K08": "refuses_more",
    "K20": "accepts_missing",
    "K21": "accepts_siblings",
    "K22": "accepts_heads",
    "K23": "ignores_direction",
    "K24": "ignores_numbers",
    "K25": "ignores_units",
    "K26": "negation_blind",
    "K27": "yields_to_fillers",
    "K28": "accepts_hedges",
    "K29": "joins_other_keys",
    "K30": "column_order",
    "K31": "column_names",
    "K32": "ignores_heads",
    "V01": "not_deterministic",
    "V02": "gold_order",
    "V03": "handed_in_order",
    "V04": "batch",
    "V05": "distracted",
    "V06": "obeys_words",
    "V07": "language",
    "V08": "length",
    "V09": "position",
    "V10": "capitals",
    "V11": "sure_tone",
}
"""The stable name of the fault that each probe tells, for `--fail-if` and JSON."""
GENERAL: Final[dict[str, str]] = {
    ALWAYS_YES: N_("says yes to everything"),
    ALWAYS_NO: N_("says no to everything"),
    LENIENT: N_("accepts wrong items of every kind"),
    STRICT: N_("refuses right items of every kind"),
}
_EXTREME: Final = 0.2
_ONE_WAY: Final = 0.75
"""Flips of V09 are of a place in the list if so many of them go one way."""


def named(figures: ExamFigures) -> tuple[Fault, ...]:
    """The faults that an exam tells. A judge that says yes to everything, or no, is told that and nothing else."""
    for one, other, name in (
        (figures.specificity, figures.sensitivity, ALWAYS_YES),
        (figures.sensitivity, figures.specificity, ALWAYS_NO),
    ):
        high = 1.0 if one.high is None else one.high
        if high < _EXTREME and (other.value or 0.0) > 1 - _EXTREME:
            return (Fault(name, GENERAL[name], ()),)
    general = [
        Fault(name, GENERAL[name], ids)
        for right, name in ((False, LENIENT), (True, STRICT))
        if (ids := _of_every_kind(figures, right=right))
    ]
    told = [id for id, probe in figures.probes.items() if _is_told(figures, probe)]
    kept = [id for id in told if not _explained(figures, id, told)]
    found: list[Fault] = []
    for id in kept:
        if id == "K24" and "K25" in kept:
            found.append(Fault(NAMES[id], N_("ignores numbers and units"), ("K24", "K25")))
        elif id == "V08" and "V11" in kept:
            found.append(Fault(NAMES[id], N_("a longer text wins"), ("V08", "V11")))
        elif not (id == "V11" and "V08" in kept) and not (id == "K25" and "K24" in kept):
            found.append(Fault(NAMES[id], PROBES[id].fault, (id,)))
    return (*general, *found)


def _of_every_kind(figures: ExamFigures, *, right: bool) -> tuple[str, ...]:
    """The probes with this right verdict that have errors, if those are more than half of all examined, and three at least."""
    examined = [p for p in figures.probes.values() if p.probe.right is right and p.examined]
    high = [p.probe.id for p in examined if p.low is not None and p.low > LEAST]
    return tuple(high) if len(high) > max(len(examined) / 2, 2) else ()


def _is_told(figures: ExamFigures, probe: ProbeFigures) -> bool:
    """Whether the lower end of a probe's share of errors is above 5% and above what the judge errs anyway: the upper end of
    its share on gold itself (where yes is right), on what is missing (where no is right), or on the same input twice (V),
    and the middle share of all probes with the same right verdict, on the same families.
    """
    if probe.low is None or probe.low <= LEAST:
        return False
    right = probe.probe.right
    floor = FLOOR_MOVED if right is None else FLOOR_RIGHT if right else FLOOR_WRONG
    if probe.probe.id == floor:
        return True
    under = figures.probes.get(floor)
    if under is not None and under.error.high is not None and probe.low <= under.error.high:
        return False
    if right is None:
        return True
    near = (p for p in figures.probes.values() if p.probe.right is right and p.examined)
    shares = (each.share_in(probe.families) for each in near)
    return probe.low > median(share for share in shares if share is not None)


def _explained(figures: ExamFigures, id: str, told: Sequence[str]) -> bool:
    """Whether what a probe tells is what another told probe tells already."""
    own = figures.probes[id]
    if id in ("V02", "V03", "V04", "V09") and "V09" in told:
        # Whoever looks at the place errs one way when something is moved there; whoever looks at the order, both ways.
        place = figures.probes["V09"]
        ways = (place.to_yes or 0.0, place.to_no or 0.0)
        by_place = max(ways) >= _ONE_WAY * sum(ways) or "V02" not in told
        return id != "V09" if by_place else id in ("V04", "V09")
    if id == "V06":
        longer = [
            figures.probes[other].error.high or 1.0 for other in ("V08", "V11") if other in told
        ]
        return bool(longer) and own.low is not None and own.low <= max(longer)
    if id == "K21" and "K24" in told:
        return all(_has_number(mark.target.given) for _each, mark in own.misses)
    return False


def _has_number(text: str) -> bool:
    return any(char.isdigit() for char in text)


def not_examined(figures: ExamFigures) -> tuple[Probe, ...]:
    """The probes of which there are too few items for a figure."""
    return tuple(
        probe
        for id, probe in PROBES.items()
        if id not in figures.probes or not figures.probes[id].examined
    )
