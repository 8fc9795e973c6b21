"""What verbs share that have judges judge: judges made from their names, how far they have come, and judging by workers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cuecard.core.i18n import N_, _, listed
from cuecard.core.players import all_embedded
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import CallProgress

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import Judge, RecordedCall
    from cuecard.core.evaluation.judging import JudgeFailure
    from cuecard.core.llm.hub import ModelHub


def confirm_calls(text: str) -> None:
    """Ask before models are called. Wrong usage if nobody can answer."""
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            text + " " + _("Say so with --yes or --budget; --known shows what is known."),
            param_hint="--yes",
        )
    if not typer.confirm(text + " " + _("Go on?"), err=True):
        raise typer.Exit(0)


class Progress(CallProgress):
    """Of one judge after another."""

    def __init__(self, currency: str) -> None:
        super().__init__(currency, _("Judging…"))
        self._name = ""

    def begin(self, judge: str) -> None:
        """The next judge begins."""
        self._name = judge
        self.moved(0, 0)

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` are judged."""
        line = _("Judging with {judge}: {done} of {total}, {calls} calls")
        self.show(line.format(judge=self._name, done=done, total=total, calls=self.calls))

    def called(self, call: RecordedCall) -> None:
        """Count a model call; calls read back from the record are not counted."""
        self.count("judge", call.model, call.reply)


ByWorkers = Annotated[
    bool, N_("Leave the judging to `cuecard worker` on any machines; needs PostgreSQL")
]

Done = TypeVar("Done")


def config_for(ours: Context, names: Sequence[str]) -> Config:
    """The configuration; embedded judges need none. Raises `ConfigError`."""
    from cuecard.core.config import EMBEDDED

    return EMBEDDED if all_embedded("judge", names) else ours.config()


def with_judges(
    config: Config,
    names: Sequence[str],
    work: Callable[[Sequence[Judge]], Awaitable[Done]],
    limits: Callable[[ModelHub], AbstractAsyncContextManager[object]] = nullcontext,
) -> Done:
    """What `work` gives with these judges, within `limits`. Raises `ConfigError` where one cannot be made."""
    from cuecard.core.engine.players import build_judge
    from cuecard.core.llm.hub import ModelHub

    async def perform() -> Done:
        async with ModelHub(config) as hub:
            judges = [build_judge(name, config, hub) for name in names]
            async with limits(hub):
                return await work(judges)

    return asyncio.run(perform())


def by_workers(
    ours: Context, run: int, names: Sequence[str], config: Config, *, again: bool = False
) -> dict[str, tuple[JudgeFailure, ...]]:
    """Have workers judge the run; by judge the trials that are left unjudged when they are done, or stop."""
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.evaluation.ended_work import offer_judging
    from cuecard.core.evaluation.judging import JudgeFailure, to_judge
    from cuecard.tui.commands.workers import follow, print_offered

    ours.workspace.workers.check()
    heads = ours.outlasting(ours.workspace.verdicts.heads, run) if again else ()
    newest = max((head.id for head in heads), default=0)
    offered = asyncio.run(
        offer_judging(ours.workspace, run, names, config, by=ours.person, again=again)
    )
    halt = None
    if offered:
        print_offered(ours, run, offered)
        with Progress(config.currency) as progress:
            progress.begin(listed(names))
            halt = follow(
                ours,
                run,
                RunControl(0),
                on_left=lambda left: progress.moved(offered - left, offered),
            )
    why = str(halt) if halt else _("the workers say why")
    after = newest if again and halt else None
    return {
        name: tuple(
            JudgeFailure(trial_id=trial, reason=why, halted=halt is not None)
            for trial in ours.outlasting(to_judge, ours.workspace, run, name, after)
        )
        for name in names
    }
