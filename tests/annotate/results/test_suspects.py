"""From trials to suspect gold, to review, and to scores on what was corrected."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cuecard.annotate.estimation.item_analysis import Flag
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.annotate.results.pool import gather
from cuecard.annotate.results.suspect_tables import (
    items_table,
    review_words,
    suspect_data,
    task_tables,
)
from cuecard.annotate.results.suspects import Survey, evidence, survey
from cuecard.annotate.review.comments import answer as reply
from cuecard.annotate.review.comments import threads_for
from cuecard.annotate.samples import load_samples
from cuecard.annotate.task_feedback import comment_on_suspect
from cuecard.annotate.waiting import pending_for
from cuecard.core.evaluation.rescoring import plan_rescoring, rescore_run
from cuecard.core.judges.lexical import LexicalJudge
from cuecard.core.label_records import LabelValue
from cuecard.core.validation import format_place
from cuecard.core.verdicts import Decision, Item, Judgement
from cuecard.store.workspace import Sight, Workspace
from judged_trials import GOLD, graph_task
from suspect_runs import PAGE, RIVAL, UNFOUND, WRONG, suspect_run


@pytest.fixture
def found(workspace: Workspace) -> Survey:
    return survey(workspace, gather(workspace, [suspect_run(workspace)]))


def test_wrong_gold_accuses_itself(workspace: Workspace, found: Survey) -> None:
    first, second = found.suspects
    assert (first.answer.key, first.figures.flags) == (f"triple/{WRONG}", (Flag.RIVAL,))
    assert (first.rival, first.gold) == (RIVAL, "1902")
    assert (first.found_by, first.not_by) == (("delta",), ("alpha", "beta", "gamma"))
    assert first.figures.rival is not None
    assert (first.figures.rival.agents, first.figures.rival.share) == (4, 7 / 8)
    (page,) = evidence(workspace, first)
    assert (page.url, page.passage((RIVAL,))) == (PAGE.url, PAGE.content)
    assert (second.answer.key, second.figures.flags) == (f"triple/{UNFOUND}", (Flag.UNFOUND,))
    assert (second.figures.opened, second.rival) == (4, "")
    assert suspect_data(first, [page])["pages"][0]["trial"] == page.trial


def test_a_label_that_gold_is_wrong_comes_first(workspace: Workspace, found: Survey) -> None:
    trial = found.tasks[0].rows[0].trial
    workspace.people.add("Ben")
    workspace.verdicts.label_item(
        trial.id, Item.of_key("triple/5"), "Ben", LabelValue.YES, gold_wrong=True
    )
    again = survey(workspace, gather(workspace, [trial.run_id]))
    assert again.suspects[0].answer.key == "triple/5"
    assert again.suspects[0].figures.flags == (Flag.PEOPLE,)


def test_who_is_still_to_label_is_not_told(workspace: Workspace, found: Survey) -> None:
    from cuecard.annotate.labelling.labelling_sets import make_set
    from cuecard.annotate.labelling.sampling import plan_of

    run = found.tasks[0].rows[0].trial.run_id
    workspace.people.add("Ben")
    pool = gather(workspace, [run])
    plan = plan_of({"runs": [run], "n": 48, "people": ["Ben"]})
    make_set(workspace, plan, name="all", by="Ben")
    hidden = survey(workspace, pool, Sight(workspace, "Ben"))
    assert (hidden.suspects, hidden.hidden) == ((), 2)
    assert len(survey(workspace, pool, Sight(workspace, "Ben", reveal=True)).suspects) == 2


def decided(judgement: Judgement, item: Item, decision: Decision) -> Judgement:
    """The judgement with another decision on an item."""
    verdicts = [
        verdict.model_copy(update={"decision": decision}) if verdict.item == item else verdict
        for verdict in judgement.verdicts
    ]
    return judgement.model_copy(update={"verdicts": tuple(verdicts)})


def test_only_tasks_with_suspects_are_kept(workspace: Workspace, found: Survey) -> None:
    run = found.tasks[0].rows[0].trial.run_id
    mine = survey(workspace, gather(workspace, [run]))
    assert [(one.key, one.figures) for one in mine.suspects] == [
        (one.key, one.figures) for one in found.suspects
    ]
    assert [item.at for item in mine.tasks[0].items] == [WRONG, UNFOUND]
    assert (mine.trials, mine.scores) == (8, found.scores)
    alone = suspect_run(workspace, agents=("alpha",), samples=1)
    bare = survey(workspace, gather(workspace, [alone]))
    assert (bare.trials, bare.tasks) == (1, ())


def test_what_is_said_instead_is_told_of_a_suspect_for_any_reason(
    workspace: Workspace, found: Survey
) -> None:
    run = found.tasks[0].rows[0].trial.run_id
    workspace.people.add("Ben")
    item = Item.of_key(f"triple/{WRONG}")
    # Each agent finds the gold once: no more of them say the other value.
    for row in found.tasks[0].rows:
        if row.trial.sample == 0:
            (record,) = workspace.verdicts.of_trial(row.trial.id)
            workspace.verdicts.add(row.trial.id, decided(record.judgement, item, Decision.YES))
    assert [one.answer.key for one in survey(workspace, gather(workspace, [run])).suspects] == [
        f"triple/{UNFOUND}"
    ]
    last = found.tasks[0].rows[-1].trial
    workspace.verdicts.label_item(last.id, item, "Ben", LabelValue.NO, gold_wrong=True)
    first = survey(workspace, gather(workspace, [run])).suspects[0]
    assert first.figures.flags == (Flag.PEOPLE,)
    assert first.figures.rival is not None
    assert (first.figures.rival.agents, first.rival) == (4, "")


def test_two_judges_are_split_where_they_differ_in_half_of_the_trials(
    workspace: Workspace, found: Survey
) -> None:
    row = found.tasks[0].rows[0]
    for each in found.tasks[0].rows[:2]:
        (record,) = workspace.verdicts.of_trial(each.trial.id)
        judge = record.judgement.judge.model_copy(update={"name": "second"})
        second = decided(record.judgement, Item.of_key("triple/1"), Decision.NO)
        second = second.model_copy(update={"judge": judge})
        workspace.verdicts.add(each.trial.id, second)
    first = survey(workspace, gather(workspace, [row.trial.run_id])).suspects[0]
    assert (first.answer.key, first.figures.flags) == ("triple/1", (Flag.PEOPLE,))
    assert first.figures.split == (2, 2)


def test_items_and_tasks_have_figures(workspace: Workspace) -> None:
    found = survey(workspace, gather(workspace, [suspect_run(workspace)]), items=True)
    items = found.tasks[0].items
    assert (items[1].extreme, items[UNFOUND].extreme) == ("ceiling", "floor")
    assert items[0].found == 0.75
    assert items[0].discrimination.value is not None
    tables = [items_table(found.tasks), *task_tables(found)]
    assert [len(table.lines) for table in tables] == [6, 1]
    few = items_table(found.tasks, 2)
    lowest = sorted(item.discrimination.value or 9 for item in items)
    assert [line[4].number for line in few.lines] == lowest[:2]
    assert few.notes[0].startswith("Of 6 items these have the lowest discrimination.")


def test_a_suspect_goes_to_review_and_its_correction_into_scores(
    workspace: Workspace, found: Survey
) -> None:
    one = found.suspects[0]
    run = one.of.rows[0].trial.run_id
    place = format_place(one.answer.path)
    workspace.people.add("Ben")
    words = review_words(one, evidence(workspace, one))
    unit = one.of.task.id, one.of.revision
    assert comment_on_suspect(workspace, unit, place, "Ben", words) is not None
    assert comment_on_suspect(workspace, unit, place, "Ben", words) is None
    (thread,) = threads_for(workspace, "ann", one.of.task.id)
    assert (thread.place, thread.open) == (place, True)
    assert RIVAL in thread.comment.text
    assert PAGE.url in thread.comment.text
    # Their Home says so, though nobody returned the task; once it is resolved, nothing waits.
    (waits,) = pending_for(workspace, "ann").commented
    assert (waits.task.id, waits.comments) == (one.of.task.id, 1)
    assert pending_for(workspace, "Ben").commented == ()
    reply(workspace, thread.comment, "ann", "so it is", turns="resolved")
    assert pending_for(workspace, "ann").commented == ()

    head, relation, _year = GOLD[WRONG]
    gold = [*GOLD]
    gold[WRONG] = (head, relation, RIVAL)
    workspace.tasks.save(graph_task(gold=gold), author="ann", message="1899 is right")
    plan = plan_rescoring(workspace, run)
    outcome = asyncio.run(rescore_run(workspace, plan, [LexicalJudge()], by="ann"))
    pool = gather(workspace, [outcome.run.id])
    corrected = survey(workspace, pool).suspects
    assert [each.answer.key for each in corrected] == [f"triple/{UNFOUND}"]
    assert survey(workspace, pool, items=True).tasks[0].items[WRONG].found == 7 / 8


def test_gold_of_every_family_is_answers_at_places() -> None:
    for task in load_samples():
        answers = ANNOTATE[task.family].answers
        gold = answers.gold(task.gold)
        assert gold, task.id
        assert len({answer.key for answer in gold}) == len(gold)
        data = task.model_dump(mode="json")
        for answer in gold:
            value: Any = data
            for step in answer.path:
                value = value[step]
            assert answer.values
