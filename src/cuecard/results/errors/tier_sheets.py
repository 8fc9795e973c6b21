"""Fact tasks by the size of their worlds (Mind-ParaWorld): easy 1 to 5 facts, medium 6 to 10, hard 11 and more."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.scoring.labels import measure_label
from cuecard.results.errors.groups import BY, By, Group, groups_of, notes_of
from cuecard.results.errors.interaction_sheets import mean_cell, means_of
from cuecard.results.errors.laying import arm_heading, number, text, title
from cuecard.results.pool import Pool
from cuecard.results.words import dimension_word

MEASURES = ("pass_at_1", "fcr", "hit_rate", "tool_calls", "premature_stop")


def tier_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """A line for each arm and tier, and for all tiers of an arm where it has several. Means over tasks of the mean over
    samples; FORMATS, paraworld, counts zeros of trials that called no tool. Nothing without fact tasks.
    """
    whole = {group.values: group for group in groups_of(pool, by, ("facts",)) if group.judged}
    if not whole:
        return ()
    arms = next(iter(whole.values())).by
    tiers = groups_of(pool, (*arms, "tier"), ("facts",))
    lines: list[Line] = []
    for values, group in whole.items():
        mine = [tier for tier in tiers if tier.values[:-1] == values and tier.judged]
        lines += [_line(tier) for tier in mine]
        lines += [_line(group, _("{arm} · all").format(arm=group.name))] if len(mine) > 1 else []
    notes = notes_of(pool, tuple(whole.values())).get("facts", ())
    return (
        Sheet(
            view="results",
            title=title("facts", _("by tier")),
            headings=(
                f"{arm_heading(arms)} · {dimension_word('tier')}",
                _("Trials"),
                _("Tasks"),
                *map(measure_label, MEASURES),
            ),
            lines=tuple(lines),
            notes=(
                _("Easy: 1 to 5 facts, medium: 6 to 10, hard: 11 and more."),
                _("Means over tasks, intervals 95%, by task; shares in percent."),
                *notes,
            ),
        ),
    )


def _line(group: Group, name: str = "") -> Line:
    found: Mapping[str, Statistic] = means_of(group, MEASURES)
    return (
        text(name or group.name),
        number(len(group.judged), group.trials),
        number(group.tasks),
        *(mean_cell(group, measure, found.get(measure)) for measure in MEASURES),
    )
