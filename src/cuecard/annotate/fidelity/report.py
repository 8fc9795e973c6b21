"""The whole report on a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.agreement.bootstrap import RESAMPLES
from cuecard.annotate.fidelity.agreeing import agreements, among_people, ceilings
from cuecard.annotate.fidelity.counting import counted
from cuecard.annotate.fidelity.findings import turns_with_findings
from cuecard.annotate.fidelity.gathering import Tell, gather, shadows_of, trials_in
from cuecard.annotate.fidelity.material import Material, Scope
from cuecard.annotate.fidelity.meaning import meaning_of
from cuecard.annotate.fidelity.model import Fidelity, Meaning, Outcome, TurnFindings
from cuecard.annotate.fidelity.outcome import comparable, outcomes
from cuecard.annotate.fidelity.scoring import scores_of
from cuecard.annotate.fidelity.simulators import HUMAN, is_simulated, simulators_in

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace


def fidelity_of(
    workspace: Workspace,
    scope: Scope,
    judge: str = "",
    *,
    resamples: int = RESAMPLES,
    tell: Tell | None = None,
) -> Fidelity:
    """Everything that can be said of simulators and scores in the scope. `judge`: whose scores count, "" for
    whoever judged most of the trials. Reads many logs; call it off the screen's thread. Raises `NotFound` for
    an unknown run or trial.
    """
    material = gather(workspace, scope, tell)
    outcome, meaning = scored_part(workspace, scope, judge, resamples=resamples)
    return report_of(material, outcome, meaning, resamples=resamples)


def seen_in(
    workspace: Workspace, found: Fidelity, sight: Sight, most: int, *, reveal: bool = False
) -> Fidelity:
    """`found` with those of the worst turns that may be told as the Fidelity screen tells them: to whoever has decided or
    played them, or with `reveal`. The first `most` are shown, and remembered.
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
    material: Material,
    outcome: tuple[Outcome, ...] = (),
    meaning: Meaning | None = None,
    *,
    resamples: int = RESAMPLES,
) -> Fidelity:
    """The figures of material that was gathered, with what the scores gave."""
    worst = turns_with_findings(material)
    return Fidelity(
        runs=material.scope.runs,
        tasks=material.scope.tasks,
        trials=material.trials,
        played=material.played,
        turns=len(material.cases),
        simulators=material.simulators,
        people=material.people,
        stale=material.stale,
        unsure=material.unsure,
        undecided=material.undecided,
        agreements=tuple(agreements(material, resamples=resamples)),
        among_people=tuple(among_people(material, resamples=resamples)),
        ceilings=tuple(ceilings(material, resamples=resamples)),
        findings=tuple(counted(material, worst, resamples=resamples)),
        worst=tuple(worst),
        outcomes=outcome,
        meaning=meaning,
    )


def scored_part(
    workspace: Workspace, scope: Scope, judge: str = "", *, resamples: int = RESAMPLES
) -> tuple[tuple[Outcome, ...], Meaning | None]:
    """What needs scores: outcomes, and what people said of their sessions. Raises as `fidelity_of`."""
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
