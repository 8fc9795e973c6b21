"""Which tools agents call, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.annotate.labelling.comparison.sheets import Sheet
from cuecard.core.i18n import _
from cuecard.core.tasks import Family
from cuecard.core.text import one_line
from cuecard.results.errors.groups import BY, By, Group, by_family, groups_of, notes_of
from cuecard.results.errors.laying import across, level, number, title
from cuecard.results.errors.rates import Rate, counted, plan
from cuecard.results.pool import Pool

MOST = 20
_ALL = ""


def tool_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """Calls per judged trial by tool for each family, refused calls included, with intervals by task."""
    return tuple(_sheets(pool, by))


def calls_of(group: Group, tools: Sequence[str]) -> dict[str, Rate]:
    """Calls per trial of each tool, and of all under ""."""
    judged = group.judged
    plans = {
        tool: plan(
            "calls",
            ((row, float(figures.tools.get(tool, 0)), 1.0) for row, figures in judged),
            share=False,
            hits=True,
        )
        for tool in tools
    }
    plans[_ALL] = plan(
        "calls", ((row, float(sum(f.tools.values())), 1.0) for row, f in judged), share=False
    )
    return counted(plans)


def _sheets(pool: Pool, by: By) -> Iterator[Sheet]:
    groups = groups_of(pool, by)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        totals: dict[str, int] = {}
        for figures in (figures for group in mine for _row, figures in group.judged):
            for tool, n in figures.tools.items():
                totals[tool] = totals.get(tool, 0) + n
        tools = sorted(totals, key=lambda tool: (-totals[tool], tool))
        if tools:
            yield _sheet(family, mine, tools, notes.get(family, ()))


def _sheet(
    family: Family, groups: Sequence[Group], tools: Sequence[str], notes: tuple[str, ...]
) -> Sheet:
    arms = [(group.name, (group, calls_of(group, tools[:MOST]))) for group in groups]
    more = (
        (_("The first {n} of {all}.").format(n=MOST, all=len(tools)),) if len(tools) > MOST else ()
    )
    return across(
        title(family, _("calls by tool")),
        _("Tool"),
        arms,
        [
            (_("trials"), lambda arm: number(len(arm[0].judged), arm[0].trials)),
            *((one_line(t), lambda arm, t=t: level(arm[1][t], 1)) for t in tools[:MOST]),
            *(((_("all tools"), lambda arm: level(arm[1][_ALL], 1)),) if len(tools) > 1 else ()),
        ],
        (_("Calls per trial, intervals 95%, by task."), *more, *notes),
    )
