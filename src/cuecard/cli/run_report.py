"""What `cuecard run` says when it is over: scores on stdout, what went wrong on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from cuecard.cli.output import as_json, note
from cuecard.core.errors import Drained, Halt
from cuecard.core.i18n import _, ngettext
from cuecard.core.parts import Usage

if TYPE_CHECKING:
    from cuecard.cli.context import Context
    from cuecard.cli.run_problems import Problem
    from cuecard.lab.scores import RunScores
    from cuecard.store.records import UsageRecord


class Shown(Enum):
    TABLES = "tables"
    JSON = "json"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Report:
    scores: RunScores
    problems: Sequence[Problem]
    currency: str
    stopped: bool
    halt: Halt | None


def print_report(ours: Context, report: Report, show: Shown) -> int:
    """The exit code."""
    from cuecard.cli.interrupt import EXIT_INTERRUPTED
    from cuecard.cli.run_problems import summary_of
    from cuecard.cli.score_json import scores_json
    from cuecard.cli.score_tables import print_scores

    if show is Shown.JSON:
        as_json(
            {
                **scores_json(report.scores),
                "stopped": report.stopped,
                "reason": str(report.halt or ""),
                "problems": [problem._asdict() for problem in report.problems],
            }
        )
    elif show is Shown.TABLES:
        print_scores(report.scores)
    for line in summary_of(report.problems):
        note(line)
    spent = spent_line(report.scores.usage, report.currency)
    if spent:
        note(spent)
    run = report.scores.run
    left = run.trials - run.finished
    if left:
        if report.halt and not isinstance(report.halt, Drained):
            note(_("Run {run} is paused. {reason}").format(run=run.id, reason=report.halt))
        note(
            _("Run {run}: {n} of {all} trials are open. Go on with: {command}").format(
                run=run.id,
                n=left,
                all=run.trials,
                command=ours.command("run", "--resume", str(run.id)),
            )
        )
        asked = report.stopped and (report.halt is None or isinstance(report.halt, Drained))
        return EXIT_INTERRUPTED if asked else 1
    note(
        ngettext(
            "Run {run}: {n} trial ended. See it again with: {command}",
            "Run {run}: {n} trials ended. See them again with: {command}",
            run.finished,
        ).format(run=run.id, n=run.finished, command=ours.command("score", str(run.id)))
    )
    return 1 if report.problems else 0


def spent_line(usage: Sequence[UsageRecord], currency: str) -> str:
    """Calls, tokens and cost of a run in one line; empty where no model was called."""
    calls = sum(used.calls for used in usage)
    if not calls:
        return ""
    total = Usage()
    for used in usage:
        total = total.plus(used.usage)
    line = ngettext(
        "{calls} model call: {prompt} prompt tokens ({cached} cached), {completion} completion"
        " tokens ({reasoning} reasoning)",
        "{calls} model calls: {prompt} prompt tokens ({cached} cached), {completion} completion"
        " tokens ({reasoning} reasoning)",
        calls,
    ).format(
        calls=f"{calls:,}",
        prompt=f"{total.prompt:,}",
        cached=f"{total.cached:,}",
        completion=f"{total.completion:,}",
        reasoning=f"{total.reasoning:,}",
    )
    costs = [used.cost for used in usage if used.cost is not None]
    return f"{line}, {sum(costs):.4f} {currency}" if costs else line
