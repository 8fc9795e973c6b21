"""What workers are asked to do with trials of a run that have ended: judge them, or ask simulators about their turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from cuecard.core.archive import outlast, outlasting
from cuecard.core.config import Config
from cuecard.core.engine.events import Event
from cuecard.core.engine.run import Cell
from cuecard.core.engine.step_context import Judge
from cuecard.core.engine.trial import TrialResult
from cuecard.core.engine.trial_log import TrialLog
from cuecard.core.errors import CuecardError, Halt, NotAllowed, error_text
from cuecard.core.evaluation.judging import OnCall, is_due, judge_trial, to_judge
from cuecard.core.evaluation.plans import Judging, check_prices, player_configs, settings_of
from cuecard.core.evaluation.rescoring import RescorePlan, Rescoring, enter_rescoring, rescored_from
from cuecard.core.evaluation.run_trials import TrialSink, playing
from cuecard.core.evaluation.shadow_replay import ask_about, plan_shadows
from cuecard.core.i18n import _
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import RunRecord, RunState, TrialRecord
from cuecard.core.worker_archive import Claim

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

_STAY = (RunState.PAUSED, RunState.DONE, RunState.CANCELLED)


async def offer_judging(
    workspace: Archive,
    run_id: int,
    judges: Sequence[str],
    config: Config,
    *,
    by: str,
    again: bool = False,
) -> int:
    """Offer the run's ended trials that these judges have not fully judged to workers, or all of them `again`; how many
    these are. Begun before with the same judges, it goes on. Raises `AlreadyPlayed`, `ConfigError`, and `NotAllowed` while
    workers play the run or are asked for something else.
    """
    asked = Judging(judges=tuple(judges), roster=player_configs(config, judges=judges))

    models = config.judge_models(judges)

    def check() -> None:
        if settings_of(workspace.runs.get(run_id)).budget is not None:
            check_prices(models, config)

    await outlast(workspace, check)
    return await offer_work(workspace, run_id, asked, by, again=again)


async def offer_rescoring(
    workspace: Archive, plan: RescorePlan, config: Config, *, by: str
) -> RunRecord:
    """Enter the rescored run, and offer it to workers to be judged. Raises what `enter_rescoring` and `offer_judging` raise."""
    from cuecard.core.evaluation.runs import judges_of

    async with ModelHub(config) as hub:
        judges = judges_of(plan.judges, config, hub)
        run = await enter_rescoring(workspace, plan, judges, by=by)
    await offer_judging(workspace, run.id, plan.judges, config, by=by)
    return await outlast(workspace, workspace.runs.get, run.id)


async def offer_shadows(
    workspace: Archive,
    run_id: int,
    names: Sequence[str],
    config: Config,
    *,
    by: str,
    only: Collection[int] = (),
) -> int:
    """Offer the run's ended trials, or `only` these, to workers, who ask the users `names` what they would have said at each
    turn; how many these are. Raises what `offer_judging` raises.
    """
    roster = player_configs(config, users=names)
    asked = Judging(judges=(), shadows=tuple(names), only=tuple(sorted(only)), roster=roster)
    return await offer_work(workspace, run_id, asked, by)


async def offer_work(
    workspace: Archive, run_id: int, asked: Judging, by: str, *, again: bool = False
) -> int:
    """Offer the trials for which something of what is asked is left to do; how many these are."""

    def wanted() -> Judging:
        run = workspace.runs.get(run_id)
        before = settings_of(run).judging
        if before and before.same_as(asked):
            return before
        if run_id in workspace.workers.offered():
            hint = _("`cuecard runs cancel {id}` stops them.").format(id=run_id)
            raise NotAllowed(_("Workers do something else with this run"), run.name, hint)
        heads = workspace.verdicts.heads(run_id) if again else ()
        newest = max((head.id for head in heads), default=0) if again else None
        state = run.state if run.state in _STAY else RunState.DONE
        if before:
            state = before.state
        return asked.model_copy(update={"after": newest, "state": state, "reason": run.reason})

    def enter() -> list[int]:
        due = set[int]()
        judging = wanted()
        for judge in judging.judges:
            due.update(to_judge(workspace, run_id, judge, judging.after))
        if judging.shadows:
            ended = (t.id for t in workspace.runs.trials(run_id) if t.termination is not None)
            due.update(each for each in ended if not judging.only or each in judging.only)
        set_work(workspace, run_id, judging if due else None)
        return sorted(due)

    async def offer() -> int:
        async with workspace.workers.queue(by) as queue:
            return await queue.offer(run_id, {f"/{trial}": [trial] for trial in trials}, "judge")

    trials = await outlast(workspace, enter)
    return await outlasting(workspace, offer) if trials else 0


def set_work(workspace: Archive, run_id: int, judging: Judging | None) -> None:
    """Store with the run what workers are to do with its ended trials; None: nothing."""
    settings = settings_of(workspace.runs.get(run_id))
    if settings.judging != judging:
        changed = settings.model_copy(update={"judging": judging})
        workspace.runs.set_plan(run_id, changed.model_dump(mode="json"))


def stop_work(workspace: Archive, run_id: int, reason: str = "") -> None:
    """Stop what workers were asked to do with ended trials of the run, and leave it as it was before. A rescored one, which
    is made of their verdicts, is stopped itself for this `reason`, so that it goes on where it was.
    """
    settings = settings_of(workspace.runs.get(run_id))
    if settings.rescored:
        workspace.runs.set_state(run_id, RunState.CANCELLED, reason)
    elif (judging := settings.judging) is not None:
        workspace.runs.set_state(run_id, judging.state, judging.reason)
        set_work(workspace, run_id, None)


async def end_work(workspace: Archive, run_id: int, by: str) -> None:
    """Leave the run as it was before: once, whoever tries. Raises `AlreadyPlayed`."""

    def end() -> None:
        run = workspace.runs.get(run_id)
        settings = settings_of(run)
        if (judging := settings.judging) is None or workspace.workers.offered().get(run_id):
            return
        state = judging.state
        if settings.rescored and judging.judges:
            left = [name for name in judging.judges if to_judge(workspace, run_id, name)]
            state = RunState.CANCELLED if left else RunState.DONE
        # The state first: what is left half done is done again by whoever finds the work still set.
        workspace.runs.set_state(run_id, state, judging.reason)
        set_work(workspace, run_id, None)

    async with playing(workspace, run_id, by):
        await asyncio.to_thread(end)


class EndedCells:
    """The cells of a run whose trials are judged, or have shadows asked, and are not played. `on_call` is called with each
    call of a judge, `on_shadow` after each of a shadow.
    """

    def __init__(
        self,
        workspace: Archive,
        run: RunRecord,
        judging: Judging,
        judges: Sequence[Judge],
        config: Config,
        hub: ModelHub,
        on_call: OnCall,
        on_shadow: Callable[[], None],
    ) -> None:
        self.judging = judging
        self._workspace, self._run, self._judges = workspace, run, judges
        self._config, self._hub = config, hub
        self._on_call, self._on_shadow = on_call, on_shadow
        self._rescored = settings_of(run).rescored
        self._pairs: tuple[RescorePlan, dict[int, TrialRecord]] | None = None

    def claimed(self, claim: Claim, check: Callable[[], None]) -> Cell:
        async def begin() -> tuple[None, TrialLog]:
            past = await outlast(self._workspace, self._workspace.runs.outline, claim.trial_id)
            return None, TrialLog(
                TrialSink(self._workspace, claim.trial_id, claim=claim), past.events
            )

        async def after(_result: TrialResult, _events: tuple[Event, ...]) -> None:
            if claim.poisons:
                died = _("{n} workers died while they judged it").format(n=claim.lost)
                if self.judging.shadows:
                    died = _("{n} workers died while they asked about it").format(n=claim.lost)
                    raise CuecardError(_("This trial is left without its shadows"), died)
                raise CuecardError(_("This trial is left unjudged"), died)
            for judge in self._judges:
                check()
                await self._judge(judge, claim)
            if self.judging.shadows:
                await self._ask(claim, check)

        return Cell(str(claim.trial_id), begin, after, check)

    async def _ask(self, claim: Claim, check: Callable[[], None]) -> None:
        plan = await outlast(
            self._workspace,
            plan_shadows,
            self._workspace,
            (claim.trial_id,),
            self.judging.shadows,
            self._config,
            self._hub,
        )
        troubles: list[str] = []
        for point in plan.points:
            check()
            try:
                said = await ask_about(self._workspace, point, claim)
            except Halt:
                raise
            except Exception as error:  # noqa: BLE001 - one turn's failure is data
                troubles.append(error_text(error))
                continue
            for _call in said.calls:
                self._on_shadow()
        if troubles:
            raise CuecardError(_("Not every turn could be asked about"), troubles[0])

    async def _judge(self, judge: Judge, claim: Claim) -> None:
        workspace, after = self._workspace, self.judging.after
        if self._rescored:
            plan, olds = await self._plan()
            new = await outlast(workspace, workspace.runs.trial, claim.trial_id)
            anew = settings_of(self._run).anew
            work = Rescoring(workspace, plan, judge, anew, self._on_call, claim)
            await work.judge((olds[new.id], new))
            return

        def due() -> bool:
            found = workspace.verdicts.of_trial(claim.trial_id)
            newest = next((r for r in found if r.judgement.judge.name == judge.ref.name), None)
            return is_due(workspace.runs.trial(claim.trial_id), newest, after)

        # Another may have judged it, and died then.
        if await outlast(workspace, due):
            again = after is not None
            await judge_trial(
                workspace, claim.trial_id, judge, again=again, on_call=self._on_call, claim=claim
            )

    async def _plan(self) -> tuple[RescorePlan, dict[int, TrialRecord]]:
        self._pairs = self._pairs or await outlast(
            self._workspace, rescored_from, self._workspace, self._run
        )
        return self._pairs
