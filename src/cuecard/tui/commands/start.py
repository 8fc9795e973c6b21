"""`cuecard init` and `cuecard demo`: a first workspace, and what the sample tasks show."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import N_, _, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note, prose, say
from cuecard.tui.commands.verb import Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.samples import DemoReport


@verb("cuecard --db work.db init --no-samples")
def init(ours: Context, *, samples: Annotated[bool, N_("Add the sample tasks")] = True) -> Result:
    from cuecard.core.config import CONFIG_NAME, example_config
    from cuecard.core.system import write_text

    with ours.open(create=True) as workspace:
        person = workspace.people.add(ours.reader).name
        say(_("Workspace: {url}").format(url=workspace.public_url))
        if samples:
            from cuecard.annotate.samples import import_samples

            added = len(import_samples(workspace, by=person))
            say(plural("{n} sample task is there.", "{n} sample tasks are there.", added))
    config = ours.config_path or Path(CONFIG_NAME)
    if config.exists():
        return Result(_("{file} is there already; it was left alone.").format(file=config))
    write_text(config, example_config(), private=True)
    return Result(_("{file} written: name your models there.").format(file=config))


@verb("cuecard demo --db demo.db", "json")
def demo(
    ours: Context,
    *,
    db: Annotated[Path | None, N_("Keep the workspace in this file; else it is temporary")] = None,
) -> Result:
    from cuecard.annotate.samples import run_demo
    from cuecard.tui.commands.run_output import watching
    from cuecard.tui.commands.score_json import scores_json

    kept = db or (Path(ours.db) if ours.db else None)
    if db is None and "://" in (ours.db or ""):
        raise typer.BadParameter(_("the demo is kept in a file: give a path"), param_hint="--db")
    with watching(_("Playing the sample tasks"), {}) as told:
        report = run_demo(kept, on_event=told)
    return Result(
        lambda: _print(report),
        lambda: {
            **scores_json(report.scores),
            "db": str(report.db) if report.db else None,
            "problems": list(report.problems),
        },
        code=1 if report.problems else 0,
        remarks=lambda: [note(problem) for problem in report.problems],
    )


def _print(report: DemoReport) -> None:
    from cuecard.tui.commands.score_output import Result as Scored
    from cuecard.tui.commands.score_output import print_results

    scored = report.trials
    played = plural(
        "{n} sample task was played from its first line to its last, judged and scored.",
        "{n} sample tasks were played, each from its first line to its last, judged and scored.",
        len(scored),
    )
    about = _(
        "All parts were played by offline baselines: a scripted user, an agent without a model, a "
        "world made from the task, a judge that compares letters. The scores show that everything "
        "works together. They are not results of a model: an answer that has to be worked out is "
        "beyond this agent."
    )
    prose(f"{played} {about}")
    counted = _(
        "Scores go from 0 to 1. n is what a score was counted over: triples, rows, cells, "
        "checkpoints or searches of a task."
    )
    prose(f"{counted}\n")
    print_results(
        [Scored(s.trial.family, s.trial.task_id, s.measures) for s in scored],
        {group.family: group.measures for group in report.groups},
        remark=_("offline baseline"),
    )
    if report.db:
        command = shlex.join(("cuecard", "--db", str(report.db)))
        say(_("All of it is kept. Open it with: {command}").format(command=command))
    else:
        say(_("Next: `cuecard` opens the app, `cuecard -h` lists the commands."))
