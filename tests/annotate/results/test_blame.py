"""Whose fault failed trials are: said blind, proposed with evidence, held against each other."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from cuecard.annotate.results.errors.blame import (
    blame_tables,
    failed_trials,
    none_to_blame,
    said_of,
    shown_to,
)
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.trial_record import open_trial, opinions
from cuecard.core.config import EMBEDDED
from cuecard.core.config_models import ModelConfig, Price
from cuecard.core.config_schema import Config
from cuecard.core.evaluation.blame import RULE, Party, blames_of, by_rule, material_of, propose
from cuecard.store.workspace import Workspace
from openai_server import OpenAIServer, Reply, Request, text
from planted_results import Planted, plant


def failing(path: Path) -> None:
    agents = (Planted("alpha", 0.3, 0.004), Planted("beta", 0.2, 0.001))
    with Workspace.open(path) as opened:
        plant(opened, agents=agents)


@pytest.fixture
def workspace(made_once, tmp_path: Path):
    copied = shutil.copyfile(made_once("failing", failing), tmp_path / "w.db")
    with Workspace.open(copied) as opened:
        yield opened


@pytest.fixture
def rows(workspace: Workspace):
    return failed_trials(gather(workspace, [run.id for run in workspace.runs.all()]))


def told(workspace, row, person, party, reason=""):
    workspace.trial_notes.add(row.trial.id, person, "blame", party.value, reason)


def test_the_newest_of_each_person_counts_and_places_of_notes_stay_as_they_were(workspace, rows):
    row = rows[0]
    told(workspace, row, "Ann", Party.AGENT)
    told(workspace, row, "Ann", Party.TASK, "gold lacks an alias")
    (blame,) = blames_of(workspace, [row.trial.id])
    assert (blame.party, blame.by, blame.reason) == (Party.TASK, "Ann", "gold lacks an alias")
    assert workspace.trial_notes.of([row.trial.id]) == []
    workspace.trial_notes.add(row.trial.id, "Ann", "blame_proposed", "agent", "not JSON")
    assert len(blames_of(workspace, [row.trial.id])) == 1


def test_nothing_of_others_is_seen_before_one_has_spoken(workspace, rows):
    row = rows[0]
    told(workspace, row, "Ann", Party.AGENT)
    workspace.trial_notes.add(row.trial.id, "Ann", "blame_proposed", "world", '{"by": "m 1"}')
    said = blames_of(workspace, [row.trial.id])
    assert shown_to("Ben", said) == ()
    assert len(shown_to("Ann", said)) == 2
    told(workspace, row, "Ben", Party.TASK)
    assert len(shown_to("Ben", blames_of(workspace, [row.trial.id]))) == 3


def test_only_of_a_failed_trial_it_is_asked_whose_fault_it_is(workspace, rows):
    everything = gather(workspace, [run.id for run in workspace.runs.all()]).rows
    failed_ids = {row.trial.id for row in rows}
    for row in everything:
        opened = open_trial(workspace, row.trial.id, "Ann")
        judged = opinions(workspace, row.trial.id).judgements
        assert bool(none_to_blame(opened, judged)) is (row.trial.id not in failed_ids)
    passed = next(row.trial.id for row in everything if row.trial.id not in failed_ids)
    opened = open_trial(workspace, passed, "Ann")
    judged = opinions(workspace, passed).judgements
    assert "did not fail" in none_to_blame(opened, judged)
    assert "not known" in none_to_blame(opened, ())


def test_the_baseline_proposes_once(workspace, rows):
    ids = [row.trial.id for row in rows]
    done = asyncio.run(propose(workspace, ids, "Ann", "lexical", RULE, Config()))
    assert (done.asked, done.before, done.failures) == (len(ids), 0, {})
    again = asyncio.run(propose(workspace, ids, "Ann", "lexical", RULE, Config()))
    assert (again.asked, again.before) == (0, len(ids))
    assert {blame.by for blame in said_of(workspace, rows)} == {RULE}


def test_a_trial_that_nobody_judged_is_the_judges():
    assert by_rule((), None).party is Party.JUDGE


def test_shares_and_agreement(workspace, rows):
    ids = [row.trial.id for row in rows]
    for at, row in enumerate(rows):
        told(workspace, row, "Ann", Party.AGENT if at % 2 else Party.TASK)
        told(workspace, row, "Ben", Party.AGENT if at % 4 else Party.TASK)
        workspace.trial_notes.add(
            row.trial.id, "Ann", "blame_proposed", "agent", '{"by": "model 1234"}'
        )
    people, proposed, agreement = blame_tables(rows, said_of(workspace, rows), "Ann")
    agreed = [at for at in range(len(ids)) if at % 2 or not at % 4]
    trials, *parties = people.lines
    assert sum(cell.value for cell in trials[1:]) == len(agreed)
    for arm in range(1, len(people.headings)):
        shares = [line[arm].statistic for line in parties]
        assert sum(one.value for one in shares) == pytest.approx(1)
        assert all(one.interval or one.no_interval for one in shares)
    assert any(line[1].statistic.interval for line in parties)
    assert "model 1234" in proposed.title
    proposer, each_other = agreement.lines
    assert proposer[1].value == len(agreed)
    assert proposer[2].number == pytest.approx(sum(at % 2 for at in agreed) / len(agreed))
    assert proposer[3].number == 0
    assert each_other[2].number == pytest.approx(len(agreed) / len(ids))
    # Behind a share stand only trials of which the reader has said something, so that it is said blind.
    assert all(cell.trials for line in parties for cell in line[1:] if cell.number)
    others = blame_tables(rows, said_of(workspace, rows), "Cleo")[0]
    assert not any(cell.trials for line in others.lines[1:] for cell in line[1:])


def test_shares_of_few_trials_give_no_proposal_away(workspace, rows):
    for at, row in enumerate(rows):
        workspace.trial_notes.add(row.trial.id, "Ann", "blame_proposed", "world", '{"by": "m 1"}')
        if at >= 4:
            told(workspace, row, "Ben", Party.AGENT)
    few, own = rows[:4], rows[4:]
    (nothing,) = blame_tables(few, said_of(workspace, few), "Cleo")
    assert (nothing.lines, len(nothing.headings)) == ((), 1)
    (proposed,) = (
        table
        for table in blame_tables(rows, said_of(workspace, rows), "Ben")
        if "m 1" in table.title
    )
    assert sum(cell.value for cell in proposed.lines[0][1:]) == len(own)
    assert any("4 trials are left out" in note for note in proposed.notes)


def test_what_a_proposer_sees_holds_the_dialogue_and_what_was_missed(workspace, rows):
    row = rows[0]
    task = workspace.tasks.revision(row.trial.task_id, row.trial.revision).task
    record = workspace.verdicts.of_trial(row.trial.id)[0]
    text = material_of(task, workspace.runs.events(row.trial.id), record.judgement)
    assert task.query.split("\n")[0][:40] in text
    assert '"missed"' in text
    assert '"user"' in text


async def test_a_model_proposes_with_words_that_stand_in_the_record(workspace, rows):
    """It first quotes what nobody said and is asked again; where it never answers, the failure is told."""
    chosen = list({row.trial.task_id: row for row in rows}.values())[:3]
    ids = [row.trial.id for row in chosen]
    mute = workspace.tasks.revision(chosen[2].trial.task_id, chosen[2].trial.revision).task.query
    price = Price(prompt=1.0, completion=1.0)

    def script(request: Request) -> Reply:
        first = request.messages[0]["content"]
        if json.dumps(mute, ensure_ascii=False)[1:-1] in first:
            return text("I cannot say.")
        quote = "never said" if len(request.messages) == 1 else '"query"'
        return text(json.dumps({"evidence": [quote], "reason": "so", "fault": "world"}))

    async with OpenAIServer(script) as server:
        model = ModelConfig(base_url=server.url, model="m", retries=0, price=price)
        config = EMBEDDED.model_copy(update={"models": {"hosted": model}})
        done = await propose(workspace, ids, "Ann", "lexical", "hosted", config)
        calls = len(server.requests)
        again = await propose(workspace, ids, "Ann", "lexical", "hosted", config)
    assert list(done.failures) == ids[2:]
    assert (again.asked, again.before) == (0, 2)
    assert calls == 6
    said = blames_of(workspace, ids)
    assert {(blame.party, blame.evidence) for blame in said} == {(Party.WORLD, ('"query"',))}
    assert all(blame.by.startswith("hosted ") for blame in said)


async def test_a_proposer_is_one_in_both_languages_and_quotes_over_lines_and_marks(workspace, rows):
    """Queries of several lines and with quotation marks stand in the material as JSON has them."""
    by_query = {
        workspace.tasks.revision(row.trial.task_id, row.trial.revision).task.query: row
        for row in rows
    }
    tasks = [workspace.tasks.revision(r.trial.task_id, r.trial.revision).task for r in rows]
    assert {task.language for task in tasks} == {"en", "zh"}
    assert any("\n" in query.strip() for query in by_query)
    ids = [row.trial.id for row in by_query.values()]

    def script(request: Request) -> Reply:
        query = next(
            q
            for q in by_query
            if json.dumps(q, ensure_ascii=False) in request.messages[0]["content"]
        )
        return text(json.dumps({"evidence": [query], "reason": "so", "fault": "user"}))

    async with OpenAIServer(script) as server:
        model = ModelConfig(base_url=server.url, model="m", retries=0)
        config = EMBEDDED.model_copy(update={"models": {"hosted": model}})
        done = await propose(workspace, ids, "Ann", "lexical", "hosted", config)
    assert done.failures == {}
    assert len({blame.by for blame in blames_of(workspace, ids)}) == 1


async def test_a_spent_budget_stops_asking(workspace, rows):
    ids = [row.trial.id for row in rows]

    async with OpenAIServer(
        lambda _r: text('{"evidence": ["query"], "reason": "", "fault": "agent"}')
    ) as server:
        price = Price(prompt=1e6, completion=1e6)
        model = ModelConfig(base_url=server.url, model="m", retries=0, price=price)
        config = EMBEDDED.model_copy(update={"models": {"hosted": model}})
        done = await propose(
            workspace, ids, "Ann", "lexical", "hosted", config, budget=1.0, concurrency=1
        )
    assert done.asked < len(ids)
    assert "budget" in done.halt.lower()
