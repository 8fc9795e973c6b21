"""Printing of scores and results in the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _, beside, joined, listed, ngettext, plural
from cuecard.core.scoring.aggregate import (
    AggregateMeasure,
    Statistic,
    statistic_label,
    statistics_of,
)
from cuecard.core.scoring.measures import (
    COUNTS,
    ENDING_WORDS,
    HEADLINES,
    PROFILE_LABELS,
    measure_label,
    measured_as,
    pooled_notes,
)
from cuecard.core.tasks.models import FAMILIES, Family
from cuecard.core.text import one_line
from cuecard.tui.commands.output import column_width, console, prose, say, table

if TYPE_CHECKING:
    from cuecard.core.evaluation.scores import GroupScores, RunScores, TrialScores
    from cuecard.core.families.checkpoints.score import ProfileCount
    from cuecard.core.tables.table import Statistic as Interval
    from cuecard.core.verdicts import Measure


FAMILY = CORE.each(lambda family: family.label)


def termination_label(termination: Termination | None) -> str:
    return _(ENDING_WORDS[termination]) if termination else _("open")


def player_label(ref: PlayerRef) -> str:
    """The name, with a note on offline baselines, which must not be taken for models."""
    name = one_line(ref.name, 40)
    return _("{name} (offline baseline)").format(name=name) if ref.baseline else name


def baselines_line(players: Iterable[tuple[str, PlayerRef]]) -> str:
    """`Offline baselines, not results of models: agent offline, judge lexical.`, from pairs of the part's
    translated name and its player, and which worlds ran programs without a cage; "" if there is nothing to tell.
    """
    found: dict[str, None] = {}
    uncaged: dict[str, None] = {}
    for part, player in players:
        name = one_line(player.name, 40)
        found |= {f"{part} {name}": None} if player.baseline else {}
        uncaged |= {name: None} if player.uncaged else {}
    baselines = _("Offline baselines, not results of models: {players}.")
    bare = _("Programs of the tool python ran without a cage: {worlds}.")
    lines = [baselines.format(players=listed(found))] if found else []
    lines += [bare.format(worlds=listed(uncaged))] if uncaged else []
    return joined(lines)


def number(name: str, value: float | None) -> str:
    """A measure's value: shares with three decimals, counts with one where they are means."""
    if value is None:
        return "–"
    if name not in COUNTS:
        return f"{value:.3f}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


# Told only where there is something to tell.
_QUIET = frozenset(
    (
        "unjudged",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "reasoning_tokens",
        "stages_disclosed",
        "stage_share",
        "asks",
    )
)


Figures = Mapping[tuple[str, Statistic], "Interval"]


def print_scores(
    scores: RunScores, figures: Mapping[tuple[str, Family], Figures] | None = None
) -> None:
    """A table for each agent and family of the run. `figures`: those of each group with intervals."""
    # Trials share the players they were played by.
    players: dict[tuple[str, Family], dict[tuple[int, ...], TrialScores]] = defaultdict(dict)
    for one in scores.trials:
        trial = one.trial
        refs = (trial.agent, trial.user, trial.world, one.judge)
        players[trial.agent.name, trial.family].setdefault(tuple(map(id, refs)), one)
    for group in scores.groups:
        key = (group.agent, group.family)
        _print_group(group, tuple(players[key].values()), (figures or {}).get(key))


def _print_group(group: GroupScores, mine: Sequence[TrialScores], figures: Figures | None) -> None:
    """`mine`: a trial of each set of players."""
    agent = player_label(mine[0].trial.agent) if mine else group.agent
    title = _("{family}: agent {agent}").format(family=_(FAMILY[group.family]), agent=agent)
    shown = [m for m in group.measures if not (m.name in _QUIET and not m.value)]
    if shown:
        print_aggregate(title, shown, figures)
    else:
        say(_("{title}: nothing judged yet").format(title=title))
    _print_profiles(group.breakdown.profiles)
    players: list[tuple[str, PlayerRef]] = []
    for scored in mine:
        trial = scored.trial
        players += [(_("agent"), trial.agent), (_("user"), trial.user), (_("world"), trial.world)]
        players += [(_("judge"), scored.judge)] if scored.judge else []
    counted = ngettext(
        "{n} trial: {ended} ended, {failed} of them by a failure; {judged} judged.",
        "{n} trials: {ended} ended, {failed} of them by a failure; {judged} judged.",
        group.trials,
    ).format(n=group.trials, ended=group.ended, failed=group.failed, judged=group.judged)
    prose(joined((counted, baselines_line(players))) + "\n")


