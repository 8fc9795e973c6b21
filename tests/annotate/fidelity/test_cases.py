"""Who decided what on a turn: the person who played, simulators that listened, people who re-played."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cuecard.annotate.fidelity.inputs import Scope
from cuecard.annotate.fidelity.model import FindingKind
from cuecard.annotate.fidelity.report import fidelity_of, gather, report_of
from cuecard.annotate.fidelity.tables import circumstances, simulator_word
from cuecard.core.engine.events import AgentSpoke, Event, Limits, TrialRetried
from cuecard.core.engine.messages import (
    AgentReply,
    CheckpointStatus,
    Dialogue,
    PlayerRef,
    UserReply,
)
from cuecard.core.errors import NotFound
from cuecard.core.evaluation.shadows import state_of
from cuecard.core.label_records import LabelValue
from cuecard.core.records import Shadow, TrialCell
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from fidelity_planted import BRIDGE, CHINESE, ENGLISH
from fidelity_sessions import (
    AGENT,
    ANN,
    AT,
    CAREFUL,
    SLOPPY,
    WORLD,
    faithful,
    listen,
    met,
    samples,
    session,
    turns_of,
    unmet,
)

YES, NO, UNSURE = LabelValue.YES, LabelValue.NO, LabelValue.UNSURE


def cue(turn: int) -> Item:
    return Item(kind=ItemKind.CUE, index=turn)


def test_a_simulators_trial_is_held_against_those_who_replayed_it(workspace: Workspace):
    task = samples()["espresso"]
    turns = turns_of(task, ENGLISH[:4])
    trial = session(workspace, task, turns, user=SLOPPY)
    said = {
        1: {"Ann": YES, "Bo": YES, "Cy": NO},  # most: the simulator was late
        2: {"Ann": NO, "Bo": NO},  # early
        3: {"Ann": NO, "Bo": YES},  # level: nobody is right
        4: {"Ann": UNSURE, "Bo": YES},
    }
    for turn, values in said.items():
        for person, value in values.items():
            workspace.verdicts.label_item(trial, cue(turn), person, value)
    # What is decided once one has looked does not count.
    workspace.verdicts.note_reveal(trial, cue(2), "Ann")
    workspace.verdicts.label_item(trial, cue(2), "Ann", YES)
    inputs = gather(workspace, Scope())
    assert [case.reference for case in inputs.cases] == ["yes", "no", "", "yes"]
    assert [case.said(SLOPPY) for case in inputs.cases] == ["no", "yes", "no", "yes"]
    assert (inputs.people, inputs.unsure, inputs.played) == (("Ann", "Bo", "Cy"), 1, 0)
    report = report_of(inputs, resamples=50)
    found = {(turn.turn, f.kind) for turn in report.worst for f in turn.findings}
    assert found == {(1, FindingKind.LATE), (2, FindingKind.EARLY)}
    people = report.among_people[0]
    # Turn 1: one pair of three agrees; turn 2: all; turn 3: none.
    assert (people.n, people.people) == (3, ("Ann", "Bo", "Cy"))
    assert people.percent.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    ceiling = report.ceilings[0]
    assert (ceiling.simulator, ceiling.table.n) == (SLOPPY, 3)
    workspace.adjudications.add(trial, cue(3), "Eve", YES)
    workspace.adjudications.add(trial, cue(1), "Eve", NO)
    settled = gather(workspace, Scope(runs=(1,))).cases
    assert [case.reference for case in settled] == ["no", "no", "yes", "yes"]
    only = gather(workspace, Scope(people=("Bo",)))
    assert [dict(case.labels) for case in only.cases] == [
        {"Bo": "yes"},
        {"Bo": "no"},
        {"Bo": "yes"},
        {"Bo": "yes"},
    ]


def test_the_person_who_played_comes_before_those_who_labelled(workspace: Workspace):
    task = samples()["checkpoints-old-bridge-zh"]
    turns = turns_of(task, BRIDGE)
    trial = session(workspace, task, turns)
    item = Item(kind=ItemKind.STATUS, index=1)
    for person in ("Bo", "Cy", "Ann"):
        workspace.verdicts.label_item(trial, item, person, CheckpointStatus.WRONG_ANSWER)
    case = gather(workspace, Scope()).cases[0]
    assert (case.subject, case.checkpoint, case.turn) == ("status", 0, 1)
    assert case.reference == "correct_answer"
    # Who played has decided already.
    assert case.people == {"Ann": "correct_answer", "Bo": "wrong_answer", "Cy": "wrong_answer"}
    assert gather(workspace, Scope(people=("Bo",))).cases[0].reference == "wrong_answer"


def test_what_was_taken_back_is_no_turn_and_its_shadows_are_stale(workspace: Workspace):
    task = samples()["espresso"]
    turns = turns_of(task, ENGLISH[:3])
    trial = session(workspace, task, turns, end=None)
    listen(workspace, trial, turns, CAREFUL)
    log = workspace.runs.log(trial)
    # The person takes turn 2 back, says something else, and the agent answers as before.
    back_to = next(event.seq for event in log if event.body.key == "user/2")
    again = [turns[2].reply.model_copy(update={"text": "Sorry, say that again?", "stage": None})]
    bodies = [
        TrialRetried(keep=True, reason="undo", back_to=back_to),
        log[back_to].body.model_copy(update={"reply": again[0]}),
    ]
    end = log[-1].seq
    workspace.runs.append_events(
        [(trial, Event(seq=end + n, at=AT, body=b, take=1)) for n, b in enumerate(bodies, 1)]
    )
    inputs = gather(workspace, Scope())
    assert [case.turn for case in inputs.cases] == [1, 2]
    # The dialogue before turn 2 stands; what followed the words that were taken back does not.
    assert [bool(case.voices) for case in inputs.cases] == [True, True]
    assert inputs.stale == 1
    told = circumstances(report_of(inputs, resamples=20))
    assert "1 reply of a simulator is to words that were taken back" in " ".join(told)


def test_a_shadow_that_is_ahead_of_the_person_is_not_stale(workspace: Workspace):
    task = samples()["espresso"]
    turns = turns_of(task, ENGLISH[:2])
    trial = session(workspace, task, turns[:-1], end=None)
    before = turns[-1].before
    message = before.messages[-1]
    events = workspace.runs.log(trial)
    spoke = AgentSpoke(turn=message.turn, reply=AgentReply(text=message.text))
    workspace.runs.append_events([(trial, Event(seq=len(events), at=AT, body=spoke))])
    listen(workspace, trial, turns[-1:], CAREFUL)
    inputs = gather(workspace, Scope())
    assert (len(inputs.cases), inputs.stale) == (1, 0)


def test_scopes_and_sources(workspace: Workspace):
    tasks = samples()
    turns = turns_of(tasks["espresso"], ENGLISH[:2])
    played = session(workspace, tasks["espresso"], turns)
    listen(workspace, played, turns, CAREFUL)
    listen(workspace, played, turns, SLOPPY, live=False)
    bare = session(workspace, tasks["espresso"], turns, user=SLOPPY)
    staged = PlayerRef(name="staged", kind="staged", baseline=True)
    session(workspace, tasks["espresso"], turns, user=staged)
    chinese = turns_of(tasks["checkpoints-old-bridge-zh"], BRIDGE)
    session(workspace, tasks["checkpoints-old-bridge-zh"], chinese)

    def trials(scope: Scope) -> set[int]:
        return {case.trial_id for case in gather(workspace, scope).cases}

    # Without runs, trials of simulators to which nobody said anything are left out.
    assert trials(Scope()) == {played, 4}
    assert trials(Scope(runs=(2,))) == {bare}
    assert trials(Scope(tasks=("espresso",))) == {played}
    assert trials(Scope(trials=(bare, played))) == {bare, played}
    # A setting that does not play the persona is no simulator.
    assert gather(workspace, Scope(runs=(3,))).simulators == ()
    with pytest.raises(NotFound):
        gather(workspace, Scope(runs=(99,)))
    inputs = gather(workspace, Scope(simulators=("careful",)))
    assert inputs.simulators == (CAREFUL,)
    both = gather(workspace, Scope(runs=(1, 2)))
    case = both.cases[0]
    assert [case.group("source", player) for player in (CAREFUL, SLOPPY)] == ["live", "later"]
    told: list[tuple[int, int]] = []
    fidelity_of(workspace, Scope(), resamples=20, tell=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]


def test_a_stage_that_begins_with_the_conversation_is_nobodys_decision(workspace: Workspace):
    sample = samples()["espresso"]
    task = sample.model_copy(update={"id": "late-start"})
    assert task.persona is not None

    def query_first(task, dialogue: Dialogue) -> UserReply:
        if not dialogue.messages:
            return UserReply(text=task.opening)
        return faithful(task, dialogue)

    turns = turns_of(task, ENGLISH[:1], query_first)
    trial = session(workspace, task, turns)
    listen(workspace, trial, turns, SLOPPY, {1: unmet("Wait.")})
    case = gather(workspace, Scope()).cases[0]
    assert (case.stage, case.cue, case.decides, case.reference) == (1, "start", False, "")
    report = report_of(gather(workspace, Scope()), resamples=20)
    assert report.agreements == ()


def test_patience_that_runs_out_discloses_early(workspace: Workspace):
    task = samples()["espresso"]
    turns = turns_of(task, ENGLISH[:1])
    trial = session(workspace, task, turns)
    script = PlayerRef(name="scripted", kind="scripted", baseline=True)
    out = met(task, 2).model_copy(update={"cue_met": False, "reason": "patience"})
    listen(workspace, trial, turns, script, {1: out})
    report = fidelity_of(workspace, Scope(), resamples=20)
    assert [f.kind for t in report.worst for f in t.findings] == [FindingKind.EARLY]
    # The decision itself is the person's.
    assert report.agreements[0].percent.value == 1


def test_people_are_held_to_the_same_rule(workspace: Workspace):
    """A person who marks not met and then says the line discloses early, unless somebody settled that the
    cue was met; whoever holds back what was settled as met is late.
    """
    task = samples()["espresso"]

    def hasty(task, dialogue: Dialogue) -> UserReply:
        if len(dialogue.of("agent")) == 1:
            return met(task, 2).model_copy(update={"cue_met": False})
        return faithful(task, dialogue)

    trial = session(workspace, task, turns_of(task, ENGLISH[:4], hasty))
    people = _people(workspace)
    assert [(c.kind, c.n) for c in people.counts if c.n] == [(FindingKind.EARLY, 1)]
    early = people.count(FindingKind.EARLY)
    assert early is not None
    unmet_turns = sum(case.reference == "no" for case in gather(workspace, Scope()).cases)
    assert (early.turns, people.with_any.n) == (unmet_turns, 1)
    assert people.count(FindingKind.LATE) is None, "nobody is late by their own decision"
    workspace.adjudications.add(trial, cue(1), "Eve", YES)
    workspace.adjudications.add(trial, cue(3), "Eve", YES)
    people = _people(workspace)
    late = people.count(FindingKind.LATE)
    assert late is not None
    assert (late.n, late.turns) == (1, 2)
    early = people.count(FindingKind.EARLY)
    assert early is None or early.n == 0


def _people(workspace: Workspace):
    (people,) = (
        s for s in fidelity_of(workspace, Scope(), resamples=20).findings if not s.simulator
    )
    return people


def test_probes_are_left_out(workspace: Workspace):
    task = samples()["espresso"]
    saved = workspace.tasks.save(task, author="Eve")
    run = workspace.runs.create(
        name="p", kind="probe", created_by="Eve", samples=1, limits=Limits()
    )
    cell = TrialCell(
        task_id=task.id, revision=saved.number, agent=AGENT, user=ANN, world=WORLD, sample=0
    )
    workspace.runs.add_trials(run.id, [cell])
    report = fidelity_of(workspace, Scope(), resamples=20)
    assert (report.trials, report.turns, report.meaning, report.outcomes) == (0, 0, None, ())


def test_states_of_shadows_are_those_of_the_course(workspace: Workspace):
    """A shadow with another state than any of the effective log says nothing of this trial."""
    task = samples()["espresso"]
    turns = turns_of(task, ENGLISH[:1])
    trial = session(workspace, task, turns)
    workspace.shadows.add(
        Shadow(
            trial_id=trial,
            turn=1,
            state=state_of(Dialogue()),
            player=SLOPPY,
            reply=met(task, 2),
            at=AT + timedelta(seconds=1),
        )
    )
    inputs = gather(workspace, Scope())
    assert (inputs.simulators, inputs.stale) == ((), 1)


def test_one_simulator_in_two_languages_and_two_versions_of_its_prompts(workspace: Workspace):
    tasks = samples()
    refs = {
        "espresso": SLOPPY.model_copy(update={"version": "e1"}),
        "table-solar-terms-zh": SLOPPY.model_copy(update={"version": "z1"}),
        "checkpoints-old-bridge-zh": SLOPPY.model_copy(update={"kind": "responder"}),
    }
    for task_id, agent in (
        ("espresso", ENGLISH[:2]),
        ("table-solar-terms-zh", CHINESE[:2]),
        ("checkpoints-old-bridge-zh", BRIDGE),
    ):
        turns = turns_of(tasks[task_id], agent)
        listen(workspace, session(workspace, tasks[task_id], turns), turns, refs[task_id])
    report = fidelity_of(workspace, Scope(), resamples=20)
    (one,) = report.simulators
    assert (one.name, one.model, one.kind, one.version) == ("sloppy", "small", "persona", "")
    by_language = [a for a in report.agreements if a.by == "language"]
    assert [(a.subject, a.value, a.n) for a in by_language] == [("cue", "en", 2), ("cue", "zh", 2)]
    changed = refs["espresso"].model_copy(update={"version": "e2"})
    turns = turns_of(tasks["espresso"], ENGLISH[:2])
    session(workspace, tasks["espresso"], turns, user=changed)
    listen(workspace, 1, turns, changed)
    report = fidelity_of(workspace, Scope(), resamples=20)
    assert [p.version for p in report.simulators] == ["1", "e1", "e2", "z1"]
    assert simulator_word(changed, report.simulators) == "sloppy (small) ve2"
    assert [o.simulator.version for o in report.outcomes] == ["e2"]
