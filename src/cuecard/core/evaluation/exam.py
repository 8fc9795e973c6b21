"""Has a judge sit an exam (`core.exam`), recorded and resumable: a run of the kind `probe`, whose trials hold the inputs.

Verdicts are ordinary judgements of these trials, so each can be opened, its calls are recorded and their costs count. An exam is
kept by the judge's stamp: the same judge with the same model, prompts and settings goes on with its exam where it stopped; any other
begins another one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cuecard import __version__
from cuecard.core.engine.events import (
    Concluded,
    Event,
    Limits,
    Termination,
    TrialEnded,
    TrialStarted,
)
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.engine.players import build_judge
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import NotFound
from cuecard.core.evaluation.judging import (
    JudgeFailure,
    OnCall,
    OnProgress,
    Subject,
    at_a_time,
    judge_each,
    judge_trial,
)
from cuecard.core.evaluation.plans import (
    RunPlan,
    RunSettings,
    check_prices,
    enter_run,
    free_name,
    player_configs,
    settings_of,
)
from cuecard.core.evaluation.run_trials import playing
from cuecard.core.evaluation.runs import keep_prompts
from cuecard.core.evaluation.sharing import within_limits
from cuecard.core.exam.marking import Answered, answered
from cuecard.core.exam.probes import EXAMS, SCHEME, ExamInput, inputs_of
from cuecard.core.families.registry import MissingPart
from cuecard.core.i18n import _, plural
from cuecard.core.judges.jury import Jury
from cuecard.core.llm.hub import ModelHub
from cuecard.core.probes.results import EXAMINER, ExamSetting
from cuecard.core.records import RunRecord, RunState, TrialCell, TrialRecord
from cuecard.core.tasks.models import TaskLanguage, content_hash
from cuecard.core.verdicts import Decision

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import Judge, RecordedCall
    from cuecard.core.evaluation.plans import PlayerConfigs
    from cuecard.core.label_records import JudgementRecord

_BATCH = 20
Place = tuple[str, int, str]
"""Where an input stands: the task's id, the number of its revision, the input's key."""


@dataclass(frozen=True)
class Sheet:
    """The inputs of one task's revision."""

    task_id: str
    revision: int
    language: TaskLanguage
    inputs: tuple[ExamInput, ...]
    hash: str

    @property
    def entries(self) -> Iterator[tuple[Place, ExamInput]]:
        for given in self.inputs:
            yield (self.task_id, self.revision, given.key), given


@dataclass(frozen=True)
class ExamPlan:
    """An exam before it begins. `run`: that of the same judge and seed, with which it goes on; None for a new one. `inputs`
    and `left`: how many there are, and are not judged; `calls`: how many model calls these take at most if every answer can
    be read, and `repeats` how often at most one that cannot be read is asked for. `skipped`: by task, why it has no exam.
    """

    setting: ExamSetting
    sheets: tuple[Sheet, ...]
    run: RunRecord | None
    inputs: int
    left: int
    calls: int
    repeats: int
    skipped: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def summary(self) -> str:
        """What the exam takes, before it begins."""
        inputs = plural("{n} input is to be judged", "{n} inputs are to be judged", self.left)
        if not self.calls:
            return _("{inputs}, without a model.").format(inputs=inputs)
        line = _(
            "{inputs}, with at most {calls} model calls, or {most} if every answer has to be asked for {times} times."
        )
        most = f"{self.calls * self.repeats:,}"
        return line.format(inputs=inputs, calls=f"{self.calls:,}", most=most, times=self.repeats)


@dataclass(frozen=True)
class Exam:
    """An exam as it is recorded. `answers`: every input of the tasks that it is about, in their order; `cost`: None where the
    model has no price.
    """

    run: RunRecord
    setting: ExamSetting
    answers: tuple[Answered, ...]
    calls: int
    cost: float | None

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.task_id for each in self.answers))


