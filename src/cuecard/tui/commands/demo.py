"""`cuecard demo`: play, judge and score the sample tasks offline."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, note, prose, say

if TYPE_CHECKING:
    from cuecard.annotate.samples import DemoReport


def demo(
    context: typer.Context,
    db: Annotated[
        Path | None, typer.Option(help=_("Keep the workspace in this file; else it is temporary"))
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.samples import run_demo
    from cuecard.tui.commands.run_output import watching

    outer = Context.of(context).db
    kept = db or (Path(outer) if outer else None)
    if "://" in str(outer if db is None else ""):
        raise typer.BadParameter(_("the demo is kept in a file: give a path"), param_hint="--db")
    with watching(_("Playing the sample tasks"), {}) as told:
        report = run_demo(kept, on_event=told)
    if json:
        from cuecard.tui.commands.score_json import scores_json

        as_json(
            {
                **scores_json(report.scores),
                "db": str(report.db) if report.db else None,
                "problems": list(report.problems),
            }
        )
    else:
        _print(report)
    for problem in report.problems:
        note(problem)
    raise typer.Exit(1 if report.problems else 0)


def _print(report: DemoReport) -> None:
    from cuecard.tui.commands.score_output import Result, print_results

    scored = report.trials
    played = ngettext(
        "{n} sample task was played from its first line to its last, judged and scored.",
        "{n} sample tasks were played, each from its first line to its last, judged and scored.",
        len(scored),
    ).format(n=len(scored))
    prose(
        played
        + " "
        + _(
            "All parts were played by offline baselines: a scripted user, an agent without a model, a "
            "world made from the task, a judge that compares letters. The scores show that everything "
            "works together. They are not results of a model: an answer that has to be worked out is "
            "beyond this agent."
        )
    )
    prose(
        _(
            "Scores go from 0 to 1. n is what a score was counted over: triples, rows, cells, "
            "checkpoints or searches of a task."
        )
        + "\n"
    )
    print_results(
        [Result(s.trial.family, s.trial.task_id, s.measures) for s in scored],
        {group.family: group.measures for group in report.groups},
        remark=_("offline baseline"),
    )
    if report.db:
        say(_("All of it is kept. Open it with: {command}").format(command=_open(report.db)))
    else:
        say(_("Next: `cuecard` opens the app, `cuecard -h` lists the commands."))


def _open(db: Path) -> str:
    return shlex.join(("cuecard", "--db", str(db)))
