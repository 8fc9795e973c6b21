"""One run as it was read, the head of its screen, and what rescoring it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.annotate.task_feedback import disputed_runs
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import CuecardError, NotAllowed
from cuecard.core.evaluation.rescoring import RenewedTasks, renewed_tasks, rescored_on_newest
from cuecard.core.evaluation.runs import budget_of
from cuecard.core.i18n import _, current_language, listed, ngettext, plural
from cuecard.core.records import (
    OfferProgress,
    RunOrder,
    RunRecord,
    RunState,
    TrialRecord,
    UsageRecord,
)
from cuecard.core.text import one_line
from cuecard.tui.live_runs import LiveRun
from cuecard.tui.present.entries import Piece
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.runs import (
    DISPUTED,
    TrialState,
    counts,
    heading,
    progress,
    trial_state,
    why_it_stands,
)
from cuecard.tui.present.tables import view_tabs

if TYPE_CHECKING:
    from cuecard.annotate.results.pool import Pool
    from cuecard.annotate.results.rescored import RescoreReport
    from cuecard.store.workspace import Workspace
    from cuecard.tui.live_runs import EndedTrial, Pace


def disputed_lines(count: int) -> list[list[Piece]]:
    """A line about a run with so many items of wrong gold; none for none."""
    if not count:
        return []
    said = ngettext(
        "gold disputed: {n} item of its revisions was found wrong by adjudication",
        "gold disputed: {n} items of its revisions were found wrong by adjudication",
        count,
    )
    return [[Piece(f"{DISPUTED} {said.format(n=count)}", "bad")]]


def renewed_lines(renewed: RenewedTasks, rescored: RunRecord | None) -> list[list[Piece]]:
    """Lines about a run of which tasks have another revision by now that would change its scores; none for none.
    `rescored`: the run that has its trials on today's gold.
    """
    if rescored is not None:
        gold = ngettext(
            "{n} task has other gold by now: run {run} has these trials on it, {MENU} r opens it",
            "{n} tasks have other gold by now: run {run} has these trials on it, {MENU} r opens it",
            renewed.gold,
        )
    else:
        gold = ngettext(
            "{n} task has other gold by now: {MENU} r scores these trials on it",
            "{n} tasks have other gold by now: {MENU} r scores these trials on it",
            renewed.gold,
        )
    played = ngettext(
        "{n} task is played otherwise by now: only a new run tells its scores",
        "{n} tasks are played otherwise by now: only a new run tells their scores",
        renewed.played,
    )
    told = ((gold, renewed.gold), (played, renewed.played))
    run = rescored.id if rescored else ""
    return [[Piece(hint(text, n=n, run=run), "muted")] for text, n in told if n]


@dataclass(frozen=True)
class Spending:
    """Calls of models, their tokens, and what they cost (None: no call had a price)."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    @classmethod
    def of(cls, records: Sequence[UsageRecord]) -> Spending:
        total = Usage.total(used.usage for used in records)
        costs = [used.cost for used in records if used.cost is not None]
        return cls(sum(used.calls for used in records), total, sum(costs) if costs else None)

    def since(self, before: Pace | None, now: Pace | None) -> Spending:
        """With what was told between two moments."""
        if before is None or now is None or now.calls < before.calls:
            return self
        cost = self.cost
        if now.cost is not None:
            cost = (cost or 0.0) + now.cost - (before.cost or 0.0)
        usage = Usage(
            prompt=self.usage.prompt + now.usage.prompt - before.usage.prompt,
            completion=self.usage.completion + now.usage.completion - before.usage.completion,
        )
        return Spending(self.calls + now.calls - before.calls, usage, cost)


UNSETTLED = RunState.INTERRUPTED, RunState.OPEN