def exam_stamp(ref: PlayerRef, configs: PlayerConfigs) -> str:
    """12 hex digits of a judge's model, prompts and settings. `configs`: of `player_configs`, or of a run's `roster`."""
    told: list[object] = [ref.model_dump(mode="json", exclude={"name"})]
    members = configs.get(f"judges/{ref.name}", {}).get("members")
    for name in (ref.name, *(members if isinstance(members, list) else ())):
        judge = configs.get(f"judges/{name}", {})
        told += [judge, configs.get(f"models/{judge.get('model')}")]
    text = json.dumps(told, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def exam_setting(judge: Judge, config: Config, seed: int = 0) -> ExamSetting:
    configs = player_configs(config, judges=(judge.ref.name,))
    return ExamSetting(
        judge=judge.ref, stamp=exam_stamp(judge.ref, configs), seed=seed, scheme=SCHEME
    )


def exams(workspace: Archive) -> list[tuple[RunRecord, ExamSetting]]:
    """All exams in the workspace, newest first. Blocks for the database."""
    runs = ((run, settings_of(run).exam) for run in workspace.runs.all("probe"))
    return [(run, setting) for run, setting in runs if setting is not None]


def plan_exam(
    workspace: Archive,
    judge: Judge | str,
    task_ids: Sequence[str],
    *,
    config: Config,
    seed: int = 0,
    again: bool = False,
) -> ExamPlan:
    """What an exam of a judge, or of the one with this name, on the newest revisions of these tasks takes. `again`: a new one,
    whatever is recorded. Blocks for the database. Raises `NotFound`, and `ConfigError` for a name.
    """
    if isinstance(judge, str):
        judge = build_judge(judge, config, ModelHub(config))
    setting = exam_setting(judge, config, seed)
    found = [] if again else [run for run, its in exams(workspace) if its == setting]
    run = found[0] if found else None
    sheets: list[Sheet] = []
    skipped: dict[str, str] = {}
    for task_id in dict.fromkeys(task_ids):
        revision = workspace.tasks.revision(task_id)
        try:
            inputs = inputs_of(revision.task, seed=seed)
        except MissingPart:
            skipped[task_id] = _("tasks of its family have no exam")
            continue
        kept = tuple(_asked_of(judge, inputs))
        language = revision.task.language
        sheets.append(Sheet(task_id, revision.number, language, kept, content_hash(revision.task)))
    done = _judged(workspace, run) if run else {}
    left = _left(judge, sheets, done)
    asked = [each for each in _behind(judge) if not each.ref.baseline]
    calls = sum(
        EXAMS[given.task.family].calls(given, getattr(each, "batch", _BATCH))
        for each in asked
        for _place, given in left
    )
    return ExamPlan(
        setting=setting,
        sheets=tuple(sheets),
        run=run,
        inputs=sum(len(sheet.inputs) for sheet in sheets),
        left=len(left),
        calls=calls,
        repeats=max((getattr(each, "attempts", 1) for each in asked), default=1),
        skipped=skipped,
    )


def _asked_of(judge: Judge, inputs: Sequence[ExamInput]) -> Iterator[ExamInput]:
    """Without the prompt in the other language where a judge has one prompt, or none."""
    one = all(map(_has_one_prompt, _behind(judge)))
    yield from (given for given in inputs if not (one and given.key.startswith("V07")))


def _behind(judge: Judge) -> tuple[Judge, ...]:
    """The members of a jury; another judge itself."""
    return judge.members if isinstance(judge, Jury) else (judge,)


def _has_one_prompt(judge: Judge) -> bool:
    prompts: Mapping[tuple[str, str], object] = getattr(judge, "prompts", {})
    return judge.ref.baseline or (
        bool(prompts)
        and all(
            getattr(prompt, "hash", None) == getattr(prompts.get((name, "zh")), "hash", None)
            for (name, language), prompt in prompts.items()
            if language == "en"
        )
    )


def _left(
    judge: Judge, sheets: Sequence[Sheet], done: Mapping[Place, JudgementRecord]
) -> list[tuple[Place, ExamInput]]:
    """The inputs that are not judged, or on which an answer of the judge's model was unusable."""
    every = (entry for sheet in sheets for entry in sheet.entries)
    return [(p, given) for p, given in every if p not in done or _is_due(judge, given, done[p])]


def _is_due(judge: Judge, given: ExamInput, record: JudgementRecord) -> bool:
    if judge.ref.baseline:
        return False
    items = {target.item.key for target in given.targets}
    return any(
        verdict.decision is Decision.UNJUDGED and verdict.item.key in items
        for verdict in record.judgement.verdicts
    )


def _judged(workspace: Archive, run: RunRecord) -> dict[Place, JudgementRecord]:
    """The newest judgement of each input."""
    places = {trial.id: _place(trial) for trial in workspace.runs.trials(run.id)}
    return {places[record.trial_id]: record for record in _of_judge(workspace, run)}


def _newest(places: Collection[Place]) -> set[Place]:
    """Those of each task's newest revision."""
    newest: dict[str, int] = {}
    for task_id, revision, _key in places:
        newest[task_id] = max(revision, newest.get(task_id, 0))
    return {place for place in places if place[1] == newest[place[0]]}


def _of_judge(workspace: Archive, run: RunRecord) -> Iterator[JudgementRecord]:
    """The judgements of the judge that sits the exam; those of a jury's members stand beside them."""
    setting = settings_of(run).exam
    for record in workspace.verdicts.of_run(run.id):
        if setting is not None and record.judgement.judge.name == setting.judge.name:
            yield record


def enter_exam(
    workspace: Archive, plan: ExamPlan, config: Config, by: str, budget: float | None = None
) -> ExamPlan:
    """The plan with the exam's run, which is made where there is none. Blocks for the database. Raises `ConfigError` for a
    budget where a model has no price.
    """
    if budget is not None:
        check_prices(config.judge_models([plan.setting.judge.name]), config)
    return replace(plan, run=_entered(workspace, plan, config, by, budget)[0])


async def run_exam(
    workspace: Archive,
    plan: ExamPlan,
    judge: Judge | None = None,
    hub: ModelHub | None = None,
    *,
    config: Config,
    by: str,
    budget: float | None = None,
    control: RunControl | None = None,
    on_progress: OnProgress | None = None,
    on_call: OnCall | None = None,
) -> tuple[RunRecord, tuple[JudgeFailure, ...]]:
    """Have the judge judge what is left of its exam. Returns the exam's run, and the failures, which are left for another
    time. `judge`, which asks through `hub`: without it, the plan's as it is configured. `budget`: what all calls of the exam may
    cost. The run is paused when that is spent, when `control` stops it, and while it has other inputs to be judged.

    Raises `ConfigError` for a budget where a model has no price, and `AlreadyPlayed`.
    """
    control = control or RunControl()
    plan = await asyncio.to_thread(enter_exam, workspace, plan, config, by, budget)
    run, trials = await asyncio.to_thread(_entered, workspace, plan, config, by, budget)
    done = await asyncio.to_thread(_judged, workspace, run)
    async with nullcontext(hub) if hub else ModelHub(config) as hub, playing(workspace, run.id, by):
        judge = judge or build_judge(plan.setting.judge.name, config, hub)
        left = list(_left(judge, plan.sheets, done))
        todo = [(trials[place], given) for place, given in left]
        await asyncio.to_thread(workspace.runs.set_state, run.id, RunState.RUNNING)
        await asyncio.to_thread(keep_prompts, workspace, config)
        async with within_limits(workspace, hub, run_id=run.id, control=control) as meter:

            def called(call: RecordedCall) -> None:
                meter.judged(call)
                if on_call:
                    on_call(call)

            async def perform(item: tuple[int, ExamInput]) -> None:
                trial, given = item
                subject = Subject(given.task, given.prediction)
                await judge_trial(
                    workspace, trial, judge, again=False, on_call=called, subject=subject
                )

            troubles = await judge_each(todo, perform, at_a_time(judge), on_progress, control)
        halted = next((trouble.reason for trouble in troubles.values() if trouble.halted), "")
        judged = done.keys() | {place for place, _given in left}
        judged -= {left[at][0] for at in troubles}
        # It may hold inputs of other tasks than were asked for now.
        state = RunState.PAUSED if halted or _newest(trials) - judged else RunState.DONE
        await asyncio.to_thread(workspace.runs.set_state, run.id, state, halted)
    failures = tuple(
        JudgeFailure(trial_id=todo[at][0], reason=trouble.reason, halted=trouble.halted)
        for at, trouble in troubles.items()
    )
    return await asyncio.to_thread(workspace.runs.get, run.id), failures


def _entered(
    workspace: Archive, plan: ExamPlan, config: Config, by: str, budget: float | None
) -> tuple[RunRecord, dict[Place, int]]:
    """The exam's run with a trial for each input, made where it is not there, and the trials' ids."""
    name = plan.setting.judge.name
    run = plan.run
    if run is None:
        roster = player_configs(config, judges=(name,))
        settings = RunSettings(judges=(), exam=plan.setting, roster=roster, budget=budget)
        title = free_name(workspace, _("exam: {judge}").format(judge=name))
        tasks = tuple(sheet.task_id for sheet in plan.sheets)
        if not tasks:
            raise NotFound(_("No task has an exam"), "\n".join(plan.skipped.values()))
        run = enter_run(workspace, RunPlan(tasks=tasks, name=title, settings=settings), (), by)
    elif budget is not None:
        settings = settings_of(run).model_copy(update={"budget": budget})
        workspace.runs.set_plan(run.id, settings.model_dump(mode="json"))
    known = {_place(trial): trial for trial in workspace.runs.trials(run.id)}
    held = {place: (sheet, given) for sheet in plan.sheets for place, given in sheet.entries}
    cells = [_cell(place, plan.setting.seed) for place in held if place not in known]
    added = workspace.runs.add_trials(run.id, cells) if cells else []
    known |= {_place(trial): trial for trial in added}
    # A trial without its end is one whose process was killed in between.
    batch = [
        (trial.id, event)
        for place, trial in known.items()
        if trial.termination is None and place in held
        for event in _events(trial, *held[place])[trial.events :]
    ]
    if batch:
        workspace.runs.append_events(batch)
    return run, {place: trial.id for place, trial in known.items()}


def _place(trial: TrialRecord) -> Place:
    return trial.task_id, trial.revision, trial.agent.name


_NOBODY = PlayerRef(name="exam", kind="exam", baseline=True)


def _cell(place: Place, seed: int) -> TrialCell:
    # An examiner's trial counts in no score and is judged by no other judge.
    task_id, revision, key = place
    agent = PlayerRef(name=key, kind=EXAMINER, baseline=True, version=str(SCHEME))
    return TrialCell(
        task_id=task_id, revision=revision, agent=agent, user=_NOBODY, world=_NOBODY, seed=seed
    )


def _events(trial: TrialRecord, sheet: Sheet, given: ExamInput) -> list[Event]:
    bodies = (
        TrialStarted(
            task_id=sheet.task_id,
            revision=sheet.revision,
            revision_hash=sheet.hash,
            agent=trial.agent,
            user=trial.user,
            world=trial.world,
            seed=trial.seed,
            limits=Limits(max_turns=1),
            cuecard=__version__,
        ),
        Concluded(prediction=given.prediction),
        TrialEnded(termination=Termination.ANSWERED),
    )
    now = datetime.now(UTC)
    return [Event(seq=seq, at=now, body=body) for seq, body in enumerate(bodies)]


def read_exam(
    workspace: Archive, run_id: int, tasks: Collection[str] = (), sheets: Sequence[Sheet] = ()
) -> Exam:
    """A recorded exam, on these tasks (none: on all that it holds). `sheets`: those that its plan has made already. Blocks for
    the database.

    Raises `NotFound` for a run that is no exam, or was made with other probes than those of this version.
    """
    run = workspace.runs.get(run_id)
    setting = settings_of(run).exam
    if setting is None:
        hint = _("`cuecard exam JUDGE` has it sit one.")
        raise NotFound(_("Run {id} is no exam of a judge").format(id=run_id), run.name, hint)
    if setting.scheme != SCHEME:
        why = _("Its probes are those of another version of Cuecard.")
        raise NotFound(
            _("Run {id} cannot be read").format(id=run_id),
            why,
            _("Have the judge sit the exam anew: --again."),
        )
    trials = [t for t in workspace.runs.trials(run_id) if not tasks or t.task_id in tasks]
    records = {record.trial_id: record.judgement for record in _of_judge(workspace, run)}
    by_task: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        by_task.setdefault(trial.task_id, []).append(trial)
    found: list[Answered] = []
    made = {(sheet.task_id, sheet.revision): sheet for sheet in sheets}
    for task_id, every in by_task.items():
        number = max(trial.revision for trial in every)
        if sheet := made.get((task_id, number)):
            language, inputs = sheet.language, sheet.inputs
        else:
            task = workspace.tasks.revision(task_id, number).task
            language, inputs = task.language, inputs_of(task, seed=setting.seed)
        ids = {trial.agent.name: trial.id for trial in every if trial.revision == number}
        said = {key: records[id] for key, id in ids.items() if id in records}
        kept_inputs = [given for given in inputs if given.key in ids]
        found += answered(task_id, language, kept_inputs, said, ids)
    kept = {trial.id for trial in trials}
    usage = [used for used in workspace.runs.usage(run_id) if used.trial_id in kept]
    costs = [used.cost for used in usage if used.cost is not None]
    return Exam(
        run=run,
        setting=setting,
        answers=tuple(found),
        calls=sum(used.calls for used in usage),
        cost=sum(costs) if costs else None,
    )
