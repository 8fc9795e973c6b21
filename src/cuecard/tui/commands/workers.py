"""Workers on the command line: `cuecard worker`, and a run that is offered to them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import N_, _, headed, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from cuecard.core.engine.events import RunEvent
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.errors import Halt
    from cuecard.core.records import RunRecord
    from cuecard.core.worker_archive import Purpose


@verb("cuecard --db postgresql://… worker --concurrency 100", "json")
def worker(
    ours: Context,
    *,
    concurrency: Annotated[int, Help(N_("Trials at the same time"), min=1, max=1024)] = 100,
    runs: Annotated[str, Help(N_("Only of these runs; none means all"), metavar="4,7")] = "",
    until_done: Annotated[
        bool, Help(N_("Leave when nothing is left to do"), "--until-done")
    ] = False,
    grace: Annotated[
        float, Help(N_("Seconds that calls under way get when it is stopped"), min=0, max=600)
    ] = 10.0,
) -> Result:
    from cuecard.core.engine.events import TrialFinished, TrialLeftOpen
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.evaluation.workers import Worker
    from cuecard.tui.commands.run_output import stopping
    from cuecard.tui.commands.score_output import termination_label

    try:
        wanted = [int(run) for run in runs.split(",") if run.strip()]
    except ValueError:
        raise typer.BadParameter(runs, param_hint="--runs") from None
    ended, judged = Counter[int](), Counter[int]()
    control = RunControl(grace)

    def on_event(run: int, event: RunEvent) -> None:
        if isinstance(event, TrialFinished):
            judges = working.judges(run)
            (judged if judges else ended)[run] += 1
            what = _("judged") if judges else termination_label(event.termination)
            end = headed(what, event.problem)
            note(_("run {run}, trial {trial}: {end}").format(run=run, trial=event.cell, end=end))
        elif isinstance(event, TrialLeftOpen):
            left = _("run {run}, trial {trial}: left open").format(run=run, trial=event.cell)
            note(headed(left, event.why))

    def on_refusal(run: int, why: str) -> None:
        note(_("Took nothing of run {run}: {why}").format(run=run, why=why))

    ours.workspace.workers.check()
    for run in wanted:
        ours.workspace.runs.get(run)
    working = Worker(
        ours.workspace, ours.config(), ours.person, concurrency, wanted, on_event, on_refusal
    )

    async def work() -> None:
        with stopping(control):
            await working.work(control, until_done=until_done)

    try:
        asyncio.run(work())
    except (asyncio.CancelledError, KeyboardInterrupt):
        control.cancel()
    refused = working.refused

    def show() -> None:
        if ended or not judged:
            note(
                plural(
                    "{n} trial played to its end.",
                    "{n} trials played to their end.",
                    ended.total(),
                )
            )
        if judged:
            note(plural("{n} trial judged.", "{n} trials judged.", judged.total()))

    return Result(
        show,
        lambda: {
            "ended": {str(run): n for run, n in ended.items()},
            "judged": {str(run): n for run, n in judged.items()},
            "refused": {str(run): why for run, why in refused.items()},
        },
        code=int(bool(refused)),
    )


def offer(ours: Context, run: RunRecord, purpose: Purpose = "play") -> None:
    """Offer what is left of a run to workers, and say how to start one."""
    from cuecard.core.evaluation.offering import offer_run

    print_offered(
        ours,
        run.id,
        asyncio.run(offer_run(ours.workspace, run.id, by=ours.person, purpose=purpose)),
    )


def print_offered(ours: Context, run: int, offered: int) -> None:
    """Say how many trials wait for workers, and how to start one."""
    said = plural(
        "Run {run}: {n} trial is offered to workers. Start one with: {command}",
        "Run {run}: {n} trials are offered to workers. Start one with: {command}",
        offered,
        run=run,
        command=ours.command("worker"),
    )
    note(said)


def follow(
    ours: Context,
    run: int,
    control: RunControl,
    on_event: Callable[[RunEvent], None] | None = None,
    on_left: Callable[[int], None] | None = None,
) -> Halt | None:
    """Show how workers get on with a run, until it is over or paused (the reason is returned) or nobody looks on."""
    from cuecard.core.evaluation.offering import follow_run
    from cuecard.tui.commands.run_output import stopping

    async def look() -> Halt | None:
        with stopping(control, plays=False):
            return await follow_run(
                ours.workspace,
                run,
                config=ours.config(),
                by=ours.person,
                control=control,
                on_event=on_event,
                on_left=on_left,
            )

    halt = asyncio.run(look())
    if control.halt is not None:
        again = ours.command("run", "--resume", str(run), "--workers")
        note(_("The workers go on. Look on again with: {command}").format(command=again))
        cancel = ours.command("runs", "cancel", str(run))
        note(_("Stop them with: {command}").format(command=cancel))
    return halt or (control.halt if on_left else None)
