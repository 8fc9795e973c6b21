"""What a run will take, from what earlier trials of its agents took."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from statistics import fmean, median
from typing import TYPE_CHECKING

from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


MOST_TRIALS = 30
"""So many of the newest trials of each agent are looked at,"""
MOST_RUNS = 20
"""in so many of the newest runs."""


class Taken(Frozen):
    """What one trial took, of everybody who called a model for it. `cost`: None where a call had no price; `seconds`:
    from its first event to its end.
    """

    calls: int
    tokens: int
    cost: float | None
    seconds: float


class Forecast(Frozen):
    """`trials`: how many earlier ones it rests on. `calls` and `tokens` are sums of the means of agents, `cost` too, None
    where a trial of these agents had a call without a price; `seconds` rests on medians, as trials may have been paused.
    `unknown`: agents without earlier trials, of which nothing is in the sums.
    """

    trials: int
    calls: int
    tokens: int
    cost: float | None
    seconds: float
    unknown: tuple[str, ...]


def forecast(
    past: Mapping[str, Sequence[Taken]], agents: Collection[str], trials: int, concurrency: int
) -> Forecast:
    """What `trials` of each of `agents` will take together, `concurrency` of all of them at a time."""
    calls = tokens = cost = seconds = 0.0
    known = {agent: past[agent] for agent in agents if past.get(agent)}
    for taken in known.values():
        calls += trials * fmean(each.calls for each in taken)
        tokens += trials * fmean(each.tokens for each in taken)
        cost += trials * fmean(each.cost or 0.0 for each in taken)
        seconds += median(each.seconds for each in taken) * trials
    # So many trials at a time, in rounds, of which the last takes as long as a full one.
    rounds = len(known) * trials / concurrency
    priced = all(each.cost is not None for taken in known.values() for each in taken)
    return Forecast(
        trials=sum(map(len, known.values())),
        calls=round(calls),
        tokens=round(tokens),
        cost=cost if priced else None,
        seconds=seconds / concurrency * (ceil(rounds) / rounds) if rounds else 0.0,
        unknown=tuple(agent for agent in agents if agent not in known),
    )


def past_trials(workspace: Workspace, agents: Collection[str]) -> dict[str, list[Taken]]:
    """What the newest finished trials of each agent took, of those that were played as its newest one was: with the same
    model and settings. Blocks for the database.
    """
    found = {agent: list[tuple[int, float]]() for agent in agents}
    played = dict[str, object]()
    for run in workspace.runs.all("grid")[:MOST_RUNS]:
        if all(len(trials) >= MOST_TRIALS for trials in found.values()):
            break
        for trial in reversed(workspace.runs.trials(run.id)):
            mine = found.get(trial.agent.name)
            if mine is None or len(mine) >= MOST_TRIALS or trial.ended_at is None:
                continue
            first = workspace.runs.beginning(trial.id, 1).events
            if first and played.setdefault(trial.agent.name, trial.agent) == trial.agent:
                mine.append((trial.id, (trial.ended_at - first[0].at).total_seconds()))
    ids = [trial for trials in found.values() for trial, _seconds in trials]
    spent = {trial: Taken(calls=0, tokens=0, cost=0.0, seconds=0.0) for trial in ids}
    for used in workspace.runs.usage_of(ids):
        before = spent[used.trial_id]
        priced = used.priced == used.calls and before.cost is not None
        spent[used.trial_id] = Taken(
            calls=before.calls + used.calls,
            tokens=before.tokens + used.usage.prompt + used.usage.completion,
            cost=(before.cost or 0.0) + (used.cost or 0.0) if priced else None,
            seconds=0.0,
        )
    return {
        agent: [spent[trial].model_copy(update={"seconds": seconds}) for trial, seconds in trials]
        for agent, trials in found.items()
    }
