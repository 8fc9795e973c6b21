"""Trials whose pages gave the benchmark away: found in the record, and told with the scores that remain without them."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.annotate.results.contamination import contamination_tables, exposures, met
from cuecard.annotate.results.pool import gather
from cuecard.core.config_schema import ContaminationConfig
from cuecard.core.engine.events import AgentSpoke, Event
from cuecard.core.engine.messages import AgentReply
from cuecard.core.worlds.contamination import Level, Secret
from cuecard.store.workspace import Workspace
from web_trials import pages_seen

CANARY = "0123456789abcdef" * 2


@pytest.fixture
def workspace(made_once, tmp_path: Path):
    with Workspace.open(
        shutil.copyfile(made_once("pages-seen", pages_seen), tmp_path / "w.db")
    ) as opened:
        yield opened


@pytest.fixture
def run(workspace: Workspace) -> int:
    return max(run.id for run in workspace.runs.all())


def test_the_worst_that_each_trial_met(workspace, run):
    pool = gather(workspace, [run])
    found = exposures(workspace, pool, ContaminationConfig())
    trials = [trial.id for trial in workspace.runs.trials(run)]
    assert {trials.index(id_): one.level for id_, one in found.items() if one.level} == {
        0: Level.ANSWER,
        2: Level.QUESTION,
        5: Level.METADATA,
    }
    assert found[trials[0]].address == "https://pages.example/c"
    assert found[trials[0]].passage
    assert all(one.blocked == 1 for one in found.values())


def test_trials_in_worlds_of_gold_are_not_looked_at(workspace):
    pool = gather(workspace, [min(run.id for run in workspace.runs.all())])
    assert exposures(workspace, pool, ContaminationConfig()) == {}
    assert contamination_tables(pool, {}) == ()


def test_scores_stand_beside_those_without_the_flagged(workspace, run):
    pool = gather(workspace, [run])
    counts, scores, flagged = contamination_tables(
        pool, exposures(workspace, pool, ContaminationConfig())
    )
    columns = list(zip(*counts.lines, strict=True))[1:]
    assert [sum(cell.value for cell in column) for column in columns] == [32, 1, 1, 1, 32]
    lines = {tuple(line[at].value for at in (2, 4, 6)) for line in scores.lines}
    assert lines == {(4, 4, 4), (4, 3, 3), (4, 4, 3)}
    assert all(line[1].number is not None for line in scores.lines)
    # One group lost a trial to an answer. That all tasks agree on a difference of 0 is no share with an interval.
    paired = [line[7] for line in scores.lines if line[7].statistic is not None]
    assert [(line[7].text, line[1].value != line[3].value) for line in scores.lines].count(
        ("–", False)
    ) == len(scores.lines) - len(paired)
    assert len(paired) == 1
    assert paired[0].difference
    assert paired[0].statistic.interval is None
    assert flagged.lines[0][0].trials
    assert [line[2].text for line in flagged.lines] == [
        "holds the answer beside it",
        "holds the question",
        "names the benchmark",
    ]


def test_a_canary_and_further_names_are_configuration(workspace, run):
    pool = gather(workspace, [run])
    settings = ContaminationConfig(names=("A page",), canary=CANARY)
    found = exposures(workspace, pool, settings)
    assert sum(one.level is Level.METADATA for one in found.values()) == 1


def test_an_agent_that_says_the_canary_has_met_it():
    secret = Secret(("a question",), canary=CANARY)
    at = datetime(2026, 11, 1, tzinfo=UTC)
    said = AgentSpoke(turn=2, reply=AgentReply(text=f"As the file says: {CANARY.upper()}"))
    one = met(7, [Event(seq=0, at=at, body=said)], secret)
    assert (one.trial, one.level, one.turn) == (7, Level.ANSWER, 2)
