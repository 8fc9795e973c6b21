"""The fidelity report for a scope: reads user turns and decisions from the workspace and computes every part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import RESAMPLES
from cuecard.annotate.fidelity.decisions import agreements, among_people, ceilings, counted
from cuecard.annotate.fidelity.findings import turns_with_findings
from cuecard.annotate.fidelity.inputs import (
    HUMAN,
    Case,
    FidelityInputs,
    Scope,
    Simulators,
    Subject,
    Voice,
    decision_of,
    is_simulated,
    simulators_in,
)
from cuecard.annotate.fidelity.model import Fidelity, Meaning, Outcome, TurnFindings
from cuecard.annotate.fidelity.scores import comparable, meaning_of, outcomes, scores_of
from cuecard.annotate.labelling.comparison_inputs import if_few
from cuecard.core.engine.events import AgentSpoke, Event, UserSpoke
from cuecard.core.engine.messages import Dialogue, PlayerRef, UserReply
from cuecard.core.evaluation.shadows import state_of
from cuecard.core.families.registry import chain_of
from cuecard.core.label_records import LabelValue
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import Shadow, TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.users.responder import ChainRules
from cuecard.core.users.scripted import next_stage
from cuecard.core.verdicts import Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Sight, Workspace


Tell = Callable[[int, int], None]
_KINDS: dict[ItemKind, Subject] = {ItemKind.CUE: "cue", ItemKind.STATUS: "status"}
Key = tuple[int, str]


def gather(workspace: Workspace, scope: Scope, tell: Tell | None = None) -> FidelityInputs:
    """All user turns in the scope, of tasks with a persona or checkpoints. If neither runs nor trials are named, only
    trials with something to compare: played by a person, with shadow replies, or with people's decisions. `tell(done,
    all)` is called as trials are read.

    Reads the logs of these trials, so call it off the screen's thread. Raises `NotFound` for an unknown run or trial.
    """
    trials = trials_in(workspace, scope)
    asked = shadows_of(workspace, trials)
    simulators = simulators_in(workspace, trials.values(), asked)
    shadows: dict[int, list[Shadow]] = defaultdict(list)
    for shadow in asked:
        if _wanted(shadow.player.name, scope.simulators):
            shadows[shadow.trial_id].append(shadow)
    labels = _labels(workspace, scope, trials)
    if not (scope.runs or scope.trials):
        told = {trial for trial, _key in labels} | set(shadows)
        trials = {id: t for id, t in trials.items() if t.user.kind == HUMAN or id in told}
    settled = {
        (each.trial_id, each.item_key): each.value.value
        for each in workspace.adjudications.newest(if_few(trials))
        if each.value != LabelValue.UNSURE
    }
    found = _ReadResult()
    tasks: dict[tuple[str, int], Task] = {}
    for done, trial in enumerate(trials.values(), 1):
        version = (trial.task_id, trial.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        task = tasks[version]
        if chain_of(task) is not None or task.persona is not None:
            events = workspace.runs.outline(trial.id).events
            reader = _Reader(task, trial, scope, simulators, labels, settled)
            found.add(reader.cases(events, shadows.get(trial.id, [])), reader)
        if tell:
            tell(done, len(trials))
    return found.inputs(scope, trials.values())


def trials_in(workspace: Workspace, scope: Scope) -> dict[int, TrialRecord]:
    """The scope's trials by id, in ascending order, without examinations of tasks. Raises `NotFound`."""
    ids = set(scope.trials)
    runs = scope.runs
    if not runs and ids:
        runs = tuple(workspace.runs.trial(id).run_id for id in scope.trials)
    elif not runs:
        runs = tuple(run.id for run in workspace.runs.all() if run.kind != "probe")
    found = [trial for run in sorted(set(runs)) for trial in workspace.runs.trials(run)]
    return {
        trial.id: trial
        for trial in sorted(found, key=lambda trial: trial.id)
        if (not ids or trial.id in ids)
        and _wanted(trial.task_id, scope.tasks)
        and trial.agent.kind != EXAMINER
    }


def shadows_of(workspace: Workspace, trials: Collection[int]) -> list[Shadow]:
    """All shadow replies in these trials."""
    found = workspace.shadows.of(if_few(trials))
    return [shadow for shadow in found if shadow.trial_id in trials]


@dataclass
class _ReadResult:
    cases: list[Case] = field(default_factory=list[Case])
    stale: int = 0
    unsure: int = 0

    def add(self, cases: Sequence[Case], reader: _Reader) -> None:
        self.cases += cases
        self.stale += reader.stale
        self.unsure += reader.unsure

    def inputs(self, scope: Scope, trials: Collection[TrialRecord]) -> FidelityInputs:
        players = dict.fromkeys(voice.player for case in self.cases for voice in case.voices)
        return FidelityInputs(
            scope=scope,
            cases=tuple(self.cases),
            simulators=tuple(sorted(players, key=lambda p: (p.name, p.model, p.version, p.kind))),
            people=tuple(
                sorted({name for case in self.cases for name in case.people})
                or sorted({case.player for case in self.cases if case.player})
            ),
            trials=len(trials),
            played=sum(trial.user.kind == HUMAN for trial in trials),
            stale=self.stale,
            unsure=self.unsure,
            undecided=sum(
                case.decides and not decision_of(voice.reply)
                for case in self.cases
                for voice in case.voices
            ),
        )


@dataclass
class _Reader:
    """Makes the cases of one trial. `stale`: shadow replies to no turn of the effective log; `unsure`: decisions that
    people left open.
    """

    task: Task
    trial: TrialRecord
    scope: Scope
    simulators: Simulators
    labels: Mapping[Key, Mapping[str, str]]
    settled: Mapping[Key, str]
    stale: int = 0
    unsure: int = 0

    def cases(self, events: Sequence[Event], shadows: Sequence[Shadow]) -> list[Case]:
        by_state: dict[str, list[Shadow]] = defaultdict(list)
        for shadow in shadows:
            by_state[shadow.state].append(shadow)
        used: set[str] = set()
        found: list[Case] = []
        before = Dialogue()
        for event in events:
            body = event.body
            if not isinstance(body, UserSpoke | AgentSpoke):
                continue
            agent_spoke = before.messages and before.messages[-1].role == "agent"
            if isinstance(body, UserSpoke) and body.turn >= 1 and agent_spoke:
                state = state_of(before) if by_state else ""
                used.add(state)
                found.append(self._case(body.turn, body.reply, before, by_state.get(state, [])))
            before = before.plus(body.message)
        # The turn that is still to be taken: shadows have spoken, nobody else has.
        waiting = state_of(before) if by_state else ""
        self.stale += sum(shadow.state not in {*used, waiting} for shadow in shadows)
        return found

    def _case(
        self, turn: int, reply: UserReply, before: Dialogue, shadows: Sequence[Shadow]
    ) -> Case:
        trial, human = self.trial, self.trial.user.kind == HUMAN
        ours = human and _wanted(trial.user.name, self.scope.people)
        subject: Subject = "cue" if chain_of(self.task) is None else "status"
        kind = next(kind for kind, about in _KINDS.items() if about == subject)
        key = (trial.id, Item(kind=kind, index=turn).key)
        stage, cue, step = self._place(before)
        case = Case(
            trial_id=trial.id,
            turn=turn,
            run_id=trial.run_id,
            task=self.task,
            revision=trial.revision,
            agent=trial.agent,
            before=before,
            subject=subject,
            stage=stage,
            cue=cue,
            checkpoint=step,
            player=trial.user.name if ours else "",
            person=reply if ours else None,
            voices=self._voices(reply, shadows),
            labels=self._said(self.labels.get(key, {}), human),
            adjudicated=self.settled.get(key, ""),
        )
        if ours and case.decides and not case.played:
            self.unsure += 1
        return case

    def _said(self, labels: Mapping[str, str], human: bool) -> dict[str, str]:
        """People's blind labels without those of who played: they have decided already."""
        others = {
            who: value
            for who, value in labels.items()
            if not (human and who == self.trial.user.name)
        }
        self.unsure += sum(value == LabelValue.UNSURE.value for value in others.values())
        return {who: value for who, value in others.items() if value != LabelValue.UNSURE.value}

    def _voices(self, reply: UserReply, shadows: Sequence[Shadow]) -> tuple[Voice, ...]:
        user = self.simulators.one(self.trial.user)
        found: dict[PlayerRef, Voice] = {}
        if is_simulated(self.trial) and _wanted(user.name, self.scope.simulators):
            found[user] = Voice(user, "played", reply)
        for shadow in shadows:
            player, source = self.simulators.one(shadow.player), "live" if shadow.live else "later"
            found.setdefault(player, Voice(player, source, shadow.reply))
        return tuple(found.values())

    def _place(self, before: Dialogue) -> tuple[int | None, str, int | None]:
        """The number of the next stage with its cue's kind, or the step that the agent is at."""
        if chain_of(self.task) is not None:
            step = ChainRules(self.task, None).place(before)
            about = step.step.ambiguity
            return None, about.type.value if about else "", step.index
        if self.task.persona is None:
            return None, "", None
        stage = next_stage(self.task.persona, before)
        if stage is None:
            return None, "", None
        return stage, self.task.persona.stages[stage - 1].cue.kind.value, None


def _labels(
    workspace: Workspace, scope: Scope, trials: Collection[int]
) -> dict[Key, dict[str, str]]:
    found: dict[Key, dict[str, str]] = defaultdict(dict)
    for label in workspace.verdicts.item_labels(if_few(trials), phase="blind"):
        if label.trial_id not in trials or not _wanted(label.person, scope.people):
            continue
        if Item.of_key(label.item_key).kind in _KINDS:
            found[label.trial_id, label.item_key][label.person] = label.value.value
    return found


def _wanted(name: str, names: Sequence[str]) -> bool:
    return not names or name in names


def fidelity_of(
    workspace: Workspace,
    scope: Scope,
    judge: str = "",
    *,
    resamples: int = RESAMPLES,
    tell: Tell | None = None,
) -> Fidelity:
    """The report for the scope. `judge`: whose scores count, "" for the one who judged most of the trials. Reads many
    logs, so call it off the screen's thread. Raises `NotFound` for an unknown run or trial.
    """
    inputs = gather(workspace, scope, tell)
    outcome, meaning = scored_part(workspace, scope, judge, resamples=resamples)
    return report_of(inputs, outcome, meaning, resamples=resamples)


def seen_in(
    workspace: Workspace, found: Fidelity, sight: Sight, most: int, *, reveal: bool = False
) -> Fidelity:
    """`found` with only those of the worst turns that the reader may see: those they decided or played, or with
    `reveal` all. The first `most`, which are shown, are saved as seen.
    """
    trials = {turn.trial_id for turn in found.worst}
    labels = workspace.verdicts.item_labels(trials, None)
    mine = {(label.trial_id, label.item_key) for label in labels if label.person == sight.person}
    kept: list[TurnFindings] = []
    for turn in found.worst:
        item = turn.item
        if turn.person != sight.person and not reveal and (turn.trial_id, item.key) not in mine:
            sight.hide(turn.trial_id, item)
        # What comes after so many is counted, not shown.
        elif len(kept) >= most or sight.may_tell(turn.trial_id, item):
            kept.append(turn)
    sight.record()
    return found.model_copy(update={"worst": tuple(kept)})


def report_of(
    inputs: FidelityInputs,
    outcome: tuple[Outcome, ...] = (),
    meaning: Meaning | None = None,
    *,
    resamples: int = RESAMPLES,
) -> Fidelity:
    """The report from inputs that were read, with the parts that need scores."""
    worst = turns_with_findings(inputs)
    return Fidelity.from_fields(
        inputs,
        runs=inputs.scope.runs,
        tasks=inputs.scope.tasks,
        turns=len(inputs.cases),
        agreements=tuple(agreements(inputs, resamples=resamples)),
        among_people=tuple(among_people(inputs, resamples=resamples)),
        ceilings=tuple(ceilings(inputs, resamples=resamples)),
        findings=tuple(counted(inputs, worst, resamples=resamples)),
        worst=tuple(worst),
        outcomes=outcome,
        meaning=meaning,
    )


def scored_part(
    workspace: Workspace, scope: Scope, judge: str = "", *, resamples: int = RESAMPLES
) -> tuple[tuple[Outcome, ...], Meaning | None]:
    """The parts that need scores: outcomes, and correlations with people's ratings. Raises as `fidelity_of`."""
    known = trials_in(workspace, scope)
    simulators = simulators_in(workspace, known.values(), shadows_of(workspace, known))
    trials = [
        trial
        for trial in comparable(known.values())
        if not (trial.user.kind == HUMAN and scope.people and trial.user.name not in scope.people)
        and not (
            is_simulated(trial) and scope.simulators and trial.user.name not in scope.simulators
        )
    ]
    scores = scores_of(workspace, trials, judge)
    asked = set(scores.trials)
    forms = [
        form
        for form in workspace.session_forms.newest()
        if form.trial_id in asked and (not scope.people or form.person in scope.people)
    ]
    return (
        tuple(outcomes(trials, scores, simulators, resamples=resamples)),
        meaning_of(forms, scores, resamples=resamples),
    )
