"""A report on sessions with planted errors finds each of them and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from cuecard.annotate.fidelity.findings import SEVERITY
from cuecard.annotate.fidelity.inputs import Scope
from cuecard.annotate.fidelity.model import FindingKind
from cuecard.annotate.fidelity.report import fidelity_of
from cuecard.core.engine.messages import Flag, FlagKind
from cuecard.core.users.faults import FaultKind
from cuecard.store.workspace import Workspace
from fidelity_planted import planted
from fidelity_sessions import CAREFUL, SLOPPY, listen, samples, session, turns_of, unmet


def test_every_planted_error_is_found_and_nothing_else(reported):
    found = [
        (turn.simulator, (turn.trial_id, turn.turn, finding.kind))
        for turn in reported.report.worst
        for finding in turn.findings
    ]
    assert {simulator for simulator, _where in found} == {SLOPPY}
    assert sorted(where for _s, where in found) == sorted(reported.planted.errors)
    assert {kind for _t, _n, kind in reported.planted.errors} == set(FindingKind)


def test_every_fault_of_words_has_a_finding_with_a_severity():
    assert {kind.value for kind in FaultKind} <= {kind.value for kind in FindingKind}
    assert set(SEVERITY) == set(FindingKind)


def test_the_worst_turns_come_first_with_all_that_is_to_be_read(reported):
    severities = [turn.severity for turn in reported.report.worst]
    assert severities == sorted(severities, reverse=True)
    first = reported.report.worst[0]
    assert (first.trial_id, first.turn) == (reported.planted.trials["espresso"], 5)
    assert (first.agent_text, first.person) == (
        "I have found a page about patents and am reading it.",
        "Ann",
    )
    assert first.person_text.startswith("Let's not skip anybody.")
    assert first.simulator_text == "Is it in there that Luigi Bezzera improved it?"
    assert (first.reference, first.decision, first.stage, first.cue) == ("no", "no", 4, "mentions")
    assert first.findings[0].found == "Luigi Bezzera"


def test_counts_are_over_the_turns_that_could_have_it(reported):
    sloppy = next(each for each in reported.report.findings if each.simulator == SLOPPY)
    kinds = Counter(kind for _t, _n, kind in reported.planted.errors)
    assert {c.kind: c.n for c in sloppy.counts} == dict(kinds)
    turns = {c.kind: c.turns for c in sloppy.counts}
    # Held for met: 5 and 3 turns of the personas, 3 and 2 of the checkpoints.
    assert (turns[FindingKind.LATE], turns[FindingKind.EARLY]) == (13, 16)
    assert (turns[FindingKind.STATUS], turns[FindingKind.LEAK]) == (9, 29)
    assert (sloppy.turns, sloppy.tasks, sloppy.decided, sloppy.with_any.n) == (29, 4, 28, 28)
    early = sloppy.count(FindingKind.EARLY)
    assert early is not None
    assert early.rate.value == pytest.approx(3 / 16)
    people = next(each for each in reported.report.findings if each.simulator is None)
    assert (people.turns, people.with_any.n) == (29, 0)


def test_agreement_by_hand(reported):
    """Of 19 decided cues: 6 both met, 9 both not, 2 early, 2 late."""
    whole = reported.report.agreement(SLOPPY, "cue")
    assert whole is not None
    assert whole.confusion is not None
    assert whole.confusion.counts == ((6, 2), (2, 9))
    assert (whole.n, whole.tasks) == (19, 2)
    assert whole.percent.value == pytest.approx(15 / 19)
    chance = (8 * 8 + 11 * 11) / 19**2
    assert whole.cohen_kappa.value == pytest.approx((15 / 19 - chance) / (1 - chance))
    chance = 2 * (8 / 19) * (11 / 19)
    assert whole.ac1.value == pytest.approx((15 / 19 - chance) / (1 - chance))
    chinese = reported.report.agreement(SLOPPY, "cue", "language", "zh")
    assert chinese is not None
    assert (chinese.n, chinese.percent.value) == (7, pytest.approx(5 / 7))
    status = reported.report.agreement(SLOPPY, "status")
    assert status is not None
    assert (status.n, status.percent.value) == (9, pytest.approx(5 / 9))
    careful = reported.report.agreement(CAREFUL, "cue")
    assert careful is not None
    assert (careful.n, careful.percent.value) == (20, 1)
    stage = reported.report.agreement(CAREFUL, "cue", "stage", "7")
    assert stage is not None
    assert stage.cohen_kappa.reason == "only one category used"
    assert reported.report.unsure == 0
    assert reported.report.undecided == 1


def test_words_alike_are_alike_and_lines_are_left_out(reported):
    careful = next(each for each in reported.report.findings if each.simulator == CAREFUL)
    by_met = {each.met: each for each in careful.similarity}
    # Of 29 turns, 8 lines and 2 clues are said by both as they are written.
    assert (by_met[""].n, by_met[""].chrf.value, by_met[""].length.value) == (19, 1, 1)
    assert (by_met["met"].n, by_met["not_met"].n) == (3, 16)


def test_clean_sessions_have_no_finding(workspace: Workspace):
    sessions = planted(workspace, errors=False)
    report = fidelity_of(workspace, Scope(), resamples=50)
    assert report.worst == ()
    assert [each.simulator for each in report.findings] == [CAREFUL, None]
    assert report.turns == sum(len(turns) - 1 for turns in sessions.turns.values()) == 29


def test_a_flag_is_told_of_where_the_words_were_mended_and_once(workspace: Workspace):
    task = samples()["espresso"]
    turns = turns_of(task, ["One moment.", "Still reading."])
    trial = session(workspace, task, turns)
    mended = unmet("Who held that first patent?").model_copy(
        update={
            "flags": (
                Flag(kind=FlagKind.LEAK, found="Angelo Moriondo"),
                Flag(kind=FlagKind.FORMAT, found="as a table"),
                Flag(kind=FlagKind.FORMAT, found="- a list"),
            )
        }
    )
    said = unmet("Was it Angelo Moriondo?").model_copy(update={"flags": mended.flags[:1]})
    listen(workspace, trial, turns, SLOPPY, {1: mended, 2: said})
    worst = fidelity_of(workspace, Scope(trials=(trial,)), resamples=50).worst
    found = {(t.turn, f.kind.value, f.found, f.flagged) for t in worst for f in t.findings}
    assert found == {
        (1, "leak", "Angelo Moriondo", True),
        (1, "structure", "as a table", True),
        (1, "markdown", "- a list", True),
        (2, "leak", "Angelo Moriondo", False),
    }