def print_aggregate(
    title: str, measures: Sequence[AggregateMeasure], figures: Figures | None = None
) -> None:
    """Means over tasks and pooled ratios; a column for each way of taking the samples together, if there are several.
    `figures`: the averages' intervals stand beside them, and remarks below, as they leave no room for more columns.
    What is a mean only beside a pooled ratio is told by name alone (`cuecard score --measure`, the JSON).
    """
    samples = max((measure.samples for measure in measures), default=1)
    names = list(dict.fromkeys(m.name for m in measures if measured_as(m.name) == m.name))
    found = {(measure.name, measure.statistic): measure for measure in measures}
    present = {measure.statistic for measure in measures if measure.statistic.of_several}
    several = [s for s in Statistic if s in present and samples > 1]
    rows: list[list[str]] = []
    for name in names:
        first = found[name, statistics_of(name)[0]]
        cells = [_short(name, first.value)]
        if figures:
            cells.append(_interval(name, figures.get((name, first.statistic))))
        cells += [
            _short(name, entry.value) if (entry := found.get((name, statistic))) else ""
            for statistic in several
        ]
        label = measure_label(name)
        if first.statistic is Statistic.POOLED:
            label = _("{measure}, pooled").format(measure=label)
        rows.append([label, *cells, str(first.n), _remark(first)])
    remarks = any(row[-1] for row in rows) and not figures
    headings = [statistic_label(Statistic.AVG, samples) if samples > 1 else _("mean")]
    headings += [_("interval")] if figures else []
    headings += [statistic_label(statistic, samples) for statistic in several]
    table(
        title,
        (_("measure"), *headings, _("n tasks"), *([_("remark")] if remarks else ())),
        [row if remarks else row[:-1] for row in rows],
        numbers=range(1, len(headings) + 2),
    )
    if figures:
        about: dict[str, list[str]] = {}
        for row in rows:
            if row[-1]:
                about.setdefault(row[-1], []).append(row[0])
        for remark, labels in about.items():
            prose(_("{reason}: {lines}").format(reason=remark, lines=listed(labels)))
        if about:
            say("")
    if any(measure.of for measure in measures):
        prose("\n".join(pooled_notes(names)) + "\n")


def _short(name: str, value: float | None) -> str:
    """Of thousands no decimals."""
    return number(name, value if value is None or abs(value) < 1000 else round(value))


def _interval(name: str, figure: Interval | None) -> str:
    if figure is None or figure.interval is None:
        return ""
    return " ".join(_short(name, end) for end in figure.interval)


def _remark(measure: AggregateMeasure) -> str:
    if measure.value is None:
        return measure.reason
    # To a pooled ratio a trial without a value of its own adds nothing, and is counted.
    if measure.undefined and measure.statistic is not Statistic.POOLED:
        return plural("{n} trial has no value", "{n} trials have no value", measure.undefined)
    return ""


def _print_profiles(profiles: Sequence[ProfileCount]) -> None:
    if not any(profile.count for profile in profiles):
        return
    table(
        plural(
            "What the agent did at {n} ambiguous checkpoint",
            "What the agent did at {n} ambiguous checkpoints",
            profiles[0].share.n,
        ),
        (_("behaviour"), _("share"), "n", _("passed"), "n"),
        [
            (
                _(PROFILE_LABELS[p.profile]),
                number("share", p.share.value),
                p.count,
                number("pass_rate", p.pass_rate.value),
                p.pass_rate.n,
            )
            for p in profiles
        ],
        numbers=range(1, 5),
    )


class Result(NamedTuple):
    """One judged output, as a line of a table."""

    family: Family
    name: str
    measures: Sequence[Measure]


def print_results(
    results: Sequence[Result],
    families: Mapping[Family, Sequence[AggregateMeasure]],
    *,
    remark: str = "",
) -> None:
    """A table for each family: a line for each result, and the means over tasks below. `remark` stands
    beside each title.
    """
    for family in FAMILIES:
        mine = [result for result in results if result.family == family]
        if mine:
            title = beside(_(FAMILY[family]), remark)
            _print_family(title, mine, families[family])


def _print_family(title: str, results: Sequence[Result], means: Sequence[AggregateMeasure]) -> None:
    present = {measure.name for result in results for measure in result.measures}
    shares = [name for name in HEADLINES[results[0].family] if name in present]
    counts = [name for name in ("agent_turns", "tool_calls") if name in present]
    average = {m.name: m for m in means if not m.statistic.of_several}
    tasks = max((average[name].n for name in shares), default=0)
    label = ngettext("mean of {n} task", "mean of {n} tasks", tasks).format(n=tasks)
    columns = [_Column(_("task"), [result.name for result in results], label)]
    for name in (*shares, *counts):
        found = [_measure(result, name) for result in results]
        values = [number(name, measure.value if measure else None) for measure in found]
        mean = average[name]
        columns.append(_Column(measure_label(name), values, number(name, mean.value)))
        if name in shares and (mean.n != tasks or any(m is None or m.n != 1 for m in found)):
            ns = [str(measure.n) if measure else "" for measure in found]
            columns.append(_Column("n", ns, str(mean.n)))
    columns = _fitting(columns, optional=len(counts))
    table(
        title,
        [column.heading for column in columns],
        list(zip(*(column.cells for column in columns), strict=True)),
        numbers=range(1, len(columns)),
        footer=[column.footer for column in columns],
    )


class _Column(NamedTuple):
    heading: str
    cells: Sequence[str]
    footer: str


def _fitting(columns: list[_Column], *, optional: int) -> list[_Column]:
    """The columns without as many of the last `optional` ones as the terminal is too narrow for."""
    widths = [column_width(c.heading, (*c.cells, c.footer)) for c in columns]
    for _column in range(optional):
        if sum(widths[: len(columns)]) - 2 <= console().width:
            break
        columns = columns[:-1]
    return columns


def _measure(result: Result, name: str) -> Measure | None:
    return next((measure for measure in result.measures if measure.name == name), None)
