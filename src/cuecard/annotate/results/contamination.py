"""Trials whose pages gave the benchmark away: found in their logs, and scores with and without them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.labelling.effect_figures import mean_over
from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.errors.groups import Group, groups_of
from cuecard.annotate.results.pool import Pool, Row
from cuecard.core.config_schema import ContaminationConfig
from cuecard.core.engine.events import AgentSpoke, Event, ToolAnswered, effective_log
from cuecard.core.evaluation.scores import OnCount
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import N_, _
from cuecard.core.scoring.measures import measure_label
from cuecard.core.tables.table import Shown, Statistic, Table, cell, difference
from cuecard.core.tasks.base import Frozen
from cuecard.core.worlds.contamination import Exposure, Level, Secret, exposure, secret_of

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


GOLD_WORLDS = frozenset(("closed", "parallel"))
"""Kinds of worlds that are made from gold: what they tell is the task, not a leak."""
_AT_ONCE = 20


class Met(Frozen):
    """The most that a trial's pages gave away. `address` and `turn`: where; `blocked`: how many addresses a block list
    kept from the agent.
    """

    trial: int
    level: Level = Level.NONE
    reason: str = ""
    passage: str = ""
    address: str = ""
    turn: int = 0
    blocked: int = 0


def exposures(
    workspace: Workspace,
    pool: Pool,
    settings: ContaminationConfig,
    on_count: OnCount | None = None,
) -> dict[int, Met]:
    """By trial, for those of the pool that had a world other than one made of gold. Reads their logs, some at a time."""
    trials = {
        row.trial.id: row.trial for row in pool.rows if row.trial.world.kind not in GOLD_WORLDS
    }
    secrets: dict[tuple[str, int], Secret] = {}
    found: dict[int, Met] = {}
    ids = list(trials)
    for start in range(0, len(ids), _AT_ONCE):
        for id_, log in workspace.runs.logs(ids[start : start + _AT_ONCE]).items():
            unit = trials[id_].task_id, trials[id_].revision
            if unit not in secrets:
                task = workspace.tasks.revision(*unit).task
                secrets[unit] = secret_of(task, settings.names, settings.canary)
            found[id_] = met(id_, effective_log(log), secrets[unit])
        if on_count:
            on_count(min(start + _AT_ONCE, len(ids)), len(ids))
    return found


def met(trial: int, log: Sequence[Event], secret: Secret) -> Met:
    """What one trial met, the first of those on the highest level."""
    worst = Met(trial=trial)
    blocked = 0
    for event in log:
        if isinstance(event.body, ToolAnswered):
            blocked += len(event.body.answer.blocked)
        for exposed, address, turn in _exposed(event, secret):
            if exposed.level > worst.level:
                worst = Met(
                    trial=trial,
                    level=exposed.level,
                    reason=exposed.reason,
                    passage=exposed.passage,
                    address=address,
                    turn=turn,
                )
    return worst.model_copy(update={"blocked": blocked})


def _exposed(event: Event, secret: Secret) -> Iterator[tuple[Exposure, str, int]]:
    match event.body:
        case ToolAnswered(answer=answer, turn=turn) if answer.entries:
            for entry in answer.entries:
                yield (
                    exposure(f"{entry.title}\n{entry.content}", entry.url, secret),
                    entry.url,
                    turn,
                )
        case ToolAnswered(answer=answer, turn=turn):
            yield exposure(answer.text, "", secret), "", turn
        case AgentSpoke(reply=reply, turn=turn) if secret.canary in reply.text.casefold():
            yield exposure(reply.text, "", secret), "", turn
        case _:
            pass


_SUBSETS: tuple[tuple[str, Level], ...] = (
    (N_("All trials"), Level.NONE),
    (N_("Without answers met"), Level.ANSWER),
    (N_("Without questions met"), Level.QUESTION),
)
"""From which level on trials are left out (NONE: none is)."""


def contamination_tables(pool: Pool, found: Mapping[int, Met]) -> tuple[Table, ...]:
    """How many trials met what, scores with and without them, and each trial that met something."""
    looked_at = pool.where(lambda row: row.trial.id in found)
    if not looked_at.rows:
        return ()
    groups = groups_of(looked_at)
    return tuple(
        filter(None, (_counts(groups, found), _scores(groups, found), _flagged(looked_at, found)))
    )


def _counts(groups: Sequence[Group], found: Mapping[int, Met]) -> Table:
    def lines() -> Iterator[Sequence[Shown]]:
        for group in groups:
            ids = list(dict.fromkeys(row.trial.id for row in group.rows))
            by_level = {level: [id_ for id_ in ids if found[id_].level is level] for level in Level}
            blocked = [id_ for id_ in ids if found[id_].blocked]
            yield (
                _name(group),
                cell(len(ids), trials=ids),
                *(cell(len(met), trials=met) for level, met in by_level.items() if level),
                cell(sum(found[id_].blocked for id_ in blocked), trials=blocked),
            )

    return Table.of(
        _("What pages gave away"),
        (
            _("Agent"),
            _("Trials"),
            *(level.label for level in Level if level),
            _("Addresses blocked"),
        ),
        lines(),
        notes=(
            _("Each trial counts once, by the most that one of its pages gave away."),
            _("Gold on a page without the question is evidence, and is not counted."),
        ),
    )


def _scores(groups: Sequence[Group], found: Mapping[int, Met]) -> Table | None:
    if not any(found[row.trial.id].level >= Level.QUESTION for g in groups for row in g.rows):
        return None

    def lines() -> Iterator[Sequence[Shown]]:
        for group in groups:
            measure = CORE[group.family].main
            kept = [
                [r for r in group.rows if level is Level.NONE or found[r.trial.id].level < level]
                for _title, level in _SUBSETS
            ]
            cells: list[Shown] = [f"{_name(group)} · {measure_label(measure)}"]
            for rows in kept:
                cells += [_mean(measure, rows), cell(len({r.trial.id for r in rows}))]
            cells.append(_paired(measure, kept[0], kept[1]))
            yield cells

    return Table.of(
        _("Scores with and without trials that met the benchmark"),
        (
            _("Agent"),
            *(part for title, _level in _SUBSETS for part in (_(title), _("Trials"))),
            _("Without answers, paired"),
        ),
        lines(),
        notes=(
            _(
                "Paired: by tasks that keep a clean trial, their clean trials against all of them, with a 95% interval over tasks."
            ),
            _(
                "Leaving trials out selects: an agent meets such pages where it searches well, and on tasks of a kind."
            ),
        ),
    )


def _by_task(measure: str, rows: Sequence[Row]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if (value := row.measure(measure)) is not None:
            values[row.trial.task_id].append(value)
    return {task: fmean(each) for task, each in values.items()}


def _mean(measure: str, rows: Sequence[Row]) -> Statistic:
    """The mean over tasks, with the interval of score tables."""
    values = _by_task(measure, rows)
    return with_intervals([mean_over(measure, values, list(values))], list(values))[0]


def _paired(measure: str, every: Sequence[Row], clean: Sequence[Row]) -> Shown:
    """Nothing where no trial is left out. A difference of 0 is no share, of which tasks that agree would tell something."""
    if len(every) == len(clean):
        return None
    whole, kept = _by_task(measure, every), _by_task(measure, clean)
    gaps = {task: value - whole[task] for task, value in kept.items()}
    mean = replace(mean_over(f"{measure}_difference", gaps, list(gaps)), share=False)
    return difference(with_intervals([mean], list(gaps))[0])


def _flagged(pool: Pool, found: Mapping[int, Met]) -> Table | None:
    trials = {row.trial.id: row.trial for row in pool.rows if found[row.trial.id].level}
    if not trials:
        return None
    worst = sorted(trials, key=lambda id_: (-found[id_].level, trials[id_].task_id, id_))

    def lines() -> Iterator[Sequence[Shown]]:
        for id_ in worst:
            trial, one = trials[id_], found[id_]
            yield (
                cell(trial.title or trial.task_id, trials=(id_,)),
                trial.agent.name,
                one.level.label,
                one.reason,
                one.address or "–",
                cell(one.turn + 1),
                one.passage or "–",
            )

    return Table.of(
        _("Trials that met the benchmark"),
        (
            _("Task"),
            _("Agent"),
            _("Level"),
            _("Why"),
            _("Address"),
            _("Turn"),
            _("Passage"),
        ),
        lines(),
    )


def _name(group: Group) -> str:
    return f"{group.name} · {_(FAMILY_WORDS[group.family])}"
