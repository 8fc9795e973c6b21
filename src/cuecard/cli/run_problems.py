"""What went wrong in a run, in few words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cuecard.cli.labels import termination_label
from cuecard.core.i18n import _
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.lab.scores import RunScores
    from cuecard.store.records import TrialRecord


class Problem(NamedTuple):
    """A trial that could not begin, ended by a failure, or is not judged."""

    trial_id: int
    task_id: str
    agent: str
    sample: int
    reason: str


def trial_name(trial: TrialRecord) -> str:
    sample = _("sample {n}").format(n=trial.sample)
    return " · ".join((trial.task_id, trial.agent.name, sample))


def problems_of(
    scores: RunScores, trials: Sequence[TrialRecord], failures: Mapping[int, str]
) -> list[Problem]:
    """In the order of the trials. `failures`: what was told while the run went on, by trial."""
    judged = {scored.trial.id for scored in scores.trials if scored.judge}
    return [
        Problem(trial.id, trial.task_id, trial.agent.name, trial.sample, reason)
        for trial in trials
        if (reason := _reason(trial, failures.get(trial.id, ""), judged=trial.id in judged))
    ]


def _reason(trial: TrialRecord, failure: str, *, judged: bool) -> str:
    if trial.termination is None:
        return failure
    if trial.termination.is_failure:
        return ": ".join(filter(None, (termination_label(trial.termination), trial.detail)))
    if not judged:
        return ": ".join(filter(None, (_("not judged"), failure)))
    return ""


def summary_of(problems: Sequence[Problem]) -> list[str]:
    """A line for each reason, with one trial as an example and how many more there are."""
    by_reason: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        by_reason[problem.reason].append(problem)
    lines: list[str] = []
    for reason, found in by_reason.items():
        first = found[0]
        where = f"{first.task_id} · {first.agent} · " + _("sample {n}").format(n=first.sample)
        if len(found) > 1:
            where = _("{trial} and {n} more").format(trial=where, n=len(found) - 1)
        lines.append(one_line(f"{where}: {reason}"))
    return lines
