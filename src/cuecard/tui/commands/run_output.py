"""Output of `cuecard run`: progress, events as JSON lines, handling of Ctrl-C, final scores and problems."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from cuecard.core.engine.events import (
    CallAnswered,
    RunBegan,
    RunEvent,
    RunFinished,
    ToolUsed,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import Usage
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import Halt, StoppedByPerson
from cuecard.core.evaluation.run_trials import Tally
from cuecard.core.i18n import _, headed, listed, ngettext, plural
from cuecard.core.system import EXIT_INTERRUPTED
from cuecard.core.text import one_line
from cuecard.tui.commands.output import console, note
from cuecard.tui.commands.score_output import termination_label
from cuecard.tui.commands.verb import Result

if TYPE_CHECKING:
    from rich.console import Group

    from cuecard.core.evaluation.scores import RunScores
    from cuecard.core.records import TrialRecord, UsageRecord
    from cuecard.tui.commands.context import Context


def report(
    ours: Context,
    scores: RunScores,
    problems: Sequence[Problem],
    *,
    stopped: bool,
    halt: Halt | None,
    quiet: bool,
    workers: bool = False,
) -> Result:
    """What came of a run; `quiet`: without its scores. `workers`: they play it."""
    from cuecard.tui.commands.score_output import print_scores

    run = scores.run
    left = run.trials - run.finished

    def remarks() -> None:
        for line in summary_of(problems):
            note(line)
        if spent := spent_line(scores.usage, ours.config().currency):
            note(spent)
        if not left:
            note(
                plural(
                    "Run {run}: {n} trial ended. See it again with: {command}",
                    "Run {run}: {n} trials ended. See them again with: {command}",
                    run.finished,
                    run=run.id,
                    command=ours.command("score", str(run.id)),
                )
            )
            return
        if halt and not isinstance(halt, StoppedByPerson):
            note(_("Run {run} is paused. {reason}").format(run=run.id, reason=halt))
        elif halt and halt.ordered:
            note(str(halt))
        more = ("--workers",) if workers else ()
        command = ours.command("run", "--resume", str(run.id), *more)
        note(
            plural(
                "Run {run}: {left} of {n} trial is open. Go on with: {command}",
                "Run {run}: {left} of {n} trials are open. Go on with: {command}",
                run.trials,
                run=run.id,
                left=left,
                command=command,
            )
        )

    def data() -> dict[str, Any]:
        from cuecard.tui.commands.score_json import scores_json

        return {
            **scores_json(scores),
            "stopped": stopped,
            "reason": str(halt or ""),
            "problems": [problem._asdict() for problem in problems],
        }

    asked = stopped and (halt is None or isinstance(halt, StoppedByPerson))
    return Result(
        lambda: quiet or print_scores(scores),
        data,
        code=(EXIT_INTERRUPTED if asked else 1) if left else int(bool(problems)),
        remarks=remarks,
    )


def spent_line(usage: Sequence[UsageRecord], currency: str) -> str:
    """Calls, tokens and cost of a run in one line; empty where no model was called."""
    calls = sum(used.calls for used in usage)
    if not calls:
        return ""
    total = Usage.total(used.usage for used in usage)
    line = plural(
        "{calls} model call: {prompt} prompt tokens ({cached} cached), {completion} completion"
        " tokens ({reasoning} reasoning)",
        "{calls} model calls: {prompt} prompt tokens ({cached} cached), {completion} completion"
        " tokens ({reasoning} reasoning)",
        calls,
        calls=f"{calls:,}",
        prompt=f"{total.prompt:,}",
        cached=f"{total.cached:,}",
        completion=f"{total.completion:,}",
        reasoning=f"{total.reasoning:,}",
    )
    costs = [used.cost for used in usage if used.cost is not None]
    return _(", ").join((line, f"{sum(costs):.4f} {currency}")) if costs else line


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
        return headed(termination_label(trial.termination), trial.detail)
    if not judged:
        return headed(_("not judged"), failure)
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
        lines.append(one_line(headed(where, reason)))
    return lines


OnEvent = Callable[[RunEvent], None]
_LINES = 8


@contextmanager
def watching(title: str, names: Mapping[str, str], currency: str = "USD") -> Generator[OnEvent]:
    """A listener for a run's events: on a terminal a bar, what was done and spent, and the trials under
    way; elsewhere a line for each trial that ended. `names` by cell id.
    """
    if not console(stderr=True).is_terminal:
        yield _Lines(names).on_event
        return
    from rich.live import Live

    board = _Board(title, names, currency)
    with Live(
        console=console(stderr=True),
        get_renderable=board.render,
        transient=True,
        refresh_per_second=5,
    ):
        yield board.on_event


class _Lines:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._total = self._ended = 0

    def on_event(self, event: RunEvent) -> None:
        if isinstance(event, RunBegan):
            self._total = event.cells
        elif isinstance(event, TrialFinished):
            self._ended += 1
            name = self._names.get(event.cell, "")
            end = termination_label(event.termination)
            line = headed(f"{self._ended}/{self._total} {name}", end) if name else ""
            if line:
                note(one_line(line))


class _Board:
    def __init__(self, title: str, names: Mapping[str, str], currency: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self._names = names
        self._currency = currency
        self._tally = Tally()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=console(stderr=True),
        )
        self._all = self._bar.add_task(one_line(title, 40), total=None)

    def on_event(self, event: RunEvent) -> None:
        self._tally.on_event(event)
        if isinstance(event, RunBegan):
            self._bar.update(self._all, total=event.cells)
        elif isinstance(event, TrialFinished):
            self._bar.advance(self._all)

    def render(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        # Copied: the screen is drawn on another thread.
        playing = [(c, turn) for c, turn in self._tally.by_cell.copy().items() if c in self._names]
        lines = [Text(f"  {tally_line(self._tally, self._currency)}", no_wrap=True, style="dim")]
        lines += [
            Text(f"  {self._line(cell, turn)}", no_wrap=True, overflow="ellipsis")
            for cell, turn in playing[:_LINES]
        ]
        if (rest := len(playing) - _LINES) > 0:
            more = plural("and {n} more", "and {n} more", rest)
            lines.append(Text(f"  {more}"))
        return Group(self._bar, *lines)

    def _line(self, cell: str, turn: int | None) -> str:
        name = one_line(self._names[cell])
        return name if turn is None else _("{name} · turn {n}").format(name=name, n=turn)


def tally_line(tally: Tally, currency: str) -> str:
    """Turns a second, tokens, cost, errors, and the time that is left, those that are known."""
    parts = [_("{n:.1f} turns/s").format(n=tally.turns_a_second)]
    if tally.calls:
        used = tally.usage
        tokens = used.prompt + used.completion
        spent = ngettext("{n} token", "{n} tokens", tokens).format(n=f"{tokens:,}")
        parts.append(listed((plural("{n} call", "{n} calls", tally.calls), spent)))
    if tally.cost is not None:
        parts.append(f"{tally.cost:.4f} {currency}")
    errors = tally.failed + tally.problems
    if errors:
        parts.append(_("failed: {n}").format(n=errors))
    left = tally.seconds_left
    if left is not None:
        parts.append(_("{time} left").format(time=timedelta(seconds=round(left))))
    return " · ".join(parts)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(control: RunControl, *, plays: bool = True) -> Generator[None]:
    """While the block runs, on a running loop, the first Ctrl-C (or SIGTERM) stops the run: calls under
    way get some seconds to be finished and recorded. The second cancels it where it stands, the third ends
    the task. `plays`: there may be calls under way here.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if control.seconds_left is None:
            told = _(
                "Finishing the calls under way, for {n} seconds at most; press Ctrl-C again to stop"
                " at once."
            )
            if plays:
                note(told.format(n=f"{control.grace:g}"))
            control.drain()
        elif not control.cancelled:
            control.cancel()
        elif task:
            task.cancel()

    caught: list[signal.Signals] = []
    for number in _SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:
            # Windows: there asyncio cancels the task by itself, which leaves trials open as well.
            break
        caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


