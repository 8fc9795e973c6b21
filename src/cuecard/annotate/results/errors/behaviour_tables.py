"""Tables of agents' behaviour: interaction with users, tool calls, and compacted conversations."""

from collections.abc import Iterator, Mapping, Sequence

from cuecard.annotate.agreement.coefficients import difference as between
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.labelling.effect_figures import MAIN
from cuecard.annotate.results.errors.groups import (
    Group,
    arm_heading,
    by_family,
    groups_of,
    notes_of,
    title,
)
from cuecard.annotate.results.errors.rates import (
    Rate,
    across,
    coefficients_of,
    counted,
    flagged,
    level,
    number,
    plan,
    share,
    share_of,
)
from cuecard.annotate.results.pool import Pool
from cuecard.annotate.results.row_samples import samples_of, with_task_intervals
from cuecard.annotate.results.words import shown
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.measures import MEASURES, measure_label
from cuecard.core.tables.table import Cell, Shown, Statistic, Table, difference
from cuecard.core.tasks.models import Family
from cuecard.core.text import one_line

TURNS = (
    "agent_turns",
    "user_turns",
    "agent_messages",
    "message_ratio",
    "tool_calls",
    "compactions",
    "done",
)
DISCLOSURE = ("stages_disclosed", "stage_share", "dismissive", "redirects")
TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens", "cost")
Means = Mapping[str, Statistic]


def means_of(group: Group, measures: Sequence[str]) -> dict[str, Statistic]:
    """The mean over tasks of each measure that occurs."""
    found = with_task_intervals(samples_of(group.rows), measures)
    return {name: figure for (name, taken), (_t, figure) in found.items() if not taken.of_several}


def mean_cell(group: Group, name: str, statistic: Statistic | None) -> Cell:
    """The cell of a mean, with its key in `cuecard score --json` if the group is of one agent and family."""
    known, _sizes = samples_of(group.rows).column(name).known
    if len(known) == len(group.judged):
        trials = group.trials
    else:
        trials = tuple(row.trial.id for row, f in group.judged if f.value(name) is not None)
    key = f"groups/{group.values[0]}/{group.family}/measures/{name}/{statistics_of(name)[0].value}"
    return Cell(
        shown(name, statistic, percent=True),
        statistic=statistic,
        trials=trials or group.trials,
        key=key if group.by == ("agent",) else "",
    )


def interaction_tables(pool: Pool) -> Iterator[Table]:
    """Tables for each family: turns and calls, what the user disclosed, tokens, measures of other packages. Means over tasks of the mean over
    samples, as `core.scoring.aggregate` combines them, with 95% intervals by task; shares in percent.
    """
    groups = groups_of(pool)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        own = tuple(MEASURES)
        means = {group: means_of(group, (*TURNS, *DISCLOSURE, *TOKENS, *own)) for group in mine}
        for words, names, below in (
            (_("turns and calls"), TURNS, notes.get(family, ())),
            (_("what the user told"), DISCLOSURE, ()),
            (_("tokens"), TOKENS, ()),
            (_("measures of other packages"), own, ()),
        ):
            present = [name for name in names if _tells(name, list(means.values()))]
            if present:
                yield _table(family, words, present, means, below)


def _table(
    family: Family,
    words: str,
    names: Sequence[str],
    means: Mapping[Group, Means],
    notes: Sequence[str],
) -> Table:
    lines: list[Sequence[Shown]] = []
    for group, found in means.items():
        cells = [mean_cell(group, name, found.get(name)) for name in names]
        trials = number(len(group.judged), group.trials)
        lines.append((group.name, trials, number(group.tasks), *cells))
    by = next(iter(means)).by
    return Table.of(
        title=title(family, words),
        headings=(
            arm_heading(by),
            _("Trials"),
            _("Tasks"),
            *(_("Cost") if name == "cost" else measure_label(name) for name in names),
        ),
        lines=lines,
        notes=(_("Means over tasks, intervals 95%, by task; shares in percent."), *notes),
    )


def _tells(name: str, means: Sequence[Means]) -> bool:
    """Whether any group has a value worth showing: stages only with personas, tokens only with models."""
    values = [_value(found, name) for found in means]
    if name in DISCLOSURE and all(_value(found, "stage_share") is None for found in means):
        return False
    if name in TOKENS or name == "compactions":
        return any(values)
    return any(value is not None for value in values)


def _value(found: Means, name: str) -> float | None:
    statistic = found.get(name)
    return statistic.value if statistic else None


MOST = 20
_ALL = ""


def calls_of(group: Group, tools: Sequence[str]) -> dict[str, Rate]:
    """Calls per trial of each tool, and in all under the key ""."""
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


def tool_tables(pool: Pool) -> Iterator[Table]:
    """Calls per judged trial by tool for each family, refused calls included, with intervals by task."""
    groups = groups_of(pool)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        totals: dict[str, int] = {}
        for figures in (figures for group in mine for _row, figures in group.judged):
            for tool, n in figures.tools.items():
                totals[tool] = totals.get(tool, 0) + n
        tools = sorted(totals, key=lambda tool: (-totals[tool], tool))
        if tools:
            yield _tool_table(family, mine, tools, notes.get(family, ()))


def _tool_table(
    family: Family, groups: Sequence[Group], tools: Sequence[str], notes: tuple[str, ...]
) -> Table:
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


def with_and_without(group: Group) -> tuple[Rate, Rate, Statistic]:
    """The mean of the main measure over trials with compaction and over those without, and the first minus the second;
    the difference's `n` is that of the smaller group.
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
    apart = between(*coefficients_of(list(plans.values())))
    (statistic,) = with_intervals([apart])
    return rates[True], rates[False], statistic


def compaction_tables(pool: Pool) -> Iterator[Table]:
    """A table for each family in which any trial was compacted: how often, and the family's main measure with and
    without, over trials, with the difference and intervals by task.
    """
    groups = groups_of(pool)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        if any(figures.value("compactions") for group in mine for _r, figures in group.judged):
            yield _compaction_table(family, mine, notes.get(family, ()))


def _compaction_table(family: Family, groups: tuple[Group, ...], notes: tuple[str, ...]) -> Table:
    lines: list[Sequence[Shown]] = []
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
                group.name,
                number(len(judged), group.trials),
                share(often["share"]),
                level(often["mean"]),
                share_of(with_one),
                share_of(without),
                difference(apart, percent=True),
            )
        )
    measure = measure_label(MAIN[family])
    return Table.of(
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
        lines=lines,
        notes=(
            _(
                "Percent of trials and their number, intervals 95%, by task; compactions are means over trials."
            ),
            _("Long trials are compacted more: a difference is not the effect of the compaction."),
            *notes,
        ),
    )
