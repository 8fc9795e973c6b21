"""`cuecard sessions`, `shadow` and `fidelity`: what people played, what simulators would have said, and how far they agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.i18n import N_, _, headed, listed, ngettext, plural
from cuecard.core.system import EXIT_INTERRUPTED, write_text
from cuecard.core.text import one_line
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import CallProgress, note, prose, say, table
from cuecard.tui.commands.verb import TABLES, Budget, Help, Page, Result, Reveal, verb

if TYPE_CHECKING:
    from cuecard.annotate.fidelity.model import Fidelity, TurnFindings
    from cuecard.annotate.sessions import SessionReport
    from cuecard.core.config import Config
    from cuecard.core.engine.messages import ModelReply, PlayerRef
    from cuecard.core.evaluation.shadow_replay import ShadowCount, Shadowed
    from cuecard.core.tables.table import Table

Section = Literal["cues", "findings", "worst", "outcome", "meaning"]
_PARTS: dict[Section, tuple[str, ...]] = {
    "cues": ("agreements", "among_people", "ceilings"),
    "findings": ("findings",),
    "worst": ("worst",),
    "outcome": ("outcomes",),
    "meaning": ("meaning",),
}
"""The fields of `Fidelity` that each section tells."""
_FAILURES = 10
_LETTERS = 600


@verb(
    "cuecard sessions --csv sessions.csv",
    "json",
    json=N_("Print JSON, with every mark, note and answer"),
)
def sessions(
    ours: Context,
    runs: Annotated[Sequence[int], Help(N_("Run numbers; none means all"), metavar="RUN")] = (),
    *,
    csv: Annotated[Path | None, N_("Write a line for each session and form into this file")] = None,
    reveal: Reveal = False,
) -> Result:
    from cuecard.annotate.sessions import session_reports, sessions_csv

    # A table and CSV tell no decision.
    sight = ours.sight(reveal=reveal) if ours.json else None
    reports = session_reports(ours.workspace, list(runs) or None, sight)
    if csv is not None:
        write_text(csv, sessions_csv(reports))

    def show() -> None:
        if csv is not None:
            n = len(reports)
            say(
                plural(
                    "{n} session written to {file}.", "{n} sessions written to {file}.", n, file=csv
                )
            )
        elif not reports:
            note(_("No sessions yet; in the app, p plays a task."))
        else:
            _print_sessions(reports)

    return Result(show, lambda: {"sessions": [each.model_dump(mode="json") for each in reports]})


def _print_sessions(reports: list[SessionReport]) -> None:
    from cuecard.core.i18n import stopwatch
    from cuecard.tui.commands.score_output import baselines_line, termination_label

    table(
        "",
        (
            *(_("trial"), _("turns"), _("time"), _("notes"), _("satisfied")),
            *(_("task"), _("person"), _("agent"), _("outcome")),
        ),
        [
            (
                report.trial_id,
                report.turns,
                stopwatch(report.seconds),
                len(report.notes) or "",
                _satisfied(report),
                report.task_id,
                report.person,
                report.agent_person or report.agent.name,
                termination_label(report.termination),
            )
            for report in reports
        ],
        numbers=range(5),
    )
    if baselines := baselines_line((_("agent"), report.agent) for report in reports):
        note(baselines)


def _satisfied(report: SessionReport) -> str:
    """`6/7`; a dash where the person would rather not say."""
    for form in report.forms:
        for question in form.questions:
            if question.key == "satisfaction" and question.key in form.answers:
                return f"{form.answers[question.key]}/{question.highest}"
    return "–" if report.forms else ""


@verb("cuecard shadow 3 --user persona --budget 2", "json")
def shadow(
    ours: Context,
    runs: Annotated[Sequence[int], Help(N_("Runs or sessions, by number"), metavar="RUN")] = (),
    *,
    trials: Annotated[
        Sequence[int], Help(N_("A trial by number; may be repeated"), "--trial")
    ] = (),
    users: Annotated[
        Sequence[str],
        Help(
            N_("User of cuecard.yaml; may be repeated. Default: the shadows under `play`"), "--user"
        ),
    ] = (),
    concurrency: Annotated[int, Help(N_("Turns at the same time"), min=1, max=1024)] = 4,
    budget: Budget = None,
    workers: Annotated[
        bool, N_("Leave the asking to `cuecard worker` on any machines; needs PostgreSQL")
    ] = False,
) -> Result:
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.errors import StoppedByPerson

    if not runs and not trials:
        raise typer.BadParameter(_("give runs, or trials with --trial"), param_hint="RUN")
    if workers and budget is not None:
        # A run's budget is not for shadows, and this one would be known here alone.
        raise typer.BadParameter(_("give one of them"), param_hint=["--workers", "--budget"])
    config = ours.config()
    names = tuple(dict.fromkeys(users or config.play.shadows))
    if not names:
        raise typer.BadParameter(_("tell who is to be asked, with --user"), param_hint="--user")
    stored = ours.workspace.runs
    found = [trial.id for run in runs for trial in stored.trials(stored.get(run).id)]
    if workers:
        return _by_workers(ours, tuple(dict.fromkeys([*found, *trials])), names, config)
    progress, control = ShadowProgress(config.currency), RunControl()

    async def ask() -> Shadowed:
        from cuecard.core.evaluation.shadow_replay import shadow_trials
        from cuecard.tui.commands.run_output import stopping

        with stopping(control), progress:
            return await shadow_trials(
                ours.workspace,
                tuple(dict.fromkeys([*found, *trials])),
                names,
                config,
                concurrency=concurrency,
                budget=budget,
                on_progress=progress.moved,
                on_call=progress.called,
                control=control,
            )

    try:
        done = asyncio.run(ask())
    except (asyncio.CancelledError, KeyboardInterrupt):
        note(_("Stopped. What was answered is kept; the same command goes on."))
        raise typer.Exit(EXIT_INTERRUPTED) from None
    return _shadowed(done, isinstance(control.halt, StoppedByPerson), progress)


def _by_workers(
    ours: Context, trials: Sequence[int], names: Sequence[str], config: Config
) -> Result:
    """Have workers ask, trial by trial, and tell what came of it when they are done, or stop."""
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.evaluation.ended_work import offer_shadows
    from cuecard.core.evaluation.shadow_replay import count_shadows
    from cuecard.tui.commands.workers import follow, print_offered

    workspace = ours.workspace
    workspace.workers.check()
    why = _("the trial is open, or the workers say why")
    first = asyncio.run(count_shadows(workspace, trials, names, config, why))
    due: dict[int, set[int]] = {}
    for trial in dict.fromkeys(failure.trial_id for failure in first.failures):
        due.setdefault(ours.outlasting(workspace.runs.trial, trial).run_id, set()).add(trial)
    offered: list[int] = []
    for run, only in due.items():
        n = asyncio.run(offer_shadows(workspace, run, names, config, by=ours.person, only=only))
        if n:
            print_offered(ours, run, n)
            offered.append(run)
    control, halts = RunControl(0), list[str]()
    for run in offered:
        if control.halt is None and (halt := follow(ours, run, control)) is not None:
            halts.append(str(halt))
    last = asyncio.run(count_shadows(workspace, trials, names, config, why))
    return _shadowed(last.since(first, next(iter(halts), "")), control.halt is not None)


def _shadowed(done: Shadowed, stopped: bool, progress: ShadowProgress | None = None) -> Result:
    def remarks() -> None:
        _tell_failures(done, stopped=stopped)
        if progress is not None:
            progress.report()

    return Result(
        lambda: _print_shadows(done),
        lambda: {**done.model_dump(mode="json"), "stopped": stopped},
        code=EXIT_INTERRUPTED if stopped else 1 if done.failures else 0,
        remarks=remarks,
    )


def _print_shadows(done: Shadowed) -> None:
    from cuecard.tui.commands.score_output import baselines_line

    table(
        plural("Shadows of {n} trial", "Shadows of {n} trials", done.trials),
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
    return listed(models) or (_("none, a script") if shadow.players else "")


def _tell_failures(done: Shadowed, *, stopped: bool) -> None:
    for failure in [each for each in done.failures if not each.halted][:_FAILURES]:
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
            plural(
                "{n} answer is missing; the same command asks for it again.",
                "{n} answers are missing; the same command asks for them again.",
                left,
            )
        )


class ShadowProgress(CallProgress):
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


@verb("cuecard fidelity --user persona --section cues", *TABLES)
def fidelity(
    ours: Context,
    runs: Annotated[
        Sequence[int],
        Help(N_("Runs by number. Default: all with something to compare"), metavar="RUN"),
    ] = (),
    *,
    user: Annotated[Sequence[str], N_("Only this simulator; may be repeated")] = (),
    person: Annotated[Sequence[str], N_("Only this person's decisions; may be repeated")] = (),
    task: Annotated[Sequence[str], N_("Only this task; may be repeated")] = (),
    judge: Annotated[str, N_("Whose scores. Default: of the judge that judged most")] = "",
    section: Annotated[Sequence[Section], N_("Only this part; may be repeated")] = (),
    worst: Annotated[int, Help(N_("How many of the worst turns"), min=0)] = 10,
    correlation: Annotated[
        Sequence[float], N_("Only say how many sessions it takes to find this correlation")
    ] = (),
    power: Annotated[float, N_("With --correlation: the chance to find it")] = 0.8,
    reveal: Annotated[
        bool,
        N_("Also turns that I have not labelled; labels that I give on them later are not blind"),
    ] = False,
) -> Result:
    from cuecard.annotate.fidelity.inputs import Scope
    from cuecard.annotate.fidelity.report import fidelity_of, seen_in

    if correlation:
        return _sizes(correlation, power)
    scope = Scope(runs=tuple(runs), tasks=tuple(task), simulators=tuple(user), people=tuple(person))
    wanted = section or tuple(_PARTS)
    found = fidelity_of(ours.workspace, scope, judge)
    if "worst" in wanted:
        found = seen_in(ours.workspace, found, ours.sight(reveal=reveal), worst, reveal=reveal)
    left_out = {name for part, names in _PARTS.items() if part not in wanted for name in names}
    told = found.model_copy(update={"worst": found.worst[:worst]})
    return Result(
        _page(found, wanted, worst, texts=ours.form not in ("csv", "latex")),
        lambda: told.model_dump(mode="json", exclude=left_out),
    )


def _page(found: Fidelity, wanted: Sequence[Section], worst: int, *, texts: bool) -> Page:
    """`texts`: of the worst turns what was said, to be read; a table has no room for it."""
    from cuecard.annotate.fidelity.tables import circumstances, fidelity_tables

    def part(table: Table) -> Table | Page:
        read = texts and table.view == "worst"
        return Page([_read(t, found) for t in found.worst[:worst]], table.title) if read else table

    parts = [part(table) for table in fidelity_tables(found, worst) if table.view in wanted]
    hint = _(
        "Play a session with simulators that listen, ask them afterwards (`cuecard shadow`), or re-play a"
        " simulator's trial in the app; then look here again."
    )
    title = _("Fidelity of simulators")
    return Page(parts, title, circumstances(found), hint="" if parts else hint)


def _read(turn: TurnFindings, found: Fidelity) -> Page:
    """What was said in a turn."""
    from cuecard.annotate.fidelity.tables import (
        decision_word,
        findings_word,
        place_word,
        simulator_word,
    )

    name = simulator_word(turn.simulator, found.simulators)
    right = decision_word(turn.subject, turn.reference)
    lines = [_("Agent: {text}").format(text=one_line(turn.agent_text, _LETTERS))]
    if turn.person:
        said = one_line(turn.person_text, _LETTERS)
        lines.append(
            _("{person} ({decision}): {text}").format(person=turn.person, decision=right, text=said)
        )
    elif turn.reference:
        lines.append(_("Held for right: {decision}").format(decision=right))
    theirs = decision_word(turn.subject, turn.decision)
    said = one_line(turn.simulator_text, _LETTERS) or "–"
    lines.append(_("{person} ({decision}): {text}").format(person=name, decision=theirs, text=said))
    if turn.reason:
        lines.append(_("Its reason: {text}").format(text=one_line(turn.reason, _LETTERS)))
    return Page((), headed(f"{place_word(turn)} · {name}", findings_word(turn)), lines)


def _sizes(correlations: Sequence[float], power: float) -> Result:
    from cuecard.annotate.fidelity.correlation import sessions_needed
    from cuecard.annotate.fidelity.detail_tables import sizes_table

    if not all(0 < abs(size) < 1 for size in correlations):
        raise typer.BadParameter(
            _("a correlation lies between 0 and 1"), param_hint="--correlation"
        )
    if not 0 < power < 1:
        raise typer.BadParameter(_("a power lies between 0 and 1"), param_hint="--power")
    found = [
        {
            "correlation": size,
            "spearman": sessions_needed(size, power),
            "kendall": sessions_needed(size, power, kind="kendall"),
        }
        for size in correlations
    ]
    return Result(
        Page([sizes_table(correlations, power)]),
        lambda: {"power": power, "alpha": 0.05, "sessions": found},
    )
