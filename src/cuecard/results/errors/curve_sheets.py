"""How facts are found call by call, a table for each arm."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.scoring.curves import FEWEST, LEAST
from cuecard.results.errors.groups import BY, By
from cuecard.results.errors.laying import level, number, share, text
from cuecard.results.errors.report import error_report
from cuecard.results.errors.searching import CohortAt, CurveAt
from cuecard.results.pool import Pool

FIRST = 10
EVERY = 5


def curve_sheets(pool: Pool, by: By = BY, *, k_trunc: int | None = None) -> tuple[Sheet, ...]:
    """New facts, coverage and hit precision at the k-th tool call, for each arm over a fixed cohort and over all trials:
    all of the first `FIRST` calls, then every fifth and the last. `k_trunc`: the last call of the cohort. Nothing
    without fact tasks.
    """
    report = error_report(pool, by, families=("facts",), k_trunc=k_trunc)
    below = (
        _("Coverage and precision in percent; intervals 95%, by task."),
        *report.notes.get("facts", ()),
    )
    sheets: list[Sheet] = []
    for arm in report.arms:
        if arm.facts is None or not arm.facts.points:
            continue
        cohort = arm.facts.cohort
        sheets += [
            _sheet(
                arm.name, cohort_words(cohort.trials), cohort.points, (cohort_note(cohort), *below)
            ),
            _sheet(arm.name, all_words(), arm.facts.points, (*_of_all(), *below)),
        ]
    return tuple(sheets)


def cohort_words(*trials: int) -> str:
    """What the paper's curves are called, with the trials of each arm that they are of."""
    return _("fixed cohort (paper), n = {n}").format(n=", ".join(f"{n:,}" for n in trials))


def all_words() -> str:
    return _("all trials (ours)")


def cohort_note(cohort: CohortAt) -> str:
    """Which trials they are, and why these."""
    told = _("The trials with at least {k} calls, the same at every call.").format(k=cohort.k_trunc)
    match cohort.rule:
        case "asked":
            return told if cohort.trials else _("No trial made {k} calls.").format(k=cohort.k_trunc)
        case "least":
            why = _("It is the largest number that {n} trials reach.").format(n=LEAST)
        case "share":
            why = _(
                "Fewer than {n} trials made a call: it is the largest number that {percent}% of them reach."
            ).format(n=LEAST, percent=FEWEST)
    return f"{told} {why}" if cohort.trials else why


def _of_all() -> tuple[str, ...]:
    return (
        _("Cohort: trials with at least k calls; new facts and hit precision are means over them."),
        _("Fact coverage is the mean over all trials: one that stopped keeps what it had."),
    )


def _sheet(arm: str, words: str, points: Sequence[CurveAt], notes: tuple[str, ...]) -> Sheet:
    return Sheet(
        view="results",
        title=_("Fact tasks: {arm}, call by call, {which}").format(arm=arm, which=words),
        headings=(
            _("Call"),
            _("Cohort"),
            _("New facts"),
            _("Fact coverage"),
            _("Hit precision"),
        ),
        lines=tuple(map(_line, chosen(points))),
        notes=notes,
    )


def chosen(points: Sequence[CurveAt]) -> tuple[CurveAt, ...]:
    """Those that a table tells."""
    return tuple(
        point for point in points if point.k <= FIRST or point.k % EVERY == 0 or point is points[-1]
    )


def _line(point: CurveAt) -> Line:
    return (
        text(str(point.k)),
        number(point.cohort, point.new_facts.trials),
        level(point.new_facts),
        share(point.fcr),
        share(point.hit_precision),
    )
