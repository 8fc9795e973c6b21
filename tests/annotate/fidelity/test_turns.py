"""From figures back to turns: those that were counted, the worst first, and none that is not mine to see."""

from __future__ import annotations

import pytest

from cuecard.annotate.fidelity.findings import Turns, open_to, turns_at
from cuecard.annotate.fidelity.inputs import FidelityInputs, Scope
from cuecard.annotate.fidelity.model import Fidelity, FindingKind
from cuecard.annotate.fidelity.report import gather, report_of
from cuecard.annotate.fidelity.tables import fidelity_tables
from cuecard.store.workspace import Workspace
from fidelity_planted import planted
from fidelity_sessions import CAREFUL, SLOPPY


@pytest.fixture(scope="module")
def told(shared_workspace: Workspace) -> tuple[FidelityInputs, Fidelity]:
    planted(shared_workspace)
    inputs = gather(shared_workspace, Scope())
    return inputs, report_of(inputs, resamples=20)


def test_every_count_of_a_table_is_the_number_of_its_turns(
    told: tuple[FidelityInputs, Fidelity],
) -> None:
    inputs, found = told
    counted = 0
    for table in fidelity_tables(found):
        for line in table.lines:
            cell = line[1]
            turns = cell.place
            if not isinstance(turns, Turns):
                continue
            if table.view == "cues" or (table.view == "findings" and turns.found):
                number = int(cell.text.split()[0])
                assert len(turns_at(inputs, found, turns)) == number, (table.title, line[0])
                counted += 1
    assert counted > 20


def test_turns_come_the_worst_first_and_by_what_was_asked(
    told: tuple[FidelityInputs, Fidelity],
) -> None:
    inputs, found = told
    worst = turns_at(inputs, found, Turns(found=True))
    assert len(worst) == len(found.worst)
    severities = [row.severity for row in worst]
    assert severities == sorted(severities, reverse=True)
    early = turns_at(inputs, found, Turns(simulator=SLOPPY, finding=FindingKind.EARLY, found=True))
    assert early
    assert all(row.differs for row in early)
    assert not turns_at(inputs, found, Turns(simulator=CAREFUL, found=True))
    everything = turns_at(inputs, found, Turns(simulator=SLOPPY, subject="cue"))
    parts = turns_at(inputs, found, Turns(simulator=SLOPPY, subject="cue", task="espresso"))
    assert 0 < len(parts) < len(everything)


def test_only_who_decided_a_turn_is_shown_it(told: tuple[FidelityInputs, Fidelity]) -> None:
    inputs, found = told
    rows = turns_at(inputs, found, Turns(simulator=SLOPPY, decided=True))
    assert open_to(rows, "Ann", ()) == rows
    assert open_to(rows, "Ben", ()) == ()
    first = rows[0]
    known = [(first.case.trial_id, first.item.key)]
    assert open_to(rows, "Ben", known) == (first,)
