"""Trials whose conversation was cut for the agent's model, beside those in which it was not."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.annotate.agreement import Statistic, difference, with_intervals
from cuecard.annotate.effect.ranking import MAIN
from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.scoring.labels import measure_label
from cuecard.core.tasks import Family
from cuecard.results.cells import ResultCell, in_percent
from cuecard.results.errors.groups import BY, By, Group, by_family, groups_of, notes_of
from cuecard.results.errors.laying import arm_heading, level, number, share, share_of, text, title
from cuecard.results.errors.rates import Rate, coefficients_of, counted, flagged, plan
from cuecard.results.pool import Pool


def compaction_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """A table for each family in which any trial was compacted: how often, and the family's main measure with and
    without, over trials, with the difference and intervals by task.
    """
    return tuple(_sheets(pool, by))


def with_and_without(group: Group) -> tuple[Rate, Rate, Statistic]:
    """The mean of the main measure over trials with a compaction and over those without, and the first minus the
    second; the difference's `n` is that of the smaller side.
    """
    name = MAIN[group.family]
    plans = {
        cut: plan(
            name,
            (
                (row, value, 1.0)
                for row, figures in group.judged
                if (value := figures.value(name)) is not None
                and bool(figures.value("compactions")) is cut
            ),
            empty=_("no such trial"),
        )
        for cut in (True, False)
    }
    rates = counted(plans)
    apart = difference(*coefficients_of(list(plans.values())))
    (statistic,) = with_intervals([apart])
    return rates[True], rates[False], statistic


def _sheets(pool: Pool, by: By) -> Iterator[Sheet]:
    groups = groups_of(pool, by)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        if any(figures.value("compactions") for group in mine for _r, figures in group.judged):
            yield _sheet(family, mine, notes.get(family, ()))


def _sheet(family: Family, groups: tuple[Group, ...], notes: tuple[str, ...]) -> Sheet:
    lines: list[Line] = []
    for group in groups:
        judged = [(row, figures.value("compactions") or 0.0) for row, figures in group.judged]
        often = counted(
            {
                "share": flagged("compacted", ((row, n > 0) for row, n in judged)),
                "mean": plan("compactions", ((row, n, 1.0) for row, n in judged), share=False),
            }
        )
        with_one, without, apart = with_and_without(group)
        lines.append(
            (
                text(group.name),
                number(len(judged), group.trials),
                share(often["share"]),
                level(often["mean"]),
                share_of(with_one),
                share_of(without),
                ResultCell(in_percent(apart), statistic=apart),
            )
        )
    measure = measure_label(MAIN[family])
    return Sheet(
        view="results",
        title=title(family, _("compactions")),
        headings=(
            arm_heading(groups[0].by),
            _("Trials"),
            _("Compacted"),
            _("Compactions"),
            _("{measure} with").format(measure=measure),
            _("{measure} without").format(measure=measure),
            _("Difference"),
        ),
        lines=tuple(lines),
        notes=(
            _(
                "Percent of trials and their number, intervals 95%, by task; compactions are means over trials."
            ),
            _("Long trials are compacted more: a difference is not the effect of the compaction."),
            *notes,
        ),
    )