NAMES: dict[type[object], str] = {
    RunBegan: "run_began",
    TrialBegan: "trial_began",
    TurnPlayed: "turn_played",
    CallAnswered: "call_answered",
    ToolUsed: "tool_used",
    TrialFinished: "trial_finished",
    TrialLeftOpen: "trial_left_open",
    RunFinished: "run_finished",
}


class JsonLines:
    """A listener that prints each event when it comes. Every line holds `event` and `run`; those of a
    trial also `trial`, `task`, `agent` and `sample`.
    """

    def __init__(self, run_id: int, trials: Mapping[str, TrialRecord]) -> None:
        self._run_id = run_id
        self._trials = trials

    def on_event(self, event: RunEvent) -> None:
        line = {"event": NAMES[type(event)], "run": self._run_id, **self._fields(event)}
        # One write for one line: lines of several threads never mix.
        sys.stdout.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()

    def _fields(self, event: RunEvent) -> dict[str, Any]:
        match event:
            case RunFinished(summary=summary):
                return {
                    "cells": summary.cells,
                    "finished": summary.finished,
                    "terminations": {k.value: n for k, n in summary.terminations.items()},
                    "problems": summary.problems,
                    "left_open": summary.left_open,
                    "not_begun": summary.not_begun,
                    "stopped": summary.cancelled,
                    "reason": str(summary.halt) if summary.halt else "",
                }
            case CallAnswered(usage=usage) as call:
                told = {"payer": call.payer, "model": call.model, "cost": call.cost}
                return {**self._of(call.cell), **told, "usage": usage.model_dump()}
            case RunBegan():
                return asdict(event)
            case _:
                fields = asdict(event)
                return {**self._of(fields.pop("cell")), **fields}

    def _of(self, cell: str) -> dict[str, Any]:
        trial = self._trials.get(cell)
        if trial is None:
            return {"trial": int(cell)}
        return {
            "trial": trial.id,
            "task": trial.task_id,
            "agent": trial.agent.name,
            "sample": trial.sample,
        }