@dataclass(frozen=True)
class RunSnapshot:
    """A run as it was read; `pace`: how far this process had come then, if it plays the run. `unread`: why its settings
    cannot be read, if they cannot. `handout`: where it stands with workers, if it was offered to them. `asked`: the last
    order to whoever plays it. `renewed`: what became of its tasks, `rescored`: the run
    that has its trials on today's gold. `tags`: of its trials, by uid. Not
    `whole`: trials, spending and tags are not read yet.
    """

    run: RunRecord
    trials: tuple[TrialRecord, ...]
    spent: Spending
    budget: float | None = None
    disputed: int = 0
    renewed: RenewedTasks = field(default_factory=RenewedTasks)
    rescored: RunRecord | None = None
    pace: Pace | None = None
    unread: CuecardError | None = None
    handout: OfferProgress | None = None
    asked: RunOrder | None = None
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    whole: bool = True

    @cached_property
    def failed(self) -> tuple[TrialRecord, ...]:
        """The trials that failed, the newest first."""
        found = [t for t in self.trials if t.termination is not None and t.termination.is_failure]
        found.sort(key=lambda t: (t.ended_at is not None, t.ended_at, t.id), reverse=True)
        return tuple(found)

    @property
    def waiting(self) -> bool:
        """Whether its trials wait for workers, and none of them is playing any."""
        return self.handout is not None and self.run.state in UNSETTLED

    def has_spent(self, budget: float | None) -> bool:
        return budget is not None and (self.spent.cost or 0.0) >= budget

    @cached_property
    def states(self) -> Mapping[TrialState, int]:
        """How many trials are in which state, whichever are being played."""
        return Counter(trial_state(trial, {}) for trial in self.trials)

    def states_with(self, playing: Mapping[int, int]) -> Mapping[TrialState, int]:
        if not playing:
            return self.states
        return Counter(trial_state(trial, playing) for trial in self.trials)

    def since(self, live: LiveRun | None) -> RunSnapshot:
        """With what a run that is played here has told since; itself where that is nothing."""
        if live is None:
            return self
        trials = _ended_since(self.trials, live.ended)
        if trials is self.trials and not live.going_on:
            return self
        finished = sum(trial.termination is not None for trial in trials)
        return replace(
            self,
            run=live.seen(self.run).model_copy(update={"finished": finished}),
            trials=trials,
            spent=self.spent.since(self.pace, live.pace),
            budget=live.budget.amount if live.going_on else self.budget,
            pace=live.pace,
        )


LARGE = 5000
"""Runs of more trials take seconds to read: their head is shown before that, and nothing is read beforehand."""


def run_snapshot(
    workspace: Workspace,
    run_id: int,
    live: LiveRun | None,
    *,
    head: bool = False,
    pool: Pool | None = None,
) -> RunSnapshot:
    """`head`: of a large run only what its head tells. `pool`: of the run as it is now, if it was just read. Raises
    `NotFound`.
    """
    pace = live.pace if live else None
    run = workspace.runs.get(run_id)
    budget, unread = None, None
    try:
        budget = budget_of(run)
    except CuecardError as error:
        unread = error
    whole = not head or run.trials <= LARGE
    trials, usage = (), ()
    if pool is not None:
        trials, usage = [row.trial for row in pool.rows], pool.usage
    elif whole:
        trials, usage = workspace.runs.trials(run_id), workspace.runs.usage(run_id)
    played = {trial.task_id: trial.revision for trial in trials if run.kind == "grid"}
    newest = {task.id: task.revision for task in workspace.tasks.summaries()} if played else {}
    renewed = renewed_tasks(workspace, played, newest)
    found = RunSnapshot(
        run=run,
        trials=tuple(trials),
        spent=Spending.of(usage),
        whole=whole,
        budget=budget,
        disputed=disputed_runs(workspace).get(run_id, 0),
        renewed=renewed,
        rescored=rescored_on_newest(workspace, run) if renewed.gold and unread is None else None,
        pace=pace,
        unread=unread,
        handout=workspace.workers.handout(run_id),
        asked=next(reversed(workspace.orders.of(run_id)), None),
        tags=workspace.tags.of("trial", run=run_id) if whole else {},
    )
    # Counted here, in a thread: of a large run it would hold up the screen.
    _told = found.states, found.failed
    return found


