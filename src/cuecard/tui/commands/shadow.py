"""`cuecard shadow`: ask simulators what they would have said in trials that were played before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.core.text import one_line
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import CallProgress, as_json, note, prose, table

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.engine.messages import ModelReply, PlayerRef
    from cuecard.core.engine.run import RunControl
    from cuecard.core.evaluation.shadow_replay import ShadowCount, Shadowed
    from cuecard.store.workspace import Workspace


_SHOWN = 10


def shadow(
    context: typer.Context,
    runs: Annotated[
        list[int] | None, typer.Argument(metavar="RUN", help=_("Runs or sessions, by number"))
    ] = None,
    trials: Annotated[
        list[int] | None, typer.Option("--trial", help=_("A trial by number; may be repeated"))
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--user",
            help=_("User of cuecard.yaml; may be repeated. Default: the shadows under `play`"),
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1024, help=_("Turns at the same time"))
    ] = 4,
    budget: Annotated[
        float | None,
        typer.Option(min=0.000001, help=_("Stop when the calls have cost so much")),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.tui.commands.run_output import EXIT_INTERRUPTED

    if not runs and not trials:
        raise typer.BadParameter(_("give runs, or trials with --trial"), param_hint="RUN")
    ours = Context.of(context)
    config = ours.config()
    names = tuple(dict.fromkeys(users or config.play.shadows))
    if not names:
        raise typer.BadParameter(_("tell who is to be asked, with --user"), param_hint="--user")
    with ours.workspace() as workspace:
        found = [
            trial.id
            for run in runs or ()
            for trial in workspace.runs.trials(workspace.runs.get(run).id)
        ]
        work = _Work(workspace, tuple(dict.fromkeys([*found, *(trials or ())])), names, config)
        done = work.perform(concurrency, budget)
    if done is None:
        note(_("Stopped. What was answered is kept; the same command goes on."))
        raise typer.Exit(EXIT_INTERRUPTED)
    if json:
        as_json(_json(done, work.stopped))
    else:
        _print(done)
    _tell_failures(done, stopped=work.stopped)
    work.report()
    raise typer.Exit(EXIT_INTERRUPTED if work.stopped else 1 if done.failures else 0)


class _Work:
    """Asks, and shows on stderr how far it has come. `stopped`: a person wanted no more."""

    def __init__(
        self, workspace: Workspace, trials: Sequence[int], names: Sequence[str], config: Config
    ) -> None:

        self._workspace = workspace
        self._trials = trials
        self._names = names
        self._config = config
        self._progress = Progress(config.currency)
        self.stopped = False

    def perform(self, concurrency: int, budget: float | None) -> Shadowed | None:
        """None if it was ended where it stood. Raises `NotFound`, `ConfigError`."""
        from cuecard.core.engine.run import RunControl
        from cuecard.core.errors import Drained

        control = RunControl()
        try:
            done = asyncio.run(self._ask(control, concurrency, budget))
        except (asyncio.CancelledError, KeyboardInterrupt):
            return None
        self.stopped = isinstance(control.halt, Drained)
        return done

    async def _ask(self, control: RunControl, concurrency: int, budget: float | None) -> Shadowed:
        from cuecard.core.evaluation.shadow_replay import shadow_trials
        from cuecard.tui.commands.run_output import stopping

        with stopping(control), self._progress:
            return await shadow_trials(
                self._workspace,
                self._trials,
                self._names,
                self._config,
                concurrency=concurrency,
                budget=budget,
                on_progress=self._progress.moved,
                on_call=self._progress.called,
                control=control,
            )

    def report(self) -> None:
        self._progress.report()


def _json(done: Shadowed, stopped: bool) -> dict[str, object]:
    return {**done.model_dump(mode="json"), "stopped": stopped}


def _print(done: Shadowed) -> None:
    from cuecard.tui.commands.score_output import baselines_line

    title = ngettext("Shadows of {n} trial", "Shadows of {n} trials", done.trials)
    table(
        title.format(n=done.trials),
        (_("simulator"), _("model"), _("answered now"), _("before"), _("failed")),
        [(s.name, _models(s), s.asked, s.before, s.failed) for s in done.shadows],
        numbers=range(2, 5),
    )
    line = baselines_line((_("user"), ref) for s in done.shadows for ref in s.players)
    if line:
        prose(line)


def _models(shadow: ShadowCount) -> str:
    """The models that the user plays with; of one who needs none, that it is a script."""
    models = dict.fromkeys(ref.model for ref in shadow.players if ref.model)
    return ", ".join(models) or (_("none, a script") if shadow.players else "")


def _tell_failures(done: Shadowed, *, stopped: bool) -> None:
    for failure in [each for each in done.failures if not each.halted][:_SHOWN]:
        line = _("trial {id}, turn {n}: {user} could not be asked: {reason}")
        note(
            one_line(
                line.format(
                    id=failure.trial_id, n=failure.turn, user=failure.name, reason=failure.reason
                )
            )
        )
    left = len(done.failures)
    if left and done.halt and not stopped:
        note(_("Asking had to stop: {reason}").format(reason=done.halt))
    if left:
        note(
            ngettext(
                "{n} answer is missing; the same command asks for it again.",
                "{n} answers are missing; the same command asks for them again.",
                left,
            ).format(n=left)
        )


class Progress(CallProgress):
    def __init__(self, currency: str) -> None:
        super().__init__(currency, _("Asking…"))

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` turns were asked about."""
        line = ngettext(
            "Asking: {done} of {total} turns, {calls} call",
            "Asking: {done} of {total} turns, {calls} calls",
            self.calls,
        )
        self.show(line.format(done=done, total=total, calls=self.calls))

    def called(self, player: PlayerRef, reply: ModelReply) -> None:
        """A call was made."""
        self.count("user", player.model, reply)
