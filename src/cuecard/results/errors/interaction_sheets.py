"""How agents and users dealt with each other (VibeSearchBench's interaction table), for every family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.labelling.comparison.sheets import Line, Sheet
from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.labels import measure_label
from cuecard.core.tasks import Family
from cuecard.results.cells import ResultCell
from cuecard.results.errors.groups import BY, By, Group, by_family, groups_of, notes_of
from cuecard.results.errors.laying import arm_heading, number, text, title
from cuecard.results.pool import Pool
from cuecard.results.taking import scores_of, with_task_intervals
from cuecard.results.words import shown

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


def interaction_sheets(pool: Pool, by: By = BY) -> tuple[Sheet, ...]:
    """Three tables for each family: turns and calls, what the user told, tokens. Means over tasks of the mean over
    samples, as `core.scoring.aggregate` takes them, with 95% intervals by task; shares in percent.
    """
    return tuple(_sheets(pool, by))


def means_of(group: Group, measures: Sequence[str]) -> dict[str, Statistic]:
    """The mean over tasks of each measure that occurs."""
    found = with_task_intervals(scores_of(group.rows, measures), measures)
    return {name: figure for (name, taken), (_t, figure) in found.items() if not taken.of_several}


def mean_cell(group: Group, name: str, statistic: Statistic | None) -> ResultCell:
    """A cell that knows where `cuecard score --json` has the figure, if it is of an agent and family."""
    trials = tuple(row.trial.id for row, f in group.judged if f.value(name) is not None)
    key = f"groups/{group.values[0]}/{group.family}/measures/{name}/{statistics_of(name)[0].value}"
    return ResultCell(
        shown(name, statistic, percent=True),
        statistic=statistic,
        trials=trials or group.trials,
        key=key if group.by == ("agent",) else "",
    )


def _sheets(pool: Pool, by: By) -> Iterator[Sheet]:
    groups = groups_of(pool, by)
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        means = {group: means_of(group, (*TURNS, *DISCLOSURE, *TOKENS)) for group in mine}
        for words, names, below in (
            (_("turns and calls"), TURNS, notes.get(family, ())),
            (_("what the user told"), DISCLOSURE, ()),
            (_("tokens"), TOKENS, ()),
        ):
            present = [name for name in names if _tells(name, list(means.values()))]
            if present:
                yield _sheet(family, words, present, means, below)


def _sheet(
    family: Family,
    words: str,
    names: Sequence[str],
    means: Mapping[Group, Means],
    notes: Sequence[str],
) -> Sheet:
    lines: list[Line] = []
    for group, found in means.items():
        cells = [mean_cell(group, name, found.get(name)) for name in names]
        trials = number(len(group.judged), group.trials)
        lines.append((text(group.name), trials, number(group.tasks), *cells))
    by = next(iter(means)).by
    return Sheet(
        view="results",
        title=title(family, words),
        headings=(arm_heading(by), _("Trials"), _("Tasks"), *map(_heading, names)),
        lines=tuple(lines),
        notes=(_("Means over tasks, intervals 95%, by task; shares in percent."), *notes),
    )


def _heading(name: str) -> str:
    return _("Cost") if name == "cost" else measure_label(name)


def _tells(name: str, means: Sequence[Means]) -> bool:
    """Whether any group has something to say: stages only where there are personas, tokens where there are models."""
    values = [_value(found, name) for found in means]
    if name in DISCLOSURE and all(_value(found, "stage_share") is None for found in means):
        return False
    if name in TOKENS or name == "compactions":
        return any(values)
    return any(value is not None for value in values)


def _value(found: Means, name: str) -> float | None:
    statistic = found.get(name)
    return statistic.value if statistic else None