def warm_up(workspace: Workspace, run_id: int) -> None:
    """Read what scores of a run are read from, so that the first one opens as fast as the others. Counts nothing."""
    if not run_snapshot(workspace, run_id, None, head=True).whole:
        return
    workspace.runs.traits(run_id)
    with suppress(NotAllowed):
        workspace.verdicts.heads(run_id)
    workspace.figures.of_run(run_id, current_language())


def _ended_since(
    trials: tuple[TrialRecord, ...], ended: Mapping[int, EndedTrial]
) -> tuple[TrialRecord, ...]:
    """One that could not begin has ended for this process only: it stays open."""
    if not ended:
        return trials
    changed = False
    found: list[TrialRecord] = []
    for trial in trials:
        end = ended.get(trial.id)
        begun = end is not None and not (
            end.problem and end.termination is Termination.INTERNAL_ERROR
        )
        if end is not None and begun and trial.termination is not end.termination:
            trial = trial._replace(
                termination=end.termination, detail=end.detail, ended_at=datetime.now(UTC)
            )
            changed = True
        found.append(trial)
    return tuple(found) if changed else trials


def spending_line(spent: Spending, budget: float | None, currency: str) -> list[Piece]:
    """Calls, tokens, and cost against the budget; empty where no model was called and no budget is set."""
    if not spent.calls and budget is None:
        return []
    calls = ngettext("{n} model call", "{n} model calls", spent.calls)
    parts = [
        calls.format(n=f"{spent.calls:,}"),
        _("{prompt} + {completion} tokens").format(
            prompt=f"{spent.usage.prompt:,}", completion=f"{spent.usage.completion:,}"
        ),
    ]
    cost = "–" if spent.cost is None else f"{spent.cost:.4f}"
    if budget is not None:
        share = (spent.cost or 0.0) / budget
        parts.append(
            _("cost {n} of {budget} {currency} ({share})").format(
                n=cost, budget=f"{budget:g}", currency=currency, share=f"{share:.0%}"
            )
        )
    elif spent.cost is not None:
        parts.append(_("cost {n} {currency}").format(n=cost, currency=currency))
    over = budget is not None and (spent.cost or 0.0) >= 0.9 * budget
    return [Piece(" · ".join(parts), "bad" if over else "muted")]


def pace_line(pace: Pace, *, stopping: bool, left: float | None = None) -> list[Piece]:
    """Turns a second and the time that is left, of a run that goes on here. `left`: seconds until a run that is
    `stopping` is cut off.
    """
    parts = [_("{n:.1f} turns/s").format(n=pace.turns_a_second)]
    if pace.seconds_left is not None:
        time = timedelta(seconds=round(pace.seconds_left))
        parts.append(_("{time} left").format(time=time))
    pieces = [Piece(" · ".join(parts), "plain")]
    if stopping and left is not None:
        told = _("finishing the calls under way: they are cut off in {n} s").format(n=round(left))
        pieces.append(Piece("   " + told, "stage"))
    elif stopping:
        pieces.append(Piece("   " + _("finishing the calls under way…"), "stage"))
    return pieces


def troubles_line(
    failed: Sequence[TrialRecord], pace: Pace | None, problems: Mapping[int, str]
) -> list[Piece]:
    """How many trials failed and the last reasons, newest first; empty without any."""
    count = len(failed) + len(problems.keys() - {trial.id for trial in failed})
    if not count:
        return []
    told = [each.reason for each in reversed(pace.troubles)] if pace else []
    told = dict.fromkeys(told or [trial.detail for trial in failed])
    reasons = list(dict.fromkeys(one_line(reason, 80) for reason in told if reason))[:3]
    errors = ngettext("{n} error", "{n} errors", count).format(n=f"{count:,}")
    return [
        Piece(f"✗ {errors}", "bad"),
        *([Piece(_(": ") + " · ".join(reasons), "muted")] if reasons else []),
    ]


