"""How facts are found call by call, a table for each arm."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.results.errors.groups import BY, By
from cuecard.results.errors.laying import level, number, share, text
from cuecard.results.errors.report import error_report
from cuecard.results.errors.searching import CurveAt
from cuecard.results.pool import Pool

FIRST = 10
EVERY = 5


def curve_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """New facts, coverage and hit precision at the k-th tool call: all of the first `FIRST`, then every fifth and
    the last. Nothing without fact tasks.
    """
    report = error_report(pool, by, families=("facts",))
    notes = (
        _("Cohort: trials with at least k calls; new facts and hit precision are means over them."),
        _("Fact coverage is the mean over all trials: one that stopped keeps what it had."),
        _("Coverage and precision in percent; intervals 95%, by task."),
    )
    return tuple(
        Sheet(
            view="results",
            title=_("Fact tasks: {arm}, call by call").format(arm=arm.name),
            headings=(
                _("Call"),
                _("Cohort"),
                _("New facts"),
                _("Fact coverage"),
                _("Hit precision"),
            ),
            lines=tuple(map(_line, chosen(arm.facts.points))),
            notes=(*notes, *report.notes.get("facts", ())),
        )
        for arm in report.arms
        if arm.facts and arm.facts.points
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
