"""Reading user turns and everybody's decisions on them from the workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuecard.annotate.fidelity.material import Case, Material, Scope, Subject, Voice, decision_of
from cuecard.annotate.fidelity.simulators import (
    HUMAN,
    Simulators,
    is_simulated,
    simulators_in,
)
from cuecard.core.events import AgentSpoke, Event, UserSpoke
from cuecard.core.parts import Dialogue, PlayerRef, UserReply
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.tasks import CheckpointChain, Task
from cuecard.core.users.chain_rules import ChainRules
from cuecard.core.users.stages import next_stage
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.shadows import state_of
from cuecard.store.label_records import LabelValue
from cuecard.store.play_records import Shadow
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Tell = Callable[[int, int], None]
_KINDS: dict[ItemKind, Subject] = {ItemKind.CUE: "cue", ItemKind.STATUS: "status"}
_MOST_IDS = 5000
"""More trials than this are not named in a query; everything is read and sifted."""
Key = tuple[int, str]


def gather(workspace: Workspace, scope: Scope, tell: Tell | None = None) -> Material:
    """All user turns in the scope of tasks that have a persona or checkpoints. Where neither runs nor trials
    are named, only of trials in which there is something to compare: a person played, shadows listened, or
    people decided on turns. `tell` hears how many of how many trials have been read.

    Reads the logs of these trials; call it off the screen's thread. Raises `NotFound` for an unknown run or
    trial.
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
        for each in workspace.adjudications.newest(_named(trials))
        if each.value != LabelValue.UNSURE
    }
    found = _Found()
    tasks: dict[tuple[str, int], Task] = {}
    for done, trial in enumerate(trials.values(), 1):
        version = (trial.task_id, trial.revision)
        if version not in tasks:
            tasks[version] = workspace.tasks.revision(*version).task
        task = tasks[version]
        if task.family == "checkpoints" or task.persona is not None:
            events = workspace.runs.outline(trial.id).events
            reader = _Reader(task, trial, scope, simulators, labels, settled)
            found.add(reader.cases(events, shadows.get(trial.id, [])), reader)
        if tell:
            tell(done, len(trials))
    return found.material(scope, trials.values())


def trials_in(workspace: Workspace, scope: Scope) -> dict[int, TrialRecord]:
    """The scope's trials by id, in their order, without quality probes. Raises `NotFound`."""
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
    """All that simulators would have said in these trials."""
    found = workspace.shadows.of(_named(trials))
    return [shadow for shadow in found if shadow.trial_id in trials]


@dataclass
class _Found:
    cases: list[Case] = field(default_factory=list[Case])
    stale: int = 0
    unsure: int = 0

    def add(self, cases: Sequence[Case], reader: _Reader) -> None:
        self.cases += cases
        self.stale += reader.stale
        self.unsure += reader.unsure

    def material(self, scope: Scope, trials: Collection[TrialRecord]) -> Material:
        players = dict.fromkeys(voice.player for case in self.cases for voice in case.voices)
        return Material(
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
    """Makes the cases of one trial. `stale`: shadows that are of no turn of the course; `unsure`: decisions
    of people that were left open.
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
        subject: Subject = "status" if isinstance(self.task.gold, CheckpointChain) else "cue"
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
        """Who played has decided already; a later label of theirs is no second person's."""
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
        """The next stage with its cue's kind, or the step that the agent is at."""
        if isinstance(self.task.gold, CheckpointChain):
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
    for label in workspace.verdicts.item_labels(_named(trials), phase="blind"):
        if label.trial_id not in trials or not _wanted(label.person, scope.people):
            continue
        if Item.of_key(label.item_key).kind in _KINDS:
            found[label.trial_id, label.item_key][label.person] = label.value.value
    return found


def _named(trials: Collection[int]) -> Collection[int] | None:
    return trials if len(trials) <= _MOST_IDS else None


def _wanted(name: str, names: Sequence[str]) -> bool:
    return not names or name in names