BAR, BAR_WIDE = 12, 24
WIDE = 100


def head_lines(
    snapshot: RunSnapshot, live: LiveRun | None, currency: str = "", room: int = WIDE
) -> list[list[Piece]]:
    """`live`: the run as it is or was played in this process; `currency`: of the configuration, once it is known."""
    here = live is not None and live.going_on
    playing = live.playing if live else {}
    lines = [
        heading(snapshot.run, room - 2),
        [
            *progress(snapshot.run, BAR_WIDE if room >= WIDE else BAR),
            Piece("   "),
            *counts(snapshot.states_with(playing)),
        ],
    ]
    if live is not None and here:
        lines.append(pace_line(live.pace, stopping=live.stopping, left=live.control.seconds_left))
    lines += [
        line
        for line in (
            spending_line(snapshot.spent, snapshot.budget, currency),
            troubles_line(
                snapshot.failed, live.pace if live else None, live.problems if live else {}
            ),
        )
        if line
    ]
    if snapshot.unread is not None:
        lines.append([Piece(one_line(str(snapshot.unread), 200), "bad")])
    if snapshot.handout is not None and snapshot.run.state is not RunState.DONE:
        lines.append([Piece(handout_line(snapshot.handout), "muted")])
    return [
        *lines,
        *why_it_stands(snapshot.run, here=here, asked=snapshot.asked, waits=snapshot.waiting),
        *disputed_lines(snapshot.disputed),
        *renewed_lines(snapshot.renewed, snapshot.rescored),
    ]


def handout_line(handout: OfferProgress) -> str:
    """How the trials of a run stand that are handed out to workers."""
    text = _(
        "workers: {n} · trials waiting: {waiting} · held: {held} · done: {done} · taken over: {lost}"
    )
    return text.format(
        n=sum(worker.alive for worker in handout.workers),
        waiting=handout.waiting,
        held=handout.held,
        done=handout.done,
        lost=len(handout.lost),
    )


def rescoring_words(report: RescoreReport, usage: Sequence[UsageRecord], currency: str) -> str:
    """What rescoring a run is going to take. `usage`: of the run."""
    told = [
        plural(
            "The gold of {n} task has changed. What comes of it is a run of its own; this one stays as it is.",
            "The gold of {n} tasks has changed. What comes of it is a run of its own; this one stays as it is.",
            len(report.gold),
        )
    ]
    for one in report.judges:
        text = _("{judge} · verdicts kept: {kept} · items to judge: {asked}")
        told.append(
            text.format(judge=one_line(one.judge, 40), kept=f"{one.kept:,}", asked=f"{one.asked:,}")
        )
    if any(one.asked and not one.baseline for one in report.judges):
        spent = Spending.of([used for used in usage if used.payer == "judge"])
        calls = plural("{n} call", "{n} calls", spent.calls)
        cost = "" if spent.cost is None else f" ({spent.cost:.4f} {currency})"
        told.append(
            _("Judging all of it took {calls}; this takes no more than about that.").format(
                calls=f"{calls}{cost}"
            )
        )
    else:
        told.append(_("No model is called."))
    return "\n".join([*told, *left_words(report)])


def left_words(report: RescoreReport) -> list[str]:
    """Which tasks cannot be judged on their new revision, and why."""
    text = _("{task} is left out: {changed} changed since it was played.")
    return [
        text.format(task=one.task_id, changed=listed([_(each) for each in one.changed]))
        for one in report.left
    ]


def tab_line(shown: str) -> list[Piece]:
    """The panes with their keys."""
    panes = (("trials", "t", _("Trials")), ("scores", "s", _("Scores")))
    return view_tabs((name == shown, letter, word) for name, letter, word in panes)
